// query: finds the entities that have certain components, and loops over them.
//
//     w.query<position, const velocity>().without<frozen>().each(
//         [](position& p, const velocity& v) { p.x += v.x; });
//
// The files of a query, from the inside to the outside:
//
//     terms         its conditions              query_state   terms, store and list, without types
//     query_cache   lists of matching chunks    query_batch   changes of all matching entities
//     walk          sparse fragments            query_loop    loops over rows, the iterator
#pragma once

#include <muster/query/query_batch.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/query/query_function.hpp>
#include <muster/query/query_loop.hpp>
#include <muster/query/query_reduction.hpp>
#include <muster/query/query_refining.hpp>
#include <muster/query/term_traits.hpp>
#include <muster/query/walk.hpp>
#include <muster/store/store.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace MUSTER_NAMESPACE {

class executor;
template <class Layout>
class basic_rows;

namespace detail {

template <class, class, class, class>
struct system_body;

/// The calls that concern links, in <muster/relation/link_query.hpp>.
template <class Query>
class link_terms;

/// Refuses a call whose definition is in <muster/system/parallel.hpp> if the file does not include it.
template <class Call>
consteval bool has_parallel_header() {
    constexpr bool is_included = requires { sizeof(parallel_header<Call>); };
    static_assert(is_included,
                  "muster: calls that begin with par_ need #include <muster/system/parallel.hpp>.");
    return is_included;
}

}  // namespace detail

