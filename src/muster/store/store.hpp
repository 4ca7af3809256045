// store: the entities of one world: their records, their chunks, and all changes of structure.
// `world` only forwards to it. Start reading at `put`, which stores values.
//
// Invariants
//   - A record refers to the row that holds its id, and that row holds the id of the record.
//   - A change has two steps. The first does everything that can fail: it copies values, creates
//     chunks and edges, grows columns and records. The second cannot fail. So an exception leaves
//     the world unchanged.
//   - While user code of a component runs inside a change (copies, moves, destructors), `busy_`
//     refuses every other change. A destructor that reads the world finds it consistent.
//   - A change has two paths. Most changes take the short fast path: no scope is open, and no hook
//     is called. The others are recorded in the journal, and applied when the outermost scope
//     closes. A change with hooks opens a scope of its own. So scopes, hooks, and several changes
//     that become one move share one implementation: `apply_group`.
//
// Members that are not templates are defined in store_impl.hpp and compiled once per layout. Inline
// functions call only pool functions of a few instructions, because all users compile them.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/bit_array.hpp>
#include <muster/base/error.hpp>
#include <muster/command/journal.hpp>
#include <muster/command/lane.hpp>
#include <muster/command/submission_queue.hpp>
#include <muster/id/slot_pool.hpp>
#include <muster/id/world_number.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/sparse_table.hpp>
#include <muster/store/at.hpp>
#include <muster/store/bound_value.hpp>
#include <muster/store/provenance.hpp>
#include <muster/store/record.hpp>
#include <muster/store/with.hpp>
#include <muster/type/fragment_table.hpp>
#include <muster/type/name_table.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// Options of a new world. A value that does not fit the layout throws `errc::id_out_of_range`.
struct world_options {
    /// The number in the world's ids; 0: the next free number. Throws `errc::number_taken` if a
    /// living world has it.
    std::uint64_t number = 0;
    /// Records for each key where its last entity was destroyed, for error messages.
    bool provenance = false;
    /// The first and the last key that `spawn` issues. The defaults are those of the layout.
    std::uint64_t first_key = 0;
    std::uint64_t last_key = ~std::uint64_t{0};
    muster::reuse reuse = muster::reuse::lifo;
};

namespace detail {

struct plan;
struct apply_buffers;
struct pending_value;
struct value_source;

template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);

template <class... Ts>
inline constexpr bool all_differ = true;
template <class T, class... Others>
inline constexpr bool all_differ<T, Others...> = !is_one_of<T, Others...> && all_differ<Others...>;

/// Returns the value of a tag: all entities share one object.
template <class T>
T& tag_value() noexcept {
    // SAFETY: T is empty and trivially copyable, so any byte is a valid value.
    alignas(T) static std::byte only[sizeof(T)];
    return *reinterpret_cast<T*>(only);
}

/// The size of a component in its storage.
template <class T>
inline constexpr std::size_t value_size = is_tag<T> ? 0 : sizeof(T);

template <class T>
T* value_at(std::byte* base, std::size_t row) noexcept {
    if constexpr (is_tag<T>)
        return &tag_value<T>();
    else  // SAFETY: `base` is the column of T's fragment, aligned for T.
        return reinterpret_cast<T*>(base) + row;
}

template <class Layout>
class MUSTER_API store {
public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;
    using record_type = record<Layout>;

    static constexpr std::size_t row_limit = std::size_t{1} << record_type::row_bits;
    static constexpr std::size_t chunk_limit = std::size_t{1} << record_type::chunk_bits;

    explicit store(const world_options& options);
    ~store();
    /// Destroys all values. Afterwards the world is read-only; destructors of components may still
    /// query it.
    void end() noexcept;
    store(const store&) = delete;
    store& operator=(const store&) = delete;

    // ---- lookup --------------------------------------------------------------------------------

    [[nodiscard]] std::uint64_t number() const noexcept { return number_.value(); }
    [[nodiscard]] std::size_t size() const noexcept { return pool_.size() - world_owned_count_; }
    [[nodiscard]] bool alive(id_type e) const noexcept { return find(e) != nullptr; }

    /// Returns the record of a living entity, or null.
    [[nodiscard]] const record_type* find(id_type e) const noexcept {
        return find(e, pool_.origin(), pool_.dense(), pool_.dense_first_key(), pool_.dense_count());
    }

    template <class T>
    [[nodiscard]] T* find_value(id_type e) const noexcept {
        return find_value<T>(e, find_fragment<T>());
    }
    /// Like `find_value(e)`, for a fragment whose values are of type T.
    template <class T>
    [[nodiscard]] T* find_value(id_type e, const fragment_data& fragment) const noexcept {
        if constexpr (is_always_sparse<T>()) return find_sparse<T>(e, fragment);
        // Loads that do not depend on the entity precede the first branch, so that a loop hoists
        // them.
        std::byte* const* const bases = fragment.bases.data();
        const std::uint32_t limit = fragment.limit;
        const id_type origin = pool_.origin();
        const record_type* const records = pool_.dense();
        const std::uint64_t first = pool_.dense_first_key();
        const std::uint64_t count = pool_.dense_count();
        if (fragment.sparse_values != nullptr) [[unlikely]]
            return find_sparse<T>(e, fragment);
        const std::uint64_t place = e.key() - first;
        if (place >= count) [[unlikely]]
            return find_overflow_value<T>(e, fragment);
        const record_type found = records[place].seen();
        if (!found.is(e, origin)) return nullptr;
        const std::uint32_t chunk = to_int(found.chunk());
        std::byte* const base = chunk < limit ? bases[chunk] : nullptr;
        return base == nullptr ? nullptr : value_at<T>(base, found.row());
    }
    template <class T>
    [[nodiscard, gnu::noinline, gnu::pure]] T* find_overflow_value(
        id_type e, const fragment_data& fragment) const noexcept {
        const record_type* const found = find_overflow(e);
        std::byte* const base = found == nullptr ? nullptr : fragment.base(found->chunk());
        return base == nullptr ? nullptr : value_at<T>(base, found->row());
    }

    template <class T>
    [[nodiscard]] T& get(at_type target) const {
        if constexpr (checked) {
            if (T* const found = find_value<T>(target.id)) [[likely]]
                return *found;
            raise_missing(target, "get", type_name<T>(), find_fragment<T>());
        } else {
            const fragment_data& fragment = find_fragment<T>();
            if (is_always_sparse<T>() || fragment.sparse_values != nullptr)
                return *find_sparse<T>(target.id, fragment);
            const record_type& found = *find_record(target.id.key());
            return *value_at<T>(fragment.bases[to_int(found.chunk())], found.row());
        }
    }
    template <class T>
    [[nodiscard]] T& get(at_type target, id_type f, const char* call) const {
        check_access(f);
        if (T* const found = find_value<T>(target.id, find_fragment<T>(f))) [[likely]]
            return *found;
        raise_missing(target, call, f, find_type_index<T>(), type_name<T>());
    }

    /// Returns the sparse set of T, or null if T is not sparse.
    template <class T>
    [[nodiscard]] sparse_set* find_set() const noexcept {
        if constexpr (is_always_sparse<T>())
            return sparse_.find(find_type_index<T>());
        else
            return find_fragment<T>().sparse_values;
    }
    /// Like `find_value`, for a sparse fragment or `no_fragment`.
    template <class T>
    [[nodiscard]] static T* find_sparse(id_type e, const fragment_data& fragment) noexcept {
        if (fragment.sparse_values == nullptr) return nullptr;
        if constexpr (is_tag<T>)
            return fragment.sparse_values->template find_of<Layout>(e.value()) == no_slot
                       ? nullptr
                       : &tag_value<T>();
        else  // SAFETY: the set stores the values of T's fragment, aligned for T.
            return reinterpret_cast<T*>(
                fragment.sparse_values->template find_value<Layout, sizeof(T)>(e.value()));
    }

    [[nodiscard]] bool has(id_type e, const fragment_data& fragment) const noexcept {
        if (fragment.sparse_values != nullptr)
            return fragment.sparse_values->template find_of<Layout>(e.value()) != no_slot;
        const record_type* const found = find(e);
        return found != nullptr && fragment.base(found->chunk()) != nullptr;
    }

    /// Returns the address of the value, or null if there is none or the fragment is a tag.
    [[nodiscard]] void* find_raw(id_type e, const fragment_data& fragment) const noexcept {
        if (fragment.sparse_values != nullptr) {
            const slot_index slot = fragment.sparse_values->find(e.value());
            return slot == no_slot || fragment.type->size == 0 ? nullptr
                                                               : fragment.sparse_values->at(slot);
        }
        const record_type* const found = find(e);
        std::byte* const base = found == nullptr ? nullptr : fragment.base(found->chunk());
        if (base == nullptr || fragment.type->size == 0) return nullptr;
        return base + found->row() * fragment.type->size;
    }

    /// Returns a record without components for an id of this parallel phase that gets its own
    /// record at the end of the phase; otherwise null.
    [[nodiscard]] const record_type* find_made_now(id_type e) const noexcept;
    /// Like `find`, for keys outside of the dense array.
    [[gnu::pure]] const record_type* find_overflow(id_type e) const noexcept;

    /// Returns the record of a key, or null.
    [[nodiscard]] record_type* find_record(std::uint64_t key) const noexcept {
        if (pool_.is_dense(key)) [[likely]]
            return pool_.dense() + (key - pool_.dense_first_key());
        return find_overflow_record(key);
    }
    [[gnu::pure]] record_type* find_overflow_record(std::uint64_t key) const noexcept;

