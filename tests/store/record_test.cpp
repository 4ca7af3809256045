#include <muster/store/record.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <type_traits>

#include "support/layouts.hpp"

namespace muster::detail {
namespace {

/// As narrow as a record can be filled: no bit of it is left over.
using brimful = layout<std::uint64_t, id_bits{.key = 16, .version = 27, .world = 21}>;
/// 16 bits, all of them used.
using whole_16 = layout<std::uint16_t, id_bits{.key = 4, .version = 4, .world = 8}>;
using no_world_16 = layout<std::uint16_t, id_bits{.key = 1, .version = 14}>;
using tiny = test::tiny_bound<exhaustion::retire>;  // 15 of 16 bits used

TEST(record, has_8_bytes_where_version_and_place_fit_else_16) {
    static_assert(sizeof(record<layouts::bound>) == 8);
    static_assert(sizeof(record<layouts::compact>) == 8);
    static_assert(sizeof(record<layouts::packed>) == 8);
    static_assert(sizeof(record<layouts::exact>) == 16);
    static_assert(std::is_same_v<record<brimful>, narrow_record<brimful>>);
    using one_bit_more = layout<std::uint64_t, id_bits{.key = 16, .version = 28, .world = 20}>;
    static_assert(std::is_same_v<record<one_bit_more>, wide_record<one_bit_more>>);
    using long_key = layout<std::uint64_t, id_bits{.key = 48, .version = 16}>;
    static_assert(std::is_same_v<record<long_key>, wide_record<long_key>>);
    using long_version = layout<std::uint64_t, id_bits{.key = 1, .version = 63}>;
    static_assert(std::is_same_v<record<long_version>, wide_record<long_version>>);
}

TEST(record, of_the_default_layout_is_split_as_drawn) {
    using drawn = narrow_record<layouts::bound>;
    static_assert(drawn::version_bits == 16 && drawn::chunk_bits == 20 && drawn::row_bits == 27);
    drawn one = drawn::live(id::pack(0, 0x8001, 5));
    one.place(chunk_index{0x8'0001}, 0x400'0001);
    EXPECT_EQ(one.word, std::uint64_t{0x8001} << 47 | std::uint64_t{0x8'0001} << 27 | 0x400'0001u);
    EXPECT_EQ(drawn::dead(0, 7, 3).word, std::uint64_t{1} << 63 | std::uint64_t{3} << 47 | 7);
}

/// Both ends of a range, their neighbours, and the middle.
std::set<std::uint64_t> corners(std::uint64_t last) {
    std::set<std::uint64_t> made{0, last / 2, last};
    if (last > 1) made.insert({1, last / 2 + 1, last - 1});
    return made;
}

template <class Layout>
class record_of : public testing::Test {};
using all_layouts =
    testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed, brimful,
                   whole_16, no_world_16, tiny, test::least<exhaustion::retire>>;
TYPED_TEST_SUITE(record_of, all_layouts, test::layout_names);

TYPED_TEST(record_of, a_living_one_is_its_id_wherever_it_is_placed) {
    using tested = record<TypeParam>;
    using id_type = basic_id<TypeParam>;
    const std::uint64_t last_chunk = low_bits(tested::chunk_bits);
    const std::uint64_t last_row = low_bits(tested::row_bits);
    for (const std::uint64_t key : corners(TypeParam::last_key))
        for (const std::uint64_t version : corners(TypeParam::last_version))
            for (const std::uint64_t world : corners(TypeParam::last_world)) {
                const id_type e = id_type::pack(key, version, world);
                tested one = tested::live(e);
                EXPECT_TRUE(one.is(e, id_type::pack(0, 0, world)));
                EXPECT_EQ(one.chunk(), chunk_index{});
                EXPECT_EQ(one.row(), 0u);
                for (const std::uint64_t chunk : corners(last_chunk))
                    for (const std::uint64_t row : corners(last_row)) {
                        one.place(chunk_index{static_cast<std::uint32_t>(chunk)}, row);
                        ASSERT_EQ(to_int(one.chunk()), chunk);
                        ASSERT_EQ(one.row(), row);
                        ASSERT_EQ(one.version(), version);
                        ASSERT_TRUE(one.is(e, id_type::pack(0, 0, world)));
                        ASSERT_TRUE(one.is_live(key));
                    }
                one.place(chunk_index{}, 0);
                EXPECT_EQ(one.chunk(), chunk_index{});
                EXPECT_EQ(one.row(), 0u);
            }
}

TYPED_TEST(record_of, a_dead_one_tells_the_next_key_and_the_next_version) {
    using tested = record<TypeParam>;
    for (const std::uint64_t key : corners(TypeParam::last_key))
        for (const std::uint64_t next : corners(TypeParam::last_key))
            for (const std::uint64_t version : corners(TypeParam::last_version)) {
                if (next == key) continue;  // no key waits for itself
                const tested one = tested::dead(key, next, version);
                EXPECT_FALSE(one.is_live(key));
                EXPECT_EQ(one.next(), next);
                EXPECT_EQ(one.version(), version);
            }
}

TYPED_TEST(record_of, a_dead_one_is_no_id_of_its_key) {
    using tested = record<TypeParam>;
    using id_type = basic_id<TypeParam>;
    for (const std::uint64_t key : corners(TypeParam::last_key))
        for (const std::uint64_t next : corners(TypeParam::last_key))
            for (const std::uint64_t version : corners(TypeParam::last_version)) {
                if (next == key) continue;
                const tested one = tested::dead(key, next, version);
                for (const std::uint64_t v : corners(TypeParam::last_version))
                    for (const std::uint64_t w : corners(TypeParam::last_world))
                        for (const std::uint64_t world : corners(TypeParam::last_world))
                            ASSERT_FALSE(
                                one.is(id_type::pack(key, v, w), id_type::pack(0, 0, world)));
            }
}

TYPED_TEST(record_of, bits_beyond_the_layout_are_refused) {
    using id_type = basic_id<TypeParam>;
    using rep = typename TypeParam::rep;
    const std::uint64_t world = TypeParam::last_world;
    const id_type e = id_type::pack(TypeParam::last_key, 1, world);
    const auto one = record<TypeParam>::live(e);
    ASSERT_TRUE(one.is(e, id_type::pack(0, 0, world)));
    for (unsigned bit = TypeParam::used_bits; bit < 8 * sizeof(rep); ++bit) {
        const auto more = static_cast<rep>(e.value() | rep{1} << bit);
        EXPECT_FALSE(one.is(id_type::from_value(more), id_type::pack(0, 0, world))) << bit;
    }
}

/// How many of all ids that there are the record says to be.
template <class Layout>
std::size_t count_ids(const narrow_record<Layout>& one, std::uint64_t world) {
    std::size_t sum = 0;
    for (unsigned value = 0; value < 0x10000; ++value) {
        const auto e = basic_id<Layout>::from_value(static_cast<std::uint16_t>(value));
        sum += one.is(e, basic_id<Layout>::pack(0, 0, world)) ? 1u : 0u;
    }
    return sum;
}

template <class Layout>
class small_record_of : public testing::Test {};
using small_layouts = testing::Types<tiny, whole_16, no_world_16>;
TYPED_TEST_SUITE(small_record_of, small_layouts, test::layout_names);

TYPED_TEST(small_record_of, a_dead_one_is_none_of_all_ids_in_any_world) {
    using tested = narrow_record<TypeParam>;
    for (const std::uint64_t version : corners(TypeParam::last_version))
        for (const std::uint64_t next : {std::uint64_t{0}, TypeParam::last_key})
            for (const std::uint64_t world : corners(TypeParam::last_world))
                ASSERT_EQ(count_ids(tested::dead(0, next, version), world), 0u);
}

TYPED_TEST(small_record_of, a_living_one_is_the_ids_of_its_version_and_world_and_no_others) {
    using tested = narrow_record<TypeParam>;
    using id_type = basic_id<TypeParam>;
    for (const std::uint64_t version : corners(TypeParam::last_version))
        for (const std::uint64_t world : corners(TypeParam::last_world)) {
            tested one = tested::live(id_type::pack(0, version, world));
            one.place(chunk_index{low_bits(tested::chunk_bits)}, low_bits(tested::row_bits));
            // One for each key, which the record does not know: it is found by it.
            ASSERT_EQ(count_ids(one, world), TypeParam::last_key + 1);
            for (std::uint64_t key = 0; key <= TypeParam::last_key; ++key)
                ASSERT_TRUE(one.is(id_type::pack(key, version, world), id_type::pack(0, 0, world)));
        }
}

}  // namespace
}  // namespace muster::detail
