#include <muster/storage/column.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

struct alignas(128) over_aligned {
    std::uint64_t value;
};
struct alignas(4096) page {
    std::uint64_t value;
};
struct odd {
    std::array<unsigned char, 13> bytes;
};

/// `make` returns value number `i` of a type, `is` compares a value with it.
template <class T>
T make(std::size_t i) {
    if constexpr (std::is_same_v<T, std::string>)
        return std::to_string(i) + std::string(i % 40, '.');  // with and without a heap block
    else if constexpr (std::is_same_v<T, std::unique_ptr<std::size_t>>)
        return std::make_unique<std::size_t>(i);
    else if constexpr (std::is_same_v<T, odd>) {
        odd made{};
        made.bytes.fill(static_cast<unsigned char>(i));
        return made;
    } else
        return T{i};
}
template <class T>
bool is(const T& value, std::size_t i) {
    if constexpr (std::is_same_v<T, std::unique_ptr<std::size_t>>)
        return *value == i;
    else if constexpr (std::is_same_v<T, std::string>)
        return value == make<T>(i);
    else if constexpr (std::is_same_v<T, odd>)
        return value.bytes == make<T>(i).bytes;
    else if constexpr (std::is_same_v<T, std::uint64_t>)
        return value == i;
    else
        return value.value == i;
}

/// A column and the number of its values, which a chunk would store.
template <class T>
struct filled_column {
    column values{type_info_of<T>, nullptr};
    std::size_t size = 0;

    filled_column() = default;
    filled_column(const filled_column&) = delete;
    filled_column& operator=(const filled_column&) = delete;
    ~filled_column() {
        values.destroy(values.data, size);
        values.free();
    }
    T& operator[](std::size_t i) { return *reinterpret_cast<T*>(values.at(i)); }
    void fill_up_to(std::size_t count) {
        for (; size < count; ++size) ::new (values.at(size)) T(make<T>(size));
    }
};

template <class T>
class column_of : public testing::Test {};
using kinds = testing::Types<std::uint64_t, odd, over_aligned, page, std::string,
                             std::unique_ptr<std::size_t>>;
TYPED_TEST_SUITE(column_of, kinds);

TYPED_TEST(column_of, starts_at_a_multiple_of_64_and_of_its_alignment_after_every_growth) {
    filled_column<TypeParam> tested;
    const std::size_t alignment = std::max<std::size_t>(64, alignof(TypeParam));
    std::mt19937_64 dice(3);
    std::vector<std::unique_ptr<char[]>> others;  // so that the allocator returns other addresses
    for (std::size_t capacity = 1; capacity < 400; capacity += 1 + dice() % 7) {
        ASSERT_TRUE(tested.values.resize(tested.size, capacity, {}));
        others.push_back(std::make_unique<char[]>(1 + dice() % 3000));
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(tested.values.data) % alignment, 0u);
        tested.fill_up_to(capacity);
        for (std::size_t i = 0; i < tested.size; ++i) ASSERT_TRUE(is(tested[i], i));
    }
}

TYPED_TEST(column_of, keeps_its_values_when_it_shrinks) {
    filled_column<TypeParam> tested;
    ASSERT_TRUE(tested.values.resize(0, 1000, {}));
    tested.fill_up_to(10);
    ASSERT_TRUE(tested.values.resize(10, 10, {}));
    for (std::size_t i = 0; i < 10; ++i) EXPECT_TRUE(is(tested[i], i));
}

TYPED_TEST(column_of, a_capacity_of_0_frees_the_memory) {
    column tested(type_info_of<TypeParam>, nullptr);
    EXPECT_EQ(tested.data, no_values);
    ASSERT_TRUE(tested.resize(0, 10, {}));
    EXPECT_NE(tested.block, nullptr);
    ASSERT_TRUE(tested.resize(0, 0, {}));
    EXPECT_EQ(tested.block, nullptr);
    EXPECT_EQ(tested.data, no_values);
}

TYPED_TEST(column_of, argument_addresses_follow_reallocated_values) {
    filled_column<TypeParam> tested;
    std::vector<std::unique_ptr<char[]>> others;
    ASSERT_TRUE(tested.values.resize(0, 4, {}));
    tested.fill_up_to(4);
    int moves = 0;
    for (std::size_t capacity = 8; capacity < 20'000; capacity *= 2) {
        others.push_back(std::make_unique<char[]>(256));
        const std::byte* const before = tested.values.data;
        const void* arguments[] = {&tested[3], &tested[0], &tested[2]};
        ASSERT_TRUE(tested.values.resize(4, capacity, arguments));
        moves += before != tested.values.data ? 1 : 0;
        EXPECT_EQ(arguments[0], &tested[3]);
        EXPECT_EQ(arguments[1], &tested[0]);
        EXPECT_EQ(arguments[2], &tested[2]);
    }
    EXPECT_GT(moves, 0);
}