    /// Returns the living id with the lowest key at or above `key`, or the null id. Skips
    /// world-owned ids.
    [[nodiscard]] id_type next_living(std::uint64_t key) const noexcept;

    // ---- fragments and chunks ------------------------------------------------------------------

    template <class T>
    [[nodiscard]] const fragment_data& find_fragment() const noexcept {
        static_assert(is_component<T>);
        return fragments_.find(find_type_index<T>());
    }

    template <class T>
    fragment_data& ensure_fragment() {
        static_assert(is_component<T>);
        return ensure_fragment(ensure_type_index<T>(), type_info_of<T>);
    }
    fragment_data& ensure_fragment(type_index type, const type_info& info) {
        const fragment_data& found = fragments_.find(type);
        if (&found == &no_fragment) [[unlikely]]
            return add_fragment(type, info);
        // SAFETY: `add_fragment` made all fragments except for `no_fragment`; they are not const.
        return const_cast<fragment_data&>(found);
    }

    /// Returns the fragment with this id or, for any other bits, `no_fragment`.
    [[nodiscard]] const fragment_data& find_fragment(id_type f) const noexcept {
        return fragments_.lookup(f.value());
    }
    /// Like `find_fragment(f)`, but returns `no_fragment` if the values are not of type T.
    template <class T>
    [[nodiscard]] const fragment_data& find_fragment(id_type f) const noexcept {
        const fragment_data& found = find_fragment(f);
        return *select_branchless(found.value_type == find_type_index<T>(), &found, &no_fragment);
    }

    /// Returns the fragment with this id for values of type T. An unused id becomes such a
    /// fragment. `no_value` stands for a tag. `where` is null if the call has no source location.
    template <class T>
    fragment_data& ensure_fragment(id_type f, const std::source_location* where) {
        if constexpr (std::is_same_v<T, no_value>)
            return ensure_fragment(f, no_type, type_info_of<T>, where);
        else
            return ensure_fragment(f, ensure_type_index<T>(), type_info_of<T>, where);
    }
    fragment_data& ensure_fragment(id_type f, type_index value, const type_info& type,
                                   const std::source_location* where = nullptr) {
        fragment_data* const found = fragments_.find(f.value());
        if (found != nullptr && !found->is_untyped &&
            (value == no_type ? found->type->size == 0 : found->value_type == value)) [[likely]]
            return *found;
        return adopt(f, value, type, where);
    }
    /// Returns the fragment with this id. Throws if it does not exist or has no type.
    fragment_data& get_fragment(id_type f, const char* call,
                                const std::source_location* where) const;
    /// Like `get_fragment(f, call, where)`, but throws if the values are not of type T.
    template <class T>
    fragment_data& get_fragment(id_type f, const char* call,
                                const std::source_location* where) const {
        fragment_data& found = get_fragment(f, call, where);
        if (found.value_type != find_type_index<T>())
            raise_mismatch(found, type_name<T>(), call, where);
        return found;
    }
    /// Returns the fragment with this id. An unused id becomes an untyped fragment.
    fragment_data& open_fragment(id_type f);
    /// Returns the fragment with this id. If it has no type yet, it becomes a tag.
    fragment_data& typed_or_tag(id_type f, const std::source_location* where);
    void add_needs(id_type f, std::span<fragment_data* const> needed);

    /// Creates a fragment, with this name if it is not empty. The type is known at compile time, or
    /// the fragment stores a copy of `own`.
    id_type make_fragment(type_index value, const type_info& type, std::string_view name);
    id_type make_fragment(const type_info& own, std::string_view name);

    /// Return the fragment of a value, and the address of the value. `given` may be null unless it
    /// is a `with`.
    template <class T>
    fragment_data& fragment_of(const T* given) {
        if constexpr (is_with<T>)
            return ensure_fragment<typename T::value_type>(given->fragment, nullptr);
        else
            return ensure_fragment<T>();
    }
    template <class T>
    static const void* address_of(const T* given) noexcept {
        if constexpr (is_with<T>)
            return __builtin_addressof(given->value);
        else
            return given;
    }

    [[nodiscard]] id_type id_of(const fragment_data& fragment) const noexcept {
        return to_id<Layout>(fragment.id);
    }

    /// Drops all caches that depend on the traits of fragments.
    void invalidate_traits() noexcept;

    /// Returns the default value of T. Throws `errc::no_default` if there is none.
    template <class T>
    [[nodiscard]] T default_value() {
        const fragment_data& known = find_fragment<T>();
        if (known.default_value) {
            // SAFETY: `made` holds a T, which is moved from, and destroyed by `made`.
            boxed_value made(type_info_of<T>);
            const busy_guard busy(*this);
            known.default_construct(made.room, 1);
            made.filled = true;
            return std::move(*static_cast<T*>(made.room));
        }
        if constexpr (std::is_default_constructible_v<T>)
            return T();
        else
            raise_no_default(known, type_name<T>());
    }

    /// Returns the chunk of exactly these types, or null if it was not requested yet.
    template <class... Ts>
    [[nodiscard]] chunk_data* find_chunk() const noexcept {
        if constexpr (sizeof...(Ts) == 0) {
            return &graph_.empty_chunk();
        } else {
            return find_list<Ts...>().chunk;
        }
    }
    template <class... Ts>
    chunk_data& ensure_chunk() {
        static_assert(all_differ<Ts...>, "muster: component types must be distinct.");
        if constexpr (sizeof...(Ts) == 0) {
            return graph_.empty_chunk();
        } else {
            if (chunk_data* const known = find_chunk<Ts...>()) [[likely]]
                return *known;
            fragment_data* const set[] = {&ensure_fragment<Ts>()...};
            return add_list(static_cast<std::size_t>(find_list_index<Ts...>()), set);
        }
    }

    /// Returns the chunk of exactly these fragments, in any order. Throws `errc::given_twice`.
    chunk_data& ensure_set(std::span<fragment_data* const> set);
    /// Returns the chunk of this fragment alone.
    chunk_data& ensure_single_chunk(fragment_data& fragment) {
        return fragment.single_chunk != chunk_index{} ? graph_.at(fragment.single_chunk)
                                                      : add_single_chunk(fragment);
    }

    [[nodiscard]] const fragment_table& fragments() const noexcept { return fragments_; }
    [[nodiscard]] const sparse_table& sparse() const noexcept { return sparse_; }
    /// Returns all fragments of a living entity, sorted by number.
    [[nodiscard]] array_list<fragment_data*> fragments_of(id_type e) const;
    /// Whether a living entity has any fragment.
    [[nodiscard]] bool has_any(id_type e) const noexcept {
        return find(e)->chunk() != chunk_index{} || sparse_.has_any(e.value());
    }
    /// Makes the fragment sparse. Throws `errc::fragment_in_use` if an entity has it or a value is
    /// pending.
    void make_sparse(fragment_data& fragment);
    [[nodiscard]] chunk_graph& graph() noexcept { return graph_; }
    [[nodiscard]] const chunk_graph& graph() const noexcept { return graph_; }

    // ---- creating entities ---------------------------------------------------------------------

    /// Whether the types alone determine the fragments.
    template <class... Args>
    static constexpr bool all_typed = !(... || is_with<std::remove_cvref_t<Args>>);

    template <class... Args>
    id_type spawn(bound_value<Args>... values) {
        // All calls are inlined or in tail position, so the fast path needs no stack frame.
        const writer_guard writer(*this, "spawn");
        if constexpr (sizeof...(Args) == 0) {
            if (busy_ != 0 || !pool_.is_ready()) [[unlikely]]
                return spawn_slowly<>();
            return pool_.create_now([](record_type&) {});
        } else {
            const bundle_entry& list = find_list<typename bound_value<Args>::type...>();
            chunk_data* const into = list.spawned;
            if (into == nullptr || into->size == into->capacity || busy_ != 0 ||
                sizeof...(Args) > std::size(list.columns) || !pool_.is_ready()) [[unlikely]]
                return spawn_slowly<Args...>(std::move(values)...);
            const std::size_t row = into->size;
            {
                const busy_guard_if<(... || bound_value<Args>::is_nontrivial)> busy(*this);
                const column* const columns = into->columns.data();
                const std::uint8_t* which = list.columns;
                const auto construct_next = [&](auto& value) {
                    if constexpr (!is_tag<typename std::remove_reference_t<decltype(value)>::type>)
                        construct_value(value, columns[*which].data, row, value.where());
                    ++which;
                };
                (construct_next(values), ...);
            }
            into->size = row + 1;
            return ids(*into)[row] =
                       pool_.create_now([&](record_type& made) { made.place(into->index, row); });
        }
    }

    /// Like `spawn`, for values that name their fragments. Does not copy the values.
    template <class... Args>
    id_type spawn_given(bound_value<Args>&&... values) {
        if (is_parallel()) [[unlikely]]
            return share_spawn(values...);
        const writer_guard writer(*this, "spawn");
        fragment_data* const set[] = {&values.ensure(*this, nullptr)...};
        chunk_data* const into = find_recent(set);
        if (into == nullptr || into->size == into->capacity || busy_ != 0 || !into->is_complete ||
            into->notifies_insert || !pool_.is_ready()) [[unlikely]]
            return spawn_row<Args...>(values...);
        const std::size_t row = into->size;
        {
            const busy_guard_if<(... || bound_value<Args>::is_nontrivial)> busy(*this);
            std::size_t i = 0;
            (construct_value(values, set[i++]->base(into->index), row, values.where()), ...);
        }
        (values.on_stored(), ...);
        into->size = row + 1;
        return ids(*into)[row] =
                   pool_.create_now([&](record_type& made) { made.place(into->index, row); });
    }

