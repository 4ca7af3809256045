// aggregate: the fields of an aggregate as references, and their names, without registration.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

// ---- the number of fields ----------------------------------------------------------------------

/// Stands for a field of any type.
struct any_field {
    template <class T>
    operator T() const noexcept {
        __builtin_unreachable();  // only named in a requirement
    }
};
/// Stands for a base class of `Whole`.
template <class Whole>
struct any_base {
    template <class T>
        requires(std::is_base_of_v<T, Whole> && !std::is_same_v<T, Whole>)
    operator T() const noexcept {
        __builtin_unreachable();
    }
};

template <class T, std::size_t... I>
consteval bool takes_values(std::index_sequence<I...>) {
    return requires { T{(static_cast<void>(I), any_field{})...}; };
}
/// Returns how many values initialize an aggregate. An array counts as its elements.
template <class T, std::size_t Count = 0>
consteval std::size_t count_values() {
    if constexpr (takes_values<T>(std::make_index_sequence<Count + 1>{}))
        return count_values<T, Count + 1>();
    else
        return Count;
}

/// Whether two values in braces initialize the field at `I`...
template <class T, std::size_t... Before, std::size_t... After>
consteval bool takes_pair(std::index_sequence<Before...>, std::index_sequence<After...>) {
    return requires {
        T{(static_cast<void>(Before), any_field{})...,
          {any_field{}, any_field{}},
          (static_cast<void>(After), any_field{})...};
    };
}
/// ... and leave fewer fields after it than one value does: it is an array.
template <class T, std::size_t Count, std::size_t I>
consteval bool is_array_at() {
    if constexpr (I >= Count)
        return false;
    else
        return takes_pair<T>(std::make_index_sequence<I>{}, std::make_index_sequence<0>{}) &&
               !takes_pair<T>(std::make_index_sequence<I>{},
                              std::make_index_sequence<Count - I - 1>{});
}
template <class T, std::size_t Count, std::size_t... I>
consteval bool has_array(std::index_sequence<I...>) {
    return (... || is_array_at<T, Count, I>());
}

inline constexpr std::size_t most_fields = 32;

/// The number of fields of `T`. If it is unknown, a sentence says why, and it is 0.
template <class T>
consteval std::size_t count_fields() {
    if constexpr (!std::is_aggregate_v<T> || std::is_array_v<T>) {
        static_assert(std::is_aggregate_v<T> && !std::is_array_v<T>,
                      "muster: this type is no aggregate, so its fields are unknown: list them in "
                      "muster::component_traits<T>::fields.");
        return 0;
    } else {
        constexpr std::size_t count = count_values<T>();
        constexpr bool has_base = requires { T{any_base<T>{}}; };
        static_assert(!has_base,
                      "muster: this type has a base class, so its fields are unknown: list them in "
                      "muster::component_traits<T>::fields.");
        constexpr bool holds_array =
            !has_base && has_array<T, count>(std::make_index_sequence<count>{});
        static_assert(
            !holds_array,
            "muster: this type has an array as a field: use std::array, or list the fields "
            "in muster::component_traits<T>::fields.");
        constexpr bool has_too_many = !has_base && !holds_array && count > most_fields;
        static_assert(!has_too_many,
                      "muster: this type has more than 32 fields: list them in "
                      "muster::component_traits<T>::fields.");
        constexpr bool begins_with_reference = !has_base && count == 0 && !std::is_empty_v<T>;
        static_assert(!begins_with_reference,
                      "muster: the fields of this type are unknown, since it begins with a "
                      "reference: list them in muster::component_traits<T>::fields.");
        return has_base || holds_array || has_too_many ? 0 : count;
    }
}

// ---- references to the fields --------------------------------------------------------------------

