// fragment_values: the values of stories about fragments, each made from a number and readable as a
// number, and bundles: the arguments of one call.
#pragma once

#include <muster/world/world.hpp>

#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace muster::test::fragment_stories {

struct broken_copy {};
/// Counts its living objects and detects moves as bytes by its own address.
struct counted {
    static inline int fuse = -1;  // copies and defaults until a failure
    static inline long living = 0;
    static inline long misused = 0;
    int value;
    const counted* self = this;

    counted() : value(0) { begin(); }
    explicit counted(int from) noexcept : value(from) { ++living; }
    counted(const counted& other) : value(other.look()) { begin(); }
    counted(counted&& other) noexcept : value(std::exchange(other.value, -7)) {
        (void)other.look();
        ++living;
    }
    counted& operator=(const counted& other) noexcept {
        (void)look();
        value = other.look();
        return *this;
    }
    ~counted() {
        (void)look();
        self = nullptr;
        --living;
    }
    void begin() const {
        if (fuse >= 0 && fuse-- == 0) throw broken_copy();
        ++living;
    }
    int look() const noexcept {
        misused += self != this;
        return value;
    }
};
struct alignas(128) over_aligned {
    int value = 0;
};
struct mark {};
struct move_only {
    std::unique_ptr<int> value;
};
struct no_default {
    explicit no_default(int from) noexcept : value(from) {}
    int value;
};
struct three_ints {
    int value, twice, zero;
};
struct other {
    int value;
};

using value_types = std::tuple<int, std::string, counted, over_aligned, std::uint8_t, bool,
                               move_only, no_default, mark, three_ints, counted, counted>;
inline constexpr int kind_move_only = 6;
inline constexpr int kind_no_default = 7;
inline constexpr int kind_marker = 8;  // a tag of a C++ type
inline constexpr int cpp_kinds = 9;    // smaller numbers are C++ types
inline constexpr int kind_bytes = 9;   // described at run time: bytes
inline constexpr int kind_table = 10;  // a table of operations
inline constexpr int kind_bare = 11;   // a table without a default
inline constexpr int kind_tag = 12;    // a tag without a C++ type
inline constexpr int kind_none = 13;   // untyped

constexpr bool is_run_time(int kind) {
    return kind >= kind_bytes && kind <= kind_bare;
}

constexpr bool has_values(int kind) {
    return kind < kind_marker || is_run_time(kind);
}

template <class T>
inline constexpr int kind_of = [] {
    int found = -1;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((found = found < 0 && std::is_same_v<T, std::tuple_element_t<I, value_types>>
                      ? static_cast<int>(I)
                      : found),
         ...);
    }(std::make_index_sequence<std::tuple_size_v<value_types>>{});
    return found;
}();

template <class Use>
void with_type(int which, Use use) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (void)((which == static_cast<int>(I) &&
                (use.template operator()<std::tuple_element_t<I, value_types>>(), true)) ||
               ...);
    }(std::make_index_sequence<std::tuple_size_v<value_types>>{});
}

