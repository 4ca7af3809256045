// world: entities and their components. Owns everything and forwards to it: the algorithms are in the
// rooms below (`store` moves entities between chunks, `storage` keeps the chunks, `id` the ids).
//
// For every call
//   failure        An `error`, `std::bad_alloc` or an exception of a component's constructor leaves the
//                  world as it was, unless the call says otherwise. Only the fragment of a component
//                  type, made at its first use with a key from the top of the range, stays.
//   bad ids        `alive`, `has`, `try_get`, `empty`, `name` answer for any bits at all. `destroy`,
//                  `remove`, `clear` say false to what is dead or null; an id of another world is
//                  `errc::foreign_entity`. All others: `errc::dead_entity` or `errc::foreign_entity`.
//   invalidation   A reference to a component ends when its entity gets or loses a fragment, when an
//                  entity enters its chunk or a call that would have let one in fails (the columns may
//                  grow), or another leaves it (the last row moves). Reading and assigning ends nothing.
//   threads        Const calls may run side by side from any threads. Any other call must run alone;
//                  writing through a reference counts as writing that component only.
//   scopes         In a scope (after `defer`, in a loop, a callback of a call, a hook) changes of entities
//                  are recorded and applied when the outermost scope closes; see `defer`.
//   components     While code of a component's author runs (its copy constructor, its destructor), changes
//                  are `errc::in_scope`; reading and naming is fine. A move constructor must not use the
//                  world.
//
// With MUSTER_UNCHECKED, `get`, `set` and their like on an entity that is not alive, and `get` of what
// is missing, are undefined behaviour instead of errors.
#pragma once

#include <muster/event/connection.hpp>
#include <muster/event/observer.hpp>
#include <muster/id/living_iterator.hpp>
#include <muster/query/query.hpp>
#include <muster/store/beside.hpp>
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

/// Neither copied nor moved. For layouts of your own, one source file of the program includes
/// <muster/world/instantiate.hpp> and says MUSTER_INSTANTIATE(layout).
template <class Layout>
class basic_world {
    using store_type = detail::store<Layout>;
    template <class Arg>
    using incoming = detail::incoming<Arg>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;
    using chunk_type = basic_chunk<Layout>;
    using rows_type = basic_rows<Layout>;
    using builder_type = basic_builder<Layout>;
    template <class T>
    using fragment_type = basic_fragment<T, Layout>;

    explicit basic_world(const world_options& options = {}) : store_(options) {}
    ~basic_world() { store_.end(); }  // destructors of components may still ask
    basic_world(const basic_world&) = delete;
    basic_world& operator=(const basic_world&) = delete;

