// entity_calls: the calls of a world that list, destroy and name entities, and that manage memory.
// spawn_calls.hpp creates entities.
#pragma once

#include <muster/world/world_base.hpp>

#include <muster/entity/name_table.hpp>
#include <muster/event/event_log.hpp>
#include <muster/id/living_iterator.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace MUSTER_NAMESPACE {

/// The calls of a world for living entities, their names, and memory.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class entity_calls : public detail::world_base<Layout> {
    using store_type = detail::store<Layout>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;

    // ---- living entities -----------------------------------------------------------------------

    /// Returns whether `e` is alive. O(1), one load. Never throws.
    [[nodiscard]] bool alive(id_type e) const noexcept { return store_.alive(e); }
    /// Returns whether all of these ids are alive. Never throws.
    template <class... Ids>
    [[nodiscard]] bool alive_all(const Ids&... es) const noexcept {
        return (... && alive(es));
    }
    /// Returns whether at least one of these ids is alive. Never throws.
    template <class... Ids>
    [[nodiscard]] bool alive_any(const Ids&... es) const noexcept {
        return (... || alive(es));
    }
    /// Returns whether `e` has no components; true for an id that is not alive.
    [[nodiscard]] bool empty(id_type e) const noexcept {
        return !store_.alive(e) || !store_.components.has_any(e.value());
    }
    /// Returns the number of living entities, without the world-owned ids of component types.
    [[nodiscard]] std::size_t size() const noexcept { return store_.size(); }

    using entity_iterator = detail::living_iterator<store_type, id_type>;
    class entity_range;
    /// Returns all living entities, ordered by key: `for (entity e : w.entities())`. The world may
    /// change during the loop: an iterator stores a key, not an address, and advances to the next
    /// key that is alive by then. In a phase, ids that the phase creates may be missing. The range is
    /// empty after the end of the world; its iterators must not be used any more.
    [[nodiscard]] entity_range entities() const noexcept { return entity_range(store_); }

    // ---- destroying entities -------------------------------------------------------------------

    /// Destroys `e`, so that no copy of its id is alive any more. Returns false if it was not
    /// alive. O(components of `e`).
    ///
    /// If `e` is a fragment, also removes it from all entities that have it, or destroys these; see
    /// `basic_definition::when_destroyed`. All or nothing. The next use of a component type creates
    /// a new fragment. O(owners, and fragments of the chunks that had it), however many other chunks
    /// and fragments there are. Recorded in a phase.
    bool destroy(at_type e) { return store_.destroy(e); }

    /// Destroys several entities. Returns how many were alive when their turn came; an entity that
    /// died with another does not count. In a scope, and in a world with hooks or observers, all
    /// that were alive before the call count. If an id is of another world, throws
    /// `errc::foreign_entity` and destroys none. If memory runs out, destroys none, or goes on after
    /// an entity whose destruction fails: a fragment, or an entity with hooks. Costs as much as the
    /// calls for each of them. Recorded in a phase.
    template <class... Ids>
        requires(sizeof...(Ids) > 0)
    std::size_t destroy(at_type first, const Ids&... others) {
        const id_type all[] = {first.id, id_type(others)...};
        return store_.destroy(all, first.where);
    }
    /// Like `destroy` of several ids, for an array of ids.
    std::size_t destroy(std::span<const id_type> all,
                        std::source_location where = std::source_location::current()) {
        return store_.destroy(all, where);
    }

    /// Destroys all entities for which `predicate(entity)` returns true, and returns their number.
    /// Calls `predicate` for all entities first, so that it sees the unchanged world and may throw;
    /// it does not see entities that it creates. An exception later does not stop the others, as for `destroy` of several. O(keys). Refused in
    /// a phase.
    template <class Predicate>
    std::size_t destroy_if(Predicate&& predicate,
                           std::source_location where = std::source_location::current()) {
        std::vector<id_type> chosen;
        store_.gate.refuse_in_phase("destroy_if");
        typename store_type::scope changes(store_);
        constexpr bool fits = std::is_invocable_r_v<bool, Predicate&, id_type>;
        static_assert(fits, "muster: the predicate of destroy_if takes (entity) and returns bool.");
        chosen.reserve(size());
        for (const id_type e : entities()) chosen.push_back(e);  // not those that it creates
        std::size_t kept = 0;
        if constexpr (fits)
            for (const id_type e : chosen)
                if (predicate(e)) chosen[kept++] = e;
        chosen.resize(kept);
        const std::size_t count = store_.destroy(chosen, where);
        changes.commit();
        return count;
    }

    /// Destroys all entities and all singletons. Keeps the world's number, the fragments of
    /// component types, their definitions and their hooks. Old handles stay dead. Throws
    /// `errc::in_scope` in a scope. An entity whose `on_remove` or `on_destroy` hook throws stays
    /// alive; the others are destroyed, and the first exception is rethrown. O(keys, values, chunks
    /// and their fragments). Refused in a phase.
    void reset(std::source_location where = std::source_location::current()) {
        const detail::writer_guard guard(store_, "reset");
        store_.gate.refuse_in_scope("reset");
        detail::event_logs::clear(store_);
        store_.destroyer.reset(where);
    }

    // ---- names ---------------------------------------------------------------------------------

    /// Sets the name of `e`, which error messages show. It need not be unique; an empty name
    /// removes the old name. O(log n), however many entities share the name. Refused in a phase.
    void name(at_type e, std::string_view name) {
        const detail::writer_guard guard(store_, "name");
        store_.catalog.name(e, name);
    }
    /// Returns the name of `e`; empty if it has none or is not alive. The view is valid until the
    /// name changes or the entity is destroyed. Never throws.
    [[nodiscard]] std::string_view name(id_type e) const noexcept {
        return store_.alive(e) ? store_.names.find(e.value()) : std::string_view{};
    }
    /// Returns the entity that received this name first, or the null id. O(log n). Never throws.
    [[nodiscard]] id_type lookup(std::string_view name) const noexcept {
        const auto* const found = store_.names.lookup(name);
        return found == nullptr ? id_type{} : detail::to_id<Layout>(found->id);
    }
    /// Returns all entities with this name, in the order in which they were named. O(log n), and
    /// O(entities with this name).
    [[nodiscard]] std::vector<id_type> lookup_all(std::string_view name) const {
        std::vector<id_type> made;
        for (const auto* found = store_.names.lookup(name); found != nullptr; found = found->next)
            made.push_back(detail::to_id<Layout>(found->id));
        return made;
    }

    // ---- memory --------------------------------------------------------------------------------

    /// Reserves records for `count` entities in all. Throws `errc::id_overflow` if there are fewer
    /// keys. Refused in a phase.
    void reserve(std::size_t count) { store_.reserve(count); }
    /// Reserves memory for `count` entities with exactly these components. Throws
    /// `errc::id_overflow`, or `errc::limit` beyond the rows of a chunk, before it allocates.
    template <class T, class... Ts>
    void reserve(std::size_t count) {
        store_.refuse_reserve(count);
        store_.reserve(store_.template ensure_chunk<T, Ts...>(), count);
        store_.reserve(count);
    }
    /// Makes keys that are parked as tombstones usable again and returns how many; see
    /// `id_pool::recycle_tombstones`. Throws `errc::in_scope` in a scope. Refused in a phase.
    std::size_t recycle_tombstones() {
        store_.gate.refuse_in_scope("recycle_tombstones");
        return store_.entities.recycle_tombstones();
    }
    /// Frees chunks without entities and unused memory, also that of ended command buffers. Throws
    /// `errc::in_scope` in a scope. Invalidates references, and handles of the chunks that it frees.
    /// O(chunks, their fragments, and keys with sparse values). Refused in a phase.
    void collect_garbage() { store_.collect_garbage(); }

protected:
    using detail::world_base<Layout>::world_base;
    using detail::world_base<Layout>::store_;
};

template <class Layout>
class entity_calls<Layout>::entity_range {
public:
    [[nodiscard]] entity_iterator begin() const noexcept {
        const store_type* const store = store_.find();
        return store == nullptr ? end() : entity_iterator(*store, store->next_after({}));
    }
    [[nodiscard]] entity_iterator end() const noexcept { return {}; }

private:
    friend class entity_calls;
    explicit entity_range(const store_type& from) noexcept : store_(from, from.life.ref()) {}
    detail::lifetime_ptr<const store_type> store_;
};

}  // namespace MUSTER_NAMESPACE