    template <class... Args>
    id_type spawn_at(id_type wanted, bound_value<Args>... values) {
        const void* from[] = {values.where()..., nullptr};
        if (is_deferred("spawn")) return record_spawn(&wanted, values...);
        const chunk_data& given = ensure_chunk_of(nullptr, values...);
        chunk_data& into = cloned_chunk(graph_.empty_chunk(), given);
        if (notifies_insert(into) || has_sparse_part(given))
            return record_spawn(&wanted, values...);
        open_row(into, argument_addresses(from, sizeof...(Args)));
        new_row row(*this, into, given, given);
        claim(wanted);
        construct(into, from, values...);
        row.keep();
        (values.on_stored(), ...);
        return append_row_at(into, wanted);
    }

    /// Creates an entity like `prototype`, with the given values in place of its own.
    template <class... Args>
    id_type clone(at_type prototype, bound_value<Args>... values) {
        const void* from[] = {values.where()..., nullptr};
        const writer_guard writer(*this, "clone");
        const bool must_defer = is_deferred("clone");
        (void)require(prototype, "clone");
        const chunk_data& given = ensure_chunk_of(&prototype.where, values...);
        if (must_defer || notifies_clone(prototype, given)) {
            scope whole(*this);
            pending_entity made(*this, nullptr);
            record_copies(made.id, prototype, given);
            (record_value(at_type(made.id, prototype.where), change_kind::put, values), ...);
            made.record(false);
            whole.commit();
            return made.id;
        }
        chunk_data& into = copy_row(prototype, given, argument_addresses(from, sizeof...(Args)));
        construct(into, from, values...);
        (values.on_stored(), ...);
        return append_row(into);
    }

    /// The values of many new rows: `values[i]` for `fragments[i]`; one for all rows if `step` is
    /// 0, one per row if it is 1. A function that reallocates a column updates the addresses in it.
    struct row_values {
        std::span<fragment_data* const> fragments;
        argument_addresses values;
        std::size_t step = 0;

        /// Returns the position of this fragment's value in `values`, or null.
        [[nodiscard]] const void* const* find(const fragment_data* fragment) const noexcept {
            for (std::size_t i = 0; i < fragments.size(); ++i)
                if (fragments[i] == fragment) return &values[i];
            return nullptr;
        }
    };

    /// Creates an entity for each element of `out`, in one chunk; all or none.
    void spawn_many(std::span<id_type> out, chunk_data& into, row_values given);
    void clone_many(std::span<id_type> out, at_type prototype, chunk_data& given_chunk,
                    row_values given);
    /// Creates `count` entities; `fill(chunk, first)` writes the values of the rows from `first`
    /// on.
    template <class Fill>
    void spawn_rows(std::size_t count, chunk_data& given_chunk, row_values given, Fill&& fill) {
        if (is_deferred("spawn")) {
            chunk_data staged;  // outside of the graph
            scope whole(*this);
            stage_rows(staged, count, given_chunk, given);
            fill(staged, std::size_t{0});
            record_rows(staged);
            whole.commit();
            return;
        }
        if (has_sparse_part(given_chunk)) {
            using filler = std::remove_reference_t<Fill>;
            const auto call = [](const void* what, const chunk_data& rows) {
                (*static_cast<const filler*>(what))(rows, std::size_t{0});
            };
            return spawn_rows_with_sparse(count, given_chunk, given, call,
                                          __builtin_addressof(fill));
        }
        chunk_data& into = append_rows(count, given_chunk, given);
        new_entities made(*this, into, into.size - count);
        scope whole(*this);
        fill(into, made.first);
        notify_insert(into, made.first);
        made.keep();
        whole.commit();
    }

    // ---- inserting and removing values ---------------------------------------------------------

    enum class if_present { replace, skip };

    /// Stores these values in the entity. Replaces or skips existing values; returns false if it
    /// skipped all. Invalidates references to the entity's components if it adds a fragment.
    template <if_present IfPresent, class... Args>
    bool put(at_type target, const char* call, bound_value<Args>... values) {
        // The fast path is for sparse values that toggle every frame. The rest is a tail call, so
        // it needs no stack frame.
        if constexpr (sizeof...(Args) == 1 && all_typed<Args...> && !checks_threads)
            if (sparse_set* const set = (find_set<typename bound_value<Args>::type>(), ...);
                set != nullptr && busy_ == 0 && try_fast_put<IfPresent>(target, *set, values...))
                return true;
        return put_any<IfPresent, Args...>(target, call, std::move(values)...);
    }
    template <if_present IfPresent, class... Args>
    [[gnu::noinline]] bool put_any(at_type at, const char* call, bound_value<Args>... values) {
        const writer_guard writer(*this, call);
        if (is_recording(call)) [[unlikely]]
            return record_put<IfPresent, Args...>(at, call, std::move(values)...);
        if constexpr (!all_typed<Args...>) {
            (void)require(at, call);
            (values.ensure(*this, &at.where), ...);
        }
        if constexpr (sizeof...(Args) == 1)
            if (const fragment_data& fragment = (values.find(*this), ...);
                fragment.sparse_values != nullptr)
                return put_sparse<IfPresent, Args...>(at, call, *fragment.sparse_values,
                                                      std::move(values)...);
        const void* from[] = {values.where()...};
        record_type& found = require(at, call);
        if constexpr (sizeof...(Args) == 1) {  // the usual case needs no edge
            if (std::byte* const base = (values.find(*this), ...).base(found.chunk())) {
                if constexpr (IfPresent == if_present::replace) {
                    if ((values.find(*this), ...).hooks.has(assign_hooks) && !is_noting_)
                        [[unlikely]]
                        return put_told<IfPresent, Args...>(at, call, std::move(values)...);
                    const busy_guard_if<(... || bound_value<Args>::is_nontrivial)> busy(*this);
                    (assign_value(values, base, found.row(), from[0]), ...);
                }
                return IfPresent == if_present::replace;
            }
        }
        record_type* now = &found;
        chunk_data* more = find_chunk_of(values...);
        if (more == nullptr) {
            more = &ensure_chunk_of(&at.where, values...);
            now = find_record(at.id.key());  // registering a type can reallocate the records
        }
        chunk_data& here = graph_.at(now->chunk());
        const edge& transition = graph_.with(here, *more);
        if ((transition.has_notices || notifies_assign<IfPresent>(values...)) && !is_noting_)
            [[unlikely]]
            return put_told<IfPresent, Args...>(at, call, std::move(values)...);
        chunk_data& target = *transition.target;
        if (&target != &here) target.make_room(1, row_limit, from);
        new_row row(*this, transition.has_needed ? target : here, here, *more);
        if constexpr (sizeof...(Args) == 1) {  // the entity does not have it: see above
            construct(target, from, values...);
        } else {
            if (&target != &here) construct_missing(here, target, from, values...);
            if constexpr (IfPresent == if_present::replace)
                assign_present(here, now->row(), from, values...);
            if (&target == &here) return IfPresent == if_present::replace;
        }
        row.keep();
        (values.on_stored(), ...);
        move_row(at.id, *now, here, transition);
        return true;
    }

    /// Stores the fragment's default value. Replaces or skips an existing value.
    bool put_default(if_present what, at_type target, id_type f, const char* call);
    /// Adds the default values of the fragments that the entity does not have, in one change.
    bool add_defaults(at_type target, std::span<const id_type> fragments, const char* call);
    /// Stores a copy of a value of the fragment's type.
    void put_raw(at_type target, id_type f, const void* value);

    template <class... Ts>
    bool remove(at_type target) {
        if constexpr (sizeof...(Ts) == 1 && !checks_threads)
            if (sparse_set* const set = (find_set<Ts>(), ...);
                set != nullptr && busy_ == 0 && try_fast_remove(target.id, *set))
                return true;
        return remove_any<Ts...>(target);
    }
    template <class... Ts>
    [[gnu::noinline]] bool remove_any(at_type target) {
        const writer_guard writer(*this, "remove");
        if (is_parallel()) [[unlikely]] {
            const fragment_name set[] = {fragment_name::of<Ts>()...};
            return share_remove(target, set);
        }
        if constexpr (sizeof...(Ts) == 1)
            if (const fragment_data& fragment = (find_fragment<Ts>(), ...);
                fragment.sparse_values != nullptr && !is_deferred("remove"))
                return remove_sparse(target, *fragment.sparse_values);
        const bool must_defer = is_deferred("remove");
        record_type* const found = find_local(target, "remove");
        if (must_defer) [[unlikely]] {
            const fragment_data* const set[] = {&find_fragment<Ts>()...};
            return found != nullptr && record_remove(target, set);
        }
        if (found == nullptr) return false;
        const chunk_index here = found->chunk();
        if ((... && (find_fragment<Ts>().base(here) == nullptr)) &&
            (sizeof...(Ts) == 1 || !(... || has_sparse(target.id, find_fragment<Ts>()))))
            return false;
        const chunk_data* const less = find_chunk<Ts...>();
        if (less == nullptr) [[unlikely]]
            return remove_set(target.id, ensure_chunk<Ts...>());
        return remove_set(target.id, *found, *less);
    }
    bool remove(at_type target, std::span<const id_type> fragments);

    /// Stores a value of this sparse fragment, which `make(room)` constructs in a reserved slot.
    template <class Make>
    void emplace_sparse(at_type target, fragment_data& fragment, const char* call, Make make,
                        change_kind recorded = change_kind::put);
    /// Sorts the values of a sparse fragment, and with them the loops over it.
    /// `order(context, a, b)` returns whether value `a` comes before value `b`.
    using value_order = bool (*)(void* context, const void* a, const void* b);
    void sort(fragment_data& fragment, value_order order, void* context);
    /// Sorts in the order of the entities that have `other`; the remaining values come last.
    void sort_like(fragment_data& fragment, const fragment_data& other);

