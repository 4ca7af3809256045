// component_access: checked access to the components of a world, and to its fragments. Changes
// nothing, except that it registers types and, in a parallel phase, writes through a reference.
// `store` derives from it and adds the changes.
#pragma once

#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/engine/engine.hpp>
#include <muster/entity/entity_table.hpp>
#include <muster/store/at.hpp>
#include <muster/store/bound_value.hpp>
#include <muster/store/with.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

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

template <class T>
T* value_at(std::byte* base, std::size_t row) noexcept {
    if constexpr (is_tag<T>)
        return __builtin_addressof(tag_value<T>());
    else  // SAFETY: `base` is the column of T's fragment, aligned for T.
        return reinterpret_cast<T*>(base) + row;
}

template <class Layout>
class MUSTER_API component_access : public engine {
public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;
    using table_type = entity_table<Layout>;
    using record_type = record<Layout>;

    // ---- lookup --------------------------------------------------------------------------------

    [[nodiscard]] std::size_t size() const noexcept {
        return table_.pool().size() - catalog.world_owned_count() - exchange.away_count() +
               (table_.has_guests() ? table_.guests()->size() : 0);
    }
    [[nodiscard]] bool alive(id_type e) const noexcept { return find(e) != nullptr; }
    /// Returns the record of a living entity, or null.
    [[nodiscard]] const record_type* find(id_type e) const noexcept { return table_.find(e); }
    [[nodiscard]] record_type* find_record(std::uint64_t key) const noexcept {
        return table_.find_record(key);
    }
    /// Returns the entity after this one: first those that this world has issued, by key, then
    /// guests, by id. The null id is before the first and after the last. Skips world-owned ids
    /// and entities that are away.
    [[nodiscard]] id_type next_after(id_type e) const noexcept;

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
        const std::uintptr_t chunk_zero = fragment.chunk_zero;
        const std::uint32_t dense_end = fragment.dense_end;
        const id_type origin = table_.pool().origin();
        const record_type* const records = table_.pool().dense();
        const std::uint64_t first = table_.first_direct_key();
        const std::uint64_t count = table_.pool().dense_count();
        if (fragment.sparse_values != nullptr) [[unlikely]]
            return find_sparse<T>(e, fragment);
        const std::uint64_t place = e.key() - first;
        if (place >= count) [[unlikely]]
            return find_overflow_value<T>(e, fragment);
        const record_type found = records[place].seen();
        if (!found.is(e, origin)) return nullptr;
        std::byte* const base = fragment.base(found.chunk(), chunk_zero, dense_end);
        return base == nullptr ? nullptr : value_at<T>(base, found.row());
    }
    template <class T>
    [[nodiscard, gnu::noinline, gnu::pure]] T* find_overflow_value(
        id_type e, const fragment_data& fragment) const noexcept {
        const record_type* const found = table_.find(e);
        std::byte* const base = found == nullptr ? nullptr : fragment.base(found->chunk());
        return base == nullptr ? nullptr : value_at<T>(base, found->row());
    }

    /// Returns the value that the fallback of a fragment shows for a living entity without a value
    /// of its own, or null.
    [[nodiscard]] const void* find_fallback(id_type e,
                                            const fragment_data& fragment) const noexcept;
    /// Like `find_value`; else returns the value that the fallback of the fragment shows.
    template <class T>
    [[nodiscard]] const T* find_shown(id_type e, const fragment_data& fragment) const noexcept {
        if (const T* const found = find_value<T>(e, fragment)) [[likely]]
            return found;
        const void* const shown = find_fallback(e, fragment);
        // SAFETY: a fallback shows values of its fragment.
        return is_tag<T> && shown != nullptr ? __builtin_addressof(tag_value<T>())
                                             : static_cast<const T*>(shown);
    }
    /// Returns the value of a const T, from the fallback if necessary, or of another T, or null.
    template <class T>
    [[nodiscard]] T* find_any(id_type e, const fragment_data& fragment) const noexcept {
        if constexpr (std::is_const_v<T>)
            return find_shown<std::remove_const_t<T>>(e, fragment);
        else
            return find_value<T>(e, fragment);
    }

    template <class T>
        requires std::is_const_v<T>
    [[nodiscard]] T& get(at_type of) const {
        using type = std::remove_const_t<T>;
        const fragment_data& fragment = find_fragment<type>();
        if (T* const found = find_shown<type>(of.id, fragment)) [[likely]]
            return *found;
        errors.raise_missing(of, "get", type_name<type>(), fragment);
    }
    template <class T>
    [[nodiscard]] T& get(at_type of) const {
        if constexpr (checked) {
            if (T* const found = find_value<T>(of.id)) [[likely]]
                return *found;
            errors.raise_missing(of, "get", type_name<T>(), find_fragment<T>());
        } else {
            const fragment_data& fragment = find_fragment<T>();
            if (is_always_sparse<T>() || fragment.sparse_values != nullptr)
                return *find_sparse<T>(of.id, fragment);
            const record_type& found =
                table_.has_guests() ? *find(of.id) : *find_record(of.id.key());
            return *value_at<T>(fragment_data::base_there(found.chunk(), fragment.chunk_zero),
                                found.row());
        }
    }
    template <class T>
    [[nodiscard]] T& get(at_type of, id_type f, const char* call) const {
        using type = std::remove_const_t<T>;
        check_access(f);
        if (T* const found = find_any<T>(of.id, find_fragment<type>(f))) [[likely]]
            return *found;
        errors.raise_missing(of, call, f.value(), find_fragment(f), find_type_index<type>(),
                             type_name<type>());
    }
    /// Before a call that stores a value and returns `placed`.
    void prepare_placed() {
        if (!gate.is_idle()) [[unlikely]]
            changes.prepare_find_stored();
    }
    /// Returns the value that a call has stored: in the world or, in a scope, the pending value.
    template <class T>
    T& placed(at_type of, const fragment_data& fragment, const char* call) {
        if (gate.is_idle()) [[likely]]
            if (T* const found = find_value<T>(of.id, fragment)) return *found;
        void* const found = changes.find_stored(of, fragment, call);
        if constexpr (is_tag<T>) {
            if (gate.is_parallel() || changes.will_have(of, fragment, call)) return tag_value<T>();
        } else if (found != nullptr) {
            return *static_cast<T*>(found);
        }
        errors.raise_missing(of, call, type_name<T>(), fragment);
    }

    [[nodiscard]] bool has(id_type e, const fragment_data& fragment) const noexcept {
        if (fragment.sparse_values == nullptr) [[likely]] {
            const record_type* const found = find(e);
            if (found != nullptr && fragment.base(found->chunk()) != nullptr) return true;
            if (fragment.alias == nullptr) [[likely]]
                return false;
        }
        return has_outside_chunks(e, fragment);
    }

    /// Returns the sparse set of T, or null if T is not sparse.
    template <class T>
    [[nodiscard]] sparse_set* find_set() const noexcept {
        if constexpr (is_always_sparse<T>())
            return sparse.find(find_type_index<T>());
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
                       : __builtin_addressof(tag_value<T>());
        else  // SAFETY: the set stores the values of T's fragment, aligned for T.
            return reinterpret_cast<T*>(
                fragment.sparse_values->template find_value<Layout, sizeof(T)>(e.value()));
    }

    // ---- fragments and chunks ------------------------------------------------------------------

    [[nodiscard]] id_type id_of(const fragment_data& fragment) const noexcept {
        return to_id<Layout>(fragment.id);
    }
    template <class T>
    [[nodiscard]] const fragment_data& find_fragment() const noexcept {
        static_assert(is_component<T>);
        return fragments.find(find_type_index<T>());
    }
    /// Returns the fragment with this id or, for any other bits, `no_fragment`.
    [[nodiscard]] const fragment_data& find_fragment(id_type f) const noexcept {
        return fragments.lookup(f.value());
    }
    /// Like `find_fragment(f)`, but returns `no_fragment` if the values are not of type T.
    template <class T>
    [[nodiscard]] const fragment_data& find_fragment(id_type f) const noexcept {
        const fragment_data& found = find_fragment(f);
        if constexpr (std::is_same_v<T, no_value>)
            return found.type != nullptr && found.type->size == 0 ? found : no_fragment;
        else
            return *select_branchless(found.value_type == find_type_index<T>(), &found,
                                      &no_fragment);
    }
    template <class T>
    fragment_data& ensure_fragment() {
        static_assert(is_component<T>);
        return catalog.ensure(ensure_type_index<T>(), type_info_of<T>);
    }
    /// Returns the fragment with this id for values of type T. An unused id becomes such a
    /// fragment. `no_value` stands for a tag. `where` is null if the call has no source location.
    template <class T>
    fragment_data& ensure_fragment(id_type f, const std::source_location* where) {
        value_type_ref type{&type_info_of<T>, no_type};
        if constexpr (!std::is_same_v<T, no_value>) type.index = ensure_type_index<T>();
        return catalog.ensure(f.value(), type, where);
    }
    /// Returns the fragment with this id. Throws if its values are not of type T.
    template <class T>
    fragment_data& get_fragment(id_type f, const char* call,
                                const std::source_location* where) const {
        fragment_data& found = catalog.get(f.value(), call, where);
        if (found.value_type != find_type_index<T>())
            error_reporter::raise_mismatch(found, type_name<T>(), call, where);
        return found;
    }
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
    /// Returns the default value of T. Throws `errc::no_default` if there is none.
    template <class T>
    [[nodiscard]] T default_value() {
        const fragment_data& known = find_fragment<T>();
        if (known.default_value) {
            // SAFETY: `made` holds a T, which is moved from, and destroyed by `made`.
            boxed_value made(type_info_of<T>);
            const busy_guard busy(gate);
            known.default_construct(made.room, 1);
            made.filled = true;
            return std::move(*static_cast<T*>(made.room));
        }
        if constexpr (std::is_default_constructible_v<T>)
            return T();
        else
            error_reporter::raise_no_default(known, type_name<T>());
    }
    /// Returns the chunk of exactly these types.
    template <class... Ts>
    chunk_data& ensure_chunk() {
        static_assert(all_differ<Ts...>, "muster: component types must be distinct.");
        if constexpr (sizeof...(Ts) == 0) {
            return graph.empty_chunk();
        } else {
            if (chunk_data* const known = bundles.find(find_list_index<Ts...>()).chunk) [[likely]]
                return *known;
            fragment_data* const set[] = {&ensure_fragment<Ts>()...};
            return catalog.ensure_bundle(find_list_index<Ts...>(), set);
        }
    }

    // ---- threads -------------------------------------------------------------------------------

    /// Calls `change(T&)` on the entity's value, as a write through a reference does, and records that
    /// it was assigned.
    template <class T, class Change>
    T& patch_in_phase(at_type of, const fragment_data& fragment, Change&& change) {
        T* const found = find_value<T>(of.id, fragment);
        if (found != nullptr) check_access(id_of(fragment), true);
        const std::uint32_t record = parallel.record_touch(of, fragment, type_name<T>(), "patch");
        scope_guard forget([&] { parallel.forget_touch(record); });
        std::forward<Change>(change)(*found);
        forget.dismiss();
        return *found;
    }

    /// Checks the access of a thread to a component. Throws `errc::undeclared_access` if its system
    /// has not declared the access, and it conflicts with a concurrent system.
    template <class T>
    void check_access(bool may_write) const {
        if constexpr (checks_threads)
            if (gate.is_parallel())
                parallel.check_access(find_type_index<std::remove_const_t<T>>(),
                                      may_write && !std::is_const_v<T>, type_name<T>());
    }
    /// Like `check_access<T>`, for the fragment of a C++ type. Systems can declare no other
    /// fragments.
    void check_access(id_type f, [[maybe_unused]] bool may_write = false) const {
        if constexpr (checks_threads)
            if (const fragment_data& known = find_fragment(f);
                gate.is_parallel() && known.is_of_type())
                parallel.check_access(known.value_type, may_write, known.name);
    }

    /// Marks the values of a chunk as written, if writes are tracked: the caller receives them by a
    /// mutable pointer. Any thread of a parallel phase may call it.
    void mark_written(const fragment_data& fragment, const chunk_data& chunk) const noexcept {
        if (gate.is_tracking()) [[unlikely]]
            writes.mark(fragment, chunk.index);
    }

    /// Throws if the entity is not alive.
    void require(at_type of, const char* call) const {
        if (!alive(of.id)) [[unlikely]]
            errors.raise_not_alive(of, call);
    }

private:
    /// The part of `has` for sparse fragments, and for those that another one stands for.
    [[nodiscard]] bool has_outside_chunks(id_type e, const fragment_data& fragment) const noexcept;

protected:
    explicit component_access(const world_options& options, settings of_file = {});
    ~component_access() = default;

    entity_table<Layout> table_;
    entity_adapter<Layout> adapter_{table_};
};

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