    /// Never 0, and of no other living world.
    [[nodiscard]] std::uint64_t number() const noexcept { return store_.number(); }
    /// "W:1"
    [[nodiscard]] friend std::string to_string(const basic_world& w) {
        return detail::text("W:", w.number());
    }
    template <class Traits>
    friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                        const basic_world& w) {
        return out << to_string(w).c_str();
    }

    // ---- entities come -------------------------------------------------------------------------

    /// An entity with these components, each of a type of its own. `errc::id_overflow` when no key is
    /// left. O(components), amortised where columns grow.
    template <class... Ts>
    id_type spawn(Ts&&... values) {
        if constexpr (store_type::template all_typed<Ts...>)
            return store_.template spawn<Ts...>(incoming<Ts>(values)...);
        else
            return store_.template spawn_given<Ts...>(incoming<Ts>(values)...);
    }

    /// Exactly this id; for its errors see `id_pool::create_at`.
    template <class... Ts>
    id_type spawn_at(id_type wanted, Ts&&... values) {
        return store_.template spawn_at<Ts...>(wanted, incoming<Ts>(values)...);
    }

    /// `count` entities with copies of these components; all or none. The ids are those that as many
    /// single calls would give, in that order.
    template <class... Ts>
    std::vector<id_type> spawn_many(std::size_t count, const Ts&... values) {
        store_.prepare(count);  // too many is an error of ours, not the vector's
        std::vector<id_type> made(count);
        spawn_into(std::span<id_type>(made), values...);
        return made;
    }

    /// The same, for each place of `out`. Nothing is written to `out` if it fails.
    template <class... Ts>
    void spawn_into(std::span<id_type> out, const Ts&... values) {
        store_.prepare(out.size());
        const many<Ts...> given(store_, 0, __builtin_addressof(values)...);
        store_.spawn_many(out, given.chunk, given);
    }

    /// The same, and `fill(rows)` to give each row its own values, before hooks see them. If `fill`
    /// throws, the entities are destroyed again.
    template <class Fill, class... Ts>
    void spawn_rows(std::size_t count, Fill&& fill, const Ts&... values) {
        static_assert(sizeof...(Ts) != 0, "muster: spawn_rows needs components to fill.");
        store_.prepare(count);
        const many<Ts...> given(store_, 0, __builtin_addressof(values)...);
        store_.spawn_rows(
            count, given.chunk, given, [&](const detail::chunk_data& into, std::size_t first) {
                // SAFETY: the column of ids.
                const auto* const all = reinterpret_cast<const id_type*>(into.ids.data) + first;
                std::forward<Fill>(fill)(rows_type(store_, &into, first, count, all));
            });
    }

    /// An entity for each row of these columns (arrays, vectors, spans; one per component, of equal
    /// length): `w.spawn_columns(positions, velocities)`. All or none; `errc::size_mismatch` if the
    /// lengths differ. Each value is written once: the fastest way to make many entities.
    template <class... Columns>
    std::vector<id_type> spawn_columns(const Columns&... columns) {
        const std::size_t count = common_size(columns...);
        store_.prepare(count);
        std::vector<id_type> made(count);
        spawn_columns_into(std::span<id_type>(made), columns...);
        return made;
    }
    /// The same; `out` has the columns' length, too. Nothing is written to it if it fails.
    template <class... Columns>
    void spawn_columns_into(std::span<id_type> out, const Columns&... columns) {
        (void)common_size(out, columns...);
        store_.prepare(out.size());
        const many<element<Columns>...> given(store_, 1, std::data(columns)...);
        store_.spawn_many(out, given.chunk, given);
    }

    /// A copy of `prototype`, with these components instead of or beside its own. What is given need
    /// not be copyable; `errc::not_copyable` if something else of it is not.
    template <class... Ts>
    id_type clone(at_type prototype, Ts&&... values) {
        return store_.template clone<Ts...>(prototype, incoming<Ts>(values)...);
    }

    /// `count` copies; all or none.
    template <class... Ts>
    std::vector<id_type> clone_many(std::size_t count, at_type prototype, const Ts&... values) {
        (void)store_.require(prototype, "clone");
        store_.prepare(count);
        std::vector<id_type> made(count);
        clone_into(std::span<id_type>(made), prototype, values...);
        return made;
    }
    template <class... Ts>
    void clone_into(std::span<id_type> out, at_type prototype, const Ts&... values) {
        (void)store_.require(prototype, "clone");
        store_.prepare(out.size());
        const many<Ts...> given(store_, 0, __builtin_addressof(values)...);
        store_.clone_many(out, prototype, given.chunk, given);
    }

    /// A recipe to make entities from, again and again.
    [[nodiscard]] builder_type builder() noexcept { return builder_type(store_); }

    // ---- which entities are there --------------------------------------------------------------

    /// O(1), one load. Never throws.
    [[nodiscard]] bool alive(id_type e) const noexcept { return store_.alive(e); }
    template <class... Ids>
    [[nodiscard]] bool alive_all(const Ids&... es) const noexcept {
        return (... && alive(es));
    }
    template <class... Ids>
    [[nodiscard]] bool alive_any(const Ids&... es) const noexcept {
        return (... || alive(es));
    }
    /// Whether it has no components; what is not alive has none.
    [[nodiscard]] bool empty(id_type e) const noexcept {
        return !store_.alive(e) || !store_.has_any(e);
    }
    /// Living entities; the world's own ids, those of component types, do not count.
    [[nodiscard]] std::size_t size() const noexcept { return store_.size(); }

    using entity_iterator = detail::living_iterator<store_type, id_type>;
    class entity_range;
    /// All living entities, by key: `for (entity e : w.entities())`. The world may change meanwhile: an
    /// iterator holds a key, not an address, and goes on with the next that is alive by then.
    [[nodiscard]] entity_range entities() const noexcept { return entity_range(store_); }

    // ---- entities go ---------------------------------------------------------------------------

    /// False if it was not alive. Its version is spent at once: no copy of the id is alive any more.
    /// O(its components). Destroying the fragment of a type takes that component from all entities,
    /// chunk by chunk as `clear<T>()` does; the next use of the type makes a new fragment.
    bool destroy(at_type e) { return store_.destroy(e); }

    /// How many of them were alive when their turn came: one that died with another is not counted, but
    /// in a scope and where somebody is told, where all are counted that are alive. If one is of another
    /// world, none is destroyed.
    template <class... Ids>
        requires(sizeof...(Ids) > 0)
    std::size_t destroy(at_type first, const Ids&... others) {
        const id_type all[] = {first.id, id_type(others)...};
        return store_.destroy(all, first.where);
    }
    std::size_t destroy(std::span<const id_type> all,
                        std::source_location where = std::source_location::current()) {
        return store_.destroy(all, where);
    }

    /// Destroys all entities for which `wants(entity)` is true; how many. They die after all were
    /// asked, so that `wants` sees the world before, and may throw. O(keys).
    template <class Predicate>
    std::size_t destroy_if(Predicate&& wants,
                           std::source_location where = std::source_location::current()) {
        std::vector<id_type> chosen;
        store_.refuse_in_phase("destroy_if");
        typename store_type::scope changes(store_);
        for (const id_type e : entities())
            if (wants(e)) chosen.push_back(e);
        const std::size_t count = store_.destroy(chosen, where);
        changes.commit();
        return count;
    }

    /// Destroys all entities and all singletons. Old handles stay dead; the number, the fragments of
    /// component types, what was said of them and their hooks stay. Not in a scope: `errc::in_scope`. An
    /// entity whose `on_remove` throws stays; the others go, and the first exception is thrown again.
    void reset(std::source_location where = std::source_location::current()) {
        store_.reset(where);
    }

    // ---- components ----------------------------------------------------------------------------

    /// Gives `e` these components, or assigns to those it has, all in one move. Values may lie in this
    /// world. O(all its components) if one is new, else O(given).
    template <class... Ts>
        requires(sizeof...(Ts) > 0 && !(... || detail::fragment_argument<Ts>))
    void set(at_type e, Ts&&... values) {
        store_.template put<store_type::present::assign, Ts...>(e, "set", incoming<Ts>(values)...);
    }

    /// Gives `e` default values (see `define`) of those types that it does not have; false if it has them
    /// all.
    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    bool add(at_type e) {
        static_assert((... && detail::is_component<Ts>));
        if (store_.is_shared()) [[unlikely]] {
            const detail::fragment_name all[] = {detail::fragment_name::of<Ts>()...};
            return store_.share_start(e, detail::recorded_kind::start_missing, all, "add");
        }
        if constexpr ((... || detail::is_pinned<Ts>)) {  // made where they stay
            const id_type all[] = {component<Ts>()...};
            return store_.add_defaults(e, all, "add");
        } else
            return store_.template put<store_type::present::keep, Ts...>(
                e, "add", incoming<Ts>(store_.template start_value<Ts>())...);
    }

    /// Makes a T of these arguments and sets it. In a scope, the reference is to the value that waits.
    template <class T, class... Args>
    T& emplace(at_type e, Args&&... args) {
        return emplace_as<T>("emplace", e, std::forward<Args>(args)...);
    }

    /// The same by fragment.
    template <class T, class... Args>
    T& emplace(at_type e, fragment_type<T> fragment, Args&&... args) {
        if constexpr (detail::is_pinned<T>)
            make_beside<T>(e, store_.template ensure_fragment<T>(fragment.id(), &e.where),
                           "emplace", std::forward<Args>(args)...);
        else
            put(e, with(fragment, T(std::forward<Args>(args)...)));
        return store_.template placed<T>(e, store_.find_fragment(fragment.id()), "emplace");
    }

    /// The T that `e` has, or one made of these arguments, for which no scope may be open:
    /// `errc::in_scope`.
    template <class T, class... Args>
    T& get_or_emplace(at_type e, Args&&... args) {
        if (T* const found = store_.template find_value<T>(e.id)) return *found;
        store_.refuse_in_phase("get_or_emplace of what is missing");
        (void)store_.require(e, "get_or_emplace");
        store_.refuse_in_scope("get_or_emplace of what is missing");
        return emplace_as<T>("get_or_emplace", e, std::forward<Args>(args)...);
    }

    /// Calls `change(T&)` on the T that `e` has, then the hooks `on_assign` and `on_set`;
    /// `errc::missing_component` if it has none. What `change` did before it, or a hook, throws stays. In
    /// a scope, `change` is called at once, on a copy that is assigned in the end: `errc::not_copyable`.
    template <class T, class Change>
    T& patch(at_type e, Change&& change) {
        if (store_.depth() == 0) (void)store_.template get<T>(e);
        return store_.template patch<T>(e, store_.template find_fragment<T>(),
                                        std::forward<Change>(change));
    }

    /// Puts these values behind the others of a component that is a container, with `push_back`, and
    /// tells the hooks, as `patch` does; `e` gets one if it has none.
    template <class T, class... Values>
    T& append(at_type e, Values&&... values) {
        const auto put_behind = [&](T& all) { (all.push_back(std::forward<Values>(values)), ...); };
        if (store_.will_have(e, store_.template find_fragment<T>(), "append"))
            return patch<T>(e, put_behind);
        T made = store_.template start_value<T>();
        put_behind(made);
        return emplace_as<T>("append", e, std::move(made));
    }

    /// Calls the hooks as if `e`'s T had been assigned, after a change through a reference.
    template <class T>
    void touch(at_type e) {
        store_.touch(e, store_.template find_fragment<T>(), detail::type_name<T>());
    }

    /// The component, or `errc::missing_component`; several as a tuple of references. O(1).
    template <class T>
    [[nodiscard]] T& get(at_type e) {
        store_.template watch<T>(true);
        return store_.template get<T>(e);
    }
    template <class T>
    [[nodiscard]] const T& get(at_type e) const {
        store_.template watch<T>(false);
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

    /// The component or null, for any id; several as a tuple of pointers. O(1), never throws.
    template <class T>
    [[nodiscard]] T* try_get(id_type e) noexcept(!detail::watches_threads) {
        store_.template watch<T>(true);
        return store_.template find_value<T>(e);
    }
    template <class T>
    [[nodiscard]] const T* try_get(id_type e) const noexcept(!detail::watches_threads) {
        store_.template watch<T>(false);
        return store_.template find_value<T>(e);
    }
    template <class T, class U, class... Ts>
    [[nodiscard]] std::tuple<T*, U*, Ts*...> try_get(id_type e) noexcept(!detail::watches_threads) {
        return {try_get<T>(e), try_get<U>(e), try_get<Ts>(e)...};
    }
    template <class T, class U, class... Ts>
    [[nodiscard]] std::tuple<const T*, const U*, const Ts*...> try_get(id_type e) const
        noexcept(!detail::watches_threads) {
        return {try_get<T>(e), try_get<U>(e), try_get<Ts>(e)...};
    }

    /// False for any id that is not alive. O(1), never throws.
    template <class T>
    [[nodiscard]] bool has(id_type e) const noexcept {
        return store_.has(e, store_.template find_fragment<T>());
    }
    template <class... Ts>
    [[nodiscard]] bool has_all(id_type e) const noexcept {
        return (... && has<Ts>(e));
    }
    template <class... Ts>
    [[nodiscard]] bool has_any(id_type e) const noexcept {
        return (... || has<Ts>(e));
    }
    template <class... Ts>
    [[nodiscard]] bool has_none(id_type e) const noexcept {
        return !has_any<Ts...>(e);
    }

    /// Takes these components away in one move; false if it had none of them.
    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    bool remove(at_type e) {
        return store_.template remove<Ts...>(e);
    }

    // ---- components by fragment ----------------------------------------------------------------
    // A fragment is an id, a `fragment<T>` or one that is predefined. For all calls: a fragment that is
    // dead is `errc::dead_fragment`, one of another world `errc::foreign_entity`, one whose values are
    // of another type `errc::type_mismatch`; where a call never throws, these are not there.

    /// Gives `e` this value, or assigns it. An id that was not used as a fragment takes the value's type;
    /// a `fragment<T>` converts it to T. `with` does the same for several in one move.
    template <detail::fragment_argument F, class T>
    void set(at_type e, const F& fragment, T&& value) {
        static_assert(
            !detail::is_with<std::remove_cvref_t<T>>,
            "muster: several at once are all given by with(): with(tag), with(f, value).");
        put(e, with(fragment, std::forward<T>(value)));
    }
    /// Gives `e` a tag, or the default value of a fragment that has values: `errc::no_default` if there
    /// is none. An id that was not used as a fragment becomes a tag.
    template <detail::fragment_argument F>
    void set(at_type e, const F& fragment) {
        const detail::type_info* const type = store_.find_fragment(id_type(fragment)).type;
        if (type == nullptr || type->size == 0)
            put(e, with(id_type(fragment)));
        else
            store_.put_default(store_type::present::assign, e, id_type(fragment), "set");
    }
    /// The same if `e` does not have it; else false.
    template <detail::fragment_or_tag F>
    bool add(at_type e, const F& fragment) {
        return store_.put_default(store_type::present::keep, e, id_of(fragment), "add");
    }
    /// Gives `e` a copy of the value at this address, which is of the fragment's type.
    void set_raw(at_type e, id_type fragment, const void* value) {
        store_.put_raw(e, fragment, value);
    }

    /// O(1).
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

    /// Null also if the fragment's values are of another type. O(1), never throws.
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
    /// Where the value is, of whatever type; null if it is not there or the fragment is a tag. O(1),
    /// never throws.
    [[nodiscard]] void* try_get_raw(id_type e, id_type fragment) noexcept {
        return store_.find_raw(e, store_.find_fragment(fragment));
    }
    [[nodiscard]] const void* try_get_raw(id_type e, id_type fragment) const noexcept {
        return store_.find_raw(e, store_.find_fragment(fragment));
    }

    /// See `patch` by type.
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
    /// See `touch` by type.
    template <detail::fragment_or_tag F>
    void touch(at_type e, const F& fragment) {
        const detail::fragment_data& known =
            store_.get_fragment(id_of(fragment), "touch", &e.where);
        store_.touch(e, known, known.name);
    }

    /// O(1), never throws.
    template <detail::fragment_or_tag F>
    [[nodiscard]] bool has(id_type e, const F& fragment) const noexcept {
        return store_.has(e, look(fragment));
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] bool has_all(id_type e, const Fs&... fragments) const noexcept {
        return (... && has(e, fragments));
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] bool has_any(id_type e, const Fs&... fragments) const noexcept {
        return (... || has(e, fragments));
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] bool has_none(id_type e, const Fs&... fragments) const noexcept {
        return !has_any(e, fragments...);
    }

    /// Takes these away in one move; false if it had none of them. A dead fragment is one it has not.
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    bool remove(at_type e, const Fs&... fragments) {
        const id_type all[] = {id_of(fragments)...};
        return store_.remove(e, all);
    }
    bool remove(at_type e, std::span<const id_type> fragments) {
        return store_.remove(e, fragments);
    }

    /// Takes it from every entity; as `clear<T>()`. 0 for what is no fragment.
    template <detail::fragment_or_tag F>
    std::size_t clear_fragment(const F& fragment) {
        return store_.clear_fragment(look(fragment));
    }
    /// How many entities have it. O(chunks with it), never throws.
    template <detail::fragment_or_tag F>
    [[nodiscard]] std::size_t count(const F& fragment) const noexcept {
        return store_.count(look(fragment));
    }

    /// Gives all entities that have `from` copies of its values as values of `to`; how many. An id that
    /// was not used as a fragment takes the type. All or nothing for each chunk.
    std::size_t copy_fragment(id_type from, id_type to,
                              std::source_location where = std::source_location::current()) {
        return store_.copy_fragment(from, to, where);
    }

    /// Calls `look(id fragment, void* value)` for each fragment of `e`, in the order the world met them;
    /// the value of a tag is null. A scope, as a loop is.
    template <class Look>
    void each_fragment(at_type e, Look&& look) {
        const auto* const found = store_.find(e.id);
        if (found == nullptr) store_.raise_not_alive(e, "each_fragment");
        typename store_type::scope changes(store_);
        for (const detail::fragment_data* one : store_.fragments_of(e.id))
            look(store_.id_of(*one), store_.find_raw(e.id, *one));
        changes.commit();
    }
    /// `look(id fragment, const void* value)`.
    template <class Look>
    void each_fragment(at_type e, Look&& look) const {
        const auto* const found = store_.find(e.id);
        if (found == nullptr) store_.raise_not_alive(e, "each_fragment");
        for (const detail::fragment_data* one : store_.fragments_of(e.id))
            look(store_.id_of(*one), static_cast<const void*>(store_.find_raw(e.id, *one)));
    }

    /// Takes all components away in one move; false if it had none. It stays alive.
    bool clear(at_type e) { return store_.clear(e); }

    /// Takes T from every entity; how many had it. Chunk by chunk: one that fails stays as it was, the
    /// others go on, and the first exception is thrown again in the end.
    template <class T>
    std::size_t clear() {
        return store_.clear_fragment(store_.template find_fragment<T>());
    }

    /// How many entities have T, a singleton among them. O(chunks with T).
    template <class T>
    [[nodiscard]] std::size_t count() const noexcept {
        return store_.count(store_.template find_fragment<T>());
    }

    /// The first entity, by chunk and row, whose T equals `value`, or the null id. `wants` must not change
    /// the world. O(entities with T).
    template <class T>
    [[nodiscard]] id_type find(const T& value) const {
        return find_if<T>([&](const T& one) { return one == value; });
    }
    template <class T, class Predicate>
    [[nodiscard]] id_type find_if(Predicate&& wants) const {
        static_assert(!detail::is_tag<T>, "muster: a tag has no value to look for.");
        const detail::fragment_data& fragment = store_.template find_fragment<T>();
        for (std::size_t i = 0; i < fragment.chunks.size(); ++i) {
            const detail::chunk_data& chunk = store_.graph().at(fragment.chunks[i]);
            for (std::size_t row = 0; row < chunk.size; ++row)
                if (wants(static_cast<const T&>(
                        *detail::value_at<T>(fragment.base(chunk.index), row))))
                    return reinterpret_cast<const id_type*>(chunk.ids.data)[row];
        }
        if (const detail::sparse_set* const set = fragment.beside)
            for (auto at = set->next(0); at != detail::no_slot; at = set->next(to_int(at) + 1))
                if (wants(*reinterpret_cast<const T*>(set->at(at))))
                    return *reinterpret_cast<const id_type*>(set->ids_at(at));
        return {};
    }

    // ---- order ---------------------------------------------------------------------------------

    /// Puts the values of a sparse T, and the loops that it leads, in the order that `is_before(a, b)` of
    /// two values says; equal ones stay in their order. Moves the values: references to T end. If it
    /// throws, nothing has changed. `errc::not_sparse`, `errc::not_movable` for types that cannot be
    /// moved, `errc::in_scope`. O(n log n).
    template <class T, class Before>
    void sort(Before&& is_before) {
        sort_values<T>(store_.template ensure_fragment<T>(), is_before);
    }
    template <class T, class Before>
    void sort(fragment_type<T> fragment, Before&& is_before) {
        sort_values<T>(store_.template get_fragment<T>(fragment.id(), "sort", nullptr), is_before);
    }
    /// In the order in which a loop over `Other` comes to them; those without it come behind. O(entities
    /// with T or Other).
    template <class T, class Other>
    void sort_like() {
        store_.sort_like(store_.template ensure_fragment<T>(),
                         store_.template ensure_fragment<Other>());
    }
    template <detail::fragment_or_tag F, detail::fragment_or_tag G>
    void sort_like(const F& fragment, const G& other) {
        store_.sort_like(store_.get_fragment(id_of(fragment), "sort_like", nullptr),
                         store_.get_fragment(id_of(other), "sort_like", nullptr));
    }

    // ---- singletons ----------------------------------------------------------------------------

    /// World data: the component of its own fragment. `single` is `errc::missing_component` if it was
    /// not set.
    template <class T>
    void set_single(T&& value, std::source_location where = std::source_location::current()) {
        const id_type self = component<std::remove_cvref_t<T>>();
        set(at_type(self, where), std::forward<T>(value));
    }
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
    template <class T>
    [[nodiscard]] bool has_single() const noexcept {
        return has<T>(self<T>());
    }
    template <class T>
    bool remove_single() {
        return has_single<T>() && remove<T>(self<T>());
    }

    // ---- fragments and chunks ------------------------------------------------------------------

    /// The fragment of a C++ type, made at its first use.
    template <class T>
    fragment_type<T> component() {
        return fragment_type<T>(store_.id_of(store_.template ensure_fragment<T>()));
    }

    /// A fragment for values of type T, with a name for people. It is an id of the user's: destroy it when
    /// it is needed no more.
    template <class T>
    fragment_type<T> fragment(std::string_view name = {}) {
        static_assert(detail::is_component<T>);
        return fragment_type<T>(
            store_.make_fragment(detail::ensure_type_index<T>(), detail::type_info_of<T>, name));
    }
    /// A fragment for values of a type that is known only at run time. `errc::bad_type`.
    id_type fragment(const component_type& type, std::string_view name = {}) {
        return store_.make_fragment(detail::describe(type), name);
    }
    /// A fragment without values.
    id_type tag(std::string_view name = {}) {
        return store_.make_fragment(detail::no_type, detail::type_info_of<detail::no_value>, name);
    }
    /// Plain ids: entities or fragments, as you use them. All or none.
    template <std::size_t Count>
    std::array<id_type, Count> ids() {
        std::array<id_type, Count> made;
        spawn_into(std::span<id_type>(made));
        return made;
    }

    /// To say what the fragment means: see `basic_definition`.
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

    /// The chunk of exactly these components, found or made. `errc::limit` if there are too many. Sparse
    /// fragments are in no chunk: `errc::missing_component`.
    template <class... Ts>
    chunk_type chunk() {
        return chunk_type(store_, inside(store_.template ensure_chunk<Ts...>()));
    }
    /// The same by fragments; `errc::given_twice` if one is there twice.
    template <detail::fragment_or_tag F, detail::fragment_or_tag... Fs>
    chunk_type chunk(const F& first, const Fs&... others) {
        detail::fragment_data* const set[] = {
            &store_.get_fragment(id_of(first), "chunk", nullptr),
            &store_.get_fragment(id_of(others), "chunk", nullptr)...};
        return chunk_type(store_, inside(store_.ensure_set(set)));
    }

    /// Where the entity's components are; the null chunk if it has none.
    [[nodiscard]] basic_location<Layout> locate(at_type e) {
        const auto* const found = store_.find(e.id);
        if (found == nullptr) store_.raise_not_alive(e, "locate");
        return {chunk_type(store_, store_.graph().at(found->chunk())), found->row()};
    }

    // ---- queries -------------------------------------------------------------------------------

    /// All entities that have these: see `basic_query`. `const T` only reads, `T*` may be missing.
    template <class... Ts>
    [[nodiscard]] basic_query<Layout, Ts...> query() {
        return {store_, queries_};
    }
    /// A loop whose query is deduced: `w.each([](entity e, position& p, const velocity& v) { ... })`.
    template <class Look>
    [[gnu::always_inline]] void each(Look&& look) {
        detail::query_of<Layout, std::remove_cvref_t<Look>>::make(*this).each(look);
    }

    // ---- scopes --------------------------------------------------------------------------------

    /// Opens a scope: from now on, changes of entities are recorded, until `commit` applies them or
    /// `cancel` drops them. Scopes nest: what an inner one commits, the outer one has. Loops, hooks and
    /// callbacks open scopes by themselves; see also `deferred`. True if no scope was open.
    ///
    /// In a scope, what is read, and the bool or the count that a change returns, are those of the world
    /// before; writing through a reference is immediate. An id that is made there is alive and empty; it
    /// dies if the scope is cancelled. Immediate are `component`, `define`, `name`, `query`, `chunk` and
    /// `reserve`; `reset`, `collect_garbage`, `recycle_tombstones`, and `get_or_emplace` of what is
    /// missing, are `errc::in_scope`.
    bool defer() {
        store_.defer();
        return store_.depth() == 1;
    }
    /// Closes the innermost scope; true if it was the last, and all was applied.
    /// `errc::unbalanced_scope` if there is none, or it is one that the library opened.
    ///
    /// The changes of one entity become one move, all or nothing; entities come in the order they were
    /// first changed in. Clearing, copying or destroying a fragment comes in its turn. If one throws, or
    /// a hook does, that entity stays as it was; the others go on, and the first exception is thrown
    /// again in the end. O(changes).
    bool commit() {
        store_.commit();
        return store_.depth() == 0;
    }
    /// The same, but drops what was recorded in the scope. True if it was the last.
    bool cancel() {
        store_.cancel();
        return store_.depth() == 0;
    }
    /// How many scopes are open, those of loops and hooks among them.
    [[nodiscard]] std::size_t depth() const noexcept { return store_.depth(); }

    // ---- hooks ---------------------------------------------------------------------------------
    // Functions that are called when something happens, oldest first; they return a connection, to cut
    // and restore them. `define` says the same without one. What a hook changes is applied after what it
    // was called for. If a hook throws, the entity is as it was, and the exception goes to the caller; a
    // value that was moved into the call is gone.

    /// `hook(entity, T&)`, or with less: an entity has got T, by whatever call.
    template <class T, class Hook>
    basic_connection<Layout> on_insert(Hook&& hook) {
        return connect<T>(component<T>(), detail::hook_kind::insert, std::forward<Hook>(hook));
    }
    /// T was assigned, patched or touched. The old value is gone only when the hooks have returned.
    template <class T, class Hook>
    basic_connection<Layout> on_assign(Hook&& hook) {
        return connect<T>(component<T>(), detail::hook_kind::assign, std::forward<Hook>(hook));
    }
    /// After either.
    template <class T, class Hook>
    basic_connection<Layout> on_set(Hook&& hook) {
        return connect<T>(component<T>(), detail::hook_kind::set, std::forward<Hook>(hook));
    }
    /// T is about to go, by whatever call: the entity is alive, and the value is there. One that throws
    /// keeps it. `~world` calls none.
    template <class T, class Hook>
    basic_connection<Layout> on_remove(Hook&& hook) {
        return connect<T>(component<T>(), detail::hook_kind::remove, std::forward<Hook>(hook));
    }
    /// The same by fragment: `hook(entity, void*)` for an id, `hook(entity, T&)` for a `fragment<T>`.
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_insert(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::insert, std::forward<Hook>(hook));
    }
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_assign(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::assign, std::forward<Hook>(hook));
    }
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_set(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::set, std::forward<Hook>(hook));
    }
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_remove(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::remove, std::forward<Hook>(hook));
    }

    /// `hook(entity)`: an entity was made, with its components, before their own hooks.
    template <class Hook>
    basic_connection<Layout> on_spawn(Hook&& hook) {
        return connect_entities(detail::hook_kind::insert, std::forward<Hook>(hook));
    }
    /// An entity is about to die, after the hooks of its components. One that throws keeps it alive.
    template <class Hook>
    basic_connection<Layout> on_destroy(Hook&& hook) {
        return connect_entities(detail::hook_kind::remove, std::forward<Hook>(hook));
    }

    /// Gathers the entities that get one of these, or whose value is set, patched or touched; without
    /// types nothing yet: `w.observer().removed<position>()`. See `basic_observer`.
    template <class... Ts>
    [[nodiscard]] basic_observer<Layout, Ts...> observer() {
        return {store_, query<Ts...>()};
    }

    // ---- systems -------------------------------------------------------------------------------

    /// A new system, of which the calls of `basic_system` say what it does and when. Names are unique:
    /// `errc::system_taken`; without one it gets a number.
    basic_system<Layout> system(std::string_view name = {}) {
        store_.refuse_in_phase("making a system");
        return {systems_, systems_.all.add(name)};
    }
    /// The system of this name, or the null system.
    [[nodiscard]] basic_system<Layout> find_system(std::string_view name) noexcept {
        const std::uint64_t found = systems_.all.find(name);
        return found == 0 ? basic_system<Layout>() : basic_system<Layout>(systems_, found);
    }

    /// Runs these systems, one after the other, each given by itself, by its name, or by the id that
    /// stands for a group: its prologue, its function in a scope, the members of the group, its epilogue.
    /// `errc::unknown_system` and `errc::system_circle` are found before anything runs; a payload that is
    /// not what a function takes, `errc::bad_payload`, when its turn comes. An exception ends it: what the
    /// function has recorded is dropped, what ran before stays. It names the system: an `error` keeps its
    /// code, another `std::exception` is nested in `errc::system_failed`; all others, and
    /// `std::bad_alloc`, are thrown on as they are.
    template <class... Targets>
    void process(const Targets&... targets) {
        detail::system_data* const all[] = {systems_.find(targets)..., nullptr};
        systems_.run(all);
    }
    /// The same for one, and gives its functions these values, or as many of them as they take. A number
    /// may be taken as another type of number: an integer if it stays the same, a real number rounded.
    template <class Target, class... Values>
    void process_with(const Target& target, const Values&... values) {
        detail::system_data* const all[] = {systems_.find(target)};
        systems_.run(all, values...);
    }
    /// All systems that are in no group, in their order: a frame.
    template <class... Values>
    void process_all(const Values&... values) {
        detail::system_data* const all[] = {&systems_.all.top()};
        systems_.run(all, values...);
    }
    /// `process`, `process_with` and `process_all` on several threads: the rows of each system are divided
    /// as `basic_query::par_each` does it, and systems that follow each other, touch nothing that another
    /// of them writes and are not put in order by `before` or `after` run side by side, on the world as it
    /// is before them. What they record is carried out when all of them are done, in their order: the result
    /// does not depend on the number of threads, or on timing, but for the numbers of new ids. A system
    /// that must see what another records says `after`. Prologues, epilogues and systems of which it is not
    /// known what they touch (see `basic_system::reads`) run alone. An exception: as for `par_each`; of the
    /// systems that ran side by side with the one that threw, nothing that was recorded happens. Defined in
    /// <muster/system/parallel.hpp>.
    template <class... Targets>
    void par_process(executor& threads, const Targets&... targets) {
        detail::system_data* const all[] = {systems_.find(targets)..., nullptr};
        systems_.run_shared(threads, all);
    }
    template <class Target, class... Values>
    void par_process_with(executor& threads, const Target& target, const Values&... values) {
        detail::system_data* const all[] = {systems_.find(target)};
        systems_.run_shared(threads, all, values...);
    }
    template <class... Values>
    void par_process_all(executor& threads, const Values&... values) {
        detail::system_data* const all[] = {&systems_.all.top()};
        systems_.run_shared(threads, all, values...);
    }
    /// Pairs of systems of `process_all`, or of `process` of this one, that cannot run side by side, and of
    /// which nobody said which is first, also not by way of others: it is the one that came first.
    /// `errc::unknown_system` and `errc::system_circle` as for `process`. O(systems^2). Must run alone.
    [[nodiscard]] std::vector<system_conflict> system_conflicts() {
        return systems_.all.conflicts(&systems_.all.top());
    }
    template <class Target>
    [[nodiscard]] std::vector<system_conflict> system_conflicts(const Target& target) {
        return systems_.all.conflicts(systems_.find(target));
    }
    /// The names of the systems as `process_all`, or `process` of this one, would run them, disabled ones
    /// too.
    [[nodiscard]] std::vector<std::string_view> system_order() {
        return systems_.all.order_of(&systems_.all.top());
    }
    template <class Target>
    [[nodiscard]] std::vector<std::string_view> system_order(const Target& target) {
        return systems_.all.order_of(systems_.find(target));
    }
    /// Whether the times that systems take are noted; costs nothing while it is off, as it is at first.
    void time_systems(bool wanted) noexcept { systems_.all.is_timed = wanted; }

    // ---- threads -------------------------------------------------------------------------------

    /// Takes over what the buffer has recorded, which is empty then. Any thread, at any time. It is applied
    /// at the next point where the world is not in a scope: at once, if this is the world's thread and no
    /// scope is open; else when its thread closes the outermost scope, a loop for instance, processes a
    /// system, or calls this or `apply_submitted`. Buffers are applied in the order in which they came,
    /// each in one scope: throws what a change has thrown, after all others. `std::bad_alloc` before that
    /// leaves the buffer as it is. O(1), and what it applies; a lock for a few instructions.
    void submit(basic_command_buffer<Layout>& changes) {
        changes.hand_over();
        store_.receive_at_home();
    }
    /// Applies what was submitted, if no scope is open; throws as `submit`. This is the world's thread from now
    /// on; at first it is the one that made the world. Must run alone; in a parallel phase it does nothing.
    void apply_submitted() {
        if (store_.is_shared()) return;
        store_.make_home();
        store_.receive();
    }

    // ---- names ---------------------------------------------------------------------------------

    /// For people: errors show it. Need not be unique; an empty one takes the name away. O(log n).
    void name(at_type e, std::string_view name) { store_.name(e, name); }
    /// Empty if it has none, or is not alive. Ends when the name is changed or the entity dies.
    [[nodiscard]] std::string_view name(id_type e) const noexcept { return store_.name(e); }
    /// The first that got this name, or the null id.
    [[nodiscard]] id_type lookup(std::string_view name) const noexcept {
        const auto& found = store_.names().lookup(name);
        return found.empty() ? id_type{} : detail::to_id<Layout>(found.front());
    }
    [[nodiscard]] std::vector<id_type> lookup_all(std::string_view name) const {
        std::vector<id_type> made;
        for (const std::uint64_t value : store_.names().lookup(name))
            made.push_back(detail::to_id<Layout>(value));
        return made;
    }

    // ---- room ----------------------------------------------------------------------------------

    /// Room for the records of `count` entities in all. `errc::id_overflow` if there are fewer keys.
    void reserve(std::size_t count) { store_.reserve(count); }
    /// Room for `count` entities with exactly these components.
    template <class T, class... Ts>
    void reserve(std::size_t count) {
        store_.reserve(count);
        store_.reserve(store_.template ensure_chunk<T, Ts...>(), count);
    }
    /// See `id_pool::recycle_tombstones`.
    std::size_t recycle_tombstones() { return store_.recycle_tombstones(); }
    /// Frees chunks without entities, and memory beyond what is there. Ends references and chunk
    /// handles.
    void collect_garbage() { store_.collect_garbage(); }

