// png: pictures as files, without a library. The pixels are stored, not compressed: any reader takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace demo {

/// Red, green and blue of each pixel, row by row from the top.
struct image {
    std::size_t width = 0, height = 0;
    std::vector<std::uint8_t> pixels;
};

/// The checksums of the format.
[[nodiscard]] std::uint32_t crc32(std::span<const std::uint8_t> bytes);
[[nodiscard]] std::uint32_t adler32(std::span<const std::uint8_t> bytes);

[[nodiscard]] std::vector<std::uint8_t> encode_png(const image& picture);
/// False if it cannot be written; `errno` says why.
[[nodiscard]] bool write_png(const std::string& file, const image& picture);

}  // namespace demo