    /// Copies the value of `from` to `to`, for all owners of `from`. Returns how many there are.
    std::size_t copy_fragment(id_type from, id_type to, const std::source_location& where);

    /// Changes all entities that `finder` finds, now or when the scope ends. Copies `values[i]`, if
    /// it exists, for `changes[i]`. Returns how many entities are affected in the current state of
    /// the world.
    std::size_t change_all(const target_finder& finder, std::span<const change_shape> changes,
                           std::span<const void* const> values, const char* call,
                           const std::source_location& where = {});

    /// Like `change_all`, with default values, for entities that lack them (`keep`) or all (`put`).
    std::size_t put_defaults(const target_finder& finder, change_kind kind,
                             std::span<const id_type> fragments, const char* call);
    std::size_t remove_all(const target_finder& finder, std::span<const id_type> fragments);

    bool clear(at_type target);
    /// Removes the fragment from all entities. Returns how many had it.
    std::size_t clear_fragment(const fragment_data& fragment);
    [[nodiscard]] std::size_t count(const fragment_data& fragment) const noexcept;

    /// Calls `change(T&)` on the entity's value and notifies hooks. In a scope, changes the pending
    /// value, or a copy that becomes pending.
    template <class T, class Change>
    T& patch(at_type target, const fragment_data& fragment, Change&& change) {
        if (is_deferred("patch")) {
            scope whole(*this);
            void* const pending = pending_copy(target, fragment);
            // SAFETY: the caller has checked that the values are of type T.
            T& value = is_tag<T> ? tag_value<T>() : *static_cast<T*>(pending);
            std::forward<Change>(change)(value);
            whole.commit();
            return value;
        }
        scope whole(*this);
        std::forward<Change>(change)(*find_value<T>(target.id, fragment));
        notify_assign(target.id, fragment);
        whole.commit();
        return placed<T>(target, fragment, "patch");
    }
    /// Whether the entity has the fragment; in a scope, whether it will have it when the scope
    /// ends.
    bool will_have(at_type target, const fragment_data& fragment, const char* call);
    /// Notifies hooks and observers as if the value were assigned.
    void touch(at_type target, const fragment_data& fragment, std::string_view name);

    /// Returns the value that a call has stored: in the world or, in a scope, the pending value.
    template <class T>
    T& placed(at_type target, const fragment_data& fragment, const char* call) {
        if (is_parallel()) [[unlikely]]
            return is_tag<T> ? tag_value<T>() : *static_cast<T*>(last_shared_value(call));
        const journal_entry* const pending =
            depth() == 0 ? nullptr : pending_state_of(target.id, fragment).entry;
        T* const found = pending == nullptr ? find_value<T>(target.id, fragment)
                         : is_tag<T>        ? &tag_value<T>()
                                            : static_cast<T*>(pending->value);
        if (found == nullptr) raise_missing(target, call, type_name<T>(), fragment);
        return *found;
    }

    // ---- destroying entities -------------------------------------------------------------------

    bool destroy(at_type target) {
        const writer_guard writer(*this, "destroy");
        // All calls are inlined or in tail position, so the fast path needs no stack frame.
        if (busy_ != 0 || target.id.key() >= marked_from_ || destroy_marks_.test(target.id.key()) ||
            !pool_.is_destroyed_easily(target.id)) [[unlikely]]
            return destroy_slowly(target);
        record_type& found = pool_.dense()[target.id.key() - pool_.dense_first_key()];
        if (found.chunk() != chunk_index{}) return destroy_placed(target.id, found);
        pool_.destroy_now(target.id);
        return true;
    }
    /// Destroys these entities and returns how many were alive. If an id is of another world,
    /// throws and destroys none.
    std::size_t destroy(std::span<const id_type> all, const std::source_location& where);
    void reset(const std::source_location& where);

    // ---- capacity ------------------------------------------------------------------------------

    void reserve(std::size_t count);
    /// Performs all steps that can fail in the creation of `count` ids.
    void prepare(std::size_t count);
    /// Reserves room for `count` rows in total.
    void reserve(chunk_data& into, std::size_t count);
    std::size_t recycle_tombstones();
    void collect_garbage();

    // ---- names ---------------------------------------------------------------------------------

    void name(at_type target, std::string_view name);
    [[nodiscard]] std::string_view name(id_type e) const noexcept;
    [[nodiscard]] const name_table& names() const noexcept { return names_; }

    // ---- scopes --------------------------------------------------------------------------------

    /// While it is open, changes are recorded. `commit` or `cancel` ends it. Scopes may end in any
    /// order.
    class open_scope {
    public:
        /// A closed scope.
        open_scope() noexcept : store_(nullptr), outer_(nullptr), is_users_(false) {}
        /// Opens a scope. In a parallel phase it stays closed, because all changes are recorded
        /// anyway.
        explicit open_scope(store& owner, bool is_users = false) noexcept(!checks_threads)
            : store_(&owner),
              outer_(owner.innermost_),
              start_(owner.journal_.now()),
              is_users_(is_users) {
            if (owner.is_parallel()) [[unlikely]] {
                store_ = nullptr;
                return;
            }
            if constexpr (checks_threads) owner.begin_writing("a loop or another scope");
            owner.innermost_ = this;
            owner.busy_ += scope_unit;
        }
        open_scope(open_scope&& other) noexcept
            : store_(std::exchange(other.store_, nullptr)),
              outer_(other.outer_),
              start_(other.start_),
              is_users_(other.is_users_),
              is_cancelled_(other.is_cancelled_) {
            if (store_ != nullptr) store_->replace(other, this);
        }
        open_scope& operator=(const open_scope&) = delete;

        [[nodiscard]] bool is_open() const noexcept { return store_ != nullptr; }

        /// Applies the recorded changes or, if another scope is open, leaves them to that scope.
        /// Throws the first exception of a change, after all others are applied.
        void commit() {
            if (store_ == nullptr) [[unlikely]]
                return;
            store& owner = *store_;
            if (owner.innermost_ != this || is_cancelled_) [[unlikely]]
                return commit_among_others();
            end();
            if ((!owner.journal_.empty() || owner.submissions_.has_submissions()) &&
                owner.depth() == 0)
                owner.apply_recorded();
        }
        /// Drops the recorded changes. If inner scopes are open, this happens when the last one
        /// ends.
        void cancel() noexcept;

    private:
        friend store;
        void commit_among_others();
        void end() noexcept {
            store& owner = *std::exchange(store_, nullptr);
            if constexpr (checks_threads) owner.end_writing();
            owner.busy_ -= scope_unit;
            if (owner.innermost_ == this) [[likely]]
                owner.innermost_ = outer_;
            else
                owner.replace(*this, outer_);
        }

        store* store_;
        open_scope* outer_;
        journal::position start_;
        bool is_users_;
        bool is_cancelled_ = false;  // its changes are dropped when it ends
    };

    /// Like `open_scope`, but its destructor cancels it.
    class scope : public open_scope {
    public:
        using open_scope::open_scope;
        scope() noexcept = default;
        scope(scope&&) noexcept = default;
        ~scope() {
            if (open_scope::is_open()) open_scope::cancel();
        }
    };

    /// Guard: cancels a scope when destroyed unless `is_done`. No other code can reach the flag. So
    /// the compiler removes the cancel after a completed loop, and keeps the captures of the loop's
    /// function in registers.
    struct closing {
        open_scope& changes;
        bool is_done = false;
        [[gnu::always_inline]] ~closing() {
            if (!is_done && changes.is_open()) changes.cancel();
        }
    };

    /// Returns the number of open scopes.
    [[nodiscard]] std::uint32_t depth() const noexcept { return static_cast<std::uint32_t>(busy_); }
    void defer();
    /// Closes the innermost scope. Throws `errc::unbalanced_scope` if `defer` did not open it.
    void commit();
    void cancel();

    // ---- hooks ---------------------------------------------------------------------------------

    /// Adds a hook of a fragment, or of the creation or destruction of entities. The functions
    /// below take the null id for the latter.
    std::uint64_t add_hook(id_type f, hook_kind kind, hook_function&& made);
    std::uint64_t add_entity_hook(hook_kind kind, hook_function&& made);
    bool connect_hook(id_type f, std::uint64_t number, bool wanted) noexcept;
    bool remove_hook(id_type f, std::uint64_t number) noexcept;
    [[nodiscard]] bool is_connected(id_type f, std::uint64_t number) const noexcept;

    // ---- observers: see event/observer.hpp -----------------------------------------------------

    /// Notes changes of the fragments that the log subscribes to, until the log is removed. A world
    /// that is destroyed first clears and detaches it.
    void add_observer(change_log& log);
    void remove_observer(const change_log& log) noexcept;
    void subscribe(change_log& log, id_type f, unsigned kinds);
    void connect_observer(change_log& log, bool wanted) noexcept;

    // ---- systems -------------------------------------------------------------------------------

    /// Returns the name of the running system; empty: none. The reference stays valid.
    [[nodiscard]] std::string_view& current_system() noexcept { return current_system_; }
    /// Guard: until it is destroyed, changes are attributed to this system in error messages.
    class system_guard {
    public:
        system_guard(store& owner, std::string_view name) noexcept
            : store_(owner), before_(owner.current_system_) {
            owner.current_system_ = name;
        }
        system_guard(const system_guard&) = delete;
        system_guard& operator=(const system_guard&) = delete;
        ~system_guard() { store_.current_system_ = before_; }

