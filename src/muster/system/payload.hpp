// payload: the values that systems are processed with, whatever their types.
#pragma once

#include <muster/base/config.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

namespace muster::detail {

/// One value, by its address; a number is also here, so that a system may take another kind of number.
struct payload_value {
    enum class number : std::uint8_t { none, integer, natural, real };

    const void* value;
    type_index type;
    number kind = number::none;
    long long integer = 0;           // of `integer`
    unsigned long long natural = 0;  // of `natural`
    double real = 0;                 // of `real`
    std::string_view type_name{};
};

template <class T>
payload_value payload_of(const T& given) {
    payload_value made{&given, ensure_type_index<T>()};
    made.type_name = type_name<T>();
    if constexpr (std::is_arithmetic_v<T>) {
        if constexpr (std::is_floating_point_v<T>) {
            made.kind = payload_value::number::real;
            made.real = static_cast<double>(given);
        } else if constexpr (std::is_signed_v<T>) {
            made.kind = payload_value::number::integer;
            made.integer = static_cast<long long>(given);
        } else {
            made.kind = payload_value::number::natural;
            made.natural = static_cast<unsigned long long>(given);
        }
    }
    return made;
}

using payload = std::span<const payload_value>;

/// What a system wants at this place is not there, or is something else: `errc::bad_payload`.
[[noreturn]] MUSTER_API void raise_bad_payload(payload given, std::size_t place,
                                               std::string_view wanted);

/// The value at a place, as a T: of that type, or a number that can be one.
template <class T>
T take_payload(payload given, std::size_t place) {
    static_assert(std::is_copy_constructible_v<T>,
                  "muster: a payload is taken by value: this type cannot be copied.");
    using number = payload_value::number;
    if (place >= given.size()) raise_bad_payload(given, place, type_name<T>());
    const payload_value& one = given[place];
    // SAFETY: a T, as its type says.
    if (one.type == ensure_type_index<T>()) return *static_cast<const T*>(one.value);
    if constexpr (std::is_floating_point_v<T>) {
        // A real number may be rounded, an integer may not.
        const auto stays = [](auto from) {
            return static_cast<long double>(static_cast<T>(from)) == static_cast<long double>(from);
        };
        const bool is_finite = one.real - one.real == 0;
        const bool fits = !is_finite || (one.real >= std::numeric_limits<T>::lowest() &&
                                         one.real <= std::numeric_limits<T>::max());
        if (one.kind == number::real && fits) return static_cast<T>(one.real);
        if (one.kind == number::integer && stays(one.integer)) return static_cast<T>(one.integer);
        if (one.kind == number::natural && stays(one.natural)) return static_cast<T>(one.natural);
    } else if constexpr (std::is_integral_v<T>) {
        // Only what stays the same number.
        const auto fits = [](auto from) {
            const T made = static_cast<T>(from);
            return static_cast<decltype(from)>(made) == from && (made < T{}) == (from < 0);
        };
        if (one.kind == number::integer && fits(one.integer)) return static_cast<T>(one.integer);
        if (one.kind == number::natural && fits(one.natural)) return static_cast<T>(one.natural);
    }
    raise_bad_payload(given, place, type_name<T>());
}

}  // namespace muster::detail