private:
    template <class Column>
    using element = std::remove_cvref_t<decltype(*std::data(std::declval<const Column&>()))>;

    template <class Column, class... Columns>
    static std::size_t common_size(const Column& first, const Columns&... others) {
        const std::size_t sizes[] = {std::size(first), std::size(others)...};
        for (const std::size_t one : sizes)
            if (one != sizes[0])
                detail::raise(errc::size_mismatch,
                              detail::text("columns of ", sizes[0], " and of ", one,
                                           " values do not make rows: all must be equally long"));
        return sizes[0];
    }

    /// The values that many rows start with, one for all or, if `step` is 1, one for each; and their
    /// chunk.
    template <class... Ts>
    struct many {
        static_assert(
            (... && is_copyable<Ts>::value),
            "muster: each entity gets a copy: this component cannot be copied. Spawn them "
            "one by one, handing values over with std::move.");
        detail::fragment_data* fragments[sizeof...(Ts) + 1];
        mutable const void* values[sizeof...(Ts) + 1];
        std::size_t step;
        detail::chunk_data& chunk;

        many(store_type& store, std::size_t between, const Ts*... given)
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

    /// A chunk that can have rows.
    static detail::chunk_data& inside(detail::chunk_data& found) {
        if (found.has_sparse)
            detail::raise(errc::missing_component,
                          detail::text("no chunk has ", to_text(found),
                                       ": one of them is sparse, and kept beside the chunks"));
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
    void make_beside(at_type e, detail::fragment_data& fragment, const char* call, Args&&... args) {
        if (store_.is_shared()) detail::recorder::raise_pinned(detail::type_name<T>());
        store_.emplace_beside(e, fragment, call,
                              [&](void* room) { ::new (room) T(std::forward<Args>(args)...); });
    }
    template <class T, class... Args>
    T& emplace_as(const char* call, at_type e, Args&&... args) {
        if constexpr (detail::is_pinned<T>)
            make_beside<T>(e, store_.template ensure_fragment<T>(), call,
                           std::forward<Args>(args)...);
        else
            store_.template put<store_type::present::assign, T>(
                e, call, incoming<T>(T(std::forward<Args>(args)...)));
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
            using type = typename F::value_type;  // which its values must be of
            store_.template ensure_fragment<type>(fragment, nullptr).is_open = false;
            return connect<type>(fragment.id(), kind, std::forward<Hook>(hook));
        } else
            return connect<F>(component<F>(), kind, std::forward<Hook>(hook));
    }

    template <class T>
    void put(at_type e, T&& given) {
        store_.template put<store_type::present::assign, T>(e, "set", incoming<T>(given));
    }

    /// What is known of a fragment, whatever it is given by.
    template <class F>
    [[nodiscard]] const detail::fragment_data& look(const F& fragment) const noexcept {
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

/// A scope as an object: `{ deferred scope{w}; ... }`. It commits at the end of its block and cancels
/// when an exception leaves it. Not to be closed by `world::commit`. Must not outlive its world.
template <class Layout>
class basic_deferred {
public:
    explicit basic_deferred(basic_world<Layout>& w) : changes_(w.store_) {}
    basic_deferred(const basic_deferred&) = delete;
    basic_deferred& operator=(const basic_deferred&) = delete;
    /// May throw as `world::commit` does.
    ~basic_deferred() noexcept(false) {
        if (changes_.is_open() && std::uncaught_exceptions() == exceptions_) changes_.commit();
    }

    /// Closes it before the end of the block; the end does nothing then.
    void commit() {
        if (changes_.is_open()) changes_.commit();
    }
    void cancel() noexcept {
        if (changes_.is_open()) changes_.cancel();
    }

private:
    typename detail::store<Layout>::scope changes_;
    int exceptions_ = std::uncaught_exceptions();
};
using deferred = basic_deferred<layouts::bound>;

}  // namespace muster