    private:
        store& store_;
        std::string_view before_;
    };

    // ---- parallel phases and command buffers: see sharing_impl.hpp ------------------------------

    /// Whether a parallel phase is active: each thread records its own changes, and the world stays
    /// unchanged.
    [[nodiscard]] bool is_parallel() const noexcept { return (busy_ & parallel_bit) != 0; }
    /// Begins a phase, until `end_phase`. Throws `errc::in_scope` in another phase or inside a
    /// change. Creates lane 0, for the calling thread; `share_phase` creates more.
    void begin_phase();
    void share_phase(std::size_t lanes);
    [[nodiscard]] lane& lane_at(std::size_t index) const noexcept;
    /// Replays the changes of the lanes into the journal, in their order, or drops them. Applies
    /// them unless a scope is open. Throws the first exception of a change, after all others are
    /// applied.
    void end_phase(bool is_kept);
    /// `add` in a parallel phase.
    bool share_default(at_type target, recorded_kind kind, std::span<const fragment_name> set,
                       const char* call);

    [[nodiscard]] submission_queue& submissions() noexcept { return submissions_; }
    /// Reserves ids for a command buffer, at least one. Throws `errc::id_overflow`. Any thread may
    /// call it.
    void reserve_ids(array_list<std::uint64_t>& out);
    /// Throws if an id is null or of another world. Any thread may call it, at any time.
    void refuse_impossible(at_type target, const char* call) const;
    void refuse_impossible(fragment_name fragment, const std::source_location& where) const;
    /// Applies submitted changes, unless a scope is open.
    void apply_submitted();
    /// Like `apply_submitted`, but does nothing unless called on the world's owner thread.
    void apply_submitted_on_owner();
    void set_owner_thread() noexcept { owner_thread_.store(this_thread()); }

    /// Guard: until it is destroyed, changes on other threads throw `errc::second_writer`. Costs
    /// nothing unless the build checks threads.
    class writer_guard {
    public:
        writer_guard([[maybe_unused]] store& owner, [[maybe_unused]] const char* call) {
            if constexpr (checks_threads) {
                store_ = &owner;
                if (!owner.begin_writing(call)) store_ = nullptr;
            }
        }
        writer_guard(const writer_guard&) = delete;
        writer_guard& operator=(const writer_guard&) = delete;
        ~writer_guard() {
            if constexpr (checks_threads)
                if (store_ != nullptr) store_->end_writing();
        }

    private:
        [[maybe_unused]] store* store_;
    };
    /// Returns false in a parallel phase, where the check is not needed.
    bool begin_writing(const char* call);
    void end_writing() noexcept;
    /// Checks the access of a thread to a component. Throws `errc::undeclared_access` if its system
    /// has not declared the access, and it conflicts with a concurrent system.
    template <class T>
    void check_access(bool may_write) const {
        if constexpr (checks_threads)
            if (is_parallel()) check_access(find_type_index<T>(), may_write, type_name<T>());
    }
    /// Like `check_access<T>`, for the fragment of a C++ type. Systems can declare no other
    /// fragments.
    void check_access(id_type f) const {
        if constexpr (checks_threads)
            if (const fragment_data& known = find_fragment(f);
                is_parallel() && known.is_world_owned)
                check_access(known.value_type, false, known.name);
    }
    void check_access(type_index type, bool may_write, std::string_view name) const;

    // ---- errors --------------------------------------------------------------------------------

    /// Guard: until it is destroyed, changes are refused, because user code of a component runs.
    class busy_guard {
    public:
        explicit busy_guard(store& owner) noexcept : store_(owner) { store_.busy_ += change_unit; }
        busy_guard(const busy_guard&) = delete;
        busy_guard& operator=(const busy_guard&) = delete;
        ~busy_guard() { store_.busy_ -= change_unit; }

    private:
        store& store_;
    };

    struct no_guard {
        explicit no_guard(store&) noexcept {}
    };
    /// A `busy_guard` if user code runs in its scope; otherwise no guard.
    template <bool RunsCode>
    using busy_guard_if = std::conditional_t<RunsCode, busy_guard, no_guard>;

    /// For calls that take effect at once even in a scope: throws inside a change.
    void refuse_in_change(const char* call) const {
        if (busy_ >= change_unit) [[unlikely]]
            raise_busy(call);
    }
    /// For calls that take effect at once even inside a change: throws in a parallel phase.
    void refuse_in_phase(const char* call) const {
        if (is_parallel()) [[unlikely]]
            raise_busy(call);
    }
    /// For calls that can neither run nor be deferred in a scope: throws there.
    void refuse_in_scope(const char* call) const {
        if (busy_ >= change_unit || depth() != 0) [[unlikely]]
            raise_busy(call);
    }
    /// Whether a change must be recorded: in the journal or, in a parallel phase, in a lane.
    [[nodiscard]] bool is_recording(const char* call) const {
        if (busy_ == 0) [[likely]]
            return false;
        return is_parallel() || is_deferred(call);
    }
    /// Whether a change must be recorded in the journal.
    [[nodiscard]] bool is_deferred(const char* call) const {
        if (busy_ == 0) [[likely]]
            return false;
        refuse_in_change(call);
        return depth() != 0;
    }

    /// Returns the record of an entity that must be alive.
    record_type& require(at_type target, const char* call) {
        record_type* const found = find_record(target.id.key());
        if constexpr (checked)
            if (found == nullptr || !found->is(target.id, pool_.origin())) [[unlikely]]
                raise_not_alive(target, call);
        return *found;
    }

    /// Throws: explains why the entity is dead, or names its world.
    [[noreturn]] MUSTER_COLD void raise_not_alive(at_type target, const char* call) const;
    /// Throws: explains why an access to a component of this entity, alive or not, failed.
    [[noreturn]] MUSTER_COLD void raise_missing(at_type target, const char* call,
                                                std::string_view type,
                                                const fragment_data& fragment) const;
    [[noreturn]] MUSTER_COLD void raise_missing(at_type target, const char* call, id_type f,
                                                type_index type, std::string_view type_name) const;
    [[noreturn]] MUSTER_COLD void raise_no_default(const fragment_data& fragment,
                                                   std::string_view type) const;
    [[noreturn]] MUSTER_COLD void raise_no_clone(at_type prototype,
                                                 const fragment_data& fragment) const;
    [[noreturn]] MUSTER_COLD static void raise_given_twice(const fragment_data& fragment);
    /// Throws: explains why this id cannot be used as a fragment.
    [[noreturn]] MUSTER_COLD void raise_no_fragment(id_type f, const char* call,
                                                    const std::source_location* where) const;
    [[noreturn]] MUSTER_COLD void raise_mismatch(const fragment_data& fragment,
                                                 std::string_view wanted, const char* call,
                                                 const std::source_location* where) const;
    [[noreturn]] MUSTER_COLD void raise_no_single(std::string_view type,
                                                  const std::source_location& where) const;
    /// Returns a text such as: entity E:1-42[3] "goblin"
    [[nodiscard]] std::string describe(id_type e) const;

private:
    /// Cached data of a list of types.
    struct bundle_entry {
        chunk_data* chunk;        // of exactly these types; null: not looked up yet
        chunk_data* spawned;      // the same chunk, if `spawn` may take the fast path
        std::uint8_t columns[8];  // the columns of the first types of the list, in that chunk
    };
    /// A cache of recently used sets of fragments, each in the order in which it was given.
    static constexpr std::size_t recent_count = 8;
    struct recent_set {
        std::size_t size = 0;
        fragment_data* fragments[6]{};
        chunk_data* chunk = nullptr;
    };

    [[nodiscard]] static std::size_t recent_place(std::span<fragment_data* const> set) noexcept {
        std::size_t hash = set.size();
        for (const fragment_data* fragment : set) hash = hash * 31 + to_int(fragment->index);
        return hash % recent_count;
    }
    /// Returns the cached chunk of this set, or null.
    [[nodiscard]] chunk_data* find_recent(std::span<fragment_data* const> set) const noexcept {
        const recent_set& known = recent_sets_[recent_place(set)];
        if (known.size != set.size()) return nullptr;
        for (std::size_t i = 0; i < set.size(); ++i)
            if (set[i] != known.fragments[i]) return nullptr;
        return known.chunk;
    }

    template <class... Ts>
    [[nodiscard]] const bundle_entry& find_list() const noexcept {
        const auto list = static_cast<std::size_t>(find_list_index<Ts...>());
        return bundles_[list < bundle_count_ ? list : 0];
    }

    /// Like `find(e)`. The caller passes the pool's fields, so that a loop loads them once.
    [[nodiscard]] const record_type* find(id_type e, id_type origin, const record_type* records,
                                          std::uint64_t first, std::uint64_t count) const noexcept {
        const std::uint64_t place = e.key() - first;
        if (place >= count) [[unlikely]]
            return find_overflow(e);
        return records[place].seen().is(e, origin) ? records + place : nullptr;
    }

    // ---- the steps of a change -----------------------------------------------------------------

    /// Returns null if the entity is dead. Throws if it is of another world.
    record_type* find_local(at_type target, const char* call) {
        record_type* const found = find_record(target.id.key());
        if (found != nullptr && found->is(target.id, pool_.origin())) [[likely]]
            return found;
        if (is_foreign(target.id)) raise_not_alive(target, call);
        return nullptr;
    }

    /// Whether the id is world-owned: the fragment of a C++ type.
    [[nodiscard]] bool is_world_owned(id_type e) const noexcept {
        return e.key() >= first_world_owned_key_ && find_fragment(e).is_world_owned;
    }
    [[nodiscard]] bool is_foreign(id_type e) const noexcept {
        return Layout::world_bits != 0 && e.world() != 0 && e.world() != pool_.world();
    }