/// A query of a world, as a value: copy it, store it, run it again. The world caches the chunks
/// that match and checks only new chunks. Equal queries share this list, which is created on first
/// use. A query may outlive its world; every call then throws `errc::world_ended`. Every call of a
/// null query throws `errc::null_handle`.
///
/// Loops visit entities by chunk, in order of chunk creation, then by row. They skip entities with
/// a hidden fragment, unless the query names the fragment, and entities without components. If the
/// query requires sparse fragments, entities come in the slot order of the smallest one, unless the
/// other required components have fewer entities. Entities that have only sparse fragments come
/// last.
///
/// A loop opens a scope: changes to the world are recorded and applied at the end. So the loop
/// visits every entity that matched at its beginning exactly once. If an exception leaves the loop,
/// the changes are dropped. All calls require exclusive access to the world, like changes. They may
/// also be called in a parallel phase, except for changes of all matching entities, and for terms
/// of a type that was never used, which throw `errc::in_scope`.
///
/// `const Layout` is a query of a const world: all components are const, and it changes nothing. Its
/// loops open no scope, so their callbacks must not change the world either. It does not create the
/// fragment of a type that the world has not used: no entity has it. Any threads may call it at the
/// same time.
template <class Layout, class... Ts>
class basic_query
    : public detail::query_refining<basic_query<Layout, Ts...>, detail::query_batch<Layout>>,
      public detail::query_reducing<basic_query<Layout, Ts...>>,
      public detail::link_terms<basic_query<Layout, Ts...>> {
    using base = detail::query_refining<basic_query, detail::query_batch<Layout>>;
    using state = detail::query_state<Layout>;
    using world_type = detail::query_world<Layout>;
    using layout = typename world_type::layout;
    using store_type = typename world_type::store_type;
    using loop = detail::query_loop<layout, Ts...>;
    template <class T>
    using argument = detail::term_traits<T>;
    static_assert((... && detail::is_component<typename argument<Ts>::type>));

public:
    using id_type = basic_id<layout>;

    /// Creates the null query. Assign a query of a world to it.
    basic_query() noexcept = default;

    // ---- loops ---------------------------------------------------------------------------------

    /// Calls `callback(components...)` or `callback(entity, components...)` for each entity.
    /// O(matching entities).
    // Inlined, and without a lambda of its own, so that captures by reference can stay in registers
    // during the loop.
    template <class Callback>
    [[gnu::always_inline]] void each(Callback&& callback) const {
        if constexpr (!loop::template takes_row<Callback>) loop::template refuse<Callback>();
        const detail::chunk_range all = chunks_to_loop();
        here_type here = all.is_plain ? here_type() : start<here_type>();
        detail::walk<layout>* const walk = here.get();
        typename world_type::open_scope changes(*store_);
        [[maybe_unused]] typename world_type::closing guard{changes};
        // These pointers stay valid: the scope defers the destruction of fragments.
        const detail::fragment_data* const fragments[] = {
            &store_->template find_fragment<typename argument<Ts>::type>()..., nullptr};
        loop::run(walk, all, fragments, callback);
        guard.is_done = true;
        changes.commit();
    }
    /// Calls `callback(components..., single<T>...)`. A singleton that is not set throws
    /// `errc::missing_component` before the first entity.
    template <class Callback>
        requires detail::takes_world_arguments<std::decay_t<Callback>>
    void each(Callback&& callback) const {
        world_.require();
        detail::supply_values<Layout>(*store_, true, callback, [&](auto& row) { each(row); });
    }

    template <class Query = basic_query>
    [[nodiscard]] Query each() const {
        static_assert(!std::is_same_v<Query, basic_query>,
                      "muster: a query is a range itself: write for (auto [e, p] : query).");
        return *this;
    }

    /// Calls `callback(chunk_view)` for each chunk that has entities. With sparse fragments, calls
    /// it for each run of entities whose components are adjacent.
    template <class Callback>
    void each_chunk(Callback&& callback) const {
        constexpr bool fits = std::is_invocable_v<Callback&, basic_rows<Layout>>;
        static_assert(fits,
                      "muster: the callback of each_chunk takes a chunk_view or, if the world is "
                      "const, a const_chunk_view.");
        const detail::chunk_range all = chunks();
        here_type here = all.is_plain ? here_type() : start_rows();
        typename world_type::scope changes(*store_);
        detail::each_sequence(here.get(), all,
                              [&](const detail::chunk_data* chunk, std::size_t first,
                                  std::size_t count, const id_type* ids) {
                                  const basic_rows<Layout> rows(*store_, chunk, first, count, ids);
                                  if constexpr (fits) callback(rows);
                              });
        changes.commit();
    }

    /// Like `each`, on the threads of an executor, by default those of oneTBB. Requires the header
    /// <muster/system/parallel.hpp>. A thread takes `grain` rows at a time. A `grain` of 0 adapts
    /// the number at run time, and keeps a loop of a few microseconds on the calling thread.
    ///
    /// Several threads call `callback` at the same time, so its captures must be safe to share. It
    /// may write through its arguments, read whatever no thread writes, and change the world by
    /// `spawn`, `destroy`, `set`, `add`, `emplace`, `patch`, `touch`, `remove` and `clear`. These
    /// changes are recorded and applied at the end, in the order of `each`. Ids from `spawn` are
    /// alive immediately, for all threads; their numbers may depend on timing. All other changes
    /// throw `errc::in_scope`.
    ///
    /// If `callback` throws, all threads stop, recorded changes are dropped, and spawned ids are
    /// dead. The first of the caught exceptions, in row order, is rethrown. Writes through
    /// references stay. Requires exclusive access, like `each`.
    template <class Callback>
    void par_each(Callback&& callback) const {
        if constexpr (may_divide<Callback>()) divide(callback);
    }
    template <class Callback>
    void par_each(executor& threads, std::size_t grain, Callback&& callback) const {
        if constexpr (may_divide<Callback>()) divide(threads, grain, callback);
    }
    /// A loop whose callback takes `single<T>`, not `single<const T>`, is not divided.
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

    using iterator = detail::query_iterator<Layout, Ts...>;
    using sentinel = detail::query_sentinel;
    /// `for (auto [e, p, v] : q)`; each element is a tuple of the entity and its components.
    [[nodiscard]] iterator begin() const {
        const detail::chunk_range all = chunks_to_loop();
        using walk_type = detail::walk_of<layout>;
        return iterator(*store_, all, all.is_plain ? walk_type() : start<walk_type>());
    }
    [[nodiscard]] sentinel end() const noexcept { return {}; }

    // ---- results -------------------------------------------------------------------------------

    /// O(matching chunks). With sparse fragments, O(entities of the smaller side); see `walk`.
    [[nodiscard]] std::size_t count() const { return state::count_in(chunks()); }
    [[nodiscard]] bool empty() const { return !first(); }
    /// Returns the first entity, or the null id.
    [[nodiscard]] id_type first() const { return state::first_in(chunks()); }

private:
    template <class>
    friend class basic_world;
    template <class, class...>
    friend class basic_query;
    template <class, class...>
    friend class basic_observer;
    template <class>
    friend class basic_system;
    template <class, class, class, class>
    friend struct detail::system_body;
    friend class detail::query_reducing<basic_query>;

    static constexpr std::size_t arguments = sizeof...(Ts);

    using base::store_;
    using state::add_terms;
    using state::cache_;
    using state::has_no_terms;
    using state::id_of;
    using state::list;
    using state::list_;
    using state::shared_list;
    using state::start_rows;
    using state::terms_;
    using state::world_;
    using typename state::here_type;

    basic_query(store_type& store, detail::query_cache& cache) : base(store, cache) {
        // Here and not in the class: clang would also report the calls of an invalid class.
        static_assert(
            detail::all_differ<typename argument<Ts>::type...>,
            "muster: a query names each component type only once, whether const, optional or "
            "not.");
        static_assert(
            !world_type::is_const || (... && !argument<Ts>::is_written),
            "muster: this world is const, so its queries only read: take const components, "
            "such as query<const position>() or const position&.");
        (state::template add_shown<typename argument<Ts>::type>(
             argument<Ts>::is_optional ? detail::term_kind::optional : detail::term_kind::with,
             argument<Ts>::is_written),
         ...);
    }

    /// Marks the columns that a loop may write; see `write_tracker`.
    void mark_written(const detail::chunk_range& all) const {
        (mark_written(all, store_->template find_fragment<typename argument<Ts>::type>(),
                      argument<Ts>::is_written),
         ...);
    }
    void mark_written(const detail::chunk_range& all, const detail::fragment_data& fragment,
                      bool is_written) const noexcept {
        if (!is_written) return;
        if (fragment.sparse_values != nullptr) store_->writes.mark(fragment, {});
        for (const detail::chunk_data* chunk : all) store_->writes.mark(fragment, chunk->index);
    }

    /// Loops open their scope only after this call. So if no scope is open, no loop uses a list.
    [[nodiscard]] detail::chunk_range chunks() const {
        world_.require();
        if constexpr (world_type::is_const)
            return const_chunks();
        else if (store_->gate.is_parallel()) [[unlikely]]
            return shared_chunks();
        else
            return cache_->read(list(), store_->depth() != 0);
    }
    /// Like `chunks`, for a loop that may write the components.
    [[nodiscard]] detail::chunk_range chunks_to_loop() const {
        world_.require();
        if constexpr (world_type::is_const)
            return const_chunks();
        else if (store_->gate.concerns_loops()) [[unlikely]]
            return chunks_to_mark();
        else
            return cache_->read(list(), store_->depth() != 0);
    }
    /// Like `chunks`, for a const world.
    [[nodiscard, gnu::noinline]] detail::chunk_range const_chunks() const {
        (store_->template check_access<typename argument<Ts>::type>(false), ...);
        return detail::query_cache::range_of(shared_list());
    }
    [[nodiscard, gnu::noinline]] detail::chunk_range chunks_to_mark() const {
        const detail::chunk_range all = chunks();
        if (store_->gate.is_tracking()) mark_written(all);
        return all;
    }
    /// Like `chunks`, in a parallel phase: returns the window of this thread if the window belongs
    /// to this list, otherwise all matching chunks. Threads of the phase may call it at the same
    /// time.
    [[nodiscard, gnu::noinline]] detail::chunk_range shared_chunks() const {
        detail::match_list& mine = shared_list();
        if (detail::lane* const at = detail::find_lane(store_);
            at != nullptr && at->window.list == &mine) {
            const detail::row_window part = at->window;
            at->window = {};
            return {part.first, part.last, true, part.from, part.to};
        }
        (store_->template check_access<typename argument<Ts>::type>(argument<Ts>::is_written), ...);
        return cache_->read(mine, true);
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
    /// `par_each`, defined in <muster/system/parallel.hpp>.
    template <class Callback>
    void divide(Callback& callback) const;
    template <class Callback>
    void divide(executor& threads, std::size_t grain, Callback& callback) const;
    /// `par_reduce`, defined in the same place.
    template <class Value, class Function, class Combine>
    void reduce_parts(executor& threads, Value& value, Function& function, Combine& combine) const;
    /// The rows of `par_each` to divide among threads: none if the callback writes a singleton.
    template <class Callback>
    [[nodiscard]] detail::shared_rows rows_for() const {
        if constexpr (detail::is_divisible_callback<Callback>)
            return shared_rows();
        else
            return {};
    }
    /// The rows to divide among threads. A query with sparse fragments is not divided.
    [[nodiscard]] detail::shared_rows shared_rows() const {
        const detail::chunk_range all = chunks();
        return {all.is_plain ? &list() : nullptr, all};
    }
    template <class Walk>
    [[nodiscard]] Walk start() const {
        const detail::fragment_data* const wanted[] = {
            &store_->template find_fragment<typename argument<Ts>::type>()..., nullptr};
        return state::template start_for<Walk>({wanted, sizeof...(Ts)});
    }
};
template <class... Ts>
using query = basic_query<layouts::bound, Ts...>;

/// A query of a const world.
template <class... Ts>
using const_query = basic_query<const layouts::bound, Ts...>;

}  // namespace MUSTER_NAMESPACE
