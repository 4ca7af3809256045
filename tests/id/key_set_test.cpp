#include <muster/id/key_set.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(key_set, behaves_like_an_ordered_set) {
    std::mt19937_64 dice(1);
    for (int round = 0; round < 50; ++round) {
        key_set<> set;
        std::set<std::uint64_t> model;
        for (int i = 0; i < 300; ++i) {
            const std::uint64_t key = dice() % 4 == 0 ? dice() >> 20 : dice() % 500;
            ASSERT_EQ(set.contains(key), model.contains(key));
            if (model.insert(key).second) set.insert(key);
            ASSERT_EQ(set.size(), model.size());
            ASSERT_EQ(set.lowest(), *model.begin());
            if (dice() % 3 == 0) {
                set.erase_lowest();
                model.erase(model.begin());
                ASSERT_EQ(set.empty(), model.empty());
            }
            if (model.empty()) set.insert(*model.insert(7).first);
        }
    }
}

TEST(key_set, skip_counts_only_keys_outside_the_set) {
    key_set<> set;
    for (const std::uint64_t key : {3u, 4u, 64u, 130u}) set.insert(key);
    EXPECT_EQ(set.skip(0, 3), 3u);    // 0 1 2
    EXPECT_EQ(set.skip(0, 4), 6u);    // 0 1 2 5
    EXPECT_EQ(set.skip(4, 1), 6u);    // 5
    EXPECT_EQ(set.skip(60, 5), 66u);  // 60 to 63, 65
    EXPECT_EQ(set.skip(200, 10), 210u);
    EXPECT_EQ(set.skip(0, 200), 204u);
}

TEST(key_set, next_finds_the_lowest_key_from_a_key_on) {
    key_set<> set;
    EXPECT_EQ(set.next(0), set.none);
    for (const std::uint64_t key : {3u, 63u, 130u}) set.insert(key);
    EXPECT_EQ(set.next(0), 3u);
    EXPECT_EQ(set.next(3), 3u);
    EXPECT_EQ(set.next(4), 63u);
    EXPECT_EQ(set.next(64), 130u);
    EXPECT_EQ(set.next(131), set.none);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
