// world: entities and their components. `basic_world` owns all parts and forwards to them: `store`
// moves entities between chunks, `storage` holds the chunks, `id` issues the ids.
//
// Rules for every call
//   failure        A call that throws an `error`, `std::bad_alloc` or an exception of a component's
//                  constructor leaves the world unchanged, unless its comment says otherwise. Only
//                  the fragment that the first use of a component type creates stays; its key
//                  comes from the top of the range.
//   bad ids        `alive`, `has`, `try_get`, `empty` and `name` accept any bits. `destroy`,
//                  `remove` and `clear` return false for a dead or null id and throw
//                  `errc::foreign_entity` for an id of another world. All other calls throw
//                  `errc::dead_entity` or `errc::foreign_entity`.
//   invalidation   Adding a fragment to an entity, or removing one, invalidates references to its
//                  components. Inserting an entity into a chunk, even by a call that fails,
//                  invalidates references into that chunk (columns may grow). So does removing an
//                  entity from it (the last row moves). Reading and assigning invalidate nothing.
//                  Sparse values keep their address; see `basic_definition::sparse`.
//   threads        Any threads may make const calls concurrently. Every other call needs exclusive
//                  access to the world. Writing through a reference writes that component only.
//   scopes         In a scope (after `defer`, in a loop, a callback or a hook) changes to entities
//                  are deferred until the outermost scope closes; see `defer`.
//   components     While a component's copy constructor or destructor runs, changes throw
//                  `errc::in_scope`; reading and naming are allowed. A move constructor must not
//                  use the world.
//
// With MUSTER_UNCHECKED, passing a dead entity to `get`, `set` and similar calls is undefined
// behaviour instead of an error. So is `get` of a missing component.
#pragma once

#include <muster/event/connection.hpp>
#include <muster/event/observer.hpp>
#include <muster/id/living_iterator.hpp>
#include <muster/query/query.hpp>
#include <muster/store/sparse_put.hpp>
#include <muster/store/store.hpp>
#include <muster/system/system.hpp>
#include <muster/type/component_type.hpp>
#include <muster/type/fragment.hpp>
#include <muster/world/builder.hpp>
#include <muster/world/chunk.hpp>
#include <muster/world/command_buffer.hpp>
#include <muster/world/definition.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iosfwd>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace muster {

/// A world: entities, their components, and the systems that process them. Neither copyable nor
/// movable. To use a custom layout, one source file of the program includes
/// <muster/world/instantiate.hpp> and expands MUSTER_INSTANTIATE(layout).
template <class Layout>
class basic_world {
    using store_type = detail::store<Layout>;
    template <class Arg>
    using bound_value = detail::bound_value<Arg>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;
    using chunk_type = basic_chunk<Layout>;
    using rows_type = basic_rows<Layout>;
    using builder_type = basic_builder<Layout>;
    template <class T>
    using fragment_type = basic_fragment<T, Layout>;

    /// Creates an empty world. For errors see `world_options`.
    explicit basic_world(const world_options& options = {}) : store_(options) {}
    /// Destroys all values and calls no hooks. Destructors of components may still query the world.
    ~basic_world() { store_.end(); }
    basic_world(const basic_world&) = delete;
    basic_world& operator=(const basic_world&) = delete;

