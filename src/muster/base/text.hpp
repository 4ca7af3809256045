// text: concatenates the parts of a message.
#pragma once

#include <muster/base/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::detail {

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

}  // namespace muster::detail
