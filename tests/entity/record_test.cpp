#include <muster/entity/record.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <type_traits>

#include "support/layouts.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

/// Uses every bit of a narrow record.
using brimful = layout<std::uint64_t, id_bits{.key = 16, .version = 27, .world = 21}>;
/// 16 bits, all of them used.
using whole_16 = layout<std::uint16_t, id_bits{.key = 4, .version = 4, .world = 8}>;
using no_world_16 = layout<std::uint16_t, id_bits{.key = 1, .version = 14}>;
using tiny = test::tiny_bound<exhaustion::retire>;  // 15 of 16 bits used

TEST(record, has_8_bytes_if_version_and_location_fit_else_16) {
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

TEST(record, of_the_default_layout_is_split_as_documented) {
    using drawn = narrow_record<layouts::bound>;
    static_assert(drawn::version_bits == 16 && drawn::chunk_bits == 20 && drawn::row_bits == 27);
    drawn tested_record = drawn::live(id::pack(0, 0x8001, 5));
    tested_record.place(chunk_index{0x8'0001}, 0x400'0001);
    EXPECT_EQ(tested_record.word,
              std::uint64_t{0x8001} << 47 | std::uint64_t{0x8'0001} << 27 | 0x400'0001u);
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

TYPED_TEST(record_of, a_live_record_matches_its_id_at_every_location) {
    using tested = record<TypeParam>;
    using id_type = basic_id<TypeParam>;
    const std::uint64_t last_chunk = low_bits(tested::chunk_bits);
    const std::uint64_t last_row = low_bits(tested::row_bits);
    for (const std::uint64_t key : corners(TypeParam::last_key))
        for (const std::uint64_t version : corners(TypeParam::last_version))
            for (const std::uint64_t world : corners(TypeParam::last_world)) {
                const id_type e = id_type::pack(key, version, world);
                tested tested_record = tested::live(e);
                EXPECT_TRUE(tested_record.is(e, id_type::pack(0, 0, world)));
                EXPECT_EQ(tested_record.chunk(), chunk_index{});
                EXPECT_EQ(tested_record.row(), 0u);
                for (const std::uint64_t chunk : corners(last_chunk))
                    for (const std::uint64_t row : corners(last_row)) {
                        tested_record.place(chunk_index{static_cast<std::uint32_t>(chunk)}, row);
                        ASSERT_EQ(to_int(tested_record.chunk()), chunk);
                        ASSERT_EQ(tested_record.row(), row);
                        ASSERT_EQ(tested_record.version(), version);
                        ASSERT_TRUE(tested_record.is(e, id_type::pack(0, 0, world)));
                        ASSERT_TRUE(tested_record.is_live(key));
                    }
                tested_record.place(chunk_index{}, 0);
                EXPECT_EQ(tested_record.chunk(), chunk_index{});
                EXPECT_EQ(tested_record.row(), 0u);
            }
}

TYPED_TEST(record_of, a_dead_record_stores_the_next_key_and_version) {
    using tested = record<TypeParam>;
    for (const std::uint64_t key : corners(TypeParam::last_key))
        for (const std::uint64_t next : corners(TypeParam::last_key))
            for (const std::uint64_t version : corners(TypeParam::last_version)) {
                if (next == key) continue;  // no free key links to itself
                const tested tested_record = tested::dead(key, next, version);
                EXPECT_FALSE(tested_record.is_live(key));
                EXPECT_EQ(tested_record.next(), next);
                EXPECT_EQ(tested_record.version(), version);
            }
}

TYPED_TEST(record_of, a_dead_record_matches_no_id_of_its_key) {
    using tested = record<TypeParam>;
    using id_type = basic_id<TypeParam>;
    for (const std::uint64_t key : corners(TypeParam::last_key))
        for (const std::uint64_t next : corners(TypeParam::last_key))
            for (const std::uint64_t version : corners(TypeParam::last_version)) {
                if (next == key) continue;
                const tested tested_record = tested::dead(key, next, version);
                for (const std::uint64_t v : corners(TypeParam::last_version))
                    for (const std::uint64_t w : corners(TypeParam::last_world))
                        for (const std::uint64_t world : corners(TypeParam::last_world))
                            ASSERT_FALSE(tested_record.is(id_type::pack(key, v, w),
                                                          id_type::pack(0, 0, world)));
            }
}

TYPED_TEST(record_of, an_id_with_bits_beyond_the_layout_does_not_match) {
    using id_type = basic_id<TypeParam>;
    using rep = typename TypeParam::rep;
    const std::uint64_t world = TypeParam::last_world;
    const id_type e = id_type::pack(TypeParam::last_key, 1, world);
    const auto tested_record = record<TypeParam>::live(e);
    ASSERT_TRUE(tested_record.is(e, id_type::pack(0, 0, world)));
    for (unsigned bit = TypeParam::used_bits; bit < 8 * sizeof(rep); ++bit) {
        const auto more = static_cast<rep>(e.value() | rep{1} << bit);
        EXPECT_FALSE(tested_record.is(id_type::from_value(more), id_type::pack(0, 0, world)))
            << bit;
    }
}

/// Counts the ids, among all bit patterns, that the record matches.
template <class Layout>
std::size_t count_ids(const narrow_record<Layout>& tested, std::uint64_t world) {
    std::size_t sum = 0;
    for (unsigned value = 0; value < 0x10000; ++value) {
        const auto e = basic_id<Layout>::from_value(static_cast<std::uint16_t>(value));
        sum += tested.is(e, basic_id<Layout>::pack(0, 0, world)) ? 1u : 0u;
    }
    return sum;
}

template <class Layout>
class small_record_of : public testing::Test {};
using small_layouts = testing::Types<tiny, whole_16, no_world_16>;
TYPED_TEST_SUITE(small_record_of, small_layouts, test::layout_names);

TYPED_TEST(small_record_of, a_dead_record_matches_no_id_in_any_world) {
    using tested = narrow_record<TypeParam>;
    for (const std::uint64_t version : corners(TypeParam::last_version))
        for (const std::uint64_t next : {std::uint64_t{0}, TypeParam::last_key})
            for (const std::uint64_t world : corners(TypeParam::last_world))
                ASSERT_EQ(count_ids(tested::dead(0, next, version), world), 0u);
}

TYPED_TEST(small_record_of, a_live_record_matches_only_ids_of_its_version_and_world) {
    using tested = narrow_record<TypeParam>;
    using id_type = basic_id<TypeParam>;
    for (const std::uint64_t version : corners(TypeParam::last_version))
        for (const std::uint64_t world : corners(TypeParam::last_world)) {
            tested tested_record = tested::live(id_type::pack(0, version, world));
            tested_record.place(chunk_index{low_bits(tested::chunk_bits)},
                                low_bits(tested::row_bits));
            // One id per key: the key is the record's index, not part of the record.
            ASSERT_EQ(count_ids(tested_record, world), TypeParam::last_key + 1);
            for (std::uint64_t key = 0; key <= TypeParam::last_key; ++key)
                ASSERT_TRUE(tested_record.is(id_type::pack(key, version, world),
                                             id_type::pack(0, 0, world)));
        }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
