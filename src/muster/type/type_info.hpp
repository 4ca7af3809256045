// type_info: describes a type to the world: size, alignment, and how to move, destroy and copy
// values. The room `type` owns these descriptions, the numbers of types (`type_index`), and the
// state of each fragment (`fragment_data`). Start reading at `type_info`.
//
// Invariant: moving and destroying values never fails. The strong guarantee relies on it: all steps
// that may throw come before the first change in the world. A type that cannot be moved, or whose
// move may throw, is pinned: its values never move.
#pragma once

#include <muster/base/config.hpp>
#include <muster/type/copyable.hpp>
#include <muster/type/type_name.hpp>

#include <cstddef>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// True if moving a `T` and destroying the original is equivalent to copying its bytes. A world
/// then moves it as bytes. Specialise it for your own types that qualify.
template <class T>
struct is_trivially_relocatable : std::is_trivially_copyable<T> {};

/// Traits that the world reads at the first use of the C++ type `T`. Specialise it for your types:
///     template <> struct muster::component_traits<secret> { static constexpr bool hidden = true; };
/// Each member is optional. `unique`, `hidden`, `internal`, `sparse` and `codec` act like the
/// functions of `define`; `name` (a `std::string_view`) is the type's name in messages.
template <class T>
struct component_traits {};

namespace detail {

/// For tests that run a second time on sparse storage: if true, the fragment of every C++ type
/// starts sparse, except internal fragments. Set it before the first world is created.
MUSTER_API extern bool sparse_by_default;

/// How to write and read values outside of the program. A later room defines it; the core only
/// stores its address.
struct codec;

/// A type, erased. Operations work on `count` adjacent values.
struct type_info {
    std::string_view name;
    std::size_t size;  // 0: a tag, which has no values
    std::size_t alignment;
    /// Moves `from[i]` to `to[i]` and destroys it; the ranges do not overlap. Null: copy the bytes.
    void (*relocate)(void* to, void* from, std::size_t count) noexcept = nullptr;
    /// Null: values need no destruction.
    void (*destroy)(void* at, std::size_t count) noexcept = nullptr;
    /// Constructs `to[i]` as a copy of `from[i * step]`; a `step` of 0 repeats one value. May
    /// throw, after destroying the copies it made. Null: see `copies_bytes`.
    void (*copy)(void* to, const void* from, std::size_t count, std::size_t step) = nullptr;
    /// Constructs default values. May throw, after destroying those it made. Null: see
    /// `default_is_zero`.
    void (*construct)(void* at, std::size_t count) = nullptr;
    bool copies_bytes = false;     // copying a value means copying its bytes
    bool default_is_zero = false;  // all bytes of the default value are zero
    bool unique = false;           // initial traits of fragments of this type
    bool hidden = false;
    bool internal = false;
    bool sparse = false;
    bool pinned = false;                   // values never move; always sparse
    const detail::codec* codec = nullptr;  // initial codec of fragments of this type; null: none

