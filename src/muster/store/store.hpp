// store: the entities of one world: records, chunks, and what moves between them. The room `store`
// owns the structural changes; `world` only forwards to it. Start reading at `put`, the way of
// values into the world.
//
// Invariants
//   - A record says the row that holds its id, and the row holds the id of its record.
//   - A change has two halves. In the first, all that can fail happens: values are copied, chunks and
//     edges made, columns and records grown. In the second nothing can fail. An exception finds the
//     world as it was.
//   - While code of a component's author runs inside a change (copies, moves, destructors), `busy_`
//     refuses every other change. Who reads the world in a destructor finds it whole.
//   - A change has two ways. The plain one is taken when no scope is open and nobody has to be told: it
//     is what happens most, and it is short. All others are written into the journal and carried out
//     when the outermost scope closes; a change that hooks are told of opens a scope of its own. So
//     scopes, hooks and several changes that become one move are all in one place: `carry_out`.
//
// Members that are not templates are defined in store_impl.hpp and compiled once per layout. What is
// inline here calls nothing of the pool that is not a few instructions: all users compile it.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/bit_array.hpp>
#include <muster/base/error.hpp>
#include <muster/command/inbox.hpp>
#include <muster/command/journal.hpp>
#include <muster/command/lane.hpp>
#include <muster/id/slot_pool.hpp>
#include <muster/id/world_number.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/sparse_table.hpp>
#include <muster/store/at.hpp>
#include <muster/store/deaths.hpp>
#include <muster/store/incoming.hpp>
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

/// How a world starts. A value that does not fit the layout is `errc::id_out_of_range`.
struct world_options {
    /// The number in the world's ids; 0: the next that is free. `errc::number_taken` if a living
    /// world has it.
    std::uint64_t number = 0;
    /// Remembers for each key where its last entity was destroyed, for the errors that name it.
    bool provenance = false;
    /// The keys that `spawn` gives out, both included. The defaults are those of the layout.
    std::uint64_t first_key = 0;
    std::uint64_t last_key = ~std::uint64_t{0};
    muster::reuse reuse = muster::reuse::lifo;
};

namespace detail {

struct plan;
struct playback;
struct waiting_value;
struct value_source;

template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);

template <class... Ts>
inline constexpr bool all_differ = true;
template <class T, class... Others>
inline constexpr bool all_differ<T, Others...> = !is_one_of<T, Others...> && all_differ<Others...>;

/// What a tag's value is: there is one for all.
template <class T>
T& tag_value() noexcept {
    // SAFETY: T is empty and trivially copyable: any byte is a value.
    alignas(T) static std::byte only[sizeof(T)];
    return *reinterpret_cast<T*>(only);
}

/// How many bytes a component has where it is stored.
template <class T>
inline constexpr std::size_t value_size = is_tag<T> ? 0 : sizeof(T);

