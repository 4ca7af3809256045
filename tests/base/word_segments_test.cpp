#include <muster/base/word_segments.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(word_segments, capacity_doubles_with_each_segment) {
    word_segments<std::uint16_t, std::uint32_t, 20> words(7);
    EXPECT_EQ(words.capacity(), 0u);
    EXPECT_EQ(words.find(0), nullptr);
    std::uint64_t expected = 1024;
    for (std::uint64_t index = 0; expected <= 1u << 20; index = expected, expected *= 2) {
        EXPECT_EQ(words.find(index), nullptr);
        words.ensure(index, index + 1);
        EXPECT_NE(words.find(index), nullptr);
        EXPECT_EQ(words.capacity(), expected);
        EXPECT_NE(words.find(expected - 1), nullptr);
    }
    EXPECT_EQ(words.capacity(), 1u << 20);
}

TEST(word_segments, are_zeroed_except_for_the_first_word) {
    word_segments<std::uint8_t, std::uint64_t, 12> words(9);
    words.ensure(0, 4096);
    EXPECT_EQ(*words.find(0), 9);
    for (std::uint64_t i = 1; i < 4096; ++i) ASSERT_EQ(*words.find(i), 0);
    for (std::uint64_t i = 0; i < 4096; ++i) ASSERT_EQ(words.at(i).note.load(), 0u);
}

TEST(word_segments, words_and_notes_are_independent_and_never_move) {
    word_segments<std::uint8_t, std::uint64_t, 12> words(0);
    words.ensure(0, 1);
    const std::uint8_t* const first = words.find(5);
    words.ensure(1, 4096);
    EXPECT_EQ(words.find(5), first);
    for (std::uint64_t i = 0; i < 4096; ++i) {
        words.at(i).word.store(static_cast<std::uint8_t>(i));
        words.at(i).note.store(i * i);
    }
    for (std::uint64_t i = 0; i < 4096; ++i) {
        ASSERT_EQ(*words.find(i), static_cast<std::uint8_t>(i));
        ASSERT_EQ(words.at(i).note.load(), i * i);
    }
}

TEST(word_segments, a_small_index_range_has_one_segment) {
    word_segments<std::uint64_t, std::uint64_t, 1> words(1);
    words.ensure(0, 0);
    EXPECT_EQ(words.capacity(), 0u);
    words.ensure(0, 2);
    EXPECT_EQ(words.capacity(), 1024u);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
