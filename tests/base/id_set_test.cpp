#include <muster/base/id_set.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>

namespace muster::test {
namespace {

using detail::id_set;

TEST(id_set, is_empty_at_first) {
    const id_set set;
    for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
        EXPECT_FALSE(set.contains(id));
}

TEST(id_set, has_what_was_inserted) {
    id_set set;
    std::set<std::uint64_t> model;
    std::mt19937_64 dice(1);
    for (int i = 0; i < 20'000; ++i) {
        // Few keys with many versions, and neighbouring keys.
        const std::uint64_t id = dice() % 4 << 40 | dice() % 3000;
        EXPECT_EQ(set.insert(id), model.insert(id).second);
    }
    for (std::uint64_t version = 0; version < 4; ++version)
        for (std::uint64_t key = 0; key < 4000; ++key)
            EXPECT_EQ(set.contains(version << 40 | key), model.contains(version << 40 | key));
}

TEST(id_set, accepts_any_bits) {
    id_set set;
    EXPECT_TRUE(set.insert(~std::uint64_t{0}));
    EXPECT_FALSE(set.insert(~std::uint64_t{0}));
    EXPECT_TRUE(set.insert(0));
    for (std::uint64_t id = 1; id < 100; ++id) EXPECT_TRUE(set.insert(id << 57 | id));
    EXPECT_TRUE(set.contains(~std::uint64_t{0}));
    EXPECT_TRUE(set.contains(0));
    EXPECT_FALSE(set.contains(1));
}

}  // namespace
}  // namespace muster::test