    /// Returns the number of the world. It is never 0, and no other living world has it.
    [[nodiscard]] std::uint64_t number() const noexcept { return store_.number(); }
    /// Returns the number as text: "W:1".
    [[nodiscard]] friend std::string to_string(const basic_world& w) {
        return detail::text("W:", w.number());
    }
    /// Prints `to_string(w)`.
    template <class Traits>
    friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                        const basic_world& w) {
        return out << to_string(w).c_str();
    }

    // ---- creating entities ---------------------------------------------------------------------

    /// Creates an entity with these components: one per type or, with `with`, one per fragment.
    /// Throws `errc::id_overflow` if no key is left. O(components), amortised where columns grow.
    template <class... Ts>
    id_type spawn(Ts&&... values) {
        if constexpr (store_type::template all_typed<Ts...>)
            return store_.template spawn<Ts...>(bound_value<Ts>(values)...);
        else
            return store_.template spawn_given<Ts...>(bound_value<Ts>(values)...);
    }

    /// Like `spawn`, but creates exactly the id `wanted`. Throws as `id_pool::create_at` does.
    template <class... Ts>
    id_type spawn_at(id_type wanted, Ts&&... values) {
        return store_.template spawn_at<Ts...>(wanted, bound_value<Ts>(values)...);
    }

    /// Creates `count` entities with copies of these components; all or none. Returns the ids that
    /// `count` calls of `spawn` would return, in that order.
    template <class... Ts>
    std::vector<id_type> spawn_many(std::size_t count, const Ts&... values) {
        store_.prepare(count);  // `errc::id_overflow`, not the vector's length_error
        std::vector<id_type> made(count);
        spawn_into(std::span<id_type>(made), values...);
        return made;
    }

    /// Like `spawn_many`, but writes an id to each element of `out`. A failed call writes nothing
    /// to `out`.
    template <class... Ts>
    void spawn_into(std::span<id_type> out, const Ts&... values) {
        store_.prepare(out.size());
        const initial_values<Ts...> given(store_, 0, __builtin_addressof(values)...);
        store_.spawn_many(out, given.chunk, given);
    }

    /// Like `spawn_many`, but calls `fill(rows)` to set the values of each row before hooks see
    /// them. If `fill` throws, destroys the new entities.
    template <class Fill, class... Ts>
    void spawn_rows(std::size_t count, Fill&& fill, const Ts&... values) {
        static_assert(sizeof...(Ts) != 0, "muster: spawn_rows needs at least one component type.");
        store_.prepare(count);
        const initial_values<Ts...> given(store_, 0, __builtin_addressof(values)...);
        store_.spawn_rows(
            count, given.chunk, given, [&](const detail::chunk_data& into, std::size_t first) {
                // SAFETY: the column `ids` stores values of `id_type`.
                const auto* const all = reinterpret_cast<const id_type*>(into.ids.data) + first;
                std::forward<Fill>(fill)(rows_type(store_, &into, first, count, all));
            });
    }

    /// Creates an entity for each row of these columns (arrays, vectors, spans; one per component,
    /// of equal length): `w.spawn_columns(positions, velocities)`. All or none. Throws
    /// `errc::size_mismatch` if the lengths differ. Writes each value once: the fastest way to
    /// create many entities.
    template <class... Columns>
    std::vector<id_type> spawn_columns(const Columns&... columns) {
        constexpr bool fits = sizeof...(Columns) > 0 && (... && is_column<Columns>);
        static_assert(fits, "muster: spawn_columns takes at least one array, vector or span.");
        if constexpr (fits) {
            const std::size_t count = common_size(columns...);
            store_.prepare(count);
            std::vector<id_type> made(count);
            spawn_columns_into(std::span<id_type>(made), columns...);
            return made;
        } else {
            return {};
        }
    }
    /// Like `spawn_columns`, but writes the ids to `out`, which must have the length of the
    /// columns. A failed call writes nothing to `out`.
    template <class... Columns>
    void spawn_columns_into(std::span<id_type> out, const Columns&... columns) {
        (void)common_size(out, columns...);
        store_.prepare(out.size());
        const initial_values<element<Columns>...> given(store_, 1, std::data(columns)...);
        store_.spawn_many(out, given.chunk, given);
    }

    /// Creates a copy of `prototype`, in which `values` replace or extend the components of
    /// `prototype`. `values` need not be copyable. Throws `errc::not_copyable` if another component
    /// of `prototype` cannot be copied.
    template <class... Ts>
    id_type clone(at_type prototype, Ts&&... values) {
        return store_.template clone<Ts...>(prototype, bound_value<Ts>(values)...);
    }

    /// Like `clone`, but creates `count` copies; all or none.
    template <class... Ts>
    std::vector<id_type> clone_many(std::size_t count, at_type prototype, const Ts&... values) {
        (void)store_.require(prototype, "clone");
        store_.prepare(count);
        std::vector<id_type> made(count);
        clone_into(std::span<id_type>(made), prototype, values...);
        return made;
    }
    /// Like `clone_many`, but writes an id to each element of `out`.
    template <class... Ts>
    void clone_into(std::span<id_type> out, at_type prototype, const Ts&... values) {
        (void)store_.require(prototype, "clone");
        store_.prepare(out.size());
        const initial_values<Ts...> given(store_, 0, __builtin_addressof(values)...);
        store_.clone_many(out, prototype, given.chunk, given);
    }

    /// Returns an empty builder: a set of component values to create entities from, many times.
    [[nodiscard]] builder_type builder() noexcept { return builder_type(store_); }

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
        return !store_.alive(e) || !store_.has_any(e);
    }
    /// Returns the number of living entities, without the world-owned ids of component types.
    [[nodiscard]] std::size_t size() const noexcept { return store_.size(); }

    using entity_iterator = detail::living_iterator<store_type, id_type>;
    class entity_range;
    /// Returns all living entities, ordered by key: `for (entity e : w.entities())`. The world may
    /// change during the loop: an iterator stores a key, not an address, and advances to the next
    /// key that is alive by then.
    [[nodiscard]] entity_range entities() const noexcept { return entity_range(store_); }

    // ---- destroying entities -------------------------------------------------------------------

    /// Destroys `e`, so that no copy of its id is alive any more. Returns false if it was not
    /// alive. O(components of `e`).
    ///
    /// If `e` is a fragment, also removes it from all entities that have it, or destroys these; see
    /// `basic_definition::when_destroyed`. All or nothing. The next use of a component type creates
    /// a new fragment.
    bool destroy(at_type e) { return store_.destroy(e); }

    /// Destroys several entities. Returns how many were alive when their turn came; an entity that
    /// died with another does not count. In a scope, and in a world with hooks or observers, all
    /// that were alive before the call count. If an id is of another world, throws
    /// `errc::foreign_entity` and destroys none.
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
    /// Calls `predicate` for all entities first, so that it sees the unchanged world and may throw.
    /// O(keys).
    template <class Predicate>
    std::size_t destroy_if(Predicate&& predicate,
                           std::source_location where = std::source_location::current()) {
        std::vector<id_type> chosen;
        store_.refuse_in_phase("destroy_if");
        typename store_type::scope changes(store_);
        constexpr bool fits = std::is_invocable_r_v<bool, Predicate&, id_type>;
        static_assert(fits, "muster: the predicate of destroy_if takes (entity) and returns bool.");
        if constexpr (fits)
            for (const id_type e : entities())
                if (predicate(e)) chosen.push_back(e);
        const std::size_t count = store_.destroy(chosen, where);
        changes.commit();
        return count;
    }

    /// Destroys all entities and all singletons. Keeps the world's number, the fragments of
    /// component types, their definitions and their hooks. Old handles stay dead. Throws
    /// `errc::in_scope` in a scope. An entity whose `on_remove` or `on_destroy` hook throws stays
    /// alive; the others are destroyed, and the first exception is rethrown.
    void reset(std::source_location where = std::source_location::current()) {
        store_.reset(where);
    }

    // ---- components ----------------------------------------------------------------------------

    /// Adds these components to `e`, or assigns those that it has, all in one move. Values may lie
    /// in this world. O(components of `e`) if a component is new, else O(values).
    template <class... Ts>
        requires(sizeof...(Ts) > 0 && !(... || detail::fragment_argument<Ts>))
    void set(at_type e, Ts&&... values) {
        store_.template put<store_type::if_present::replace, Ts...>(e, "set",
                                                                    bound_value<Ts>(values)...);
    }

    /// Adds default values (see `define`) of those types that `e` does not have. Returns false if
    /// it has all of them. Throws `errc::no_default` if a type has no default value.
    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    bool add(at_type e) {
        static_assert((... && detail::is_component<Ts>));
        if (store_.is_parallel()) [[unlikely]] {
            const detail::fragment_name all[] = {detail::fragment_name::of<Ts>()...};
            return store_.share_default(e, detail::recorded_kind::add_default, all, "add");
        }
        if constexpr ((... || detail::is_pinned<Ts>)) {  // cannot be moved: constructed in place
            const id_type all[] = {component<Ts>()...};
            return store_.add_defaults(e, all, "add");
        } else
            return store_.template put<store_type::if_present::skip, Ts...>(
                e, "add", bound_value<Ts>(store_.template default_value<Ts>())...);
    }

    /// Constructs a T from `args` and sets it. Returns a reference to it; in a scope, to the
    /// pending value.
    template <class T, class... Args>
    T& emplace(at_type e, Args&&... args) {
        return emplace_as<T>("emplace", e, std::forward<Args>(args)...);
    }

    /// Like `emplace` by type, for a fragment.
    template <class T, class... Args>
    T& emplace(at_type e, fragment_type<T> fragment, Args&&... args) {
        if constexpr (detail::is_pinned<T>)
            make_sparse<T>(e, store_.template ensure_fragment<T>(fragment.id(), &e.where),
                           "emplace", std::forward<Args>(args)...);
        else
            put(e, with(fragment, T(std::forward<Args>(args)...)));
        return store_.template placed<T>(e, store_.find_fragment(fragment.id()), "emplace");
    }

    /// Returns the T of `e`; if it has none, constructs it from `args`. Throws `errc::in_scope` if
    /// T is missing and a scope is open.
    template <class T, class... Args>
    T& get_or_emplace(at_type e, Args&&... args) {
        if (T* const found = store_.template find_value<T>(e.id)) return *found;
        store_.refuse_in_phase("get_or_emplace of a missing component");
        (void)store_.require(e, "get_or_emplace");
        store_.refuse_in_scope("get_or_emplace of a missing component");
        return emplace_as<T>("get_or_emplace", e, std::forward<Args>(args)...);
    }

    /// Calls `change(T&)` on the T of `e`, then the hooks `on_assign` and `on_set`. In a scope,
    /// calls `change` immediately, on the value pending in that scope or on a copy, which is
    /// assigned when the scope closes. Throws `errc::missing_component` if `e` has no T, and
    /// `errc::not_copyable` if a copy is needed and impossible. If `change` or a hook throws, what
    /// `change` has written stays.
    template <class T, class Change>
    T& patch(at_type e, Change&& change) {
        if (store_.depth() == 0) (void)store_.template get<T>(e);
        return store_.template patch<T>(e, store_.template find_fragment<T>(),
                                        std::forward<Change>(change));
    }

    /// Appends `values` with `push_back` to a component that is a container, then calls the hooks,
    /// as `patch` does. If `e` has no T, appends them to its default value and adds that.
    template <class T, class... Values>
    T& append(at_type e, Values&&... values) {
        const auto append_all = [&](T& all) { (all.push_back(std::forward<Values>(values)), ...); };
        if (store_.will_have(e, store_.template find_fragment<T>(), "append"))
            return patch<T>(e, append_all);
        T made = store_.template default_value<T>();
        append_all(made);
        return emplace_as<T>("append", e, std::move(made));
    }

    /// Calls the hooks as if the T of `e` had been assigned; for use after a write through a
    /// reference. Throws `errc::missing_component` if `e` has no T.
    template <class T>
    void touch(at_type e) {
        store_.touch(e, store_.template find_fragment<T>(), detail::type_name<T>());
    }

    /// Returns the T of `e`; for several types, a tuple of references. Throws
    /// `errc::missing_component` if `e` does not have it. O(1).
    template <class T>
    [[nodiscard]] T& get(at_type e) {
        store_.template check_access<T>(true);
        return store_.template get<T>(e);
    }
    template <class T>
    [[nodiscard]] const T& get(at_type e) const {
        store_.template check_access<T>(false);
        return store_.template get<T>(e);
    }
    template <class T, class U, class... Ts>
    [[nodiscard]] std::tuple<T&, U&, Ts&...> get(at_type e) {
        return {get<T>(e), get<U>(e), get<Ts>(e)...};
    }
    template <class T, class U, class... Ts>
    [[nodiscard]] std::tuple<const T&, const U&, const Ts&...> get(at_type e) const {
        return {get<T>(e), get<U>(e), get<Ts>(e)...};
    }

    /// Returns a pointer to the T of `e`, or null; accepts any id. For several types, returns a
    /// tuple of pointers. O(1). Never throws, except `errc::undeclared_access` in builds with
    /// thread checks.
    template <class T>
    [[nodiscard]] T* try_get(id_type e) noexcept(!detail::checks_threads) {
        store_.template check_access<T>(true);
        return store_.template find_value<T>(e);
    }
    template <class T>
    [[nodiscard]] const T* try_get(id_type e) const noexcept(!detail::checks_threads) {
        store_.template check_access<T>(false);
        return store_.template find_value<T>(e);
    }
    template <class T, class U, class... Ts>
    [[nodiscard]] std::tuple<T*, U*, Ts*...> try_get(id_type e) noexcept(!detail::checks_threads) {
        return {try_get<T>(e), try_get<U>(e), try_get<Ts>(e)...};
    }
    template <class T, class U, class... Ts>
    [[nodiscard]] std::tuple<const T*, const U*, const Ts*...> try_get(id_type e) const
        noexcept(!detail::checks_threads) {
        return {try_get<T>(e), try_get<U>(e), try_get<Ts>(e)...};
    }

    /// Returns whether `e` has T; false if `e` is not alive. O(1), never throws.
    template <class T>
    [[nodiscard]] bool has(id_type e) const noexcept {
        return store_.has(e, store_.template find_fragment<T>());
    }
    /// Returns whether `e` has all of these types. Never throws.
    template <class... Ts>
    [[nodiscard]] bool has_all(id_type e) const noexcept {
        return (... && has<Ts>(e));
    }
    /// Returns whether `e` has at least one of these types. Never throws.
    template <class... Ts>
    [[nodiscard]] bool has_any(id_type e) const noexcept {
        return (... || has<Ts>(e));
    }
    /// Returns whether `e` has none of these types. Never throws.
    template <class... Ts>
    [[nodiscard]] bool has_none(id_type e) const noexcept {
        return !has_any<Ts...>(e);
    }

    /// Removes these components in one move. Returns false if `e` had none of them.
    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    bool remove(at_type e) {
        return store_.template remove<Ts...>(e);
    }

    // ---- components by fragment ----------------------------------------------------------------
    // A fragment argument is an id, a `fragment<T>` or an object of a tag type, such as `prefab`.
    // All calls throw `errc::dead_fragment` if the fragment is dead, `errc::foreign_entity` if it
    // is of another world, and `errc::type_mismatch` if its values are of another type. Calls that
    // never throw treat such a fragment as missing.

    /// Adds this value to `e`, or assigns it. A `fragment<T>` converts it to T; an id that was not
    /// used as a fragment takes its type. To set several fragments in one move, pass them as
    /// `with(fragment, value)`.
    template <detail::fragment_argument F, class T>
    void set(at_type e, const F& fragment, T&& value) {
        put(e, with(fragment, std::forward<T>(value)));
    }
    /// Adds a tag, or sets the default value of a fragment that has values. Throws
    /// `errc::no_default` if there is none. An id that was not used as a fragment becomes a tag.
    template <detail::fragment_argument F>
    void set(at_type e, const F& fragment) {
        const detail::type_info* const type = store_.find_fragment(id_type(fragment)).type;
        if (type == nullptr || type->size == 0)
            put(e, with(id_type(fragment)));
        else
            store_.put_default(store_type::if_present::replace, e, id_type(fragment), "set");
    }
    /// Like `set(e, fragment)`, but does nothing and returns false if `e` has the fragment.
    template <detail::fragment_or_tag F>
    bool add(at_type e, const F& fragment) {
        return store_.put_default(store_type::if_present::skip, e, id_of(fragment), "add");
    }
    /// Sets a copy of the value at this address, which must be of the fragment's type. Throws
    /// `errc::not_copyable` if values of that type cannot be copied.
    void set_raw(at_type e, id_type fragment, const void* value) {
        store_.put_raw(e, fragment, value);
    }

    /// Returns the value of this fragment. Throws `errc::missing_component` if `e` does not have
    /// it. O(1).
    template <class T>
    [[nodiscard]] T& get(at_type e, id_type fragment) {
        return store_.template get<T>(e, fragment, "get");
    }
    template <class T>
    [[nodiscard]] const T& get(at_type e, id_type fragment) const {
        return store_.template get<T>(e, fragment, "get");
    }
    template <class T>
    [[nodiscard]] T& get(at_type e, basic_fragment<T, Layout> fragment) {
        return store_.template get<T>(e, fragment, "get");
    }
    template <class T>
    [[nodiscard]] const T& get(at_type e, basic_fragment<T, Layout> fragment) const {
        return store_.template get<T>(e, fragment, "get");
    }

    /// Returns a pointer to the value of this fragment, or null, also if its values are of another
    /// type. O(1), never throws.
    template <class T>
    [[nodiscard]] T* try_get(id_type e, id_type fragment) noexcept {
        return store_.template find_value<T>(e, store_.template find_fragment<T>(fragment));
    }
    template <class T>
    [[nodiscard]] const T* try_get(id_type e, id_type fragment) const noexcept {
        return store_.template find_value<T>(e, store_.template find_fragment<T>(fragment));
    }
    template <class T>
    [[nodiscard]] T* try_get(id_type e, basic_fragment<T, Layout> fragment) noexcept {
        return try_get<T>(e, fragment.id());
    }
    template <class T>
    [[nodiscard]] const T* try_get(id_type e, basic_fragment<T, Layout> fragment) const noexcept {
        return try_get<T>(e, fragment.id());
    }
    /// Returns the address of the value, whatever its type; null if `e` does not have it or the
    /// fragment is a tag. O(1), never throws.
    [[nodiscard]] void* try_get_raw(id_type e, id_type fragment) noexcept {
        return store_.find_raw(e, store_.find_fragment(fragment));
    }
    [[nodiscard]] const void* try_get_raw(id_type e, id_type fragment) const noexcept {
        return store_.find_raw(e, store_.find_fragment(fragment));
    }

    /// Like `patch` by type, for a fragment.
    template <class T, class Change>
    T& patch(at_type e, id_type fragment, Change&& change) {
        if (store_.depth() == 0) (void)store_.template get<T>(e, fragment, "patch");
        return store_.template patch<T>(
            e, store_.template get_fragment<T>(fragment, "patch", &e.where),
            std::forward<Change>(change));
    }
    template <class T, class Change>
    T& patch(at_type e, basic_fragment<T, Layout> fragment, Change&& change) {
        return patch<T>(e, fragment.id(), std::forward<Change>(change));
    }
    /// Like `touch` by type, for a fragment.
    template <detail::fragment_or_tag F>
    void touch(at_type e, const F& fragment) {
        const detail::fragment_data& known =
            store_.get_fragment(id_of(fragment), "touch", &e.where);
        store_.touch(e, known, known.name);
    }

    /// Returns whether `e` has this fragment. O(1), never throws.
    template <detail::fragment_or_tag F>
    [[nodiscard]] bool has(id_type e, const F& fragment) const noexcept {
        return store_.has(e, find_fragment(fragment));
    }
    /// Returns whether `e` has all of these fragments. Never throws.
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] bool has_all(id_type e, const Fs&... fragments) const noexcept {
        return (... && has(e, fragments));
    }
    /// Returns whether `e` has at least one of these fragments. Never throws.
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] bool has_any(id_type e, const Fs&... fragments) const noexcept {
        return (... || has(e, fragments));
    }
    /// Returns whether `e` has none of these fragments. Never throws.
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] bool has_none(id_type e, const Fs&... fragments) const noexcept {
        return !has_any(e, fragments...);
    }

    /// Removes these fragments in one move. Returns false if `e` had none of them. Ignores dead
    /// fragments.
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    bool remove(at_type e, const Fs&... fragments) {
        const id_type all[] = {id_of(fragments)...};
        return store_.remove(e, all);
    }
    bool remove(at_type e, std::span<const id_type> fragments) {
        return store_.remove(e, fragments);
    }

    /// Removes this fragment from every entity, as `clear<T>()` does. Returns 0 for an id that is
    /// no fragment.
    template <detail::fragment_or_tag F>
    std::size_t clear_fragment(const F& fragment) {
        return store_.clear_fragment(find_fragment(fragment));
    }
    /// Returns how many entities have this fragment. O(chunks with it), never throws.
    template <detail::fragment_or_tag F>
    [[nodiscard]] std::size_t count(const F& fragment) const noexcept {
        return store_.count(find_fragment(fragment));
    }

    /// For each entity that has `from`, sets `to` to a copy of its value; returns how many. A `to`
    /// that was not used as a fragment takes the type. Throws `errc::not_copyable` if values of
    /// `from` cannot be copied. Each chunk is copied completely or not at all; with sparse
    /// fragments, each entity.
    std::size_t copy_fragment(id_type from, id_type to,
                              std::source_location where = std::source_location::current()) {
        return store_.copy_fragment(from, to, where);
    }

    /// Calls `callback(id fragment, void* value)` for each fragment of `e`, in the order in which
    /// the world first used them. The value of a tag is null. Opens a scope, as a loop does.
    template <class Callback>
    void each_fragment(at_type e, Callback&& callback) {
        const auto* const found = store_.find(e.id);
        if (found == nullptr) store_.raise_not_alive(e, "each_fragment");
        typename store_type::scope changes(store_);
        for (const detail::fragment_data* fragment : store_.fragments_of(e.id))
            callback(store_.id_of(*fragment), store_.find_raw(e.id, *fragment));
        changes.commit();
    }
    /// Like `each_fragment` above, but calls `callback(id fragment, const void* value)` and opens
    /// no scope.
    template <class Callback>
    void each_fragment(at_type e, Callback&& callback) const {
        const auto* const found = store_.find(e.id);
        if (found == nullptr) store_.raise_not_alive(e, "each_fragment");
        for (const detail::fragment_data* fragment : store_.fragments_of(e.id))
            callback(store_.id_of(*fragment),
                     static_cast<const void*>(store_.find_raw(e.id, *fragment)));
    }

    /// Removes all components in one move; `e` stays alive. Returns false if it had none.
    bool clear(at_type e) { return store_.clear(e); }

    /// Removes T from every entity; returns how many had it. Works chunk by chunk: a chunk whose
    /// change throws stays unchanged, the others continue, and the first exception is rethrown at
    /// the end.
    template <class T>
    std::size_t clear() {
        return store_.clear_fragment(store_.template find_fragment<T>());
    }

    /// Returns how many entities have T, a singleton included. O(chunks with T), never throws.
    template <class T>
    [[nodiscard]] std::size_t count() const noexcept {
        return store_.count(store_.template find_fragment<T>());
    }

    /// Returns the first entity, by chunk and row (sparse: by slot), whose T equals `value`, or the
    /// null id. O(entities with T).
    template <class T>
    [[nodiscard]] id_type find(const T& value) const {
        return find_if<T>([&](const T& candidate) { return candidate == value; });
    }
    /// Like `find`, for the first T for which `predicate(const T&)` returns true. `predicate` must not
    /// change the world.
    template <class T, class Predicate>
    [[nodiscard]] id_type find_if(Predicate&& predicate) const {
        static_assert(!detail::is_tag<T>, "muster: a tag has no value to search for.");
        constexpr bool fits = std::is_invocable_r_v<bool, Predicate&, const T&>;
        static_assert(fits, "muster: the predicate of find_if takes (const T&) and returns bool.");
        const auto matches = [&](const T& value) -> bool {
            if constexpr (fits)
                return predicate(value);
            else
                return false;
        };
        const detail::fragment_data& fragment = store_.template find_fragment<T>();
        for (std::size_t i = 0; i < fragment.chunks.size(); ++i) {
            const detail::chunk_data& chunk = store_.graph().at(fragment.chunks[i]);
            for (std::size_t row = 0; row < chunk.size; ++row)
                if (matches(*detail::value_at<T>(fragment.base(chunk.index), row)))
                    return reinterpret_cast<const id_type*>(chunk.ids.data)[row];
        }
        if (const detail::sparse_set* const set = fragment.sparse_values)
            for (auto at = set->next(0); at != detail::no_slot; at = set->next(to_int(at) + 1))
                if (matches(*reinterpret_cast<const T*>(set->at(at))))
                    return *reinterpret_cast<const id_type*>(set->ids_at(at));
        return {};
    }

    // ---- order ---------------------------------------------------------------------------------

    /// Sorts the values of a sparse T, and thereby the loops that T leads, by `is_before(a, b)`;
    /// stable. Throws `errc::not_sparse`, `errc::not_movable` for types that cannot be moved, and
    /// `errc::in_scope`. If it throws, nothing has changed. Moves the values: invalidates
    /// references to T. O(n log n).
    template <class T, class Before>
    void sort(Before&& is_before) {
        sort_values<T>(store_.template ensure_fragment<T>(), is_before);
    }
    /// Like `sort` by type, for a fragment.
    template <class T, class Before>
    void sort(fragment_type<T> fragment, Before&& is_before) {
        sort_values<T>(store_.template get_fragment<T>(fragment.id(), "sort", nullptr), is_before);
    }
    /// Sorts the values of a sparse T into the order in which a loop over `Other` visits the
    /// entities; entities without `Other` come last. Throws and invalidates as `sort` does.
    /// O(entities with T or Other).
    template <class T, class Other>
    void sort_like() {
        store_.sort_like(store_.template ensure_fragment<T>(),
                         store_.template ensure_fragment<Other>());
    }
    /// Like `sort_like` by type, for fragments.
    template <detail::fragment_or_tag F, detail::fragment_or_tag G>
    void sort_like(const F& fragment, const G& other) {
        store_.sort_like(store_.get_fragment(id_of(fragment), "sort_like", nullptr),
                         store_.get_fragment(id_of(other), "sort_like", nullptr));
    }

    // ---- singletons ----------------------------------------------------------------------------

    /// Sets the singleton T: data of the world, stored as a component of the fragment of T itself.
    template <class T>
    void set_single(T&& value, std::source_location where = std::source_location::current()) {
        const id_type self = component<std::remove_cvref_t<T>>();
        set(at_type(self, where), std::forward<T>(value));
    }
    /// Returns the singleton T. Throws `errc::missing_component` if it was not set.
    template <class T>
    [[nodiscard]] T& single(std::source_location where = std::source_location::current()) {
        T* const found = try_get<T>(self<T>());
        if (found == nullptr) store_.raise_no_single(detail::type_name<T>(), where);
        return *found;
    }
    template <class T>
    [[nodiscard]] const T& single(
        std::source_location where = std::source_location::current()) const {
        const T* const found = try_get<T>(self<T>());
        if (found == nullptr) store_.raise_no_single(detail::type_name<T>(), where);
        return *found;
    }
    /// Returns whether the singleton T was set. Never throws.
    template <class T>
    [[nodiscard]] bool has_single() const noexcept {
        return has<T>(self<T>());
    }
    /// Removes the singleton T. Returns false if it was not set.
    template <class T>
    bool remove_single() {
        return has_single<T>() && remove<T>(self<T>());
    }

    // ---- fragments and chunks ------------------------------------------------------------------

    /// Returns the fragment of a C++ type. The first use creates it.
    template <class T>
    fragment_type<T> component() {
        return fragment_type<T>(store_.id_of(store_.template ensure_fragment<T>()));
    }

    /// Creates a fragment for values of type T, with an optional name for messages and `lookup`.
    /// The id belongs to the user, who destroys it when it is no longer needed.
    template <class T>
    fragment_type<T> fragment(std::string_view name = {}) {
        static_assert(detail::is_component<T>);
        return fragment_type<T>(
            store_.make_fragment(detail::ensure_type_index<T>(), detail::type_info_of<T>, name));
    }
    /// Creates a fragment for values of a type that is known only at run time. Throws
    /// `errc::bad_type` if no type can have this size, this alignment and these operations.
    id_type fragment(const component_type& type, std::string_view name = {}) {
        return store_.make_fragment(detail::describe(type), name);
    }
    /// Creates a fragment without values.
    id_type tag(std::string_view name = {}) {
        return store_.make_fragment(detail::no_type, detail::type_info_of<detail::no_value>, name);
    }
    /// Creates plain ids, for use as entities or as fragments. All or none.
    template <std::size_t Count>
    std::array<id_type, Count> ids() {
        std::array<id_type, Count> made;
        spawn_into(std::span<id_type>(made));
        return made;
    }

    /// Returns a definition, which sets the traits, the default value and the hooks of a fragment;
    /// see `basic_definition`.
    template <class T>
    basic_definition<Layout, T> define() {
        return {store_, component<T>()};
    }
    template <class T>
    basic_definition<Layout, T> define(fragment_type<T> fragment) {
        return {store_, fragment};
    }
    template <class T>
        requires detail::is_tag<T>
    basic_definition<Layout, T> define(const T&) {
        return define<T>();
    }
    basic_definition<Layout, void> define(id_type fragment) { return {store_, fragment}; }

    /// Returns the chunk of exactly these components; the first use creates it. Throws
    /// `errc::limit` if the world has too many chunks, and `errc::missing_component` if a component
    /// is sparse, since sparse fragments are in no chunk.
    template <class... Ts>
    chunk_type chunk() {
        return chunk_type(store_, require_dense_chunk(store_.template ensure_chunk<Ts...>()));
    }
    /// Like `chunk` by type, for fragments. Throws `errc::given_twice` if a fragment occurs twice.
    template <detail::fragment_or_tag F, detail::fragment_or_tag... Fs>
    chunk_type chunk(const F& first, const Fs&... others) {
        detail::fragment_data* const set[] = {
            &store_.get_fragment(id_of(first), "chunk", nullptr),
            &store_.get_fragment(id_of(others), "chunk", nullptr)...};
        return chunk_type(store_, require_dense_chunk(store_.ensure_set(set)));
    }

    /// Returns the chunk and the row of `e`; the null chunk if no chunk stores a component of `e`.
    [[nodiscard]] basic_location<Layout> locate(at_type e) {
        const auto* const found = store_.find(e.id);
        if (found == nullptr) store_.raise_not_alive(e, "locate");
        return {chunk_type(store_, store_.graph().at(found->chunk())), found->row()};
    }

    // ---- queries -------------------------------------------------------------------------------

    /// Returns a query for all entities that have these components; see `basic_query`. `const T` is
    /// only read; `T*` may be missing.
    template <class... Ts>
    [[nodiscard]] basic_query<Layout, Ts...> query() {
        return {store_, queries_};
    }
    /// Loops over the query that the parameters of `callback` describe:
    /// `w.each([](entity e, position& p, const velocity& v) { ... })`.
    template <class Callback>
    [[gnu::always_inline]] void each(Callback&& callback) {
        using function = std::decay_t<Callback>;
        constexpr bool fits = detail::has_known_parameters<function>;
        static_assert(fits,
                      "muster: the parameters of this callback are unknown, since they are auto or "
                      "overloaded: "
                      "write query<position>().each(callback).");
        if constexpr (fits) detail::query_of<Layout, function>::make(*this).each(callback);
    }

    // ---- scopes --------------------------------------------------------------------------------

    /// Opens a scope: changes to entities are recorded until `commit` applies them or `cancel`
    /// drops them. Scopes nest: an inner scope commits into the outer scope. Loops, hooks and
    /// callbacks open scopes by themselves; see also `deferred`. Returns true if no scope was open.
    ///
    /// In a scope, calls read the world as it was before; this includes the bool or the count that
    /// a change returns. Writing through a reference is immediate. A new id is alive and empty at
    /// once; it dies if the scope is cancelled. `component`, `define`, `name`, `query`, `chunk` and
    /// `reserve` are immediate; only `reserve` of a chunk that has rows is deferred. `reset`,
    /// `collect_garbage`, `recycle_tombstones`, and `get_or_emplace` of a missing component throw
    /// `errc::in_scope`.
    bool defer() {
        store_.defer();
        return store_.depth() == 1;
    }
    /// Closes the innermost scope. If it was the last, applies all changes and returns true. Throws
    /// `errc::unbalanced_scope` if no scope is open, or if the library opened the innermost scope.
    ///
    /// The changes of an entity become one move, all or nothing. Entities are changed in the order
    /// of their first recorded change. Clearing, copying or destroying a fragment keeps its place
    /// in the recorded order. If a change or a hook throws, that entity stays unchanged; the others
    /// continue, and the first exception is rethrown at the end. O(changes).
    bool commit() {
        store_.commit();
        return store_.depth() == 0;
    }
    /// Closes the innermost scope like `commit`, but drops the changes recorded in it. Returns true
    /// if it was the last.
    bool cancel() {
        store_.cancel();
        return store_.depth() == 0;
    }
    /// Returns the number of open scopes, those of loops and hooks included.
    [[nodiscard]] std::size_t depth() const noexcept { return store_.depth(); }

    // ---- hooks ---------------------------------------------------------------------------------
    // A hook is a function that the world calls for a change; the oldest hook comes first. These
    // calls return a connection, to pause, resume or disconnect the hook; `define` adds hooks
    // without one. Changes that a hook makes are applied after the change that called it. If a hook
    // throws, the entity stays unchanged and the exception propagates to the caller; a value that
    // was moved into the call is lost.

    /// Calls `hook(entity, T&)` after any call has added T to an entity. A hook may take fewer
    /// arguments.
    template <class T, class Hook>
    basic_connection<Layout> on_insert(Hook&& hook) {
        return connect<T>(component<T>(), detail::hook_kind::insert, std::forward<Hook>(hook));
    }
    /// Calls the hook after T was assigned, patched or touched. The old value is destroyed after
    /// the hooks have returned.
    template <class T, class Hook>
    basic_connection<Layout> on_assign(Hook&& hook) {
        return connect<T>(component<T>(), detail::hook_kind::assign, std::forward<Hook>(hook));
    }
    /// Calls the hook after T was added or assigned: after `on_insert` and `on_assign`.
    template <class T, class Hook>
    basic_connection<Layout> on_set(Hook&& hook) {
        return connect<T>(component<T>(), detail::hook_kind::set, std::forward<Hook>(hook));
    }
    /// Calls the hook before any call removes T: the entity is alive and still has the value. A
    /// hook that throws keeps the value. `~world` calls no hooks.
    template <class T, class Hook>
    basic_connection<Layout> on_remove(Hook&& hook) {
        return connect<T>(component<T>(), detail::hook_kind::remove, std::forward<Hook>(hook));
    }
    /// Like `on_insert` by type, for a fragment: `hook(entity, void*)` for an id,
    /// `hook(entity, T&)` for a `fragment<T>`.
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_insert(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::insert, std::forward<Hook>(hook));
    }
    /// Like `on_assign` by type, for a fragment.
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_assign(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::assign, std::forward<Hook>(hook));
    }
    /// Like `on_set` by type, for a fragment.
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_set(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::set, std::forward<Hook>(hook));
    }
    /// Like `on_remove` by type, for a fragment.
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_remove(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::remove, std::forward<Hook>(hook));
    }

    /// Calls `hook(entity)` after an entity was created with its components, before the hooks of
    /// these.
    template <class Hook>
    basic_connection<Layout> on_spawn(Hook&& hook) {
        return connect_entities(detail::hook_kind::insert, std::forward<Hook>(hook));
    }
    /// Calls `hook(entity)` before an entity is destroyed, after the hooks of its components. A
    /// hook that throws keeps the entity alive.
    template <class Hook>
    basic_connection<Layout> on_destroy(Hook&& hook) {
        return connect_entities(detail::hook_kind::remove, std::forward<Hook>(hook));
    }

    /// Returns an observer. It collects the entities to which one of these types is added, or whose
    /// value is set, patched or touched. Without types it collects nothing yet:
    /// `w.observer().removed<position>()`. See `basic_observer`.
    template <class... Ts>
    [[nodiscard]] basic_observer<Layout, Ts...> observer() {
        return {store_, query<Ts...>()};
    }

    // ---- systems -------------------------------------------------------------------------------

    /// Creates a system; the calls of `basic_system` set what it does and when. Throws
    /// `errc::system_taken` if another system has this name. A system without a name is named by a
    /// number.
    basic_system<Layout> system(std::string_view name = {}) {
        store_.refuse_in_phase("creating a system");
        return {systems_, systems_.all.add(name)};
    }
    /// Returns the system with this name, or the null system. Never throws.
    [[nodiscard]] basic_system<Layout> find_system(std::string_view name) noexcept {
        const std::uint64_t found = systems_.all.find(name);
        return found == 0 ? basic_system<Layout>() : basic_system<Layout>(systems_, found);
    }

    /// Runs these systems in this order. A target is a system, its name, or the id of a group. Each
    /// system runs its prologue, its function in a scope, the members of its group, and its
    /// epilogue.
    ///
    /// Throws `errc::unknown_system` and `errc::system_circle` before anything runs. Throws
    /// `errc::bad_payload` when it reaches a function whose arguments the values do not match. An
    /// exception stops the call: what the function has recorded is dropped, what ran before stays.
    /// The exception names the system: an `error` keeps its code, another `std::exception` is
    /// nested in `errc::system_failed`. All other exceptions, and `std::bad_alloc`, propagate
    /// unchanged.
    template <class... Targets>
    void process(const Targets&... targets) {
        detail::system_data* const all[] = {systems_.find(targets)..., nullptr};
        systems_.run(all);
    }
    /// Like `process` for one target, but passes these values, or as many as it takes, to each
    /// function. A number may be taken as another number type: an integer if its value stays the
    /// same, a floating-point number after rounding.
    template <class Target, class... Values>
    void process_with(const Target& target, const Values&... values) {
        detail::system_data* const all[] = {systems_.find(target)};
        systems_.run(all, values...);
    }
    /// Runs all systems that are in no group, in their order: a frame. Passes the values as
    /// `process_with` does.
    template <class... Values>
    void process_all(const Values&... values) {
        detail::system_data* const all[] = {&systems_.all.top()};
        systems_.run(all, values...);
    }
    /// Like `process`, on several threads. Divides the rows of each system as
    /// `basic_query::par_each` does. Consecutive systems run concurrently if none accesses what
    /// another writes and no `before` or `after` orders them. They all see the world as it is
    /// before them.
    ///
    /// Their recorded changes are applied when all of them are done, in the order of the systems.
    /// So the result does not depend on the number of threads or on timing, except for the numbers
    /// of new ids. A system that must see another system's recorded changes declares `after`.
    /// Prologues, epilogues and systems with unknown accesses (see `basic_system::reads`) run
    /// alone.
    ///
    /// Throws as `par_each` does. All recorded changes of systems that ran concurrently with the
    /// system that threw are dropped. Defined in <muster/system/parallel.hpp>.
    template <class... Targets>
    void par_process(executor& threads, const Targets&... targets) {
        detail::system_data* const all[] = {systems_.find(targets)..., nullptr};
        systems_.run_parallel(threads, all);
    }
    /// Like `process_with`, on several threads; see `par_process`.
    template <class Target, class... Values>
    void par_process_with(executor& threads, const Target& target, const Values&... values) {
        detail::system_data* const all[] = {systems_.find(target)};
        systems_.run_parallel(threads, all, values...);
    }
    /// Like `process_all`, on several threads; see `par_process`.
    template <class... Values>
    void par_process_all(executor& threads, const Values&... values) {
        detail::system_data* const all[] = {&systems_.all.top()};
        systems_.run_parallel(threads, all, values...);
    }
    /// Returns the pairs of systems of `process_all` that cannot run concurrently and that no
    /// `before` or `after` orders, not even transitively. They run in the order in which they were
    /// added. Throws `errc::unknown_system` and `errc::system_circle` as `process` does.
    /// O(systems^2). Needs exclusive access to the world.
    [[nodiscard]] std::vector<system_conflict> system_conflicts() {
        return systems_.all.conflicts(&systems_.all.top());
    }
    /// Like `system_conflicts`, for the systems of `process(target)`.
    template <class Target>
    [[nodiscard]] std::vector<system_conflict> system_conflicts(const Target& target) {
        return systems_.all.conflicts(systems_.find(target));
    }
    /// Returns the names of the systems in the order in which `process_all` would run them,
    /// disabled systems included.
    [[nodiscard]] std::vector<std::string_view> system_order() {
        return systems_.all.order_of(&systems_.all.top());
    }
    /// Like `system_order`, for the systems of `process(target)`.
    template <class Target>
    [[nodiscard]] std::vector<std::string_view> system_order(const Target& target) {
        return systems_.all.order_of(systems_.find(target));
    }
    /// Switches the timing of systems on or off; see `basic_system::timings`. Off by default, when
    /// it costs nothing.
    void time_systems(bool wanted) noexcept { systems_.all.is_timed = wanted; }

    // ---- threads -------------------------------------------------------------------------------

    /// Takes over the commands of the buffer, which is empty afterwards. The world applies them at
    /// the next point outside of any scope. On the world's thread with no scope open, that is at
    /// once. Otherwise it is when that thread closes the outermost scope (also that of a loop),
    /// processes a system, or calls `submit` or `apply_submitted`. Buffers are applied in the order
    /// of submission, each in one scope.
    ///
    /// Throws what a change has thrown, after all other changes. `std::bad_alloc` before that
    /// leaves the buffer unchanged. O(1), and the cost of the changes that it applies; holds a lock
    /// for a few instructions. Any thread may call it at any time.
    void submit(basic_command_buffer<Layout>& changes) {
        changes.hand_over();
        store_.apply_submitted_on_owner();
    }
    /// Applies the submitted buffers if no scope is open. Makes the calling thread the world's
    /// thread; initially it is the thread that created the world. Throws as `submit` does. Needs
    /// exclusive access to the world; does nothing in a parallel phase.
    void apply_submitted() {
        if (store_.is_parallel()) return;
        store_.set_owner_thread();
        store_.apply_submitted();
    }

    // ---- names ---------------------------------------------------------------------------------

    /// Sets the name of `e`, which error messages show. It need not be unique; an empty name
    /// removes the old name. O(log n).
    void name(at_type e, std::string_view name) { store_.name(e, name); }
    /// Returns the name of `e`; empty if it has none or is not alive. The view is valid until the
    /// name changes or the entity is destroyed. Never throws.
    [[nodiscard]] std::string_view name(id_type e) const noexcept { return store_.name(e); }
    /// Returns the entity that received this name first, or the null id. Never throws.
    [[nodiscard]] id_type lookup(std::string_view name) const noexcept {
        const auto& found = store_.names().lookup(name);
        return found.empty() ? id_type{} : detail::to_id<Layout>(found.front());
    }
    /// Returns all entities with this name, in the order in which they were named.
    [[nodiscard]] std::vector<id_type> lookup_all(std::string_view name) const {
        std::vector<id_type> made;
        for (const std::uint64_t value : store_.names().lookup(name))
            made.push_back(detail::to_id<Layout>(value));
        return made;
    }

    // ---- memory --------------------------------------------------------------------------------

    /// Reserves records for `count` entities in all. Throws `errc::id_overflow` if there are fewer
    /// keys.
    void reserve(std::size_t count) { store_.reserve(count); }
    /// Reserves memory for `count` entities with exactly these components.
    template <class T, class... Ts>
    void reserve(std::size_t count) {
        store_.reserve(count);
        store_.reserve(store_.template ensure_chunk<T, Ts...>(), count);
    }
    /// Makes keys that are parked as tombstones usable again and returns how many; see
    /// `id_pool::recycle_tombstones`. Throws `errc::in_scope` in a scope.
    std::size_t recycle_tombstones() { return store_.recycle_tombstones(); }
    /// Frees chunks without entities and unused memory. Throws `errc::in_scope` in a scope.
    /// Invalidates references, and handles of the chunks that it frees.
    void collect_garbage() { store_.collect_garbage(); }

