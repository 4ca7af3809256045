// Decodes the demo's pictures with a reader that shares no code with the writer.
#include <png.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

using bytes = std::vector<std::uint8_t>;

bytes to_bytes(const std::string& text) {
    return {text.begin(), text.end()};
}

/// CRC-32 bit by bit, as the standard defines it.
std::uint32_t slow_crc(const bytes& all) {
    std::uint32_t sum = 0xffffffffu;
    for (const std::uint8_t byte : all)
        for (int bit = 0; bit < 8; ++bit) {
            const bool is_odd = ((sum ^ (static_cast<std::uint32_t>(byte) >> bit)) & 1) != 0;
            sum = (sum >> 1) ^ (is_odd ? 0xedb88320u : 0);
        }
    return sum ^ 0xffffffffu;
}

class reader {
public:
    explicit reader(bytes all) : all_(std::move(all)) {}

    std::uint8_t byte() { return at_ < all_.size() ? all_[at_++] : throw std::string("too short"); }
    std::uint32_t word() {
        std::uint32_t made = 0;
        for (int i = 0; i < 4; ++i) made = made << 8 | byte();
        return made;
    }
    bytes some(std::size_t count) {
        bytes made(count);
        for (std::uint8_t& next : made) next = byte();
        return made;
    }
    bool is_at_end() const { return at_ == all_.size(); }

private:
    bytes all_;
    std::size_t at_ = 0;
};

/// Unpacks a zlib stream that contains only stored blocks.
bytes unpack(const bytes& stream) {
    reader in(stream);
    const unsigned head = in.byte() * 256u + in.byte();
    EXPECT_EQ(head % 31, 0u);
    EXPECT_EQ(head >> 8 & 15, 8u);
    bytes made;
    for (bool is_last = false; !is_last;) {
        const std::uint8_t kind = in.byte();
        EXPECT_LE(kind, 1);
        is_last = kind == 1;
        const unsigned length = in.byte() + 256u * in.byte();
        const unsigned inverse = in.byte() + 256u * in.byte();
        EXPECT_EQ(length ^ inverse, 0xffffu);
        const bytes block = in.some(length);
        made.insert(made.end(), block.begin(), block.end());
    }
    std::uint64_t first = 1;
    std::uint64_t second = 0;
    for (const std::uint8_t byte : made) {
        first += byte;
        second += first;
        if (second > (1ull << 60)) {
            first %= 65521;
            second %= 65521;
        }
    }
    EXPECT_EQ(in.word(), (second % 65521) << 16 | first % 65521);
    EXPECT_TRUE(in.is_at_end());
    return made;
}

demo::image decode(const bytes& file) {
    reader in(file);
    EXPECT_EQ(in.some(8), to_bytes("\x89PNG\r\n\x1a\n"));
    demo::image made;
    std::vector<std::string> names;
    while (!in.is_at_end()) {
        const std::size_t length = in.word();
        const bytes named = in.some(length + 4);
        EXPECT_EQ(in.word(), slow_crc(named));
        const std::string name(named.begin(), named.begin() + 4);
        const bytes data(named.begin() + 4, named.end());
        names.push_back(name);
        if (name == "IHDR") {
            reader head(data);
            made.width = head.word();
            made.height = head.word();
            EXPECT_EQ(head.some(5), (bytes{8, 2, 0, 0, 0}));
            EXPECT_TRUE(head.is_at_end());
        } else if (name == "IDAT") {
            reader rows(unpack(data));
            for (std::size_t y = 0; y < made.height; ++y) {
                EXPECT_EQ(rows.byte(), 0);
                const bytes row = rows.some(made.width * 3);
                made.pixels.insert(made.pixels.end(), row.begin(), row.end());
            }
            EXPECT_TRUE(rows.is_at_end());
        }
    }
    EXPECT_EQ(names, (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
    return made;
}

demo::image pattern(std::size_t width, std::size_t height) {
    demo::image made{width, height, bytes(width * height * 3)};
    std::uint32_t state = 1;
    for (std::uint8_t& pixel : made.pixels)
        pixel = static_cast<std::uint8_t>((state = state * 69069 + 1) >> 24);
    return made;
}

TEST(png, checksums_match_the_standards) {
    EXPECT_EQ(demo::crc32(to_bytes("123456789")), 0xcbf43926u);
    EXPECT_EQ(demo::crc32({}), 0u);
    EXPECT_EQ(demo::adler32(to_bytes("Wikipedia")), 0x11e60398u);
    EXPECT_EQ(demo::adler32({}), 1u);
    EXPECT_EQ(demo::adler32(bytes(100'000, 255)), 0x149a302cu);
}

TEST(png, decoding_an_encoded_picture_returns_the_picture) {
    // One block, sizes around the block limit of 65,535 bytes, and several blocks.
    for (const auto& [width, height] : std::vector<std::pair<std::size_t, std::size_t>>{
             {1, 1}, {7, 5}, {21844, 1}, {21845, 1}, {4368, 5}, {300, 200}}) {
        const demo::image before = pattern(width, height);
        const demo::image after = decode(demo::encode_png(before));
        EXPECT_EQ(after.width, width);
        EXPECT_EQ(after.height, height);
        EXPECT_EQ(after.pixels, before.pixels) << width << " x " << height;
    }
}

TEST(png, write_png_writes_the_encoded_bytes) {
    const std::string name = testing::TempDir() + "muster_png_test.png";
    const demo::image picture = pattern(30, 20);
    ASSERT_TRUE(demo::write_png(name, picture));
    std::FILE* const file = std::fopen(name.c_str(), "rb");
    ASSERT_NE(file, nullptr);
    bytes read(100'000);
    read.resize(std::fread(read.data(), 1, read.size(), file));
    std::fclose(file);
    std::remove(name.c_str());
    EXPECT_EQ(read, demo::encode_png(picture));
    EXPECT_FALSE(demo::write_png(testing::TempDir() + "no/such/folder.png", picture));
}

}  // namespace
