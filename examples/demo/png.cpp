#include "png.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace demo {

namespace {

using bytes = std::vector<std::uint8_t>;

void append_word(bytes& out, std::uint32_t word) {  // the most significant byte first
    for (int shift = 24; shift >= 0; shift -= 8)
        out.push_back(static_cast<std::uint8_t>(word >> shift));
}

/// Appends length, name, data, and the checksum of name and data.
void append_chunk(bytes& out, std::string_view name, std::span<const std::uint8_t> data) {
    append_word(out, static_cast<std::uint32_t>(data.size()));
    const std::size_t start = out.size();
    out.insert(out.end(), name.begin(), name.end());
    out.insert(out.end(), data.begin(), data.end());
    append_word(out, crc32(std::span(out).subspan(start)));
}

/// Returns a zlib stream of stored blocks: length, inverse of the length, at most 65,535 bytes.
bytes stored(std::span<const std::uint8_t> data) {
    bytes out{0x78, 0x01};
    std::size_t at = 0;
    do {
        const std::size_t length = std::min<std::size_t>(data.size() - at, 65'535);
        const bool is_last = at + length == data.size();
        const auto low = static_cast<std::uint8_t>(length & 255);
        const auto high = static_cast<std::uint8_t>(length >> 8);
        for (const std::uint8_t byte :
             {std::uint8_t{is_last}, low, high, static_cast<std::uint8_t>(~low),
              static_cast<std::uint8_t>(~high)})
            out.push_back(byte);
        const auto block = data.subspan(at, length);
        out.insert(out.end(), block.begin(), block.end());
        at += length;
    } while (at != data.size());
    append_word(out, adler32(data));
    return out;
}

constexpr std::array<std::uint32_t, 256> crc_table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) * 0xedb88320u);
        made[i] = value;
    }
    return made;
}();

}  // namespace

std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
    std::uint32_t sum = ~0u;
    for (const std::uint8_t byte : bytes) sum = (sum >> 8) ^ crc_table[(sum ^ byte) & 255];
    return ~sum;
}

std::uint32_t adler32(std::span<const std::uint8_t> bytes) {
    std::uint32_t first = 1;
    std::uint32_t second = 0;
    for (const std::uint8_t byte : bytes) {
        first = (first + byte) % 65'521;
        second = (second + first) % 65'521;
    }
    return second << 16 | first;
}

std::vector<std::uint8_t> encode_png(const image& picture) {
    bytes out{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    bytes header;
    append_word(header, static_cast<std::uint32_t>(picture.width));
    append_word(header, static_cast<std::uint32_t>(picture.height));
    // 8 bits, RGB, the standard compression and filters, no interlacing.
    for (const int byte : {8, 2, 0, 0, 0}) header.push_back(static_cast<std::uint8_t>(byte));
    append_chunk(out, "IHDR", header);

    bytes rows;
    rows.reserve((picture.width * 3 + 1) * picture.height);
    for (std::size_t y = 0; y < picture.height; ++y) {
        rows.push_back(0);  // no filter
        const auto row =
            std::span(picture.pixels).subspan(y * picture.width * 3, picture.width * 3);
        rows.insert(rows.end(), row.begin(), row.end());
    }
    append_chunk(out, "IDAT", stored(rows));
    append_chunk(out, "IEND", {});
    return out;
}

bool write_png(const std::string& file, const image& picture) {
    const bytes all = encode_png(picture);
    std::FILE* const out = std::fopen(file.c_str(), "wb");
    if (out == nullptr) return false;
    const bool is_written = std::fwrite(all.data(), 1, all.size(), out) == all.size();
    return (std::fclose(out) == 0) && is_written;
}

}  // namespace demo