private:
    template <class Column>
    using element = std::remove_cvref_t<decltype(*std::data(std::declval<const Column&>()))>;

    template <class Column>
    static constexpr bool is_column = requires(const Column& column) {
        std::size(column);
        *std::data(column);
    };
    template <class Column, class... Columns>
    static std::size_t common_size(const Column& first, const Columns&... others) {
        const std::size_t sizes[] = {std::size(first), std::size(others)...};
        for (const std::size_t size : sizes)
            if (size != sizes[0])
                detail::raise(errc::size_mismatch,
                              detail::text("columns have ", sizes[0], " and ", size,
                                           " values: all columns must have the same length"));
        return sizes[0];
    }

    /// The initial values of many new rows, and their chunk. All rows share one value per fragment
    /// or, if `step` is 1, each row has its own.
    template <class... Ts>
    struct initial_values {
        static_assert(
            (... && is_copyable<Ts>::value),
            "muster: each entity receives a copy, but this component cannot be copied. Spawn "
            "one by one and pass values with std::move.");
        detail::fragment_data* fragments[sizeof...(Ts) + 1];
        mutable const void* values[sizeof...(Ts) + 1];
        std::size_t step;
        detail::chunk_data& chunk;

        initial_values(store_type& store, std::size_t between, const Ts*... given)
            : fragments{&store.fragment_of(given)..., nullptr},
              values{store_type::address_of(given)..., nullptr},
              step(between),
              chunk(chunk_of(store)) {}
        // NOLINTNEXTLINE(google-explicit-constructor)
        operator typename store_type::row_values() const noexcept {
            return {{fragments, sizeof...(Ts)}, {values, sizeof...(Ts)}, step};
        }

    private:
        detail::chunk_data& chunk_of(store_type& store) {
            if constexpr ((... || detail::is_with<Ts>))
                return store.ensure_set({fragments, sizeof...(Ts)});
            else
                return store.template ensure_chunk<Ts...>();
        }
    };

    /// Returns `found`. Throws `errc::missing_component` if it has a sparse fragment and thus never
    /// rows.
    static detail::chunk_data& require_dense_chunk(detail::chunk_data& found) {
        if (found.has_sparse)
            detail::raise(errc::missing_component,
                          detail::text("no chunk has ", to_text(found),
                                       ": one of them is sparse and stored outside of the chunks"));
        return found;
    }

    template <class T, class Before>
    void sort_values(detail::fragment_data& fragment, Before& is_before) {
        static_assert(!detail::is_tag<T>, "muster: a tag has no values: use sort_like.");
        store_.sort(
            fragment,
            [](void* context, const void* a, const void* b) -> bool {
                return (*static_cast<Before*>(context))(*static_cast<const T*>(a),
                                                        *static_cast<const T*>(b));
            },
            const_cast<void*>(static_cast<const void*>(__builtin_addressof(is_before))));
    }

    template <class T, class... Args>
    void make_sparse(at_type e, detail::fragment_data& fragment, const char* call, Args&&... args) {
        if (store_.is_parallel()) detail::recorder::raise_pinned(detail::type_name<T>());
        store_.emplace_sparse(e, fragment, call,
                              [&](void* room) { ::new (room) T(std::forward<Args>(args)...); });
    }
    template <class T, class... Args>
    T& emplace_as(const char* call, at_type e, Args&&... args) {
        if constexpr (detail::is_pinned<T>)
            make_sparse<T>(e, store_.template ensure_fragment<T>(), call,
                           std::forward<Args>(args)...);
        else
            store_.template put<store_type::if_present::replace, T>(
                e, call, bound_value<T>(T(std::forward<Args>(args)...)));
        return store_.template placed<T>(e, store_.template find_fragment<T>(), call);
    }

    template <class T, class Hook>
    basic_connection<Layout> connect(id_type fragment, detail::hook_kind kind, Hook&& hook) {
        return {store_, fragment,
                store_.add_hook(fragment, kind,
                                detail::make_hook<Layout, T>(std::forward<Hook>(hook)))};
    }
    template <class Hook>
    basic_connection<Layout> connect_entities(detail::hook_kind kind, Hook&& hook) {
        return {store_,
                {},
                store_.add_entity_hook(kind,
                                       detail::make_hook<Layout, void>(std::forward<Hook>(hook)))};
    }
    template <class F, class Hook>
    basic_connection<Layout> connect(const F& fragment, detail::hook_kind kind, Hook&& hook) {
        if constexpr (std::is_same_v<F, id_type>)
            return connect<void>(fragment, kind, std::forward<Hook>(hook));
        else if constexpr (detail::fragment_argument<F>) {
            using type = typename F::value_type;  // from now on, no values of another type
            store_.template ensure_fragment<type>(fragment, nullptr).is_untyped = false;
            return connect<type>(fragment.id(), kind, std::forward<Hook>(hook));
        } else
            return connect<F>(component<F>(), kind, std::forward<Hook>(hook));
    }

    template <class T>
    void put(at_type e, T&& given) {
        store_.template put<store_type::if_present::replace, T>(e, "set", bound_value<T>(given));
    }

    /// Returns the data of a fragment that is passed as an id, a `fragment<T>` or a tag object.
    template <class F>
    [[nodiscard]] const detail::fragment_data& find_fragment(const F& fragment) const noexcept {
        if constexpr (std::is_convertible_v<const F&, id_type>)
            return store_.find_fragment(id_type(fragment));
        else
            return store_.template find_fragment<F>();
    }
    template <class F>
    [[nodiscard]] id_type id_of(const F& fragment) {
        if constexpr (std::is_convertible_v<const F&, id_type>)
            return id_type(fragment);
        else
            return component<F>();
    }
    template <class T>
    [[nodiscard]] id_type self() const noexcept {
        return store_.id_of(store_.template find_fragment<T>());
    }

    friend class basic_deferred<Layout>;
    friend class basic_command_buffer<Layout>;

    store_type store_;
    detail::query_cache queries_{store_.fragments(), store_.graph(), store_.sparse()};
    detail::systems<Layout> systems_{store_, queries_};
};