    /// Returns the chunk of exactly these values' fragments, or null if that takes more than a
    /// lookup.
    template <class... Args>
    [[nodiscard]] chunk_data* find_chunk_of(const bound_value<Args>&...) const noexcept {
        if constexpr (all_typed<Args...>)
            return find_chunk<typename bound_value<Args>::type...>();
        else
            return nullptr;
    }
    template <class... Args>
    chunk_data& ensure_chunk_of([[maybe_unused]] const std::source_location* where,
                                bound_value<Args>&... values) {
        if constexpr (all_typed<Args...>) {
            return ensure_chunk<typename bound_value<Args>::type...>();
        } else if constexpr (sizeof...(Args) == 1) {
            return ensure_single_chunk((values.ensure(*this, where), ...));
        } else {
            fragment_data* const set[] = {&values.ensure(*this, where)...};
            return ensure_set(set);
        }
    }

    /// Slow path of `spawn`: allocates, records or throws.
    template <class... Args>
    [[gnu::noinline]] id_type spawn_slowly(bound_value<Args>... values) {
        return spawn_row<Args...>(values...);
    }
    /// `spawn` without a fast path. Growing columns may move the values.
    template <class... Args>
    id_type spawn_row(bound_value<Args>&... values) {
        const void* from[] = {values.where()..., nullptr};
        if (is_recording("spawn")) {
            if (is_parallel()) return share_spawn(values...);
            return record_spawn(nullptr, values...);
        }
        const chunk_data& given = ensure_chunk_of(nullptr, values...);
        chunk_data& into = cloned_chunk(graph_.empty_chunk(), given);
        noting notes(*this);
        if (has_sparse_part(given) || (notifies_insert(into) && !notes.begin_arrival(into)))
            return record_spawn(nullptr, values...);
        open_row(into, argument_addresses(from, sizeof...(Args)));
        prepare(1);
        new_row row(*this, into, given, given);
        construct(into, from, values...);
        row.keep();
        (values.on_stored(), ...);
        const id_type made = append_row(into);
        notes.note(made);
        return made;
    }

    /// Guard: constructs, in the row after the last of `into`, default values of the fragments that
    /// neither `a` nor `b` has. Destroys them unless `keep` was called.
    class new_row {
    public:
        new_row(store& owner, chunk_data& into, const chunk_data& a, const chunk_data& b)
            : into_(into), a_(a), b_(b), done_(&into == &a) {
            if (!done_) owner.default_construct_row(into, a, b);
        }
        ~new_row() {
            if (!done_) drop_row(into_, a_, b_);
        }
        new_row(const new_row&) = delete;
        new_row& operator=(const new_row&) = delete;
        void keep() noexcept { done_ = true; }

    private:
        chunk_data& into_;
        const chunk_data& a_;
        const chunk_data& b_;
        bool done_;
    };

    /// Guard for new entities in the last rows of a chunk: destroys them unless `keep` was called.
    class new_entities {
    public:
        new_entities(store& owner, chunk_data& chunk, std::size_t from) noexcept
            : first(from), store_(owner), chunk_(chunk) {}
        ~new_entities() {
            if (!is_kept_) store_.destroy_rows(chunk_, first);
        }
        new_entities(const new_entities&) = delete;
        new_entities& operator=(const new_entities&) = delete;
        void keep() noexcept { is_kept_ = true; }

        const std::size_t first;

    private:
        store& store_;
        chunk_data& chunk_;
        bool is_kept_ = false;
    };
    /// Appends `count` rows with their ids, and returns their chunk.
    chunk_data& append_rows(std::size_t count, chunk_data& given_chunk, row_values given);
    /// Destroys the entities of the rows from `first` on. Notifies neither hooks nor observers.
    void destroy_rows(chunk_data& chunk, std::size_t first) noexcept;
    void show_rows(std::span<id_type> out, chunk_data& into);
    void spawn_told(std::span<id_type> out);

    /// Makes room for a row.
    void open_row(chunk_data& into, argument_addresses arguments);
    void default_construct_row(chunk_data& into, const chunk_data& a, const chunk_data& b);
    static void drop_row(const chunk_data& into, const chunk_data& a, const chunk_data& b) noexcept;

    template <class... Args>
    void construct(const chunk_data& into, const void* const* from,
                   bound_value<Args>&... values) noexcept {
        const busy_guard_if<(... || bound_value<Args>::is_nontrivial)> busy(*this);
        (construct_value(values, values.find(*this).base(into.index), into.size, *from++), ...);
    }

    template <class... Args>
    void construct_missing(const chunk_data& here, const chunk_data& target,
                           const void* const* from, bound_value<Args>&... values) noexcept {
        const busy_guard_if<(... || bound_value<Args>::is_nontrivial)> busy(*this);
        const auto construct_next = [&](auto& value, const fragment_data& fragment) {
            if (!here.has(fragment))
                construct_value(value, fragment.base(target.index), target.size, *from);
            ++from;
        };
        (construct_next(values, values.find(*this)), ...);
    }

    template <class... Args>
    void assign_present(const chunk_data& here, std::size_t row, const void* const* from,
                        bound_value<Args>&... values) noexcept {
        const busy_guard_if<(... || bound_value<Args>::is_nontrivial)> busy(*this);
        const auto assign_next = [&](auto& value, const fragment_data& fragment) {
            if (std::byte* const base = fragment.base(here.index))
                assign_value(value, base, row, *from);
            ++from;
        };
        (assign_next(values, values.find(*this)), ...);
    }

    template <class Arg>
    static void construct_value(bound_value<Arg>& value, std::byte* base, std::size_t row,
                                const void* from) noexcept {
        using type = typename bound_value<Arg>::type;
        if constexpr (!is_tag<type>) value.construct(value_at<type>(base, row), from);
    }
    template <class Arg>
    static void assign_value(bound_value<Arg>& value, std::byte* base, std::size_t row,
                             const void* from) noexcept {
        using type = typename bound_value<Arg>::type;
        if constexpr (!is_tag<type>) value.assign(value_at<type>(base, row), from);
    }

    /// Appends the row after the last, whose values are constructed, for a new id or for `made`.
    /// The caller has made room.
    id_type append_row(chunk_data& into) noexcept;
    id_type append_row_at(chunk_data& into, id_type made) noexcept;
    /// Creates this id.
    void claim(id_type wanted);

    [[nodiscard]] static id_type* ids(const chunk_data& chunk) noexcept {
        // SAFETY: the column stores ids, aligned for them.
        return reinterpret_cast<id_type*>(chunk.ids.data);
    }

    chunk_data& copy_row(at_type prototype, const chunk_data& given, argument_addresses arguments);
    /// The origin of those values of new rows that are not given.
    struct row_origin {
        const chunk_data* copied;  // the fragments to copy; null: none
        const chunk_data* from;    // the chunk to copy from
        std::size_t row;
        const chunk_data* skipped_a;  // fragments that the caller writes; null: none
        const chunk_data* skipped_b;
        const chunk_data* defaulted;  // fragments that get default values unless given; null: none
        [[nodiscard]] bool skips(const fragment_data& fragment) const noexcept {
            return (skipped_a != nullptr && skipped_a->has(fragment)) ||
                   (skipped_b != nullptr && skipped_b->has(fragment));
        }
        [[nodiscard]] bool copies(const fragment_data& fragment) const noexcept {
            return copied != nullptr && copied->has(fragment) &&
                   (defaulted == nullptr || !defaulted->has(fragment));
        }
    };
    void write_rows(chunk_data& into, std::size_t count, row_values given,
                    const row_origin& origin);
    void append_ids(chunk_data& into, std::size_t count) noexcept;
    /// Returns the chunk of a clone before values are given: without the unique fragments.
    chunk_data& cloned_part(chunk_data& original);
    chunk_data& cloned_chunk(chunk_data& part, const chunk_data& given);
    void refuse_uncopyable(at_type prototype, const chunk_data& part,
                           const chunk_data& given) const;
    void refuse_without_default(const chunk_data& into, const row_origin& origin,
                                row_values given) const;

    /// Removes the fragments of `less`, of which the entity has at least one.
    bool remove_set(id_type e, record_type& found, const chunk_data& less) {
        chunk_data& here = graph_.at(found.chunk());
        const edge& transition = graph_.without(here, less);
        if (transition.has_notices && !is_noting_) [[unlikely]]
            return remove_told(e, less);
        chunk_data& target = *transition.target;
        if (target.index == chunk_index{}) {
            leave_row(found);
        } else {
            target.make_room(1, row_limit, {});
            move_row(e, found, here, transition);
        }
        return true;
    }
    /// Like the overload above, after a type may have been registered, which can reallocate
    /// records.
    MUSTER_COLD bool remove_set(id_type e, const chunk_data& less) {
        return remove_set(e, *find_record(e.key()), less);
    }
    void move_row(id_type e, record_type& found, chunk_data& from, const edge& transition) noexcept;
    void destroy_dropped(const chunk_data& from, const edge& transition, std::size_t row) noexcept;
    void move_values(const chunk_data& from, const edge& transition, std::size_t row,
                     std::size_t to_row) noexcept;
    void move_all(chunk_data& from, const edge& transition) noexcept;
    void leave_row(record_type& found) noexcept;

    // ---- sparse fragments: see sparse_put.hpp and sparse_impl.hpp ------------------------------
    // Every caller of `put` includes sparse_put.hpp, which defines the templates.

