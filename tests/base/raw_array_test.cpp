#include <muster/base/raw_array.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(raw_array, keeps_its_elements_while_it_grows) {
    raw_array<std::uint32_t> numbers;
    EXPECT_EQ(numbers.capacity(), 0u);
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        if (i == numbers.capacity()) numbers.grow(i * 2 + 1);
        numbers[i] = i;
    }
    for (std::uint32_t i = 0; i < 10'000; ++i) ASSERT_EQ(numbers[i], i);
}

TEST(raw_array, never_shrinks) {
    raw_array<int> numbers;
    numbers.grow(100);
    const int* const before = numbers.data();
    numbers.grow(10);
    EXPECT_EQ(numbers.capacity(), 100u);
    EXPECT_EQ(numbers.data(), before);
}

TEST(raw_array, a_failed_allocation_changes_nothing) {
    raw_array<std::uint64_t> numbers;
    numbers.grow(4);
    numbers[3] = 33;
    EXPECT_THROW(numbers.grow(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
    EXPECT_EQ(numbers.capacity(), 4u);
    EXPECT_EQ(numbers[3], 33u);
}

TEST(raw_array, moving_transfers_the_allocation) {
    raw_array<int> a;
    a.grow(8);
    a[7] = 7;
    raw_array<int> b(std::move(a));
    EXPECT_EQ(b[7], 7);
    raw_array<int> c;
    c = std::move(b);
    EXPECT_EQ(c[7], 7);
    EXPECT_EQ(c.capacity(), 8u);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
