// json: values of any reflected type as JSON, without loss.
//
//     const std::string text = muster::to_json(goblin{...});   // {"hit_points":7,"name":"gob"}
//     const goblin g = muster::from_json<goblin>(text);
#pragma once

#include <muster/reflect/codec_of.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

namespace MUSTER_NAMESPACE {

/// How to read JSON that may come from anywhere.
struct json_options {
    bool skips_unknown =
        false;  ///< ignores fields that the type does not have; else `errc::bad_json`
    std::size_t most_levels = 100;  ///< of lists and objects inside each other
};

namespace detail {

/// Appends a value to a text.
MUSTER_API void write_json(const codec& type, const void* value, std::string& text);
/// Reads a whole text into a value. Throws `errc::bad_json`; the value then has some of the text.
MUSTER_API void read_json(const codec& type, void* value, std::string_view text,
                          const json_options& how);

}  // namespace detail

/// Returns a value as JSON, in one line. `from_json` reads exactly this value from it: numbers have as many
/// digits as they need, and NaN, infinities and bytes that are no UTF-8 are kept. Transient fields are left
/// out. An id is a string such as "E:1-42[3]", and the null id null. O(size of the text).
///
/// | C++ | JSON |
/// | --- | --- |
/// | struct, tuple | object |
/// | string | string; `{"$bytes": "00ff"}` if it is no UTF-8 |
/// | list, array, set | array |
/// | map | object if the keys are strings, else an array of arrays of two |
/// | enumeration | the name of the value, or its number if it has none |
/// | optional | the value or null; an array of one value if the value itself may be null |
/// | variant | object with the number of the alternative as its only name |
/// | NaN, infinity | "nan", "inf", "-inf" |
template <class T>
[[nodiscard]] std::string to_json(const T& value) {
    std::string text;
    detail::write_json(detail::codec_of<T>(), __builtin_addressof(value), text);
    return text;
}

/// Returns the value that a JSON text describes. A field that the text leaves out has its default. Throws
/// `errc::bad_json`, which names the place, if the text is not JSON, or not of this type. Any text is
/// safe: memory is O(size of the text). O(size of the text).
template <class T>
[[nodiscard]] T from_json(std::string_view text, const json_options& how = {}) {
    constexpr bool has_default = std::is_default_constructible_v<T>;
    static_assert(has_default,
                  "muster: from_json reads into a default value, which this type lacks.");
    if constexpr (has_default) {
        T made{};
        detail::read_json(detail::codec_of<T>(), __builtin_addressof(made), text, how);
        return made;
    }
}

}  // namespace MUSTER_NAMESPACE