    class reserved_slot;
    /// Fast path of `put` for a sparse value. False if it does not apply; nothing has changed then.
    template <if_present IfPresent, class Arg>
    bool try_fast_put(at_type target, sparse_set& set, bound_value<Arg>& value);
    bool try_fast_remove(id_type e, sparse_set& set) noexcept;
    template <if_present IfPresent, class Arg>
    MUSTER_COLD bool put_sparse(at_type target, const char* call, sparse_set& set,
                                bound_value<Arg> value);
    /// Prepares the entity for `try_fast_put`. False if the change must be recorded instead.
    MUSTER_COLD bool prepare_fast_put(at_type target, sparse_set& set, const char* call);
    bool remove_sparse(at_type target, sparse_set& set);
    [[nodiscard]] static bool has_sparse(id_type e, const fragment_data& fragment) noexcept {
        return fragment.sparse_values != nullptr && fragment.sparse_values->has(e.value());
    }
    /// Allocates the sparse entry of the entity and marks the entity, so that destroying it also
    /// drops sparse values. May throw.
    void prepare_sparse(sparse_set& set, id_type e) {
        mark_for_destroy(e.key());
        sparse_.prepare(set, e.value(), pool_.is_dense(e.key()));
    }
    /// Attaches the value in `slot` to the entity, in place of the value in `here`, if any.
    void replace_sparse(sparse_set& set, id_type e, slot_index here, slot_index slot) noexcept;
    void drop_sparse(id_type e) noexcept;
    void drop_all_sparse(sparse_set& set) noexcept;
    [[nodiscard]] bool notifies_remove_sparse(id_type e) const;
    /// Returns the sparse fragments of an entity, sorted by number. The next call invalidates them.
    [[nodiscard]] std::span<fragment_data* const> sparse_of(id_type e);
    /// Whether any of these fragments, or of those that they need, is sparse.
    [[nodiscard]] bool has_sparse_part(const chunk_data& given);
    /// Allocates memory for the value of a journal entry: a slot if the fragment is sparse.
    [[nodiscard]] void* take_room(journal_entry& entry);
    [[nodiscard]] array_list<slot_index> slots_of(const sparse_set& set) const;
    void refuse_unsortable(const fragment_data& fragment) const;
    [[nodiscard]] array_list<fragment_data*> fragments_for(const chunk_data& given,
                                                           const at_type* prototype) const;

    /// New entities whose values are constructed outside of the chunks; see `commit_rows`.
    class staging;
    void stage_with_sparse(staging& made, const chunk_data& given_chunk, row_values given,
                           const at_type* prototype = nullptr);
    void commit_rows(staging& made);
    void spawn_rows_with_sparse(std::size_t count, const chunk_data& given_chunk, row_values given,
                                void (*fill)(const void* what, const chunk_data& rows),
                                const void* what);
    void spawn_with_sparse(std::span<id_type> out, const chunk_data& given_chunk, row_values given,
                           const at_type* prototype);

    // ---- deferred changes: see recording_impl.hpp ----------------------------------------------

    /// Whether hooks or observers are notified of entities inserted into this chunk.
    [[nodiscard]] bool notifies_insert(const chunk_data& into) const noexcept {
        return into.notifies_insert || entity_hooks_.has(insert_hooks);
    }
    [[nodiscard]] bool notifies_remove(const chunk_data& from) const noexcept {
        return from.notifies_remove || entity_hooks_.has(remove_hooks);
    }
    bool notifies_clone(at_type prototype, const chunk_data& given);
    template <if_present IfPresent, class... Args>
    [[nodiscard]] bool notifies_assign(const bound_value<Args>&... values) const noexcept {
        if constexpr (IfPresent == if_present::skip || sizeof...(Args) == 1)
            return false;
        else
            return (... || values.find(*this).hooks.has(assign_hooks));
    }

    template <class Arg>
    void record_value(at_type target, change_kind kind, bound_value<Arg>& value) {
        using type = typename bound_value<Arg>::type;
        fragment_data& fragment = value.ensure(*this, &target.where);
        journal_entry& made = journal_.add(target.id.value(), kind, &fragment);
        if (is_tag<type> && fragment.sparse_values == nullptr) return;
        void* const room = take_room(made);
        if constexpr (!is_tag<type>) {
            const busy_guard_if<bound_value<Arg>::is_nontrivial> busy(*this);
            value.construct(room, value.where());
            made.value = room;
        }
    }
    /// Runs a change on the fast path and logs it for observers. Not for changes with hooks, which
    /// may throw.
    class noting {
    public:
        explicit noting(store& owner) noexcept : store_(owner) {}
        noting(const noting&) = delete;
        noting& operator=(const noting&) = delete;
        ~noting() {
            if (store_.is_noting_) end();
        }
        /// Performs all steps that can fail. False if a hook is to be called; nothing has begun
        /// then.
        bool begin_put(id_type e, std::span<fragment_data* const> given, bool assigns);
        bool begin_removal(const chunk_data& from, const chunk_data& less);
        bool begin_arrival(const chunk_data& into);
        /// Logs the change.
        void note(id_type e) noexcept {
            if (store_.is_noting_) note_all(e);
        }

    private:
        void note_all(id_type e) noexcept;
        void end() noexcept;
        bool begin(fragment_data& fragment, hook_kind kind);
        bool finish(bool is_possible);
        store& store_;
    };
    template <if_present IfPresent, class... Args>
    [[gnu::noinline]] bool put_told(at_type target, const char* call, bound_value<Args>... values) {
        fragment_data* const given[] = {&values.ensure(*this, &target.where)...};
        noting notes(*this);
        if (!notes.begin_put(target.id, given, IfPresent == if_present::replace))
            return record_put<IfPresent, Args...>(target, call, std::move(values)...);
        const bool is_done = put<IfPresent, Args...>(target, call, std::move(values)...);
        notes.note(target.id);
        return is_done;
    }
    bool remove_told(id_type e, const chunk_data& less);
    template <if_present IfPresent, class... Args>
    [[gnu::noinline]] bool record_put(at_type target, const char* call,
                                      bound_value<Args>... values) {
        if (is_parallel())
            return share_put(
                target, call,
                IfPresent == if_present::replace ? recorded_kind::put : recorded_kind::keep,
                values...);
        (void)require(target, call);
        if constexpr (!all_typed<Args...> && sizeof...(Args) > 1)
            (void)ensure_chunk_of(&target.where, values...);  // throws on duplicates
        constexpr bool assigns = IfPresent == if_present::replace;
        scope whole(*this);
        (record_value(target, assigns ? change_kind::put : change_kind::keep, values), ...);
        const bool is_new = !(... && has(target.id, values.find(*this)));
        whole.commit();
        return assigns || is_new;
    }
    /// Creates an id that is alive at once: `wanted` or, if that is null, a new id.
    id_type record_new_id(const id_type* wanted);
    /// Guard: creates an id whose values are recorded first. Undoes the creation unless `record`
    /// was called.
    class pending_entity {
    public:
        pending_entity(store& owner, const id_type* wanted);
        pending_entity(const pending_entity&) = delete;
        pending_entity& operator=(const pending_entity&) = delete;
        ~pending_entity() {
            if (is_new_) undo_create();
        }
        /// Records the creation, after all values. An exact id becomes alive here.
        void record(bool is_exact);

        id_type id;

    private:
        void undo_create() noexcept;
        store& store_;
        bool is_new_ = false;
    };
    template <class... Args>
    id_type record_spawn(const id_type* wanted, bound_value<Args>&... values) {
        if constexpr (!all_typed<Args...> && sizeof...(Args) > 1)
            (void)ensure_chunk_of(nullptr, values...);
        scope whole(*this);
        pending_entity made(*this, wanted);
        (record_value({made.id, {}}, change_kind::put, values), ...);
        made.record(wanted != nullptr);
        whole.commit();
        return made.id;
    }
    void record_copy(at_type target, change_kind kind, fragment_data& fragment, const void* value,
                     bool as_clone);
    void record_boxed(at_type target, change_kind kind, fragment_data& fragment,
                      boxed_value& value);
    void record_default(at_type target, change_kind kind, fragment_data& fragment);
    void record_many(std::span<id_type> out, chunk_data& given_chunk, row_values given,
                     const at_type* prototype);
    void record_copies(id_type made, at_type prototype, const chunk_data& given);
    void stage_rows(chunk_data& staged, std::size_t count, chunk_data& given_chunk,
                    row_values given);
    void record_rows(chunk_data& staged);
    bool record_remove(at_type target, std::span<const fragment_data* const> set);
    bool record_clear(at_type target);
    [[gnu::noinline]] bool record_destroy(at_type target);
    /// The state of a fragment of an entity when all pending changes are applied.
    struct pending_state {
        bool is_there;
        const journal_entry* entry;  // the entry with the value; null: the present value, if any
    };
    [[nodiscard]] pending_state pending_state_of(id_type e, const fragment_data& fragment);
    void* pending_copy(at_type target, const fragment_data& fragment);

    // ---- changes of several threads: see sharing_impl.hpp --------------------------------------