    [[nodiscard]] bool is_sparse() const noexcept {
        return sparse || (sparse_by_default && !internal);
    }
    [[nodiscard]] bool can_copy() const noexcept { return copies_bytes || copy != nullptr; }
    [[nodiscard]] bool can_construct() const noexcept {
        return default_is_zero || construct != nullptr;
    }
    /// Relocates like `relocate`. Not for pinned types.
    MUSTER_API void relocate_values(void* to, void* from, std::size_t count) const noexcept;
    /// Copies like `copy`. Requires `can_copy()`.
    MUSTER_API void copy_values(void* to, const void* from, std::size_t count,
                                std::size_t step) const;
    /// Constructs like `construct`. Requires `can_construct()`.
    MUSTER_API void construct_values(void* at, std::size_t count) const;
};

/// A type without state: only its presence matters.
template <class T>
inline constexpr bool is_tag = std::is_empty_v<T> && std::is_trivially_copyable_v<T>;

/// The size of its values in a column.
template <class T>
inline constexpr std::size_t value_size = is_tag<T> ? 0 : sizeof(T);

/// A type whose values never move, because they cannot be moved or a move may throw.
template <class T>
inline constexpr bool is_pinned = !std::is_nothrow_move_constructible_v<T>;

/// Whether all fragments of this type are sparse.
template <class T>
consteval bool is_always_sparse() noexcept {
    if constexpr (requires { component_traits<T>::sparse; })
        return component_traits<T>::sparse || is_pinned<T>;
    else
        return is_pinned<T>;
}

template <class T>
void relocate_values(void* to, void* from, std::size_t count) noexcept {
    // SAFETY: `from` holds `count` values of T, and `to` has room for them.
    T* const target = static_cast<T*>(to);
    T* const source = static_cast<T*>(from);
    for (std::size_t i = 0; i < count; ++i) {
        ::new (static_cast<void*>(target + i)) T(std::move(source[i]));
        source[i].~T();
    }
}

template <class T>
void destroy_values(void* at, std::size_t count) noexcept {
    // SAFETY: `at` holds `count` values of T.
    T* const values = static_cast<T*>(at);
    for (std::size_t i = 0; i < count; ++i) values[i].~T();
}

/// Constructs `count` values by `make(address, i)`. If a call throws, destroys the values made.
template <class T, class Make>
void make_values(void* to, std::size_t count, Make make) {
    struct rollback {  // not `try`: the library also builds without exceptions
        T* values;
        std::size_t made = 0;
        bool done = false;
        ~rollback() {
            if (!done) destroy_values<T>(values, made);
        }
    };
    // SAFETY: `to` has room for `count` values of T.
    rollback guard{static_cast<T*>(to)};
    for (; guard.made < count; ++guard.made)
        make(static_cast<void*>(guard.values + guard.made), guard.made);
    guard.done = true;
}

template <class T>
void copy_values(void* to, const void* from, std::size_t count, std::size_t step) {
    // SAFETY: `from` holds one value of T if `step` is 0, else `count`.
    const T* const originals = static_cast<const T*>(from);
    make_values<T>(to, count, [=](void* at, std::size_t i) { ::new (at) T(originals[i * step]); });
}

template <class T>
void construct_values(void* to, std::size_t count) {
    make_values<T>(to, count, [](void* at, std::size_t) { ::new (at) T(); });
}

template <class T>
consteval type_info describe() noexcept {
    using traits = component_traits<T>;
    type_info made{type_name<T>(), is_tag<T> ? 0 : sizeof(T), alignof(T)};
    // Other code rejects invalid component types with one message; this avoids follow-up errors.
    constexpr bool is_plain =
        std::is_object_v<T> && !std::is_array_v<T> && std::is_same_v<T, std::remove_cv_t<T>>;
    if constexpr (is_plain && !is_trivially_relocatable<T>::value && !is_pinned<T>)
        made.relocate = &relocate_values<T>;
    if constexpr (is_plain && !std::is_trivially_destructible_v<T>)
        made.destroy = &destroy_values<T>;
    if constexpr (is_plain && is_copyable<T>::value) {
        made.copies_bytes = std::is_trivially_copyable_v<T>;
        if constexpr (!std::is_trivially_copyable_v<T>) made.copy = &copy_values<T>;
    }
    if constexpr (is_plain && std::is_default_constructible_v<T>) {
        made.default_is_zero = is_tag<T> || std::is_arithmetic_v<T>;
        if constexpr (!is_tag<T> && !std::is_arithmetic_v<T>) made.construct = &construct_values<T>;
    }
    if constexpr (requires { traits::name; }) made.name = traits::name;
    if constexpr (requires { traits::unique; }) made.unique = traits::unique;
    if constexpr (requires { traits::hidden; }) made.hidden = traits::hidden;
    if constexpr (requires { traits::internal; }) made.internal = traits::internal;
    if constexpr (requires { traits::codec; }) made.codec = traits::codec;
    if constexpr (is_plain) {
        made.sparse = is_always_sparse<T>();
        made.pinned = is_pinned<T>;
    }
    return made;
}

template <class T>
inline constexpr type_info type_info_of = describe<T>();

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
