// payload: the values that `process_with` and `process_all` pass to systems, type-erased.
#pragma once

#include <muster/base/config.hpp>
#include <muster/base/slice.hpp>
#include <muster/system/frame.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

/// One value, by address. Numbers are also stored by value, so that a system may take another
/// numeric type.
struct payload_value {
    enum class number : std::uint8_t { none, integer, natural, real };

    const void* value;
    type_index type;
    number kind = number::none;
    long long integer = 0;           // if `kind` is `integer`
    unsigned long long natural = 0;  // if `kind` is `natural`
    double real = 0;                 // if `kind` is `real`
    std::string_view type_name{};
};

template <class T>
payload_value payload_of(const T& given) {
    payload_value made{__builtin_addressof(given), ensure_type_index<T>()};
    made.type_name = type_name<T>();
    if constexpr (std::is_same_v<T, frame>) {
        made.kind = payload_value::number::real;
        made.real = given.dt;
    } else if constexpr (std::is_arithmetic_v<T>) {
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

using payload = slice<const payload_value>;

/// Throws `errc::bad_payload`: the value at `place` is missing, or of another type.
[[noreturn]] MUSTER_API void raise_bad_payload(payload given, std::size_t place,
                                               std::string_view wanted);

/// Returns the value at `place` as a T: either it is a T, or a number that converts to T. Throws
/// `errc::bad_payload`.
template <class T>
T take_payload(payload given, std::size_t place) {
    using number = payload_value::number;
    if (place >= given.size()) raise_bad_payload(given, place, type_name<T>());
    const payload_value& value = given[place];
    // SAFETY: the type indices are equal, so the value is a T.
    if (value.type == ensure_type_index<T>()) return *static_cast<const T*>(value.value);
    if constexpr (std::is_same_v<T, frame>) {
        if (value.kind == number::real) return {value.real};
    } else if constexpr (std::is_floating_point_v<T>) {
        // A real number may be rounded; an integer must stay exact.
        const auto stays = [](auto from) {
            return static_cast<long double>(static_cast<T>(from)) == static_cast<long double>(from);
        };
        const bool is_finite = value.real - value.real == 0;
        const bool fits = !is_finite || (value.real >= std::numeric_limits<T>::lowest() &&
                                         value.real <= std::numeric_limits<T>::max());
        if (value.kind == number::real && fits) return static_cast<T>(value.real);
        if (value.kind == number::integer && stays(value.integer))
            return static_cast<T>(value.integer);
        if (value.kind == number::natural && stays(value.natural))
            return static_cast<T>(value.natural);
    } else if constexpr (std::is_integral_v<T>) {
        // A conversion must not change the number.
        const auto fits = [](auto from) {
            const T made = static_cast<T>(from);
            return static_cast<decltype(from)>(made) == from && (made < T{}) == (from < 0);
        };
        if (value.kind == number::integer && fits(value.integer))
            return static_cast<T>(value.integer);
        if (value.kind == number::natural && fits(value.natural))
            return static_cast<T>(value.natural);
    }
    raise_bad_payload(given, place, type_name<T>());
}

}  // namespace MUSTER_NAMESPACE::detail
