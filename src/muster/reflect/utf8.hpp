// utf8: which bytes are text.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

/// Returns the length of the character at the start of a text, or 0 if it is not UTF-8: an overlong form, a
/// surrogate, a value above 10FFFF, or a part of a character.
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto follows = [&](std::size_t i, unsigned from = 0x80, unsigned to = 0xBF) {
        return i < text.size() && byte(i) >= from && byte(i) <= to;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const unsigned from = first == 0xE0 ? 0xA0 : 0x80;
        const unsigned to = first == 0xED ? 0x9F : 0xBF;
        return follows(1, from, to) && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const unsigned from = first == 0xF0 ? 0x90 : 0x80;
        const unsigned to = first == 0xF4 ? 0x8F : 0xBF;
        return follows(1, from, to) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

[[nodiscard]] inline bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

/// Appends a character; `code` is at most 10FFFF and no surrogate.
inline void append_utf8(std::string& text, std::uint32_t code) {
    const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
        add(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            add(0xE0 | code >> 12);
        } else {
            add(0xF0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3F));
        }
        add(0x80 | (code >> 6 & 0x3F));
    }
    add(0x80 | (code & 0x3F));
}

}  // namespace MUSTER_NAMESPACE::detail
