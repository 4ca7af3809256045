#include <muster/id/id_pool.hpp>
#include <muster/id/layout.hpp>

#include <gtest/gtest.h>

#include <type_traits>

#include "support/layouts.hpp"

namespace muster {
namespace {

TEST(layout, the_presets_split_their_bits_as_documented) {
    static_assert(layouts::bound::key_bits == 32 && layouts::bound::version_bits == 16 &&
                  layouts::bound::world_bits == 16 && layouts::bound::used_bits == 64);
    static_assert(layouts::compact::key_bits == 20 && layouts::compact::version_bits == 12);
    static_assert(layouts::exact::used_bits == 53 && layouts::packed::used_bits == 40);
    EXPECT_EQ(layouts::bound::last_key, 0xFFFF'FFFFu);
    EXPECT_EQ(layouts::compact::last_key, 0xF'FFFFu);
    EXPECT_EQ(layouts::compact::last_version, 0xFFFu);
    EXPECT_EQ(layouts::exact::first_key, 1u);
    EXPECT_EQ(layouts::packed::first_version, 1u);
}

TEST(layout, null_is_0_if_no_issued_id_can_be_0_and_all_ones_otherwise) {
    EXPECT_EQ(layouts::bound::null_value, 0u);              // worlds start at 1
    EXPECT_EQ(layouts::compact::null_value, 0xFFFF'FFFFu);  // key 0, version 0 is the first id
    EXPECT_EQ(layouts::exact::null_value, 0u);
    EXPECT_EQ(layouts::packed::null_value, 0u);
    using from_key_1 = layout<std::uint16_t, id_bits{.key = 8, .version = 8, .first_key = 1}>;
    using from_version_1 =
        layout<std::uint16_t, id_bits{.key = 8, .version = 8, .first_version = 1}>;
    using from_0 = layout<std::uint16_t, id_bits{.key = 7, .version = 8}>;
    EXPECT_EQ(from_key_1::null_value, 0u);
    EXPECT_EQ(from_version_1::null_value, 0u);
    EXPECT_EQ(from_0::null_value, 0xFFFFu);
}

TEST(layout, the_last_version_is_issued_only_if_versions_wrap) {
    EXPECT_EQ(test::nibble<exhaustion::retire>::last_issued_version, 14u);
    EXPECT_EQ(test::nibble<exhaustion::tombstone>::last_issued_version, 14u);
    EXPECT_EQ(test::nibble<exhaustion::wrap>::last_issued_version, 15u);
}

TEST(layout, may_use_all_bits_or_leave_some_unused) {
    using whole = layout<std::uint64_t, id_bits{.key = 1, .version = 62, .world = 1}>;
    static_assert(whole::used_bits == 64 && whole::last_world == 1 && whole::last_key == 1);
    using part = layout<std::uint64_t, id_bits{.key = 3, .version = 2}>;
    static_assert(part::used_bits == 5 && part::last_world == 0);
}

struct own : layout<std::uint32_t, id_bits{.key = 24, .version = 8}> {};

TEST(layout, a_struct_derived_from_a_layout_is_a_layout) {
    using alias = layout<std::uint32_t, id_bits{.key = 24, .version = 8}>;
    static_assert(!std::is_same_v<basic_id<own>, basic_id<alias>>);
    static_assert(sizeof(basic_id<own>) == 4 && own::last_key == alias::last_key);
    id_pool<own> ids;
    EXPECT_EQ(to_string(ids.create()), "E:0[0]");
    static_assert(
        std::is_empty_v<layouts::bound> &&
        std::is_base_of_v<layout<std::uint64_t, id_bits{.key = 32, .version = 16, .world = 16}>,
                          layouts::bound>);
}

}  // namespace
}  // namespace muster
