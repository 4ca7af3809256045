// scope_values: the components of stories about scopes and hooks. Each is made from a number and
// can be read as a number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "scope_words.hpp"

namespace muster::test::scopes {

struct number {
    int value = 0;
};
struct marker {};
/// Counts its living objects and detects moves as bytes by its own address.
struct text {
    static inline long living = 0;
    static inline long misused = 0;
    std::string letters;
    const text* self = this;

    explicit text(int from = 0) : letters(std::string(20, 'x') + std::to_string(from)) { ++living; }
    text(const text& other) : letters(other.letters) {
        misused += other.self != &other;
        ++living;
    }
    text(text&& other) noexcept : letters(std::move(other.letters)) {
        misused += other.self != &other;
        ++living;
    }
    text& operator=(text&& other) noexcept {
        misused += self != this || other.self != &other;
        letters = std::move(other.letters);
        return *this;
    }
    ~text() {
        misused += self != this;
        self = nullptr;
        --living;
    }
};
struct owner {  // move-only
    std::unique_ptr<int> value;
};
struct alignas(128) aligned {
    int value = 0;
};

template <class T>
T made_as(int value) {
    if constexpr (std::is_same_v<T, marker>)
        return {};
    else if constexpr (std::is_same_v<T, owner>)
        return {std::make_unique<int>(value)};
    else
        return T{value};
}
template <class T>
int read_as(const T& from) {
    if constexpr (std::is_same_v<T, marker>)
        return 0;
    else if constexpr (std::is_same_v<T, owner>)
        return from.value == nullptr ? 0 : *from.value;
    else if constexpr (std::is_same_v<T, text>)
        return from.letters.size() < 21 ? -1 : std::stoi(from.letters.substr(20));
    else
        return reinterpret_cast<std::uintptr_t>(&from) % alignof(T) == 0 ? from.value : -1;
}
inline int read_raw(int kind, const void* from) {
    if (kind == kind_text) return read_as(*static_cast<const text*>(from));
    return has_values(kind) ? read_as(*static_cast<const number*>(from)) : 0;
}
/// Calls `use.operator()<T>()` with the type of a kind.
template <class Use>
decltype(auto) with_type(int kind, Use use) {
    switch (kind) {
    case kind_number: return use.template operator()<number>();
    case kind_marker: return use.template operator()<marker>();
    case kind_text: return use.template operator()<text>();
    case kind_owner: return use.template operator()<owner>();
    default: return use.template operator()<aligned>();
    }
}

inline std::string text_of(const number& value) {
    return std::to_string(value.value);
}
inline std::string text_of(const marker&) {
    return "";
}
inline std::string text_of(const text& value) {
    return value.letters;
}
inline std::string text_of(const owner& value) {
    return std::to_string(read_as(value));
}
inline std::string text_of(const aligned& value) {
    return std::to_string(value.value);
}

}  // namespace muster::test::scopes