template <class T>
T* value_at(std::byte* base, std::size_t row) noexcept {
    if constexpr (is_tag<T>)
        return &tag_value<T>();
    else  // SAFETY: the column of T's fragment, aligned for it.
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
    /// All values end; what is left can only be looked at.
    void end() noexcept;
    store(const store&) = delete;
    store& operator=(const store&) = delete;

    // ---- what is there -------------------------------------------------------------------------

    [[nodiscard]] std::uint64_t number() const noexcept { return number_.value(); }
    [[nodiscard]] std::size_t size() const noexcept { return pool_.size() - own_; }
    [[nodiscard]] bool alive(id_type e) const noexcept { return find(e) != nullptr; }

    /// The record of a living entity, or null.
    [[nodiscard]] const record_type* find(id_type e) const noexcept {
        return find(e, pool_.origin(), pool_.near(), pool_.near_key(), pool_.near_count());
    }

    template <class T>
    [[nodiscard]] T* find_value(id_type e) const noexcept {
        return find_value<T>(e, find_fragment<T>());
    }
    /// The same for a fragment whose values are of type T.
    template <class T>
    [[nodiscard]] T* find_value(id_type e, const fragment_data& fragment) const noexcept {
        if constexpr (is_always_sparse<T>()) return find_beside<T>(e, fragment);
        // What does not depend on the entity comes before the first branch: a loop does it once.
        std::byte* const* const bases = fragment.bases.data();
        const std::uint32_t limit = fragment.limit;
        const id_type origin = pool_.origin();
        const record_type* const records = pool_.near();
        const std::uint64_t first = pool_.near_key();
        const std::uint64_t count = pool_.near_count();
        if (fragment.beside != nullptr) [[unlikely]]
            return find_beside<T>(e, fragment);
        const std::uint64_t place = e.key() - first;
        if (place >= count) [[unlikely]]
            return find_far_value<T>(e, fragment);
        const record_type found = records[place].seen();
        if (!found.is(e, origin)) return nullptr;
        const std::uint32_t chunk = to_int(found.chunk());
        std::byte* const base = chunk < limit ? bases[chunk] : nullptr;
        return base == nullptr ? nullptr : value_at<T>(base, found.row());
    }
    template <class T>
    [[nodiscard, gnu::noinline, gnu::pure]] T* find_far_value(
        id_type e, const fragment_data& fragment) const noexcept {
        const record_type* const found = find_far(e);
        std::byte* const base = found == nullptr ? nullptr : fragment.base(found->chunk());
        return base == nullptr ? nullptr : value_at<T>(base, found->row());
    }

    template <class T>
    [[nodiscard]] T& get(at_type who) const {
        if constexpr (checked) {
            if (T* const found = find_value<T>(who.id)) [[likely]]
                return *found;
            raise_missing(who, "get", type_name<T>(), find_fragment<T>());
        } else {
            const fragment_data& fragment = find_fragment<T>();
            if (is_always_sparse<T>() || fragment.beside != nullptr)
                return *find_beside<T>(who.id, fragment);
            const record_type& found = *find_record(who.id.key());
            return *value_at<T>(fragment.bases[to_int(found.chunk())], found.row());
        }
    }
    template <class T>
    [[nodiscard]] T& get(at_type who, id_type f, const char* call) const {
        watch(f);
        if (T* const found = find_value<T>(who.id, find_fragment<T>(f))) [[likely]]
            return *found;
        raise_missing(who, call, f, find_type_index<T>(), type_name<T>());
    }

    /// Where the values of T are, if it is sparse; or null.
    template <class T>
    [[nodiscard]] sparse_set* find_set() const noexcept {
        if constexpr (is_always_sparse<T>())
            return sparse_.find(find_type_index<T>());
        else
            return find_fragment<T>().beside;
    }
    /// The same for a fragment that is sparse, or for `no_fragment`.
    template <class T>
    [[nodiscard]] static T* find_beside(id_type e, const fragment_data& fragment) noexcept {
        if (fragment.beside == nullptr) return nullptr;
        if constexpr (is_tag<T>)
            return fragment.beside->template find_of<Layout>(e.value()) == no_slot
                       ? nullptr
                       : &tag_value<T>();
        else  // SAFETY: the values of T's fragment, aligned for it.
            return reinterpret_cast<T*>(
                fragment.beside->template find_value<Layout, sizeof(T)>(e.value()));
    }

    [[nodiscard]] bool has(id_type e, const fragment_data& fragment) const noexcept {
        if (fragment.beside != nullptr)
            return fragment.beside->template find_of<Layout>(e.value()) != no_slot;
        const record_type* const found = find(e);
        return found != nullptr && fragment.base(found->chunk()) != nullptr;
    }

    /// Where the value is, or null: if it is not there, or the fragment is a tag.
    [[nodiscard]] void* find_raw(id_type e, const fragment_data& fragment) const noexcept {
        if (fragment.beside != nullptr) {
            const slot_index slot = fragment.beside->find(e.value());
            return slot == no_slot || fragment.type->size == 0 ? nullptr
                                                               : fragment.beside->at(slot);
        }
        const record_type* const found = find(e);
        std::byte* const base = found == nullptr ? nullptr : fragment.base(found->chunk());
        if (base == nullptr || fragment.type->size == 0) return nullptr;
        return base + found->row() * fragment.type->size;
    }

    /// An id of a parallel phase whose record is made at its end: that of one without components, or null.
    [[nodiscard]] const record_type* find_made_now(id_type e) const noexcept;
    /// `find` for keys that are far from the others.
    [[gnu::pure]] const record_type* find_far(id_type e) const noexcept;

    /// The record of a key, or null.
    [[nodiscard]] record_type* find_record(std::uint64_t key) const noexcept {
        if (pool_.is_near(key)) [[likely]]
            return pool_.near() + (key - pool_.near_key());
        return find_far_record(key);
    }
    [[gnu::pure]] record_type* find_far_record(std::uint64_t key) const noexcept;

    /// The lowest living id of the user's with this key or a higher one, or the null id.
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
        // SAFETY: all but `no_fragment` were made by `add_fragment`, not const.
        return const_cast<fragment_data&>(found);
    }

    /// The fragment with this id or, for any other bits, `no_fragment`.
    [[nodiscard]] const fragment_data& find_fragment(id_type f) const noexcept {
        return fragments_.look(f.value());
    }
    /// The same if its values are of type T.
    template <class T>
    [[nodiscard]] const fragment_data& find_fragment(id_type f) const noexcept {
        const fragment_data& found = find_fragment(f);
        return *choose(found.value_type == find_type_index<T>(), &found, &no_fragment);
    }

    /// The fragment with this id for values of type T, which an id that was not used as a fragment
    /// becomes; `no_value` stands for a tag. `where` is null where the call has no place.
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
        if (found != nullptr && !found->is_open &&
            (value == no_type ? found->type->size == 0 : found->value_type == value)) [[likely]]
            return *found;
        return adopt(f, value, type, where);
    }
    /// The fragment with this id, which has a type.
    fragment_data& get_fragment(id_type f, const char* call,
                                const std::source_location* where) const;
    /// The same; its values must be of type T.
    template <class T>
    fragment_data& get_fragment(id_type f, const char* call,
                                const std::source_location* where) const {
        fragment_data& found = get_fragment(f, call, where);
        if (found.value_type != find_type_index<T>())
            raise_mismatch(found, type_name<T>(), call, where);
        return found;
    }
    /// The fragment with this id; if it was not used as one, its type is still open.
    fragment_data& open_fragment(id_type f);
    /// The fragment with this id; if it has no type yet, it becomes a tag.
    fragment_data& typed_or_tag(id_type f, const std::source_location* where);
    void add_needs(id_type f, std::span<fragment_data* const> needed);

    /// A new fragment, with this name if it is not empty; of a type that is known at compile time, or
    /// of one that is kept with it.
    id_type make_fragment(type_index value, const type_info& type, std::string_view name);
    id_type make_fragment(const type_info& own, std::string_view name);

    /// The fragment of a value that is given by itself, and may be null then, or by `with`; and where the
    /// value is.
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

    /// What fragments mean has changed.
    void note_meaning() noexcept;

    /// The value that T starts with where none is given.
    template <class T>
    [[nodiscard]] T start_value() {
        const fragment_data& known = find_fragment<T>();
        if (known.default_value) {
            // SAFETY: holds a T. What it makes is moved out and ends where it was made.
            boxed_value made(type_info_of<T>);
            const busy_scope nobody_else(*this);
            known.start_values(made.room, 1);
            made.filled = true;
            return std::move(*static_cast<T*>(made.room));
        }
        if constexpr (std::is_default_constructible_v<T>)
            return T();
        else
            raise_no_default(known, type_name<T>());
    }

    /// The chunk of exactly these types, or null if it was not asked for yet.
    template <class... Ts>
    [[nodiscard]] chunk_data* find_chunk() const noexcept {
        if constexpr (sizeof...(Ts) == 0) {
            return &graph_.nowhere();
        } else {
            return find_list<Ts...>().chunk;
        }
    }
    template <class... Ts>
    chunk_data& ensure_chunk() {
        static_assert(all_differ<Ts...>, "muster: each component type can be given once.");
        if constexpr (sizeof...(Ts) == 0) {
            return graph_.nowhere();
        } else {
            if (chunk_data* const known = find_chunk<Ts...>()) [[likely]]
                return *known;
            fragment_data* const set[] = {&ensure_fragment<Ts>()...};
            return add_list(static_cast<std::size_t>(find_list_index<Ts...>()), set);
        }
    }

    /// The chunk of exactly these fragments, in any order. `errc::given_twice`.
    chunk_data& ensure_set(std::span<fragment_data* const> set);
    /// The chunk of just this one.
    chunk_data& ensure_alone(fragment_data& fragment) {
        return fragment.alone != chunk_index{} ? graph_.at(fragment.alone) : add_alone(fragment);
    }

    [[nodiscard]] const fragment_table& fragments() const noexcept { return fragments_; }
    [[nodiscard]] const sparse_table& sparse() const noexcept { return sparse_; }
    /// All fragments of a living entity, by number.
    [[nodiscard]] array_list<fragment_data*> fragments_of(id_type e) const;
    /// Whether a living entity has any.
    [[nodiscard]] bool has_any(id_type e) const noexcept {
        return find(e)->chunk() != chunk_index{} || sparse_.has_any(e.value());
    }
    /// The fragment is sparse from now on: `errc::fragment_in_use` if something has it.
    void make_sparse(fragment_data& fragment);
    [[nodiscard]] chunk_graph& graph() noexcept { return graph_; }
    [[nodiscard]] const chunk_graph& graph() const noexcept { return graph_; }

    // ---- entities come -------------------------------------------------------------------------

    /// Whether the types alone tell the fragments.
    template <class... Args>
    static constexpr bool all_typed = !(... || is_with<std::remove_cvref_t<Args>>);

    template <class... Args>
    id_type spawn(incoming<Args>... values) {
        // No call is left in here: the compiler needs no stack for what happens most.
        const writing alone(*this, "spawn");
        if constexpr (sizeof...(Args) == 0) {
            if (busy_ != 0 || !pool_.is_ready()) [[unlikely]]
                return spawn_slowly<>();
            return pool_.create_now([](record_type&) {});
        } else {
            const list_entry& list = find_list<typename incoming<Args>::type...>();
            chunk_data* const into = list.spawned;
            if (into == nullptr || into->size == into->capacity || busy_ != 0 ||
                sizeof...(Args) > std::size(list.columns) || !pool_.is_ready()) [[unlikely]]
                return spawn_slowly<Args...>(std::move(values)...);
            const std::size_t row = into->size;
            {
                const busy_while<(... || incoming<Args>::runs_code)> nobody_else(*this);
                const column* const columns = into->columns.data();
                const std::uint8_t* which = list.columns;
                const auto one = [&](auto& value) {
                    if constexpr (!is_tag<typename std::remove_reference_t<decltype(value)>::type>)
                        construct_value(value, columns[*which].data, row, value.where());
                    ++which;
                };
                (one(values), ...);
            }
            into->size = row + 1;
            return ids(*into)[row] =
                       pool_.create_now([&](record_type& made) { made.place(into->index, row); });
        }
    }

    /// The same by fragment; no value is copied on the way.
    template <class... Args>
    id_type spawn_given(incoming<Args>&&... values) {
        if (is_shared()) [[unlikely]]
            return share_spawn(values...);
        const writing alone(*this, "spawn");
        fragment_data* const set[] = {&values.ensure(*this, nullptr)...};
        chunk_data* const into = find_recent(set);
        if (into == nullptr || into->size == into->capacity || busy_ != 0 || !into->is_complete ||
            into->tells_coming || !pool_.is_ready()) [[unlikely]]
            return spawn_row<Args...>(values...);
        const std::size_t row = into->size;
        {
            const busy_while<(... || incoming<Args>::runs_code)> nobody_else(*this);
            std::size_t i = 0;
            (construct_value(values, set[i++]->base(into->index), row, values.where()), ...);
        }
        (values.settle(), ...);
        into->size = row + 1;
        return ids(*into)[row] =
                   pool_.create_now([&](record_type& made) { made.place(into->index, row); });
    }

    template <class... Args>
    id_type spawn_at(id_type wanted, incoming<Args>... values) {
        const void* from[] = {values.where()..., nullptr};
        if (waits("spawn")) return record_spawn(&wanted, values...);
        const chunk_data& given = ensure_chunk_of(nullptr, values...);
        chunk_data& into = cloned_chunk(graph_.nowhere(), given);
        if (tells_coming(into) || is_mixed(given)) return record_spawn(&wanted, values...);
        open_row(into, watched(from, sizeof...(Args)));
        new_row row(*this, into, given, given);
        claim(wanted);
        construct(into, from, values...);
        row.keep();
        (values.settle(), ...);
        return enter_at(into, wanted);
    }

    /// As `prototype`, but for what is given.
    template <class... Args>
    id_type clone(at_type prototype, incoming<Args>... values) {
        const void* from[] = {values.where()..., nullptr};
        const writing alone(*this, "clone");
        const bool must_wait = waits("clone");
        (void)require(prototype, "clone");
        const chunk_data& given = ensure_chunk_of(&prototype.where, values...);
        if (must_wait || tells_clone(prototype, given)) {
            scope whole(*this);
            birth made(*this, nullptr);
            record_copies(made.id, prototype, given);
            (record_value(at_type(made.id, prototype.where), change_kind::put, values), ...);
            made.record(false);
            whole.commit();
            return made.id;
        }
        chunk_data& into = copy_row(prototype, given, watched(from, sizeof...(Args)));
        construct(into, from, values...);
        (values.settle(), ...);
        return enter(into);
    }

    /// Values that many new rows start with: `values[i]` for `fragments[i]`, one for all rows if `step`
    /// is 0, one for each if it is 1. May be moved by who grows a column they are in.
    struct row_values {
        std::span<fragment_data* const> fragments;
        watched values;
        std::size_t step = 0;

        /// Where the address of this fragment's value is, or null.
        [[nodiscard]] const void* const* find(const fragment_data* fragment) const noexcept {
            for (std::size_t i = 0; i < fragments.size(); ++i)
                if (fragments[i] == fragment) return &values[i];
            return nullptr;
        }
    };

    /// Entities for all of `out`, in one chunk; all or none.
    void spawn_many(std::span<id_type> out, chunk_data& into, row_values given);
    void clone_many(std::span<id_type> out, at_type prototype, chunk_data& given_chunk,
                    row_values given);
    /// `fill(chunk, first)` gives the new rows, from `first` on, their own values.
    template <class Fill>
    void spawn_rows(std::size_t count, chunk_data& given_chunk, row_values given, Fill&& fill) {
        if (waits("spawn")) {
            chunk_data staged;  // in no graph
            scope whole(*this);
            stage_rows(staged, count, given_chunk, given);
            fill(staged, std::size_t{0});
            record_rows(staged);
            whole.commit();
            return;
        }
        if (is_mixed(given_chunk)) {
            using filler = std::remove_reference_t<Fill>;
            const auto call = [](const void* what, const chunk_data& rows) {
                (*static_cast<const filler*>(what))(rows, std::size_t{0});
            };
            return spawn_rows_mixed(count, given_chunk, given, call, __builtin_addressof(fill));
        }
        chunk_data& into = enter_rows(count, given_chunk, given);
        new_entities made(*this, into, into.size - count);
        scope whole(*this);
        fill(into, made.first);
        tell_coming(into, made.first);
        made.keep();
        whole.commit();
    }

    // ---- values come and go --------------------------------------------------------------------

    enum class present { assign, keep };

    /// Gives `who` these values; what it has already is assigned or kept. False if nothing came of it.
    /// The references of `who`'s components end if it gets a fragment it did not have.
    template <present Present, class... Args>
    bool put(at_type who, const char* call, incoming<Args>... values) {
        // What comes and goes every frame comes first, and needs no stack: the rest is a call at the end.
        if constexpr (sizeof...(Args) == 1 && all_typed<Args...> && !watches_threads)
            if (sparse_set* const set = (find_set<typename incoming<Args>::type>(), ...);
                set != nullptr && busy_ == 0 && put_simply<Present>(who, *set, values...))
                return true;
        return put_any<Present, Args...>(who, call, std::move(values)...);
    }
    template <present Present, class... Args>
    [[gnu::noinline]] bool put_any(at_type who, const char* call, incoming<Args>... values) {
        const writing alone(*this, call);
        if (is_recorded(call)) [[unlikely]]
            return record_put<Present, Args...>(who, call, std::move(values)...);
        if constexpr (!all_typed<Args...>) {
            (void)require(who, call);
            (values.ensure(*this, &who.where), ...);
        }
        if constexpr (sizeof...(Args) == 1)
            if (const fragment_data& one = (values.find(*this), ...); one.beside != nullptr)
                return put_beside<Present, Args...>(who, call, *one.beside, std::move(values)...);
        const void* from[] = {values.where()...};
        record_type& found = require(who, call);
        if constexpr (sizeof...(Args) == 1) {  // the usual case needs no edge
            if (std::byte* const base = (values.find(*this), ...).base(found.chunk())) {
                if constexpr (Present == present::assign) {
                    if ((values.find(*this), ...).hooks.has(assign_hooks) && !is_noting_)
                        [[unlikely]]
                        return put_told<Present, Args...>(who, call, std::move(values)...);
                    const busy_while<(... || incoming<Args>::runs_code)> nobody_else(*this);
                    (assign_value(values, base, found.row(), from[0]), ...);
                }
                return Present == present::assign;
            }
        }
        record_type* now = &found;
        chunk_data* more = find_chunk_of(values...);
        if (more == nullptr) {
            more = &ensure_chunk_of(&who.where, values...);
            now = find_record(who.id.key());  // registering a type can move the records
        }
        chunk_data& here = graph_.at(now->chunk());
        const edge& way = graph_.with(here, *more);
        if ((way.is_told || tells_assigned<Present>(values...)) && !is_noting_) [[unlikely]]
            return put_told<Present, Args...>(who, call, std::move(values)...);
        chunk_data& target = *way.target;
        if (&target != &here) target.make_room(1, row_limit, from);
        new_row row(*this, way.has_needed ? target : here, here, *more);
        if constexpr (sizeof...(Args) == 1) {  // known to be missing
            construct(target, from, values...);
        } else {
            if (&target != &here) construct_missing(here, target, from, values...);
            if constexpr (Present == present::assign)
                assign_present(here, now->row(), from, values...);
            if (&target == &here) return Present == present::assign;
        }
        row.keep();
        (values.settle(), ...);
        move_row(who.id, *now, here, way);
        return true;
    }

    /// Gives `who` the fragment's default value; if it has one, that is assigned or kept.
    bool put_default(present what, at_type who, id_type f, const char* call);
    /// The same for those of several that it does not have, in one change.
    bool add_defaults(at_type who, std::span<const id_type> fragments, const char* call);
    /// Gives `who` a copy of a value of the fragment's type.
    void put_raw(at_type who, id_type f, const void* value);

    template <class... Ts>
    bool remove(at_type who) {
        if constexpr (sizeof...(Ts) == 1 && !watches_threads)
            if (sparse_set* const set = (find_set<Ts>(), ...);
                set != nullptr && busy_ == 0 && remove_simply(who.id, *set))
                return true;
        return remove_any<Ts...>(who);
    }
    template <class... Ts>
    [[gnu::noinline]] bool remove_any(at_type who) {
        const writing alone(*this, "remove");
        if (is_shared()) [[unlikely]] {
            const fragment_name set[] = {fragment_name::of<Ts>()...};
            return share_remove(who, set);
        }
        if constexpr (sizeof...(Ts) == 1)
            if (const fragment_data& one = (find_fragment<Ts>(), ...);
                one.beside != nullptr && !waits("remove"))
                return remove_beside(who, *one.beside);
        const bool must_wait = waits("remove");
        record_type* const found = find_own(who, "remove");
        if (must_wait) [[unlikely]] {
            const fragment_data* const set[] = {&find_fragment<Ts>()...};
            return found != nullptr && record_remove(who, set);
        }
        if (found == nullptr) return false;
        const chunk_index here = found->chunk();
        if ((... && (find_fragment<Ts>().base(here) == nullptr)) &&
            (sizeof...(Ts) == 1 || !(... || has_beside(who.id, find_fragment<Ts>()))))
            return false;
        const chunk_data* const less = find_chunk<Ts...>();
        if (less == nullptr) [[unlikely]]
            return remove_set(who.id, ensure_chunk<Ts...>());
        return remove_set(who.id, *found, *less);
    }
    bool remove(at_type who, std::span<const id_type> fragments);

    /// Gives `who` a value of this sparse fragment, which `make(room)` makes where it stays.
    template <class Make>
    void emplace_beside(at_type who, fragment_data& fragment, const char* call, Make make,
                        change_kind recorded = change_kind::put);
    /// Puts the values of a sparse fragment, and the loops over them, in order. `order(context, a, b)` says
    /// whether one value comes before another.
    using value_order = bool (*)(void* context, const void* a, const void* b);
    void sort(fragment_data& fragment, value_order order, void* context);
    /// In the order of those that have another fragment; the rest comes behind.
    void sort_like(fragment_data& fragment, const fragment_data& other);

    /// Gives all that have the values of `from` copies of them as values of `to`.
    std::size_t copy_fragment(id_type from, id_type to, const std::source_location& where);

    /// Changes all entities of the chunks that are found, now or when the scope ends: `values[i]`, if
    /// there is one, is copied for `changes[i]`. Gives how many it concerns as the world is.
    std::size_t change_all(const target_finder& finder, std::span<const change_shape> changes,
                           std::span<const void* const> values, const char* call,
                           const std::source_location& where = {});

    /// The same with default values, which those get that have not got them (`keep`), or all (`put`).
    std::size_t start_all(const target_finder& finder, change_kind kind,
                          std::span<const id_type> fragments, const char* call);
    std::size_t remove_all(const target_finder& finder, std::span<const id_type> fragments);

    bool clear(at_type who);
    /// Takes it from all; how many had it.
    std::size_t clear_fragment(const fragment_data& fragment);
    [[nodiscard]] std::size_t count(const fragment_data& fragment) const noexcept;

    /// Calls `change(T&)` on the value that `who` has, and tells the hooks. In a scope, on the value
    /// that waits or on a copy that will.
    template <class T, class Change>
    T& patch(at_type who, const fragment_data& fragment, Change&& change) {
        if (waits("patch")) {
            scope whole(*this);
            void* const waiting = waiting_copy(who, fragment);
            // SAFETY: the value is of type T: who calls has asked for it.
            T& value = is_tag<T> ? tag_value<T>() : *static_cast<T*>(waiting);
            std::forward<Change>(change)(value);
            whole.commit();
            return value;
        }
        scope whole(*this);
        std::forward<Change>(change)(*find_value<T>(who.id, fragment));
        tell_assigned(who.id, fragment);
        whole.commit();
        return placed<T>(who, fragment, "patch");
    }
    /// Whether it has the fragment, or will when the scope ends.
    bool will_have(at_type who, const fragment_data& fragment, const char* call);
    /// Tells the hooks that the value has changed.
    void touch(at_type who, const fragment_data& fragment, std::string_view name);

    /// The value that a call has put: in the world or, in a scope, where it waits.
    template <class T>
    T& placed(at_type who, const fragment_data& fragment, const char* call) {
        if (is_shared()) [[unlikely]]
            return is_tag<T> ? tag_value<T>() : *static_cast<T*>(last_shared_value(call));
        const journal_entry* const waiting =
            depth() == 0 ? nullptr : foresee(who.id, fragment).entry;
        T* const found = waiting == nullptr ? find_value<T>(who.id, fragment)
                         : is_tag<T>        ? &tag_value<T>()
                                            : static_cast<T*>(waiting->value);
        if (found == nullptr) raise_missing(who, call, type_name<T>(), fragment);
        return *found;
    }

    // ---- entities go ---------------------------------------------------------------------------

    bool destroy(at_type who) {
        const writing alone(*this, "destroy");
        // Each of these is a call at the end or none: the compiler needs no stack for what happens most.
        if (busy_ != 0 || who.id.key() >= told_from_ || told_.test(who.id.key()) ||
            !pool_.is_destroyed_easily(who.id)) [[unlikely]]
            return destroy_slowly(who);
        record_type& found = pool_.near()[who.id.key() - pool_.near_key()];
        if (found.chunk() != chunk_index{}) return destroy_placed(who.id, found);
        pool_.destroy_now(who.id);
        return true;
    }
    /// All or, if one is foreign, none.
    std::size_t destroy(std::span<const id_type> all, const std::source_location& where);
    void reset(const std::source_location& where);

    // ---- room ----------------------------------------------------------------------------------

    void reserve(std::size_t count);
    /// Does all that can fail in the making of `count` ids.
    void prepare(std::size_t count);
    /// Room for `count` rows in all.
    void reserve(chunk_data& into, std::size_t count);
    std::size_t recycle_tombstones();
    void collect_garbage();

    // ---- names ---------------------------------------------------------------------------------

    void name(at_type who, std::string_view name);
    [[nodiscard]] std::string_view name(id_type e) const noexcept;
    [[nodiscard]] const name_table& names() const noexcept { return names_; }

    // ---- scopes --------------------------------------------------------------------------------

    /// While it is open, changes are recorded. Ends by `commit` or `cancel`. Scopes need not end in the
    /// order they began.
    class open_scope {
    public:
        /// One that is closed.
        open_scope() noexcept : store_(nullptr), outer_(nullptr), is_users_(false) {}
        /// In a parallel phase it stays closed: all changes are recorded anyway.
        explicit open_scope(store& owner, bool is_users = false) noexcept(!watches_threads)
            : store_(&owner),
              outer_(owner.innermost_),
              start_(owner.journal_.now()),
              is_users_(is_users) {
            if (owner.is_shared()) [[unlikely]] {
                store_ = nullptr;
                return;
            }
            if constexpr (watches_threads) owner.begin_writing("a loop, or another scope");
            owner.innermost_ = this;
            owner.busy_ += one_scope;
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

        /// Carries out what was recorded, unless another scope is open, which then has it. Throws what a
        /// change has thrown, after all others.
        void commit() {
            if (store_ == nullptr) [[unlikely]]
                return;
            store& owner = *store_;
            if (owner.innermost_ != this || is_cancelled_) [[unlikely]]
                return commit_among_others();
            end();
            if ((!owner.journal_.empty() || owner.inbox_.has_mail()) && owner.depth() == 0)
                owner.play();
        }
        /// If scopes in it are still open, it is done when the last of them ends.
        void cancel() noexcept;

    private:
        friend store;
        void commit_among_others();
        void end() noexcept {
            store& owner = *std::exchange(store_, nullptr);
            if constexpr (watches_threads) owner.end_writing();
            owner.busy_ -= one_scope;
            if (owner.innermost_ == this) [[likely]]
                owner.innermost_ = outer_;
            else
                owner.replace(*this, outer_);
        }

        store* store_;
        open_scope* outer_;
        journal::position start_;
        bool is_users_;
        bool is_cancelled_ = false;  // so is all that is recorded in it, when it ends
    };

    /// The same, but its end cancels it.
    class scope : public open_scope {
    public:
        using open_scope::open_scope;
        scope() noexcept = default;
        scope(scope&&) noexcept = default;
        ~scope() {
            if (open_scope::is_open()) open_scope::cancel();
        }
    };

    /// Cancels a scope unless `is_done`, which nobody else can reach: so the compiler sees that a loop in
    /// the scope is not followed by it, and keeps what the loop's function captures in registers.
    struct closing {
        open_scope& changes;
        bool is_done = false;
        [[gnu::always_inline]] ~closing() {
            if (!is_done && changes.is_open()) changes.cancel();
        }
    };

    /// How many scopes are open.
    [[nodiscard]] std::uint32_t depth() const noexcept { return static_cast<std::uint32_t>(busy_); }
    void defer();
    /// Closes the innermost scope, which must be one of `defer`.
    void commit();
    void cancel();

    // ---- hooks ---------------------------------------------------------------------------------

    /// A hook of a fragment, or of the coming and going of entities, for which the others take the null
    /// id.
    std::uint64_t add_hook(id_type f, hook_kind kind, hook_function&& made);
    std::uint64_t add_entity_hook(hook_kind kind, hook_function&& made);
    bool connect_hook(id_type f, std::uint64_t number, bool wanted) noexcept;
    bool remove_hook(id_type f, std::uint64_t number) noexcept;
    [[nodiscard]] bool is_connected(id_type f, std::uint64_t number) const noexcept;

    // ---- observers: see event/observer.hpp -----------------------------------------------------

    /// What happens to the fragments that it watches is noted in the log, until it is removed. If the
    /// world ends before, the log is cut.
    void add_observer(change_log& log);
    void remove_observer(const change_log& log) noexcept;
    void watch(change_log& log, id_type f, unsigned kinds);
    void connect_observer(change_log& log, bool wanted) noexcept;

    // ---- systems -------------------------------------------------------------------------------

    /// The name of the system that runs, which stays where it is; empty: none does.
    [[nodiscard]] std::string_view& acting() noexcept { return acting_; }
    /// While it lives, what happens is the doing of this system.
    class as_system {
    public:
        as_system(store& one, std::string_view name) noexcept : store_(one), before_(one.acting_) {
            one.acting_ = name;
        }
        as_system(const as_system&) = delete;
        as_system& operator=(const as_system&) = delete;
        ~as_system() { store_.acting_ = before_; }

    private:
        store& store_;
        std::string_view before_;
    };

    // ---- parallel phases and command buffers: see sharing_impl.hpp ------------------------------

    /// Several threads are at work: each records its changes by itself, and nothing changes.
    [[nodiscard]] bool is_shared() const noexcept { return (busy_ & in_phase) != 0; }
    /// Until `end_phase`; `errc::in_scope` in another phase, or while a change goes on. Only lane 0 is there,
    /// for the thread that calls, until there are more.
    void begin_phase();
    void share_phase(std::size_t lanes);
    [[nodiscard]] lane& lane_at(std::size_t index) const noexcept;
    /// Enters what the lanes have recorded into the journal, in its order, or drops it. Carries it out
    /// unless a scope is open; throws what a change has thrown, after all others.
    void end_phase(bool is_kept);
    /// `add` in a phase.
    bool share_start(at_type who, recorded_kind kind, std::span<const fragment_name> set,
                     const char* call);

    [[nodiscard]] inbox& mail() noexcept { return inbox_; }
    /// Ids for a thread's command buffer, at least one: any thread. `errc::id_overflow`.
    void reserve_ids(array_list<std::uint64_t>& out);
    /// An id that is null, or of another world: any thread, at any time.
    void refuse_impossible(at_type who, const char* call) const;
    void refuse_impossible(fragment_name fragment, const std::source_location& where) const;
    /// Carries out what was submitted, unless a scope is open.
    void receive();
    /// The same on the thread that the world is used from, which no other need be.
    void receive_at_home();
    void make_home() noexcept { home_.store(this_thread()); }

    /// While it lives, no other thread may change the world: `errc::second_writer`. Costs nothing unless
    /// the build watches threads.
    class writing {
    public:
        writing([[maybe_unused]] store& one, [[maybe_unused]] const char* call) {
            if constexpr (watches_threads) {
                store_ = &one;
                if (!one.begin_writing(call)) store_ = nullptr;
            }
        }
        writing(const writing&) = delete;
        writing& operator=(const writing&) = delete;
        ~writing() {
            if constexpr (watches_threads)
                if (store_ != nullptr) store_->end_writing();
        }

    private:
        [[maybe_unused]] store* store_;
    };
    /// False in a phase, where it is not needed.
    bool begin_writing(const char* call);
    void end_writing() noexcept;
    /// A thread looks at a component of some entity: `errc::undeclared_access` if its system does not say
    /// so and another that runs at the same time touches it, too.
    template <class T>
    void watch(bool may_write) const {
        if constexpr (watches_threads)
            if (is_shared()) watch_access(find_type_index<T>(), may_write, type_name<T>());
    }
    /// The same for the fragment of a C++ type; others are not known to systems.
    void watch(id_type f) const {
        if constexpr (watches_threads)
            if (const fragment_data& known = find_fragment(f); is_shared() && known.is_own)
                watch_access(known.value_type, false, known.name);
    }
    void watch_access(type_index type, bool may_write, std::string_view name) const;

    // ---- errors --------------------------------------------------------------------------------

    /// Refuses changes while it lives: code of a component's author runs.
    class busy_scope {
    public:
        explicit busy_scope(store& one) noexcept : store_(one) { store_.busy_ += one_change; }
        busy_scope(const busy_scope&) = delete;
        busy_scope& operator=(const busy_scope&) = delete;
        ~busy_scope() { store_.busy_ -= one_change; }

    private:
        store& store_;
    };

    struct free_scope {
        explicit free_scope(store&) noexcept {}
    };
    /// A busy scope, if code of a type's author runs in it.
    template <bool RunsCode>
    using busy_while = std::conditional_t<RunsCode, busy_scope, free_scope>;

    /// For what is done at once even in a scope.
    void refuse_in_change(const char* call) const {
        if (busy_ >= one_change) [[unlikely]]
            raise_busy(call);
    }
    /// For what is done at once even in the middle of a change.
    void refuse_in_phase(const char* call) const {
        if (is_shared()) [[unlikely]]
            raise_busy(call);
    }
    /// For what can neither be done in a scope nor wait.
    void refuse_in_scope(const char* call) const {
        if (busy_ >= one_change || depth() != 0) [[unlikely]]
            raise_busy(call);
    }
    /// Whether a change has to be recorded in the journal or, in a parallel phase, by its thread.
    [[nodiscard]] bool is_recorded(const char* call) const {
        if (busy_ == 0) [[likely]]
            return false;
        return is_shared() || waits(call);
    }
    /// Whether a change has to be recorded in the journal.
    [[nodiscard]] bool waits(const char* call) const {
        if (busy_ == 0) [[likely]]
            return false;
        refuse_in_change(call);
        return depth() != 0;
    }

    /// The record of an entity that a call needs alive.
    record_type& require(at_type who, const char* call) {
        record_type* const found = find_record(who.id.key());
        if constexpr (checked)
            if (found == nullptr || !found->is(who.id, pool_.origin())) [[unlikely]]
                raise_not_alive(who, call);
        return *found;
    }

    /// Why this entity is dead, or that it is of another world.
    [[noreturn]] MUSTER_COLD void raise_not_alive(at_type who, const char* call) const;
    /// Why a get on this entity, or on one that is not there, failed.
    [[noreturn]] MUSTER_COLD void raise_missing(at_type who, const char* call,
                                                std::string_view type,
                                                const fragment_data& fragment) const;
    [[noreturn]] MUSTER_COLD void raise_missing(at_type who, const char* call, id_type f,
                                                type_index type, std::string_view type_name) const;
    [[noreturn]] MUSTER_COLD void raise_no_default(const fragment_data& fragment,
                                                   std::string_view type) const;
    [[noreturn]] MUSTER_COLD void raise_no_clone(at_type prototype,
                                                 const fragment_data& fragment) const;
    [[noreturn]] MUSTER_COLD static void raise_given_twice(const fragment_data& fragment);
    /// Why this id cannot be used as a fragment.
    [[noreturn]] MUSTER_COLD void raise_no_fragment(id_type f, const char* call,
                                                    const std::source_location* where) const;
    [[noreturn]] MUSTER_COLD void raise_mismatch(const fragment_data& fragment,
                                                 std::string_view wanted, const char* call,
                                                 const std::source_location* where) const;
    [[noreturn]] MUSTER_COLD void raise_no_single(std::string_view type,
                                                  const std::source_location& where) const;
    /// "entity E:1-42[3] "goblin""
    [[nodiscard]] std::string describe(id_type e) const;

private:
    /// What is known of a list of types.
    struct list_entry {
        chunk_data* chunk;        // of exactly these; null: not looked for yet
        chunk_data* spawned;      // the same, if an entity with these needs nothing else
        std::uint8_t columns[8];  // the column of the first types of the list, in that chunk
    };
    /// Sets of fragments that were asked for lately, in this order.
    static constexpr std::size_t recent_count = 8;
    struct recent_set {
        std::size_t size = 0;
        fragment_data* fragments[6]{};
        chunk_data* chunk = nullptr;
    };

    [[nodiscard]] static std::size_t recent_place(std::span<fragment_data* const> set) noexcept {
        std::size_t hash = set.size();
        for (const fragment_data* one : set) hash = hash * 31 + to_int(one->index);
        return hash % recent_count;
    }
    /// The chunk of this set, if it was asked for lately; else null.
    [[nodiscard]] chunk_data* find_recent(std::span<fragment_data* const> set) const noexcept {
        const recent_set& known = recent_sets_[recent_place(set)];
        if (known.size != set.size()) return nullptr;
        for (std::size_t i = 0; i < set.size(); ++i)
            if (set[i] != known.fragments[i]) return nullptr;
        return known.chunk;
    }

    template <class... Ts>
    [[nodiscard]] const list_entry& find_list() const noexcept {
        const auto list = static_cast<std::size_t>(find_list_index<Ts...>());
        return by_list_[list < lists_ ? list : 0];
    }

    /// `find` for who has looked up what the pool says.
    [[nodiscard]] const record_type* find(id_type e, id_type origin, const record_type* records,
                                          std::uint64_t first, std::uint64_t count) const noexcept {
        const std::uint64_t place = e.key() - first;
        if (place >= count) [[unlikely]]
            return find_far(e);
        return records[place].seen().is(e, origin) ? records + place : nullptr;
    }

    // ---- the halves of a change ----------------------------------------------------------------

    /// Null if it is not alive; an id of another world is an error.
    record_type* find_own(at_type who, const char* call) {
        record_type* const found = find_record(who.id.key());
        if (found != nullptr && found->is(who.id, pool_.origin())) [[likely]]
            return found;
        if (is_foreign(who.id)) raise_not_alive(who, call);
        return nullptr;
    }

    /// Whether it is the world's, not the user's.
    [[nodiscard]] bool is_own(id_type e) const noexcept {
        return e.key() >= own_from_ && find_fragment(e).is_own;
    }
    [[nodiscard]] bool is_foreign(id_type e) const noexcept {
        return Layout::world_bits != 0 && e.world() != 0 && e.world() != pool_.world();
    }

    /// The chunk of exactly these values' fragments; null if it takes more than a look.
    template <class... Args>
    [[nodiscard]] chunk_data* find_chunk_of(const incoming<Args>&...) const noexcept {
        if constexpr (all_typed<Args...>)
            return find_chunk<typename incoming<Args>::type...>();
        else
            return nullptr;
    }
    template <class... Args>
    chunk_data& ensure_chunk_of([[maybe_unused]] const std::source_location* where,
                                incoming<Args>&... values) {
        if constexpr (all_typed<Args...>) {
            return ensure_chunk<typename incoming<Args>::type...>();
        } else if constexpr (sizeof...(Args) == 1) {
            return ensure_alone((values.ensure(*this, where), ...));
        } else {
            fragment_data* const set[] = {&values.ensure(*this, where)...};
            return ensure_set(set);
        }
    }

    /// `spawn` where memory is needed, or an error is due.
    template <class... Args>
    [[gnu::noinline]] id_type spawn_slowly(incoming<Args>... values) {
        return spawn_row<Args...>(values...);
    }
    /// `spawn` of anything. Growing may move the values.
    template <class... Args>
    id_type spawn_row(incoming<Args>&... values) {
        const void* from[] = {values.where()..., nullptr};
        if (is_recorded("spawn")) {
            if (is_shared()) return share_spawn(values...);
            return record_spawn(nullptr, values...);
        }
        const chunk_data& given = ensure_chunk_of(nullptr, values...);
        chunk_data& into = cloned_chunk(graph_.nowhere(), given);
        noting notes(*this);
        if (is_mixed(given) || (tells_coming(into) && !notes.begin_arrival(into)))
            return record_spawn(nullptr, values...);
        open_row(into, watched(from, sizeof...(Args)));
        prepare(1);
        new_row row(*this, into, given, given);
        construct(into, from, values...);
        row.keep();
        (values.settle(), ...);
        const id_type made = enter(into);
        notes.note(made);
        return made;
    }

    /// The row behind the last of `into`, where what neither `a` nor `b` has got its default value.
    /// Takes them away again unless it is kept.
    class new_row {
    public:
        new_row(store& one, chunk_data& into, const chunk_data& a, const chunk_data& b)
            : into_(into), a_(a), b_(b), done_(&into == &a) {
            if (!done_) one.start_row(into, a, b);
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

    /// Entities that were just made, in the last rows of a chunk. They die unless they are kept.
    class new_entities {
    public:
        new_entities(store& one, chunk_data& chunk, std::size_t from) noexcept
            : first(from), store_(one), chunk_(chunk) {}
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
    /// `count` new rows, the last of the chunk that is returned; their ids are there.
    chunk_data& enter_rows(std::size_t count, chunk_data& given_chunk, row_values given);
    /// Destroys the entities of the rows from `first` on. Tells nobody.
    void destroy_rows(chunk_data& chunk, std::size_t first) noexcept;
    void show_rows(std::span<id_type> out, chunk_data& into);
    void spawn_told(std::span<id_type> out);

    /// Room for a row.
    void open_row(chunk_data& into, watched arguments);
    void start_row(chunk_data& into, const chunk_data& a, const chunk_data& b);
    static void drop_row(const chunk_data& into, const chunk_data& a, const chunk_data& b) noexcept;

    template <class... Args>
    void construct(const chunk_data& into, const void* const* from,
                   incoming<Args>&... values) noexcept {
        const busy_while<(... || incoming<Args>::runs_code)> nobody_else(*this);
        (construct_value(values, values.find(*this).base(into.index), into.size, *from++), ...);
    }

    template <class... Args>
    void construct_missing(const chunk_data& here, const chunk_data& target,
                           const void* const* from, incoming<Args>&... values) noexcept {
        const busy_while<(... || incoming<Args>::runs_code)> nobody_else(*this);
        const auto one = [&](auto& value, const fragment_data& fragment) {
            if (!here.has(fragment))
                construct_value(value, fragment.base(target.index), target.size, *from);
            ++from;
        };
        (one(values, values.find(*this)), ...);
    }

    template <class... Args>
    void assign_present(const chunk_data& here, std::size_t row, const void* const* from,
                        incoming<Args>&... values) noexcept {
        const busy_while<(... || incoming<Args>::runs_code)> nobody_else(*this);
        const auto one = [&](auto& value, const fragment_data& fragment) {
            if (std::byte* const base = fragment.base(here.index))
                assign_value(value, base, row, *from);
            ++from;
        };
        (one(values, values.find(*this)), ...);
    }

    template <class Arg>
    static void construct_value(incoming<Arg>& value, std::byte* base, std::size_t row,
                                const void* from) noexcept {
        using type = typename incoming<Arg>::type;
        if constexpr (!is_tag<type>) value.construct(value_at<type>(base, row), from);
    }
    template <class Arg>
    static void assign_value(incoming<Arg>& value, std::byte* base, std::size_t row,
                             const void* from) noexcept {
        using type = typename incoming<Arg>::type;
        if constexpr (!is_tag<type>) value.assign(value_at<type>(base, row), from);
    }

    /// The row behind the last, whose values are there, becomes that of a new id, or of this one. Room
    /// is there.
    id_type enter(chunk_data& into) noexcept;
    id_type enter_at(chunk_data& into, id_type made) noexcept;
    /// Makes this id.
    void claim(id_type wanted);

    [[nodiscard]] static id_type* ids(const chunk_data& chunk) noexcept {
        // SAFETY: the column of ids, aligned for them.
        return reinterpret_cast<id_type*>(chunk.ids.data);
    }

    chunk_data& copy_row(at_type prototype, const chunk_data& given, watched arguments);
    /// Where the values of new rows come from that are not given.
    struct row_origin {
        const chunk_data* copied;  // what is copied; null: nothing
        const chunk_data* from;    // where it is
        std::size_t row;
        const chunk_data* skipped_a;  // what the caller sees to; null: nothing
        const chunk_data* skipped_b;
        const chunk_data*
            started;  // what gets its default value unless one is given; null: nothing
        [[nodiscard]] bool skips(const fragment_data& fragment) const noexcept {
            return (skipped_a != nullptr && skipped_a->has(fragment)) ||
                   (skipped_b != nullptr && skipped_b->has(fragment));
        }
        [[nodiscard]] bool copies(const fragment_data& fragment) const noexcept {
            return copied != nullptr && copied->has(fragment) &&
                   (started == nullptr || !started->has(fragment));
        }
    };
    void write_rows(chunk_data& into, std::size_t count, row_values given,
                    const row_origin& origin);
    void enter_many(chunk_data& into, std::size_t count) noexcept;
    /// What a clone has before values are given: the unique fragments are missing.
    chunk_data& cloned_part(chunk_data& original);
    chunk_data& cloned_chunk(chunk_data& part, const chunk_data& given);
    void refuse_uncopyable(at_type prototype, const chunk_data& part,
                           const chunk_data& given) const;
    void refuse_unstartable(const chunk_data& into, const row_origin& origin,
                            row_values given) const;

    /// The entity has something of this set.
    bool remove_set(id_type e, record_type& found, const chunk_data& less) {
        chunk_data& here = graph_.at(found.chunk());
        const edge& way = graph_.without(here, less);
        if (way.is_told && !is_noting_) [[unlikely]]
            return remove_told(e, less);
        chunk_data& target = *way.target;
        if (target.index == chunk_index{}) {
            leave_row(found);
        } else {
            target.make_room(1, row_limit, {});
            move_row(e, found, here, way);
        }
        return true;
    }
    /// The same after a type may have been registered, which can move the records.
    MUSTER_COLD bool remove_set(id_type e, const chunk_data& less) {
        return remove_set(e, *find_record(e.key()), less);
    }
    void move_row(id_type e, record_type& found, chunk_data& from, const edge& way) noexcept;
    void destroy_dropped(const chunk_data& from, const edge& way, std::size_t row) noexcept;
    void move_values(const chunk_data& from, const edge& way, std::size_t row,
                     std::size_t to_row) noexcept;
    void move_all(chunk_data& from, const edge& way) noexcept;
    void leave_row(record_type& found) noexcept;

    // ---- sparse fragments: see beside.hpp, which who calls `put` includes, and beside_impl.hpp -

    class waiting_slot;
    /// A value comes or is assigned in few steps; false if that cannot be, and nothing has happened.
    template <present Present, class Arg>
    bool put_simply(at_type who, sparse_set& set, incoming<Arg>& value);
    bool remove_simply(id_type who, sparse_set& set) noexcept;
    template <present Present, class Arg>
    MUSTER_COLD bool put_beside(at_type who, const char* call, sparse_set& set,
                                incoming<Arg> value);
    /// Sees to all that is in the way of a value that comes in few steps. False if it has to be recorded.
    MUSTER_COLD bool make_simple(at_type who, sparse_set& set, const char* call);
    bool remove_beside(at_type who, sparse_set& set);
    [[nodiscard]] static bool has_beside(id_type e, const fragment_data& fragment) noexcept {
        return fragment.beside != nullptr && fragment.beside->has(e.value());
    }
    /// All that a value of this entity's can need: its end is one that more has to be done for.
    void prepare_beside(sparse_set& set, id_type who) {
        tell(who.key());
        sparse_.prepare(set, who.value(), pool_.is_near(who.key()));
    }
    /// The value in `slot` becomes that of `who`, in place of the one in `here`, if there is one.
    void replace_beside(sparse_set& set, id_type who, slot_index here, slot_index slot) noexcept;
    void drop_beside(id_type who) noexcept;
    void drop_all_beside(sparse_set& set) noexcept;
    [[nodiscard]] bool tells_going_beside(id_type who) const;
    /// The sparse fragments that an entity has, by number. Ends with the next call.
    [[nodiscard]] std::span<fragment_data* const> beside_of(id_type who);
    /// Whether sparse fragments come with these, which one that gets them needs.
    [[nodiscard]] bool is_mixed(const chunk_data& given);
    /// Where the value of a journal's entry is made.
    [[nodiscard]] void* take_room(journal_entry& one);
    [[nodiscard]] array_list<slot_index> slots_of(const sparse_set& set) const;
    void refuse_unsortable(const fragment_data& fragment) const;
    [[nodiscard]] array_list<fragment_data*> fragments_for(const chunk_data& given,
                                                           const at_type* prototype) const;

    /// New entities whose values are made outside of the chunks; see `enter_staged`.
    class staging;
    void stage_mixed(staging& made, const chunk_data& given_chunk, row_values given,
                     const at_type* prototype = nullptr);
    void enter_staged(staging& made);
    void spawn_rows_mixed(std::size_t count, const chunk_data& given_chunk, row_values given,
                          void (*fill)(const void* what, const chunk_data& rows), const void* what);
    void spawn_mixed(std::span<id_type> out, const chunk_data& given_chunk, row_values given,
                     const at_type* prototype);

    // ---- changes that wait: see recording_impl.hpp ---------------------------------------------

    /// Whether hooks are told of entities that come into this chunk.
    [[nodiscard]] bool tells_coming(const chunk_data& into) const noexcept {
        return into.tells_coming || entity_hooks_.has(insert_hooks);
    }
    [[nodiscard]] bool tells_going(const chunk_data& from) const noexcept {
        return from.tells_going || entity_hooks_.has(remove_hooks);
    }
    bool tells_clone(at_type prototype, const chunk_data& given);
    template <present Present, class... Args>
    [[nodiscard]] bool tells_assigned(const incoming<Args>&... values) const noexcept {
        if constexpr (Present == present::keep || sizeof...(Args) == 1)
            return false;
        else
            return (... || values.find(*this).hooks.has(assign_hooks));
    }

    template <class Arg>
    void record_value(at_type who, change_kind kind, incoming<Arg>& value) {
        using type = typename incoming<Arg>::type;
        fragment_data& fragment = value.ensure(*this, &who.where);
        journal_entry& made = journal_.add(who.id.value(), kind, &fragment);
        if (is_tag<type> && fragment.beside == nullptr) return;
        void* const room = take_room(made);
        if constexpr (!is_tag<type>) {
            const busy_while<incoming<Arg>::runs_code> nobody_else(*this);
            value.construct(room, value.where());
            made.value = room;
        }
    }
    /// A change that nobody has to be asked about: it goes the plain way, and observers are told.
    class noting {
    public:
        explicit noting(store& one) noexcept : store_(one) {}
        noting(const noting&) = delete;
        noting& operator=(const noting&) = delete;
        ~noting() {
            if (store_.is_noting_) end();
        }
        /// All that can fail. False if a hook is to be called: nothing is begun then.
        bool begin_put(id_type who, std::span<fragment_data* const> given, bool assigns);
        bool begin_removal(const chunk_data& from, const chunk_data& less);
        bool begin_arrival(const chunk_data& into);
        /// It has happened.
        void note(id_type who) noexcept {
            if (store_.is_noting_) note_all(who);
        }

    private:
        void note_all(id_type who) noexcept;
        void end() noexcept;
        bool begin(fragment_data& one, hook_kind kind);
        bool finish(bool is_possible);
        store& store_;
    };
    template <present Present, class... Args>
    [[gnu::noinline]] bool put_told(at_type who, const char* call, incoming<Args>... values) {
        fragment_data* const given[] = {&values.ensure(*this, &who.where)...};
        noting notes(*this);
        if (!notes.begin_put(who.id, given, Present == present::assign))
            return record_put<Present, Args...>(who, call, std::move(values)...);
        const bool is_done = put<Present, Args...>(who, call, std::move(values)...);
        notes.note(who.id);
        return is_done;
    }
    bool remove_told(id_type e, const chunk_data& less);
    template <present Present, class... Args>
    [[gnu::noinline]] bool record_put(at_type who, const char* call, incoming<Args>... values) {
        if (is_shared())
            return share_put(who, call,
                             Present == present::assign ? recorded_kind::put : recorded_kind::keep,
                             values...);
        (void)require(who, call);
        if constexpr (!all_typed<Args...> && sizeof...(Args) > 1)
            (void)ensure_chunk_of(&who.where, values...);  // nothing is given twice
        constexpr bool assigns = Present == present::assign;
        scope whole(*this);
        (record_value(who, assigns ? change_kind::put : change_kind::keep, values), ...);
        const bool is_new = !(... && has(who.id, values.find(*this)));
        whole.commit();
        return assigns || is_new;
    }
    /// An id that is alive at once; `wanted` or, if that is null, a new one.
    id_type record_birth(const id_type* wanted);
    /// The same for an id whose values are recorded first: if that fails, the id is as it was.
    class birth {
    public:
        birth(store& owner, const id_type* wanted);
        birth(const birth&) = delete;
        birth& operator=(const birth&) = delete;
        ~birth() {
            if (is_new_) take_back();
        }
        /// All that is recorded for it is there. An exact id comes alive now.
        void record(bool is_exact);

        id_type id;

    private:
        void take_back() noexcept;
        store& store_;
        bool is_new_ = false;
    };
    template <class... Args>
    id_type record_spawn(const id_type* wanted, incoming<Args>&... values) {
        if constexpr (!all_typed<Args...> && sizeof...(Args) > 1)
            (void)ensure_chunk_of(nullptr, values...);
        scope whole(*this);
        birth made(*this, wanted);
        (record_value({made.id, {}}, change_kind::put, values), ...);
        made.record(wanted != nullptr);
        whole.commit();
        return made.id;
    }
    void record_copy(at_type who, change_kind kind, fragment_data& fragment, const void* value,
                     bool as_clone);
    void record_boxed(at_type who, change_kind kind, fragment_data& fragment, boxed_value& value);
    void record_started(at_type who, change_kind kind, fragment_data& fragment);
    void record_many(std::span<id_type> out, chunk_data& given_chunk, row_values given,
                     const at_type* prototype);
    void record_copies(id_type made, at_type prototype, const chunk_data& given);
    void stage_rows(chunk_data& staged, std::size_t count, chunk_data& given_chunk,
                    row_values given);
    void record_rows(chunk_data& staged);
    bool record_remove(at_type who, std::span<const fragment_data* const> set);
    bool record_clear(at_type who);
    [[gnu::noinline]] bool record_destroy(at_type who);
    /// What `who` will have of a fragment.
    struct prospect {
        bool is_there;
        const journal_entry* entry;  // whose value it will be; null: the one that it has
    };
    [[nodiscard]] prospect foresee(id_type who, const fragment_data& fragment);
    void* waiting_copy(at_type who, const fragment_data& fragment);

    // ---- changes of many threads: see sharing_impl.hpp -----------------------------------------

    struct sharing;
    /// Of this thread; `errc::in_scope` if it has no part in the phase.
    [[nodiscard]] lane& my_lane(const char* call) const;
    [[nodiscard]] id_type shared_id();
    [[nodiscard]] void* last_shared_value(const char* call) const;
    /// Refuses what is not alive. The lane of this thread.
    lane& require_shared(at_type who, const char* call) const;
    template <class... Args>
    [[gnu::noinline]] id_type share_spawn(incoming<Args>&... values) {
        recorder& into = my_lane("spawn").changes;
        (refuse_named(values.name(), values.value_type(),
                      type_info_of<typename incoming<Args>::type>, nullptr),
         ...);
        recording all(into);
        into.add(recorded_kind::spawn, 0);
        (into.add_value(recorded_kind::put, 0, values), ...);
        const id_type made = shared_id();
        all.keep(made.value());
        return made;
    }
    template <class... Args>
    bool share_put(at_type who, const char* call, recorded_kind kind, incoming<Args>&... values) {
        recorder& into = require_shared(who, call).changes;
        (refuse_named(values.name(), values.value_type(),
                      type_info_of<typename incoming<Args>::type>, &who.where),
         ...);
        recording all(into);
        (into.add_value(kind, who.id.value(), values, who.where), ...);
        all.keep();
        return kind == recorded_kind::put || !(... && has(who.id, find_named(values.name())));
    }
    bool share_remove(at_type who, std::span<const fragment_name> set);
    bool share_clear(at_type who);
    bool share_destroy(at_type who);
    [[nodiscard]] const fragment_data& find_named(fragment_name name) const noexcept;
    /// What is wrong with the fragment that values of this type are for, as far as the world before the
    /// phase tells.
    void refuse_named(fragment_name name, type_index value, const type_info& type,
                      const std::source_location* where) const {
        if (!name.is_typed()) refuse_misfit(to_id<Layout>(name.what), value, type, where);
    }
    void refuse_misfit(id_type f, type_index value, const type_info& type,
                       const std::source_location* where) const;
    [[nodiscard]] lane* find_shared(at_type who, const char* call) const;
    template <class Enter>
    void enter(recorder& from, std::uint32_t first, std::uint32_t last, Enter enter_change);
    void enter_one(recorded_change& one);
    void enter_value(recorded_change& one);
    void receive_one(recorder& from);
    void make_ready(std::size_t count) noexcept;
    void give_ids_back();

    // ---- carrying them out: see playing_impl.hpp -----------------------------------------------

    void rewind(const journal::position& to) noexcept;
    void replace(const open_scope& one, open_scope* by) noexcept;
    void unmake(id_type made) noexcept;
    void play();
    void play_journal();
    void carry_out(std::uint32_t which);
    bool carry_out_alike(id_type who, std::uint32_t last) noexcept;
    void drop_values(std::uint32_t last) noexcept;
    void end_value(const journal_entry& one) noexcept;
    static void end_value(const fragment_data& fragment, void* value, slot_index slot) noexcept;
    void carry_out_barrier(const journal_group& group);
    void carry_out_batch(const journal_group& group);
    class exchange;
    class chunk_exchange;
    void change_chunk(chunk_data& chunk, std::span<const change_shape> shape,
                      std::span<const value_source> values);
    template <class Change>
    std::size_t each_chunk(std::span<chunk_data* const> chunks, Change change);
    template <class Change>
    std::size_t each_owner(const fragment_data& fragment, Change change);
    [[nodiscard]] bool concerns(id_type e, const change_shape& change) const;
    [[nodiscard]] bool is_beside(std::span<const change_shape> shape);
    void carry_out_by_id(const batch_targets& found, std::span<const change_shape> shape,
                         std::span<const value_source> values, const journal_note& note);
    void destroy_one(at_type who, std::string_view system);
    bool clear_beside(const chunk_data& chunk);
    [[nodiscard]] array_list<chunk_data*> chunks_of(const fragment_data& fragment) const;
    [[nodiscard]] std::vector<id_type> owners_of(const fragment_data& fragment) const;
    void destroy_chunk(chunk_data& chunk, const journal_note& note);
    [[nodiscard]] std::size_t count_mortal(const chunk_data& chunk) const noexcept;
    void follow(id_type who, const plan& way, std::span<waiting_value> values, bool is_born);
    void change_one(id_type who, std::span<const change_shape> shape,
                    std::span<const value_source> values);
    void close_gap(chunk_data& chunk, std::size_t row) noexcept;
    void open_gap(chunk_data& chunk, std::size_t row) noexcept;
    void follow_bytes(id_type who, const plan& way, std::span<waiting_value> values) noexcept;
    void destroy_told(at_type who);
    void tell_going(id_type who);
    void tell_coming(chunk_data& into, std::size_t first);
    void tell_coming(std::span<const id_type> all, std::span<fragment_data* const> fragments);
    void tell_assigned(id_type who, const fragment_data& fragment);
    void prepare_notes(const plan& way, std::size_t count);
    void note(const plan& way, id_type who) noexcept;
    void prepare_going(const chunk_data& from, std::size_t count);
    void prepare_going_beside(id_type who, std::size_t count);
    void note_going(id_type who) noexcept;
    void call_hooks(hook_kind kind, id_type who, fragment_data& fragment);
    void run_hooks(hook_list& list, hook_kind kind, id_type who, void* value);
    void drop_given() noexcept;
    std::size_t clear_fragment_now(fragment_data& fragment);
    std::size_t copy_fragment_now(const fragment_data& source, fragment_data& target);
    [[nodiscard]] bool has_hooks() const noexcept;
    void reset_told(const std::source_location& where);
    [[nodiscard]] hook_list* find_hooks(id_type f) noexcept;
    void note_hooks() noexcept;

    MUSTER_COLD fragment_data& add_fragment(type_index type, const type_info& info);
    MUSTER_COLD fragment_data& adopt(id_type f, type_index value, const type_info& type,
                                     const std::source_location* where);
    fragment_data& adopt_like(const fragment_data& source, id_type f,
                              const std::source_location& where);
    fragment_data& add_by_id(id_type f, type_index value, const type_info& type);
    MUSTER_COLD chunk_data& add_alone(fragment_data& fragment);
    void show_name(fragment_data& fragment);
    void put_boxed(at_type who, fragment_data& fragment, boxed_value& value, present what);
    static void take_boxed(void* to, boxed_value& value) noexcept;
    [[nodiscard]] boxed_value started_value(const fragment_data& fragment);
    MUSTER_COLD chunk_data& add_list(std::size_t list, std::span<fragment_data* const> set);
    chunk_data& find_set(std::span<fragment_data* const> set);
    void forget_chunks() noexcept;
    [[nodiscard]] id_type find_own_id() const;
    void tell(std::uint64_t key);
    MUSTER_COLD bool destroy_slowly(at_type who);
    bool destroy_placed(id_type e, record_type& found);
    bool destroy_noted(id_type e, record_type& found);
    void note_death(at_type who);
    void die(id_type e, record_type& found) noexcept;
    void end_values() noexcept;
    void destroy_fragment(at_type who);
    void forget_fragment(fragment_data& fragment) noexcept;

    [[noreturn]] MUSTER_COLD void raise_busy(const char* call) const;
    [[noreturn]] MUSTER_COLD void raise_unbalanced(const char* call) const;
    [[nodiscard]] std::string why_dead(id_type e) const;
    [[nodiscard]] const deaths::entry* find_death(id_type e) const noexcept;

    // `busy_` says what is in the way of a plain change: scopes in the lower half, then whether somebody
    // is told of all entities that come or go, then changes that code of the user's runs in.
    static constexpr std::uint64_t one_scope = 1;
    static constexpr std::uint64_t is_watched = std::uint64_t{1} << 32;
    static constexpr std::uint64_t one_change = std::uint64_t{1} << 33;
    static constexpr std::uint64_t in_phase = std::uint64_t{1} << 63;

    // What every call reads comes first, on one cache line and, with the pool, the next two.
    std::uint64_t busy_ = 0;
    bool provenance_;                              // see world_options
    bool is_noting_ = false;                       // see `noting`
    bool is_exchanging_ = false;                   // see `chunk_exchange`
    bool is_ended_ = false;                        // see `end`
    bool is_receiving_ = false;                    // see `receive`
    std::size_t lists_ = 0;                        // entries of by_list_, the first for `no_list`
    raw_array<list_entry> by_list_;                // by list_index
    std::uint64_t told_from_ = ~std::uint64_t{0};  // keys with something to do at their death: all
    bit_array told_;                               // from here on, and these
    world_number number_;
    slot_pool<Layout, record_type> pool_;
    chunk_graph graph_;
    sparse_table sparse_;
    fragment_table fragments_;
    std::uint64_t own_from_ = ~std::uint64_t{0};  // the lowest key of the world's own
    std::size_t own_ = 0;                         // how many ids are the world's own
    recent_set recent_sets_[recent_count];
    name_table names_;
    deaths deaths_;
    journal journal_;
    open_scope* innermost_ = nullptr;
    playback* playback_ = nullptr;  // owned; apart, so that who includes this need not compile it
    sharing* sharing_ = nullptr;    // the same
    inbox inbox_;
    atomic_word<std::uintptr_t> home_{this_thread()};  // see `receive_at_home`
    atomic_word<std::uintptr_t> writer_;               // the thread that changes it; see `writing`
    atomic_word<const char*> writer_call_;             // what it does
    std::uint32_t writings_ = 0;                       // how often it has begun and not ended
    std::string_view acting_;                          // the system that runs; see `as_system`
    hook_list entity_hooks_;
    unsigned hooked_ = 0;  // kinds of hooks that some fragment has
    array_list<change_log*> observers_;
    struct noted {
        fragment_data* fragment;
        hook_kind kind;
    };
    std::vector<noted> notes_;  // what `noting` will note
};

}  // namespace detail
}  // namespace muster
