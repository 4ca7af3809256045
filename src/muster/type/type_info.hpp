// type_info: what the world has to know of a type to keep its values: size, alignment, and how they
// are moved, destroyed and copied. The room `type` owns it, the numbers of types (`type_index`), and
// what a world knows of each fragment (`fragment_data`).
//
// Invariant: nothing here that moves or destroys can fail. That is what the strong guarantee stands
// on: whatever can throw is done before anything in the world changes.
#pragma once

#include <muster/type/type_name.hpp>

#include <cstddef>
#include <cstring>
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

/// Erased operations. They work on `count` values that stand next to each other.
struct type_info {
    std::string_view name;
    std::size_t size;  // 0: a tag, which has no values
    std::size_t alignment;
    /// `to[i]` takes over from `from[i]`, which ends; the two do not overlap. Null: copy the bytes.
    void (*relocate)(void* to, void* from, std::size_t count) noexcept;
    /// Null: nothing to do.
    void (*destroy)(void* at, std::size_t count) noexcept;
    /// `to[i]` becomes a copy of `from[i * step]`: of one value if `step` is 0, of each if it is 1. May
    /// throw; then it has destroyed what it made. Null: it cannot be copied.
    void (*copy)(void* to, const void* from, std::size_t count, std::size_t step);
};

/// A type that holds nothing: having it is all there is to say.
template <class T>
inline constexpr bool is_tag = std::is_empty_v<T> && std::is_trivially_copyable_v<T>;

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

template <class T>
void copy_values(void* to, const void* from, std::size_t count, std::size_t step) {
    struct rollback {  // not try: the library also builds without exceptions
        T* values;
        std::size_t made = 0;
        bool done = false;
        ~rollback() {
            if (!done) destroy_values<T>(values, made);
        }
    };
    // SAFETY: `to` has room for `count` values of T, `from` holds one or as many.
    T* const values = static_cast<T*>(to);
    const T* const originals = static_cast<const T*>(from);
    if constexpr (!std::is_trivially_copyable_v<T>) {
        rollback guard{values};
        for (; guard.made < count; ++guard.made)
            ::new (static_cast<void*>(values + guard.made)) T(originals[guard.made * step]);
        guard.done = true;
    } else if (step == 1) {
        if (count != 0) std::memcpy(to, from, count * sizeof(T));
    } else {
        for (std::size_t i = 0; i < count; ++i)
            ::new (static_cast<void*>(values + i)) T(*originals);
    }
}

template <class T>
constexpr type_info describe() noexcept {
    type_info made{type_name<T>(), is_tag<T> ? 0 : sizeof(T), alignof(T), nullptr, nullptr,
                   nullptr};
    if constexpr (!is_trivially_relocatable<T>::value) made.relocate = &relocate_values<T>;
    if constexpr (!std::is_trivially_destructible_v<T>) made.destroy = &destroy_values<T>;
    if constexpr (std::is_copy_constructible_v<T>) made.copy = &copy_values<T>;
    return made;
}

template <class T>
inline constexpr type_info type_info_of = describe<T>();

}  // namespace detail
}  // namespace muster
