// kinds: component types of every kind. Each is made from a number and can be read as a number, so
// that a model treats them alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace muster::test {

struct number {
    int value;
    friend bool operator==(const number&, const number&) = default;
};
struct one_byte {
    std::uint8_t value;
};
struct marker {};
struct owner {  // move-only
    std::unique_ptr<int> value;
};
struct alignas(128) aligned {
    int value;
};
struct page {  // 4 KiB
    std::array<int, 1024> values;
};
struct fixed {  // cannot be assigned
    const int value;
    std::string copy;
};
struct living_empty {  // empty, but not trivial: it has a column
    static inline long count = 0;
    living_empty() { ++count; }
    living_empty(const living_empty&) noexcept { ++count; }
    living_empty& operator=(const living_empty&) = default;
    ~living_empty() { --count; }
};
struct triple {
    float x, y, z;
};

template <class T>
T made_of(int value) {
    if constexpr (std::is_same_v<T, std::string>)
        return std::string(static_cast<std::size_t>(value % 64), 'x') + std::to_string(value);
    else if constexpr (std::is_same_v<T, one_byte>)
        return {static_cast<std::uint8_t>(value)};
    else if constexpr (std::is_same_v<T, owner>)
        return {std::make_unique<int>(value)};
    else if constexpr (std::is_same_v<T, page>) {
        page made;
        made.values.fill(value);
        return made;
    } else if constexpr (std::is_same_v<T, fixed>)
        return {value, made_of<std::string>(value)};
    else if constexpr (std::is_same_v<T, triple>)
        return {static_cast<float>(value), 0, static_cast<float>(-value)};
    else if constexpr (std::is_empty_v<T>)
        return T{};
    else
        return {value};
}

/// The number that the value was made from; 0 for a kind without a value, -1 for a damaged value.
template <class T>
int read(const T& from) {
    if constexpr (std::is_same_v<T, std::string>) {
        const int value = std::stoi(from.substr(from.find_first_not_of('x')));
        return from == made_of<std::string>(value) ? value : -1;
    } else if constexpr (std::is_same_v<T, owner>)
        return from.value == nullptr ? -1 : *from.value;
    else if constexpr (std::is_same_v<T, page>) {
        for (const int item : from.values)
            if (item != from.values[0]) return -1;
        return from.values[0];
    } else if constexpr (std::is_same_v<T, fixed>)
        return read(from.copy) == from.value ? from.value : -1;
    else if constexpr (std::is_same_v<T, triple>)
        return from.z == -from.x ? static_cast<int>(from.x) : -1;
    else if constexpr (std::is_same_v<T, aligned>)
        return reinterpret_cast<std::uintptr_t>(&from) % 128 == 0 ? from.value : -1;
    else if constexpr (std::is_empty_v<T>)
        return 0;
    else
        return from.value;
}

/// The part of a number that a kind can store.
template <class T>
int kept(int value) {
    if constexpr (std::is_same_v<T, one_byte>) return value & 0xFF;
    return std::is_empty_v<T> ? 0 : value;
}

using all_kinds = std::tuple<number, one_byte, marker, std::string, owner, aligned, page, fixed,
                             living_empty, triple>;
inline constexpr int kind_count = std::tuple_size_v<all_kinds>;
template <int Kind>
using kind = std::tuple_element_t<static_cast<std::size_t>(Kind), all_kinds>;

template <int... Kinds>
struct set_of_kinds {
    static constexpr std::array<int, sizeof...(Kinds)> list{Kinds...};
};
using kind_sets =
    std::tuple<set_of_kinds<>, set_of_kinds<0>, set_of_kinds<3, 0, 2>, set_of_kinds<5, 6, 7>,
               set_of_kinds<1, 4>, set_of_kinds<0, 1, 2, 3, 4, 5, 6, 7, 8, 9>>;
inline constexpr int set_count = std::tuple_size_v<kind_sets>;
/// The first sets, whose kinds can all be copied.
inline constexpr int copyable_set_count = 4;

/// Calls `use.operator()<Kind>()` for a kind chosen at run time.
template <class Use>
void with_kind(int which, Use use) {
    [&]<int... Kinds>(std::integer_sequence<int, Kinds...>) {
        (void)((which == Kinds && (use.template operator()<Kinds>(), true)) || ...);
    }(std::make_integer_sequence<int, kind_count>{});
}

/// Calls `use(set)` for a set chosen at run time from the first `Count` sets.
template <int Count = set_count, class Use>
void with_set(int which, Use use) {
    [&]<std::size_t... Sets>(std::index_sequence<Sets...>) {
        (void)((which % Count == static_cast<int>(Sets) &&
                (use(std::tuple_element_t<Sets, kind_sets>{}), true)) ||
               ...);
    }(std::make_index_sequence<static_cast<std::size_t>(Count)>{});
}

}  // namespace muster::test
