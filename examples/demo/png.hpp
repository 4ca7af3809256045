// png: writes PNG files without a library. Pixels are stored uncompressed: every reader accepts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace demo {

/// An image: red, green and blue of each pixel, row by row from the top.
struct image {
    std::size_t width = 0, height = 0;
    std::vector<std::uint8_t> pixels;
};

/// The checksums of the PNG format.
[[nodiscard]] std::uint32_t crc32(std::span<const std::uint8_t> bytes);
[[nodiscard]] std::uint32_t adler32(std::span<const std::uint8_t> bytes);

[[nodiscard]] std::vector<std::uint8_t> encode_png(const image& picture);
/// Returns false and sets `errno` if the file cannot be written.
[[nodiscard]] bool write_png(const std::string& file, const image& picture);

}  // namespace demo
