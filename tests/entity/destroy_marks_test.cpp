#include <muster/entity/destroy_marks.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>

namespace MUSTER_NAMESPACE::detail {
namespace {

constexpr std::uint64_t highest = ~std::uint64_t{0};

TEST(destroy_marks, no_key_but_the_impossible_highest_is_marked_at_first) {
    const destroy_marks tested;
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{1} << 40})
        EXPECT_FALSE(tested.test(key));
    static_assert(sizeof(destroy_marks) == 24);
}

TEST(destroy_marks, marks_exactly_the_dense_keys_that_were_set) {
    destroy_marks tested;
    for (const std::uint64_t key : {0u, 64u, 999u}) tested.set(key, 1000);
    for (std::uint64_t key = 0; key < 2000; ++key)
        ASSERT_EQ(tested.test(key), key == 0 || key == 64 || key == 999) << key;
}

TEST(destroy_marks, a_key_above_the_dense_keys_marks_all_keys_above_it) {
    destroy_marks tested;
    tested.set(5000, 1000);
    EXPECT_FALSE(tested.test(4999));
    EXPECT_TRUE(tested.test(5000));
    EXPECT_TRUE(tested.test(highest));
    tested.set(7000, 1000);
    EXPECT_FALSE(tested.test(4999));
    tested.set(1000, 1000);
    EXPECT_TRUE(tested.test(1000));
    EXPECT_FALSE(tested.test(999));
}

TEST(destroy_marks, a_key_above_the_dense_keys_needs_no_memory) {
    destroy_marks tested;
    tested.set(std::uint64_t{1} << 60, 1000);  // a bit array of this size could not be allocated
    EXPECT_TRUE(tested.test(std::uint64_t{1} << 60));
    EXPECT_FALSE(tested.test((std::uint64_t{1} << 60) - 1));
}

TEST(destroy_marks, reset_unmarks_a_dense_key) {
    destroy_marks tested;
    tested.set(5, 1000);
    tested.set(6, 1000);
    tested.reset(5);
    tested.reset(7);        // was not marked
    tested.reset(900'000);  // beyond the bits
    EXPECT_FALSE(tested.test(5));
    EXPECT_TRUE(tested.test(6));
    EXPECT_FALSE(tested.test(7));
    tested.set(5, 1000);
    EXPECT_TRUE(tested.test(5));
}

TEST(destroy_marks, set_all_marks_every_key_for_good) {
    destroy_marks tested;
    tested.set(5, 1000);
    tested.set_all();
    tested.reset(5);
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{5}, highest})
        EXPECT_TRUE(tested.test(key));
    tested.set(9000, 1000);  // does not raise the bound
    EXPECT_TRUE(tested.test(0));
}

TEST(destroy_marks, agrees_with_a_set_over_random_keys) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        destroy_marks tested;
        std::set<std::uint64_t> bits;
        std::uint64_t bound = highest;
        for (int step = 0; step < 500; ++step) {
            const std::uint64_t key = random() % 3000;
            if (random() % 3 == 0) {
                tested.reset(key);
                bits.erase(key);
            } else {
                const std::uint64_t dense = random() % 50 == 0 ? 2500 : 10'000;
                tested.set(key, dense);
                if (key < dense)
                    bits.insert(key);
                else if (key < bound)
                    bound = key;
            }
            const std::uint64_t asked = random() % 3000;
            ASSERT_EQ(tested.test(asked), asked >= bound || bits.contains(asked))
                << "seed " << seed << " step " << step;
        }
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