/// Returns references to the fields of an aggregate, in their order.
template <class T>
[[nodiscard]] constexpr auto tie_fields(T& value) noexcept {
    constexpr std::size_t count = count_fields<std::remove_const_t<T>>();
// A structured binding needs the number of fields in its source.
#define MUSTER_TIE(number, ...)       \
    if constexpr (count == number) {  \
        auto& [__VA_ARGS__] = value;  \
        return std::tie(__VA_ARGS__); \
    } else
    MUSTER_TIE(1, a)
    MUSTER_TIE(2, a, b)
    MUSTER_TIE(3, a, b, c)
    MUSTER_TIE(4, a, b, c, d)
    MUSTER_TIE(5, a, b, c, d, e)
    MUSTER_TIE(6, a, b, c, d, e, f)
    MUSTER_TIE(7, a, b, c, d, e, f, g)
    MUSTER_TIE(8, a, b, c, d, e, f, g, h)
    MUSTER_TIE(9, a, b, c, d, e, f, g, h, i)
    MUSTER_TIE(10, a, b, c, d, e, f, g, h, i, j)
    MUSTER_TIE(11, a, b, c, d, e, f, g, h, i, j, k)
    MUSTER_TIE(12, a, b, c, d, e, f, g, h, i, j, k, l)
    MUSTER_TIE(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    MUSTER_TIE(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    MUSTER_TIE(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    MUSTER_TIE(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    MUSTER_TIE(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    MUSTER_TIE(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    MUSTER_TIE(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    MUSTER_TIE(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    MUSTER_TIE(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
    MUSTER_TIE(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
    MUSTER_TIE(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
    MUSTER_TIE(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
    MUSTER_TIE(25, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
    MUSTER_TIE(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
    MUSTER_TIE(27, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa)
    MUSTER_TIE(28, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
               ab)
    MUSTER_TIE(29, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
               ab, ac)
    MUSTER_TIE(30, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
               ab, ac, ad)
    MUSTER_TIE(31, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
               ab, ac, ad, ae)
    MUSTER_TIE(32, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa,
               ab, ac, ad, ae, af) {
        return std::tuple<>{};
    }
#undef MUSTER_TIE
}

// ---- names ---------------------------------------------------------------------------------------

/// An object that is never defined: only the addresses of its fields are used, as constants. The
/// struct around it lets `T` be of an unnamed namespace.
template <class T>
struct undefined_object {
    T value;
};
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif
template <class T>
extern const undefined_object<T> undefined;

template <class T>
struct constant_pointer {
    T value;
};
template <class T>
constant_pointer(T) -> constant_pointer<T>;

template <auto Value>
consteval std::string_view text_with_value() noexcept {
    return __PRETTY_FUNCTION__;
}
template <class T, std::size_t I>
consteval std::string_view text_with_field() noexcept {
    return text_with_value<constant_pointer{&std::get<I>(tie_fields(undefined<T>.value))}>();
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// Returns the name that ends `after` characters before the end of a text; empty if there is none.
consteval std::string_view last_name(std::string_view text, std::size_t after) noexcept {
    const auto is_part = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
    };
    const std::size_t end = text.size() - after;
    std::size_t begin = end;
    while (begin != 0 && is_part(text[begin - 1])) --begin;
    const bool is_number = begin != end && text[begin] >= '0' && text[begin] <= '9';
    return is_number ? std::string_view() : text.substr(begin, end - begin);
}

// The compiler's text around a name is measured with names that are known.
struct measured_struct {
    int measured_field;
};
enum class measured_enum : int { measured_value };

inline constexpr std::size_t after_field_name = [] {
    constexpr std::string_view name = "measured_field";
    const std::string_view all = text_with_field<measured_struct, 0>();
    return all.size() - all.rfind(name) - name.size();
}();
inline constexpr std::size_t after_value_name = [] {
    constexpr std::string_view name = "measured_value";
    const std::string_view all = text_with_value<measured_enum::measured_value>();
    return all.size() - all.rfind(name) - name.size();
}();

/// The name of field `I` of the aggregate `T`.
template <class T, std::size_t I>
inline constexpr std::string_view field_name = last_name(text_with_field<T, I>(), after_field_name);
/// The name of a value of an enumeration, or nothing if it has none.
template <auto Value>
inline constexpr std::string_view value_name =
    last_name(text_with_value<Value>(), after_value_name);

}  // namespace MUSTER_NAMESPACE::detail
