#include <muster/base/bit_array.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(bit_array, every_bit_is_initially_clear) {
    const bit_array bits;
    for (const std::uint64_t at : {0ull, 63ull, 64ull, ~0ull}) EXPECT_FALSE(bits.test(at));
}

TEST(bit_array, agrees_with_a_set_over_random_operations) {
    bit_array bits;
    std::set<std::uint64_t> model;
    std::mt19937 dice(1);
    for (int i = 0; i < 5000; ++i) {
        const std::uint64_t at = dice() % 3000;
        if (dice() % 2 == 0) {
            bits.set(at);
            model.insert(at);
        } else {
            bits.reset(at);
            model.erase(at);
        }
        const std::uint64_t other = dice() % 5000;
        ASSERT_EQ(bits.test(other), model.contains(other));
    }
    for (std::uint64_t at = 0; at < 5000; ++at) ASSERT_EQ(bits.test(at), model.contains(at));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
