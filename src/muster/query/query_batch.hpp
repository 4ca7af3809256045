// query_batch: changes of all entities that match a query.
#pragma once

#include <muster/query/query_state.hpp>

#include <cstddef>
#include <source_location>
#include <span>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// A batch changes all matching entities, chunk by chunk; unaffected components move as whole
/// columns. It returns the number of entities that it affects in the current world. In a scope,
/// the whole batch is deferred; it then applies to the entities that match at that time.
///
/// Each chunk, or each entity where sparse fragments are involved, changes completely or not at
/// all. If a change fails or a hook throws, the others continue, and the first exception is
/// rethrown at the end. In a scope, `patch` and `clone` do not see pending batches. In a parallel
/// phase, all calls throw `errc::in_scope`. O(matching entities).
///
/// `State` is a `query_state` with the conditions of the query.
template <class Layout, class State = query_state<Layout>>
class query_batch : public State {
    using base = State;
    using store_type = store<Layout>;

public:
    using id_type = basic_id<Layout>;

    /// Inserts or assigns copies of these values for each entity. Also takes `with(fragment,
    /// value)`.
    template <class... Us>
        requires(sizeof...(Us) > 0 && !(... || fragment_argument<Us>))
    std::size_t set(const Us&... values) const {
        static_assert(
            (... && is_copyable<Us>::value),
            "muster: set copies the value to each entity, but this component cannot be copied.");
        static_assert(all_differ<Us...> || (... || is_with<Us>),
                      "muster: pass each component type only once.");
        world_.require();
        const change_shape changes[] = {
            {&store_->fragment_of(__builtin_addressof(values)), change_kind::put}...};
        const void* const given[] = {store_type::address_of(__builtin_addressof(values))...};
        return store_->batch.change_all(finder(), changes, given, "set");
    }
    template <fragment_argument F, class U>
    std::size_t set(const F& fragment, U&& value) const {
        return set(muster::with(fragment, std::forward<U>(value)));
    }
    /// Sets a tag, or the default value of a fragment with values. Throws `errc::no_default` if it
    /// has none.
    template <fragment_argument F>
    std::size_t set(const F& fragment) const {
        world_.require();
        const std::uint64_t all[] = {id_type(fragment).value()};
        return store_->batch.put_defaults(finder(), change_kind::put, all, "set");
    }
    /// Adds default values of these to entities that do not have them.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    std::size_t add() const {
        world_.require();
        const std::uint64_t all[] = {store_->template ensure_fragment<Us>().id...};
        return store_->batch.put_defaults(finder(), change_kind::keep, all, "add");
    }
    template <fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    std::size_t add(const Fs&... fragments) const {
        const std::uint64_t all[] = {base::id_of(fragments).value()...};
        return store_->batch.put_defaults(finder(), change_kind::keep, all, "add");
    }
    /// Removes these from entities that have them.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    std::size_t remove() const {
        world_.require();
        const std::uint64_t all[] = {store_->template ensure_fragment<Us>().id...};
        return store_->batch.remove_all(finder(), all);
    }
    template <fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    std::size_t remove(const Fs&... fragments) const {
        const std::uint64_t all[] = {base::id_of(fragments).value()...};
        return store_->batch.remove_all(finder(), all);
    }
    std::size_t remove(std::span<const id_type> fragments) const {
        world_.require();
        array_list<std::uint64_t> all;
        for (const id_type f : fragments) all.push_back(f.value());
        return store_->batch.remove_all(finder(), {all.data(), all.size()});
    }
    /// Removes all components of each entity. The entities stay alive.
    std::size_t clear() const {
        world_.require();
        const change_shape all[] = {{nullptr, change_kind::clear}};
        return store_->batch.change_all(finder(), all, {}, "clear");
    }
    /// Destroys each entity. Keeps world-owned ids, which are the fragments of C++ types. Destroys
    /// user-defined fragments separately, after the other entities.
    std::size_t destroy(std::source_location where = std::source_location::current()) const {
        world_.require();
        const change_shape all[] = {{nullptr, change_kind::destroy}};
        return store_->batch.change_all(finder(), all, {}, "destroy", where);
    }

protected:
    using base::base;
    using base::finder;
    using base::store_;
    using base::world_;
};

/// The batch calls of a query of a const world: the compiler refuses each with one sentence.
template <class Layout, class State>
class query_batch<const Layout, State> : public State {
public:
    template <class... Us>
    std::size_t set(const Us&...) const {
        return refuse<Us...>();
    }
    template <class... Us, class... Fs>
    std::size_t add(const Fs&...) const {
        return refuse<Us..., Fs...>();
    }
    template <class... Us, class... Fs>
    std::size_t remove(const Fs&...) const {
        return refuse<Us..., Fs...>();
    }
    template <class... Us>
    std::size_t clear() const {
        return refuse<Us...>();
    }
    template <class... Us>
    std::size_t destroy() const {
        return refuse<Us...>();
    }

protected:
    using State::State;

private:
    template <class... Us>
    static std::size_t refuse() {
        static_assert(sizeof...(Us) > ~std::size_t{0} - 1,
                      "muster: this query is of a const world and cannot change entities.");
        return 0;
    }
};

}  // namespace MUSTER_NAMESPACE::detail
