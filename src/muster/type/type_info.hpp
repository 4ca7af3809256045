// type_info: what the world has to know of a type to keep its values: size, alignment, and how they
// are moved, destroyed and copied. The room `type` owns it, the numbers of types (`type_index`), and
// what a world knows of each fragment (`fragment_data`).
//
// Invariant: nothing here that moves or destroys can fail. That is what the strong guarantee stands
// on: whatever can throw is done before anything in the world changes. Values of a type that cannot be
// moved, or whose move can throw, are pinned: nothing here moves them.
#pragma once

#include <muster/base/config.hpp>
#include <muster/type/type_name.hpp>

#include <cstddef>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace muster {

/// True if moving a `T` to another place and forgetting the old one is the same as copying its bytes.
/// A world then moves it as bytes. Specialise it for own types of which you know it.
template <class T>
struct is_trivially_relocatable : std::is_trivially_copyable<T> {};

namespace detail {
template <class T>
constexpr bool guess_copyable() noexcept;
}
/// True if a `T` can be copied. A container of what cannot be copied says that it could be: it is looked
/// into. Specialise it for own types that have such a member.
template <class T>
struct is_copyable : std::bool_constant<detail::guess_copyable<T>()> {};

/// What the world should know of the C++ type `T` before its first use. Specialise it for own types:
///     template <> struct muster::component_traits<secret> { static constexpr bool hidden = true; };
/// Each member is optional: `unique`, `hidden`, `internal` and `sparse` mean what `define` says, `name` (a
/// `std::string_view`) is how sentences call it.
template <class T>
struct component_traits {};

namespace detail {

/// Erased operations. They work on `count` values that stand next to each other.
struct type_info {
    std::string_view name;
    std::size_t size;  // 0: a tag, which has no values
    std::size_t alignment;
    /// `to[i]` takes over from `from[i]`, which ends; the two do not overlap. Null: copy the bytes.
    void (*relocate)(void* to, void* from, std::size_t count) noexcept = nullptr;
    /// Null: nothing to do.
    void (*destroy)(void* at, std::size_t count) noexcept = nullptr;
    /// `to[i]` becomes a copy of `from[i * step]`: of one value if `step` is 0, of each if it is 1. May
    /// throw; then it has destroyed what it made. Null: see `copies_bytes`.
    void (*copy)(void* to, const void* from, std::size_t count, std::size_t step) = nullptr;
    /// Default values. May throw; then it has destroyed what it made. Null: see `starts_as_zeros`.
    void (*construct)(void* at, std::size_t count) = nullptr;
    bool copies_bytes = false;     // a copy is a copy of the bytes
    bool starts_as_zeros = false;  // the default value has only zeros
    bool unique = false;           // what a fragment of this type means at first
    bool hidden = false;
    bool internal = false;
    bool sparse = false;
    bool pinned = false;  // values stay where they are made; always sparse

    [[nodiscard]] bool can_copy() const noexcept { return copies_bytes || copy != nullptr; }
    [[nodiscard]] bool can_construct() const noexcept {
        return starts_as_zeros || construct != nullptr;
    }
    /// Copies as `copy` does, if it can.
    MUSTER_API void copy_values(void* to, const void* from, std::size_t count,
                                std::size_t step) const;
    /// Default values as from `construct`, if it can.
    MUSTER_API void construct_values(void* at, std::size_t count) const;
};

template <class T>
constexpr bool guess_copyable() noexcept {
    if constexpr (!std::is_copy_constructible_v<T>)
        return false;
    else if constexpr (requires { typename T::value_type; })
        return std::is_same_v<typename T::value_type, T> ||
               is_copyable<typename T::value_type>::value;
    else
        return true;
}

/// A type that holds nothing: having it is all there is to say.
template <class T>
inline constexpr bool is_tag = std::is_empty_v<T> && std::is_trivially_copyable_v<T>;

/// A type whose values stay where they are made, since a move is not possible or can throw.
template <class T>
inline constexpr bool is_pinned = !std::is_nothrow_move_constructible_v<T>;

/// Whether all fragments of this type are sparse.
template <class T>
constexpr bool is_always_sparse() noexcept {
    if constexpr (requires { component_traits<T>::sparse; })
        return component_traits<T>::sparse || is_pinned<T>;
    else
        return is_pinned<T>;
}

template <class T>
void relocate_values(void* to, void* from, std::size_t count) noexcept {
    // SAFETY: `from` holds `count` values of T, `to` has room for as many.
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

/// Makes `count` values, each by `make(place, i)`; if one throws, none is left.
template <class T, class Make>
void make_values(void* to, std::size_t count, Make make) {
    struct rollback {  // not try: the library also builds without exceptions
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
    // SAFETY: `from` holds one value of T or `count`.
    const T* const originals = static_cast<const T*>(from);
    make_values<T>(to, count, [=](void* at, std::size_t i) { ::new (at) T(originals[i * step]); });
}

template <class T>
void construct_values(void* to, std::size_t count) {
    make_values<T>(to, count, [](void* at, std::size_t) { ::new (at) T(); });
}

template <class T>
constexpr type_info describe() noexcept {
    using traits = component_traits<T>;
    type_info made{type_name<T>(), is_tag<T> ? 0 : sizeof(T), alignof(T)};
    // What is no component is refused elsewhere, with a sentence: here are no further errors.
    constexpr bool is_plain = !std::is_array_v<T> && !std::is_const_v<T>;
    if constexpr (is_plain && !is_trivially_relocatable<T>::value && !is_pinned<T>)
        made.relocate = &relocate_values<T>;
    if constexpr (is_plain && !std::is_trivially_destructible_v<T>)
        made.destroy = &destroy_values<T>;
    if constexpr (is_plain && is_copyable<T>::value) {
        made.copies_bytes = std::is_trivially_copyable_v<T>;
        if constexpr (!std::is_trivially_copyable_v<T>) made.copy = &copy_values<T>;
    }
    if constexpr (is_plain && std::is_default_constructible_v<T>) {
        made.starts_as_zeros = is_tag<T> || std::is_arithmetic_v<T>;
        if constexpr (!is_tag<T> && !std::is_arithmetic_v<T>) made.construct = &construct_values<T>;
    }
    if constexpr (requires { traits::name; }) made.name = traits::name;
    if constexpr (requires { traits::unique; }) made.unique = traits::unique;
    if constexpr (requires { traits::hidden; }) made.hidden = traits::hidden;
    if constexpr (requires { traits::internal; }) made.internal = traits::internal;
    if constexpr (is_plain) {
        made.sparse = is_always_sparse<T>();
        made.pinned = is_pinned<T>;
    }
    return made;
}

template <class T>
inline constexpr type_info type_info_of = describe<T>();

}  // namespace detail
}  // namespace muster