    struct sharing;
    /// Returns this thread's lane. Throws `errc::in_scope` if it has no part in the phase.
    [[nodiscard]] lane& my_lane(const char* call) const;
    [[nodiscard]] id_type shared_id();
    [[nodiscard]] void* last_shared_value(const char* call) const;
    /// Returns this thread's lane. Throws if the entity is not alive.
    lane& require_shared(at_type target, const char* call) const;
    template <class... Args>
    [[gnu::noinline]] id_type share_spawn(bound_value<Args>&... values) {
        recorder& into = my_lane("spawn").changes;
        (refuse_named(values.name(), values.value_type(),
                      type_info_of<typename bound_value<Args>::type>, nullptr),
         ...);
        recording all(into);
        into.add(recorded_kind::spawn, 0);
        (into.add_value(recorded_kind::put, 0, values), ...);
        const id_type made = shared_id();
        all.keep(made.value());
        return made;
    }
    template <class... Args>
    bool share_put(at_type target, const char* call, recorded_kind kind,
                   bound_value<Args>&... values) {
        recorder& into = require_shared(target, call).changes;
        (refuse_named(values.name(), values.value_type(),
                      type_info_of<typename bound_value<Args>::type>, &target.where),
         ...);
        recording all(into);
        (into.add_value(kind, target.id.value(), values, target.where), ...);
        all.keep();
        return kind == recorded_kind::put || !(... && has(target.id, find_named(values.name())));
    }
    bool share_remove(at_type target, std::span<const fragment_name> set);
    bool share_clear(at_type target);
    bool share_destroy(at_type target);
    [[nodiscard]] const fragment_data& find_named(fragment_name name) const noexcept;
    /// Throws if values of this type do not fit the fragment, judged by the world before the phase.
    void refuse_named(fragment_name name, type_index value, const type_info& type,
                      const std::source_location* where) const {
        if (!name.is_typed()) refuse_misfit(to_id<Layout>(name.what), value, type, where);
    }
    void refuse_misfit(id_type f, type_index value, const type_info& type,
                       const std::source_location* where) const;
    [[nodiscard]] lane* find_shared(at_type target, const char* call) const;
    template <class Replay>
    void replay(recorder& from, std::uint32_t first, std::uint32_t last, Replay replay_change_to);
    void replay_change(recorded_change& change);
    void replay_value(recorded_change& change);
    void apply_submission(recorder& from);
    void make_ready(std::size_t count) noexcept;
    void give_ids_back();

    // ---- applying changes: see applying_impl.hpp ------------------------------------------------

    void rewind(const journal::position& to) noexcept;
    void replace(const open_scope& scope, open_scope* by) noexcept;
    void rollback_spawn(id_type made) noexcept;
    void apply_recorded();
    void apply_journal();
    void apply_group(std::uint32_t which);
    bool apply_like_last(id_type e, std::uint32_t last) noexcept;
    void drop_values(std::uint32_t last) noexcept;
    void end_value(const journal_entry& entry) noexcept;
    static void end_value(const fragment_data& fragment, void* value, slot_index slot) noexcept;
    void apply_barrier(const journal_group& group);
    void apply_batch(const journal_group& group);
    class row_move;
    class chunk_move;
    void change_chunk(chunk_data& chunk, std::span<const change_shape> shape,
                      std::span<const value_source> values);
    template <class Change>
    std::size_t each_chunk(std::span<chunk_data* const> chunks, Change change);
    template <class Change>
    std::size_t each_owner(const fragment_data& fragment, Change change);
    [[nodiscard]] bool concerns(id_type e, const change_shape& change) const;
    [[nodiscard]] bool has_sparse_part(std::span<const change_shape> shape);
    void apply_by_id(const batch_targets& found, std::span<const change_shape> shape,
                     std::span<const value_source> values, const journal_note& note);
    void destroy_one(at_type target, std::string_view system);
    bool clear_sparse(const chunk_data& chunk);
    [[nodiscard]] array_list<chunk_data*> chunks_of(const fragment_data& fragment) const;
    [[nodiscard]] std::vector<id_type> owners_of(const fragment_data& fragment) const;
    void destroy_chunk(chunk_data& chunk, const journal_note& note);
    [[nodiscard]] std::size_t count_mortal(const chunk_data& chunk) const noexcept;
    void apply(id_type e, const plan& transition, std::span<pending_value> values,
               bool is_new_entity);
    void change_one(id_type e, std::span<const change_shape> shape,
                    std::span<const value_source> values);
    void close_gap(chunk_data& chunk, std::size_t row) noexcept;
    void open_gap(chunk_data& chunk, std::size_t row) noexcept;
    void move_trivial(id_type e, const plan& transition, std::span<pending_value> values) noexcept;
    void destroy_told(at_type target);
    void notify_remove(id_type e);
    void notify_insert(chunk_data& into, std::size_t first);
    void notify_insert(std::span<const id_type> all, std::span<fragment_data* const> fragments);
    void notify_assign(id_type e, const fragment_data& fragment);
    void prepare_notes(const plan& transition, std::size_t count);
    void note(const plan& transition, id_type e) noexcept;
    void prepare_remove(const chunk_data& from, std::size_t count);
    void prepare_remove_sparse(id_type e, std::size_t count);
    void log_remove(id_type e) noexcept;
    void call_hooks(hook_kind kind, id_type e, fragment_data& fragment);
    void run_hooks(hook_list& list, hook_kind kind, id_type e, void* value);
    void drop_given() noexcept;
    std::size_t clear_fragment_now(fragment_data& fragment);
    std::size_t copy_fragment_now(const fragment_data& source, fragment_data& target);
    [[nodiscard]] bool has_hooks() const noexcept;
    void reset_told(const std::source_location& where);
    [[nodiscard]] hook_list* find_hooks(id_type f) noexcept;
    void refresh_hook_flags() noexcept;

    MUSTER_COLD fragment_data& add_fragment(type_index type, const type_info& info);
    MUSTER_COLD fragment_data& adopt(id_type f, type_index value, const type_info& type,
                                     const std::source_location* where);
    fragment_data& adopt_like(const fragment_data& source, id_type f,
                              const std::source_location& where);
    fragment_data& add_by_id(id_type f, type_index value, const type_info& type);
    MUSTER_COLD chunk_data& add_single_chunk(fragment_data& fragment);
    void show_name(fragment_data& fragment);
    void put_boxed(at_type target, fragment_data& fragment, boxed_value& value, if_present what);
    static void take_boxed(void* to, boxed_value& value) noexcept;
    [[nodiscard]] boxed_value make_default(const fragment_data& fragment);
    MUSTER_COLD chunk_data& add_list(std::size_t list, std::span<fragment_data* const> set);
    chunk_data& find_set(std::span<fragment_data* const> set);
    void forget_chunks() noexcept;
    [[nodiscard]] id_type find_world_owned_id() const;
    void mark_for_destroy(std::uint64_t key);
    MUSTER_COLD bool destroy_slowly(at_type target);
    bool destroy_placed(id_type e, record_type& found);
    bool destroy_noted(id_type e, record_type& found);
    void record_provenance(at_type target);
    void finish_destroy(id_type e, record_type& found) noexcept;
    void end_values() noexcept;
    void destroy_fragment(at_type target);
    void forget_fragment(fragment_data& fragment) noexcept;

    [[noreturn]] MUSTER_COLD void raise_busy(const char* call) const;
    [[noreturn]] MUSTER_COLD void raise_unbalanced(const char* call) const;
    [[nodiscard]] std::string why_dead(id_type e) const;
    [[nodiscard]] const provenance::entry* find_provenance(id_type e) const noexcept;

    // `busy_` combines all reasons against the fast path. The lower half counts open scopes. Then
    // follow a bit for entity hooks, a count of changes that run user code, and a bit for parallel
    // phases.
    static constexpr std::uint64_t scope_unit = 1;
    static constexpr std::uint64_t has_entity_hooks = std::uint64_t{1} << 32;
    static constexpr std::uint64_t change_unit = std::uint64_t{1} << 33;
    static constexpr std::uint64_t parallel_bit = std::uint64_t{1} << 63;

    // Members that every call reads come first: on one cache line and, with the pool, the next two.
    std::uint64_t busy_ = 0;
    bool keeps_provenance_;                          // see world_options
    bool is_noting_ = false;                         // see `noting`
    bool is_moving_ = false;                         // see `chunk_move`
    bool is_ended_ = false;                          // see `end`
    bool is_applying_submitted_ = false;             // see `apply_submitted`
    std::size_t bundle_count_ = 0;                   // entries of bundles_, the first for `no_list`
    raw_array<bundle_entry> bundles_;                // by list_index
    std::uint64_t marked_from_ = ~std::uint64_t{0};  // keys that are destroyed on the slow path:
    bit_array destroy_marks_;                        // all from `marked_from_` on, and these
    world_number number_;
    slot_pool<Layout, record_type> pool_;
    chunk_graph graph_;
    sparse_table sparse_;
    fragment_table fragments_;
    std::uint64_t first_world_owned_key_ = ~std::uint64_t{0};  // the lowest world-owned key
    std::size_t world_owned_count_ = 0;                        // how many ids are world-owned
    recent_set recent_sets_[recent_count];
    name_table names_;
    provenance provenance_;
    journal journal_;
    open_scope* innermost_ = nullptr;
    apply_buffers* buffers_ = nullptr;  // owned; a pointer keeps plan.hpp out of this header
    sharing* sharing_ = nullptr;        // owned; defined in sharing_impl.hpp
    submission_queue submissions_;
    atomic_word<std::uintptr_t> owner_thread_{this_thread()};  // see `apply_submitted_on_owner`
    atomic_word<std::uintptr_t> writer_;    // the thread that changes the world; see `writer_guard`
    atomic_word<const char*> writer_call_;  // its outermost call
    std::uint32_t writings_ = 0;            // its calls that have begun and not ended
    std::string_view current_system_;       // the running system; see `system_guard`
    hook_list entity_hooks_;
    unsigned hooked_ = 0;  // kinds of hooks that any fragment has
    array_list<change_log*> observers_;
    struct noted {
        fragment_data* fragment;
        hook_kind kind;
    };
    std::vector<noted> notes_;  // the notices of `noting`
};

}  // namespace detail
}  // namespace muster
