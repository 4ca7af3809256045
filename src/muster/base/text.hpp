// text: concatenates the parts of a message.
#pragma once

#include <muster/base/config.hpp>

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

inline void append_part(std::string& sentence, std::string_view part) {
    sentence.append(part.data(), part.size());
}
inline void append_part(std::string& sentence, std::uint64_t part) {
    sentence += std::to_string(part);
}

/// `text("key ", 7, " is free")`. Appends only: g++ 12 warns of "literal" + std::string.
template <class... Parts>
[[nodiscard]] std::string text(const Parts&... parts) {
    std::string sentence;
    (append_part(sentence, parts), ...);
    return sentence;
}

/// Returns the file name without its path, and the line: "ai.cpp:88".
inline std::string place_text(const std::source_location& where) {
    const std::string_view path = where.file_name();
    return text(path.substr(path.find_last_of('/') + 1), ":", where.line());
}
/// Returns " (set at ai.cpp:12)", or nothing if there is no call site.
inline std::string place_of(const char* call, const std::source_location* where) {
    if (where == nullptr || where->line() == 0) return {};
    return text(" (", call, " at ", place_text(*where), ")");
}

}  // namespace MUSTER_NAMESPACE::detail
