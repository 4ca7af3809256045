#include <muster/id/far_slots.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace muster::detail {
namespace {

const auto key_itself = [](std::uint64_t key) { return key; };

TEST(far_slots, makes_a_page_where_a_key_needs_one) {
    far_slots<std::uint64_t> far;
    EXPECT_TRUE(far.empty());
    EXPECT_EQ(far.find(1000), nullptr);
    far.ensure(1000, key_itself) = 7;
    EXPECT_EQ(*far.find(1000), 7u);
    EXPECT_EQ(*far.find(1001), 1001u);  // filled
    EXPECT_EQ(*far.find(960), 960u);    // the first of its page
    EXPECT_EQ(far.find(959), nullptr);
    EXPECT_EQ(far.find(1024), nullptr);
    EXPECT_EQ(far.ensure(1000, key_itself), 7u);
}

TEST(far_slots, next_finds_the_page_at_or_behind_a_key) {
    far_slots<std::uint64_t> far;
    far.ensure(130, key_itself);
    EXPECT_EQ(far.next(0, 999), 128u);
    EXPECT_EQ(far.next(150, 999), 150u);
    EXPECT_EQ(far.next(192, 999), 999u);
}

TEST(far_slots, take_gives_each_slot_and_drops_whole_pages) {
    far_slots<std::uint64_t> far;
    far.ensure(70, key_itself);
    far.ensure(130, key_itself);
    far.ensure(200, key_itself);
    std::vector<std::uint64_t> taken;
    far.take(64, 100, 200, [&](std::uint64_t key, std::uint64_t slot) {
        EXPECT_EQ(key, slot);
        taken.push_back(key);
    });
    EXPECT_EQ(taken.size(), 28u + 64u + 8u);
    EXPECT_EQ(taken.front(), 100u);
    EXPECT_EQ(taken.back(), 199u);
    EXPECT_EQ(far.find(70), nullptr);
    EXPECT_EQ(far.find(130), nullptr);
    EXPECT_NE(far.find(200), nullptr);  // not wholly below 200
}

}  // namespace
}  // namespace muster::detail