template <class T>
T made_as(int value) {
    if constexpr (std::is_same_v<T, std::string>)
        return value == 0 ? std::string() : std::string(20, 'x') + std::to_string(value);
    else if constexpr (std::is_same_v<T, move_only>)
        return {value == 0 ? nullptr : std::make_unique<int>(value)};
    else if constexpr (std::is_same_v<T, three_ints>)
        return {value, 2 * value, 0};
    else if constexpr (std::is_same_v<T, mark>)
        return {};
    else if constexpr (std::is_same_v<T, bool>)
        return value % 2 != 0;
    else
        return T(static_cast<std::conditional_t<std::is_arithmetic_v<T>, T, int>>(value));
}
template <class T>
int read_as(const T& from) {
    if constexpr (std::is_same_v<T, std::string>)
        return from.empty() ? 0 : std::stoi(from.substr(20));
    else if constexpr (std::is_same_v<T, move_only>)
        return from.value == nullptr ? 0 : *from.value;
    else if constexpr (std::is_same_v<T, three_ints>)
        return from.twice == 2 * from.value && from.zero == 0 ? from.value : -1;
    else if constexpr (std::is_same_v<T, over_aligned>)
        return reinterpret_cast<std::uintptr_t>(&from) % 128 == 0 ? from.value : -1;
    else if constexpr (std::is_same_v<T, counted>)
        return from.look();
    else if constexpr (std::is_same_v<T, mark>)
        return 0;
    else if constexpr (std::is_arithmetic_v<T>)
        return static_cast<int>(from);
    else
        return from.value;
}
/// The part of a number that a kind can store.
inline int kept(int kind, int value) {
    if (kind == kind_of<std::uint8_t>) return value & 0xFF;
    if (kind == kind_of<bool>) return value % 2 != 0;
    return kind == kind_marker || kind >= kind_tag ? 0 : value;
}

inline component_type run_time_type(int kind) {
    if (kind == kind_bytes) return {.size = sizeof(three_ints), .alignment = alignof(three_ints)};
    component_type made{
        .size = sizeof(counted),
        .alignment = alignof(counted),
        .relocate =
            [](void* to, void* from, std::size_t count) noexcept {
                for (std::size_t i = 0; i < count; ++i) {
                    auto& old = static_cast<counted*>(from)[i];
                    ::new (static_cast<counted*>(to) + i) counted(std::move(old));
                    old.~counted();
                }
            },
        .destroy =
            [](void* at, std::size_t count) noexcept {
                for (std::size_t i = 0; i < count; ++i) static_cast<counted*>(at)[i].~counted();
            },
        .copy =
            [](void* to, const void* from, std::size_t count, std::size_t step) {
                const auto* const all = static_cast<const counted*>(from);
                if (step == 0)
                    std::uninitialized_fill_n(static_cast<counted*>(to), count, *all);
                else
                    std::uninitialized_copy_n(all, count, static_cast<counted*>(to));
            },
        .construct =
            [](void* at, std::size_t count) {
                std::uninitialized_value_construct_n(static_cast<counted*>(at), count);
            },
    };
    if (kind == kind_bare) made.construct = nullptr;
    return made;
}

template <class T>
struct typed {  // passed by its C++ type
    using type = T;
    static constexpr bool by_type = true;
    static constexpr int kind = kind_of<T>;
};
template <class T>
struct by_id {
    using type = T;
    static constexpr bool by_type = false;
    static constexpr int kind = kind_of<T>;
};
struct tag_by_id {
    using type = mark;
    static constexpr bool by_type = false;
    static constexpr int kind = kind_tag;
};
template <class... Args>
struct bundle {
    static constexpr std::size_t size = sizeof...(Args);
};
using bundles =
    std::tuple<bundle<>, bundle<typed<int>>, bundle<tag_by_id>, bundle<by_id<int>, typed<counted>>,
               bundle<by_id<std::string>, by_id<counted>>,
               bundle<tag_by_id, typed<mark>, by_id<std::uint8_t>>,
               bundle<typed<std::string>, by_id<over_aligned>, by_id<bool>>, bundle<by_id<counted>>,
               bundle<typed<no_default>, by_id<mark>>, bundle<by_id<move_only>, typed<int>>,
               bundle<typed<move_only>>>;
inline constexpr int bundle_count = std::tuple_size_v<bundles>;
/// The first bundles, whose values can all be copied.
inline constexpr int copyable_count = bundle_count - 2;

template <int Count, class Use>
void with_bundle(int which, Use use) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (void)((which % Count == static_cast<int>(I) &&
                (use(std::tuple_element_t<I, bundles>{}), true)) ||
               ...);
    }(std::make_index_sequence<static_cast<std::size_t>(Count)>{});
}

}  // namespace muster::test::fragment_stories
