// link_query: queries with conditions on links, with an order that depends on links, or with components of
// other entities.
//
//     w.query<const health>().to<member_of>(guild).each(...)
//     w.query<world_pos, const local_pos, up<const world_pos>>().top_down().each(...)
//
// The files of such a query, from the inside to the outside:
//
//     link_conditions    what it asks of links             far_term        components of other entities, loops
//     link_test          one condition during a walk       link_state      conditions and order, without types
//     link_search        the matching entities             link_terms      the calls that make such a query
//     link_walk          their order, in blocks            link_iterator   range-based loops
#pragma once

#include <muster/query/query.hpp>
#include <muster/relation/far_term.hpp>
#include <muster/relation/link_iterator.hpp>
#include <muster/relation/link_state.hpp>
#include <muster/relation/link_terms.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// A query with conditions on links, as a value; see `basic_query` for everything that is not mentioned
/// here. `to`, `under`, the orders and arguments such as `up<const T>` make one.
///
/// Loops visit entities by chunk, then by row, as those of other queries. If the components have at least as
/// many entities as a condition has sources, they visit its sources instead: those of the target in the order in
/// which they were related to it; those of a join target by target, in the order of the joined query;
/// those below a root each before those below it. Targets and joined queries are evaluated when a loop
/// begins. So `each` costs O(entities of the smaller side), as do `count`, `first` and `empty`.
template <class Layout, class... Ts>
class basic_link_query
    : public detail::query_refining<basic_link_query<Layout, Ts...>,
                                    detail::query_batch<Layout, detail::link_state<Layout>>>,
      public detail::query_reducing<basic_link_query<Layout, Ts...>>,
      public detail::link_terms<basic_link_query<Layout, Ts...>> {
    using base = detail::query_refining<basic_link_query,
                                        detail::query_batch<Layout, detail::link_state<Layout>>>;
    using state = detail::link_state<Layout>;
    using world_type = detail::query_world<Layout>;
    using layout = typename world_type::layout;
    using store_type = typename world_type::store_type;
    using loop = detail::query_loop<layout, Ts...>;

public:
    using id_type = basic_id<layout>;

    /// Creates the null query. Assign a query of a world to it.
    basic_link_query() noexcept = default;

    // ---- loops ---------------------------------------------------------------------------------

    /// Calls `callback(components...)` or `callback(entity, components...)` for each entity.
    template <class Callback>
    void each(Callback&& callback) const {
        if constexpr (!loop::template takes_row<Callback>) loop::template refuse<Callback>();
        detail::link_walk all = start();
        typename world_type::open_scope changes(*store_);
        [[maybe_unused]] typename world_type::closing guard{changes};
        detail::link_loop<layout, Ts...>::run(*store_, all, callback);
        guard.is_done = true;
        changes.commit();
    }
    /// Calls `callback(components..., single<T>...)`; see `basic_query::each`.
    template <class Callback>
        requires detail::takes_world_arguments<std::decay_t<Callback>>
    void each(Callback&& callback) const {
        world_.require();
        detail::supply_values<Layout>(*store_, true, callback, [&](auto& row) { each(row); });
    }

    /// Calls `callback(chunk_view)` for each run of matching entities in adjacent rows of a chunk. An entity
    /// that has only sparse fragments is a run of its own.
    template <class Callback>
    void each_chunk(Callback&& callback) const {
        constexpr bool fits = std::is_invocable_v<Callback&, basic_rows<Layout>>;
        static_assert(fits,
                      "muster: the callback of each_chunk takes a chunk_view or, if the world is "
                      "const, a const_chunk_view.");
        world_.require();
        detail::link_walk all(state::asked());
        typename world_type::scope changes(*store_);
        while (all.next())
            detail::each_run(
                *store_, all,
                [&](const detail::chunk_data* owner, std::size_t first, std::size_t count,
                    const id_type* ids) {
                    if constexpr (fits)
                        callback(basic_rows<Layout>(*store_, owner, first, count, ids));
                });
        changes.commit();
    }

    /// Like `each`, on several threads; see `basic_query::par_each`. With `top_down` or `bottom_up`, a level
    /// begins when the one before it is done, so the result does not depend on the number of threads.
    /// Threads divide the rows of each level, up to level 62. One thread visits everything else; and all, if
    /// the callback may write components of targets, or without an order by levels, a component that it
    /// reads of targets.
    template <class Callback>
    void par_each(Callback&& callback) const {
        if constexpr (may_divide<Callback>())
            divide(detail::parallel_header<Callback>::default_executor(), 0, callback);
    }
    template <class Callback>
    void par_each(executor& threads, std::size_t grain, Callback&& callback) const {
        if constexpr (may_divide<Callback>()) divide(threads, grain, callback);
    }
    template <class Callback>
        requires detail::takes_world_arguments<std::decay_t<Callback>>
    void par_each(Callback&& callback) const {
        world_.require();
        detail::supply_values<Layout>(*store_, true, callback, [&](auto& row) { par_each(row); });
    }
    template <class Callback>
        requires detail::takes_world_arguments<std::decay_t<Callback>>
    void par_each(executor& threads, std::size_t grain, Callback&& callback) const {
        world_.require();
        detail::supply_values<Layout>(*store_, true, callback,
                                      [&](auto& row) { par_each(threads, grain, row); });
    }

    using iterator = detail::link_iterator<Layout, Ts...>;
    using sentinel = detail::query_sentinel;
    /// `for (auto [e, p, v] : q)`; each element is a tuple of the entity and its components.
    [[nodiscard]] iterator begin() const {
        detail::link_walk all = start();
        return iterator(*store_, std::move(all));
    }
    [[nodiscard]] sentinel end() const noexcept { return {}; }

    // ---- results -------------------------------------------------------------------------------

    /// O(entities of the smaller side).
    [[nodiscard]] std::size_t count() const {
        world_.require();
        std::size_t sum = 0;
        for (detail::link_walk all(state::asked()); all.next();) sum += all.now().size;
        return sum;
    }
    [[nodiscard]] bool empty() const { return !first(); }
    /// Returns the first entity of a loop, or the null id.
    [[nodiscard]] id_type first() const {
        world_.require();
        detail::link_walk all(state::asked());
        return all.next() ? detail::to_id<layout>(all.id_at(0)) : id_type();
    }

private:
    template <class>
    friend class basic_world;
    template <class>
    friend class basic_system;
    template <class>
    friend class detail::link_terms;
    template <class, class...>
    friend class basic_query;

    template <class, class, class, class>
    friend struct detail::system_body;
    friend class detail::query_reducing<basic_link_query>;

    static constexpr std::size_t arguments = sizeof...(Ts);

    using state::store_;
    using state::world_;

    explicit basic_link_query(const detail::query_state<Layout>& query) : base(query) {}
    basic_link_query(store_type& store, detail::query_cache& cache) : base(store, cache) {
        static_assert(
            detail::all_differ<detail::term_key<Ts>...>,
            "muster: a query names each component type only once, whether const, optional "
            "or not.");
        static_assert(
            !world_type::is_const || (... && !detail::term_traits<Ts>::is_written),
            "muster: this world is const, so its queries only read: take const components, "
            "such as query<const position>() or up<const position>.");
        (add_argument<Ts>(), ...);
    }

    template <class T>
    void add_argument() {
        using argument = detail::term_traits<T>;
        using kind = detail::link_condition::kind;
        if constexpr (detail::is_far<T>) {
            using far = detail::far_traits<T>;
            const detail::term_name by =
                this->template relation_name<typename far::relation>("query");
            const detail::term_name component =
                state::template ensure_typed<typename argument::type>();
            if constexpr (!argument::is_optional)
                state::add_link({.what = far::is_above ? kind::above : kind::of_target,
                                 .relation = by,
                                 .component = component,
                                 .is_read = !argument::is_written});
        } else {
            state::template add_shown<typename argument::type>(
                argument::is_optional ? detail::term_kind::optional : detail::term_kind::with,
                argument::is_written);
        }
    }

    template <class Callback>
    static consteval bool may_divide() {
        constexpr bool is_mutable = !world_type::is_const || sizeof(Callback) == 0;
        static_assert(
            is_mutable,
            "muster: par_each and par_reduce record changes, so they need a world that is "
            "not const.");
        if constexpr (is_mutable)
            return detail::has_parallel_header<Callback>();
        else
            return false;
    }
    /// Whether threads may visit the rows of a part at the same time. No other thread may write a component
    /// of the target meanwhile: at most those of other levels.
    [[nodiscard]] bool is_divisible() const noexcept { return (... && allows_division<Ts>()); }
    template <class T>
    [[nodiscard]] bool allows_division() const noexcept {
        constexpr bool is_far = detail::is_far<T>;
        if constexpr (is_far && detail::term_traits<T>::is_written) {
            return false;
        } else if constexpr (is_far && detail::is_written_by<T, Ts...>) {
            using relation = typename detail::far_traits<T>::relation;
            return state::is_level_order(detail::ensure_type_index<relation>());
        } else {
            return true;
        }
    }
    /// Runs a phase for each level, and one for all entities that are not in rows of a level.
    template <class Callback>
    void divide(executor& threads, std::size_t grain, Callback& callback) const {
        if constexpr (!loop::template takes_row<Callback>) loop::template refuse<Callback>();
        detail::link_walk all = start();
        if (store_->gate.is_parallel()) return show(all, callback);  // divides rows only once
        typename world_type::scope changes(*store_);
        if (!detail::is_divisible_callback<Callback> || !is_divisible()) {
            auto show_all = [&] { show(all, callback); };
            detail::parallel_header<Callback>::run(*store_, *state::cache_, threads, grain,
                                                   shared_rows(), show_all);
            return changes.commit();
        }
        while (all.next_part()) {
            auto show_part = [&] {
                if (all.part().list == nullptr) return show(all, callback);
                detail::part_walk mine(all.part(), store_);
                show(mine, callback);
            };
            detail::parallel_header<Callback>::run(*store_, *state::cache_, threads, grain,
                                                   all.part(), show_part);
        }
        changes.commit();
    }
    template <class Walk, class Callback>
    void show(Walk& walk, Callback& callback) const {
        detail::link_loop<layout, Ts...>::run(*store_, walk, callback);
    }
    /// `par_reduce`: one part, on this thread.
    template <class Value, class Function, class Combine>
    void reduce_parts(executor&, Value& value, Function& function, Combine&) const {
        detail::reducer<Value, Function> visit{function, value};
        each(visit);
    }
    /// The rows that the phase of a system divides: none.
    [[nodiscard]] static detail::shared_rows shared_rows() noexcept { return {}; }
    /// Starts a loop that may write the components.
    [[nodiscard]] detail::link_walk start() const {
        world_.require();
        (store_->template check_access<typename detail::term_traits<Ts>::type>(
             detail::term_traits<Ts>::is_written),
         ...);
        if constexpr (!world_type::is_const)
            if (store_->gate.is_tracking()) (mark_written<Ts>(), ...);
        return detail::link_walk(state::asked(false));
    }
    /// Marks all values of a component that a loop may write; see `write_tracker`.
    template <class T>
    void mark_written() const noexcept {
        if constexpr (detail::term_traits<T>::is_written) {
            const detail::fragment_data& fragment =
                store_->template find_fragment<typename detail::term_traits<T>::type>();
            if (fragment.sparse_values != nullptr) store_->writes.mark(fragment, {});
            for (const detail::chunk_index owner : fragment.chunks)
                store_->writes.mark(fragment, owner);
        }
    }
};

/// A query with arguments that are components of other entities.
template <class Layout, class... Ts>
    requires(... || detail::is_far<Ts>)
class basic_query<Layout, Ts...> : public basic_link_query<Layout, Ts...> {
    using base = basic_link_query<Layout, Ts...>;

public:
    basic_query() noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): the calls of a query return its base
    basic_query(const base& query) : base(query) {}

private:
    template <class>
    friend class basic_world;
    template <class>
    friend class basic_system;
    template <class, class, class, class>
    friend struct detail::system_body;
    using base::base;
};

template <class... Ts>
using link_query = basic_link_query<layouts::bound, Ts...>;

}  // namespace MUSTER_NAMESPACE