TYPED_TEST(column_of, an_argument_address_inside_a_value_follows_it) {
    filled_column<TypeParam> tested;
    ASSERT_TRUE(tested.values.resize(0, 2, {}));
    tested.fill_up_to(2);
    const void* inside[] = {tested.values.at(1) + sizeof(TypeParam) - 1};
    const auto other = std::make_unique<char[]>(256);
    ASSERT_TRUE(tested.values.resize(2, 10'000, inside));
    EXPECT_EQ(inside[0], tested.values.at(1) + sizeof(TypeParam) - 1);
}

TYPED_TEST(column_of, argument_addresses_outside_the_values_are_unchanged) {
    filled_column<TypeParam> tested;
    ASSERT_TRUE(tested.values.resize(0, 8, {}));
    tested.fill_up_to(3);
    const int elsewhere = 0;
    const void* const outside[] = {&elsewhere, nullptr, tested.values.data - 1,
                                   tested.values.at(3)};  // capacity, but no value
    std::array<const void*, 4> arguments{};
    std::copy(std::begin(outside), std::end(outside), arguments.begin());
    const auto other = std::make_unique<char[]>(256);
    ASSERT_TRUE(tested.values.resize(3, 10'000, arguments));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(arguments[i], outside[i]) << i;
}

TYPED_TEST(column_of, a_resize_beyond_memory_fails_and_changes_nothing) {
    filled_column<TypeParam> tested;
    ASSERT_TRUE(tested.values.resize(0, 4, {}));
    tested.fill_up_to(4);
    const std::byte* const before = tested.values.data;
    const void* const block = tested.values.block;
    const std::size_t most = SIZE_MAX / sizeof(TypeParam);
    for (const std::size_t absurd : {SIZE_MAX, most, most + 1, most / 2 + 1}) {
        const void* arguments[] = {&tested[2]};
        EXPECT_FALSE(tested.values.resize(4, absurd, arguments));
        EXPECT_EQ(tested.values.data, before);
        EXPECT_EQ(tested.values.block, block);
        EXPECT_EQ(arguments[0], &tested[2]);
    }
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(is(tested[i], i));
}

TYPED_TEST(column_of, relocates_one_value_or_many) {
    filled_column<TypeParam> from;
    filled_column<TypeParam> to;
    ASSERT_TRUE(from.values.resize(0, 6, {}));
    ASSERT_TRUE(to.values.resize(0, 6, {}));
    from.fill_up_to(6);
    from.values.relocate(to.values.at(0), from.values.at(0), 1);
    from.values.relocate(to.values.at(1), from.values.at(1), 5);
    from.size = 0;
    to.size = 6;
    for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(is(to[i], i));
}

/// Moves values of this size between two columns; every byte of value `i` is `i`.
template <std::size_t Bytes>
void expect_whole_values_are_taken() {
    using value = std::array<unsigned char, Bytes>;
    const auto filled = [](std::size_t i) {
        value made{};
        made.fill(static_cast<unsigned char>(i));
        return made;
    };
    std::array<value, 4> from{filled(1), filled(2), filled(3), filled(4)};
    std::array<value, 3> to{filled(7), filled(8), filled(9)};
    column source(type_info_of<value>, nullptr);
    column target(type_info_of<value>, nullptr);
    source.data = reinterpret_cast<std::byte*>(from.data());
    target.data = reinterpret_cast<std::byte*>(to.data());
    source.take_bytes(1, 3, &target, 1);
    EXPECT_EQ(to, (std::array<value, 3>{filled(7), filled(2), filled(9)})) << Bytes;
    EXPECT_EQ(from, (std::array<value, 4>{filled(1), filled(4), filled(3), filled(4)})) << Bytes;
    source.take_bytes(2, 2, &target, 0);  // the last row: no row fills its place
    EXPECT_EQ(to, (std::array<value, 3>{filled(3), filled(2), filled(9)})) << Bytes;
    source.take_bytes(0, 1, nullptr, 0);  // no target: drops the value
    EXPECT_EQ(to, (std::array<value, 3>{filled(3), filled(2), filled(9)})) << Bytes;
    EXPECT_EQ(from, (std::array<value, 4>{filled(4), filled(4), filled(3), filled(4)})) << Bytes;
}

TEST(column, take_bytes_copies_exactly_the_bytes_of_a_value) {
    expect_whole_values_are_taken<1>();
    expect_whole_values_are_taken<3>();
    expect_whole_values_are_taken<4>();
    expect_whole_values_are_taken<8>();
    expect_whole_values_are_taken<12>();
    expect_whole_values_are_taken<16>();
    expect_whole_values_are_taken<17>();
    expect_whole_values_are_taken<24>();
    expect_whole_values_are_taken<32>();
    expect_whole_values_are_taken<64>();
    expect_whole_values_are_taken<65>();
    expect_whole_values_are_taken<4096>();
}

TEST(column, is_one_cache_line) {
    EXPECT_EQ(sizeof(column), 64u);
    EXPECT_EQ(alignof(column), 64u);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
