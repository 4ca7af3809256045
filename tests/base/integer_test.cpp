#include <muster/base/integer.hpp>

#include <gtest/gtest.h>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(integer, low_bits_sets_that_many_bits_and_at_most_64) {
    EXPECT_EQ(low_bits(0), 0u);
    EXPECT_EQ(low_bits(1), 1u);
    EXPECT_EQ(low_bits(63), 0x7FFF'FFFF'FFFF'FFFFu);
    EXPECT_EQ(low_bits(64), 0xFFFF'FFFF'FFFF'FFFFu);
    EXPECT_EQ(low_bits(4'000'000'000u), 0xFFFF'FFFF'FFFF'FFFFu);
}

TEST(integer, smaller_and_larger_return_minimum_and_maximum) {
    EXPECT_EQ(smaller(1, 2), 1u);
    EXPECT_EQ(smaller(2, 1), 1u);
    EXPECT_EQ(larger(1, ~std::uint64_t{0}), ~std::uint64_t{0});
    EXPECT_EQ(larger(3, 2), 3u);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