template <class Layout>
class basic_world<Layout>::entity_range {
public:
    [[nodiscard]] entity_iterator begin() const noexcept {
        return {*store_, store_->next_living(0)};
    }
    [[nodiscard]] entity_iterator end() const noexcept { return {*store_, id_type{}}; }

private:
    friend class basic_world;
    explicit entity_range(const store_type& from) noexcept : store_(&from) {}
    const store_type* store_;
};

/// A scope as an object: `{ deferred scope{w}; ... }`. Its destructor commits, or cancels if an
/// exception leaves the block. It must not be closed by `world::commit` and must not outlive its
/// world.
template <class Layout>
class basic_deferred {
public:
    /// Opens the scope.
    explicit basic_deferred(basic_world<Layout>& w) : changes_(w.store_) {}
    basic_deferred(const basic_deferred&) = delete;
    basic_deferred& operator=(const basic_deferred&) = delete;
    /// Commits if the scope is open and no exception is leaving the block. Throws as
    /// `world::commit` does.
    ~basic_deferred() noexcept(false) {
        if (changes_.is_open() && std::uncaught_exceptions() == exceptions_) changes_.commit();
    }

    /// Commits before the end of the block; the destructor then does nothing.
    void commit() {
        if (changes_.is_open()) changes_.commit();
    }
    /// Drops the recorded changes and closes the scope; the destructor then does nothing.
    void cancel() noexcept {
        if (changes_.is_open()) changes_.cancel();
    }

private:
    typename detail::store<Layout>::scope changes_;
    int exceptions_ = std::uncaught_exceptions();
};
using deferred = basic_deferred<layouts::bound>;

}  // namespace muster
