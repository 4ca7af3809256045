// fragment_data: which fragments have values of the same type, keys and implied changes that differ in one part, and
// tables with holes.
#include <muster/type/fragment_table.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(fragment_comparison, of_types_without_a_number_compares_each_operation) {
    const type_info bytes{"bytes", 8, 8};
    fragment_data one;
    fragment_data other;
    one.type = &bytes;
    const auto is_same = [&](const type_info& type) {
        other.type = &type;
        EXPECT_EQ(one.has_same_type(other), other.has_same_type(one));
        return one.has_same_type(other);
    };
    type_info like = bytes;
    like.name = "other bytes";
    EXPECT_TRUE(is_same(like));
    EXPECT_FALSE(is_same({"bytes", 16, 8}));
    EXPECT_FALSE(is_same({"bytes", 8, 4}));
    type_info moved = bytes;
    moved.relocate = [](void*, void*, std::size_t) noexcept {};
    EXPECT_FALSE(is_same(moved));
    type_info destroyed = bytes;
    destroyed.destroy = [](void*, std::size_t) noexcept {};
    EXPECT_FALSE(is_same(destroyed));
    type_info copied = bytes;
    copied.copy = [](void*, const void*, std::size_t, std::size_t) {};
    EXPECT_FALSE(is_same(copied));
    type_info constructed = bytes;
    constructed.construct = [](void*, std::size_t) {};
    EXPECT_FALSE(is_same(constructed));
    other.value_type = type_index{7};
    EXPECT_FALSE(is_same(like));
}

TEST(fragment_comparison, of_keys_and_implied_changes_depends_on_each_part) {
    const fragment_key key{1, 2, 3};
    EXPECT_TRUE((key == fragment_key{1, 2, 3}));
    EXPECT_FALSE((key == fragment_key{9, 2, 3}));
    EXPECT_FALSE((key == fragment_key{1, 9, 3}));
    EXPECT_FALSE((key == fragment_key{1, 2, 9}));
    fragment_data one;
    fragment_data other;
    const implied_change rule{&one, true, true, 5};
    EXPECT_TRUE((rule == implied_change{&one, true, true, 6}));  // the place is no part of the rule
    EXPECT_FALSE((rule == implied_change{&other, true, true, 5}));
    EXPECT_FALSE((rule == implied_change{&one, false, true, 5}));
    EXPECT_FALSE((rule == implied_change{&one, true, false, 5}));
}

TEST(fragment_holes, are_skipped_when_a_table_is_searched_or_tracked) {
    fragment_table table;
    const fragment_data& gone = table.add(fragment_key{1, 1, 0}, type_info_of<int>, 100);
    fragment_data& stays = table.add(fragment_key{1, 2, 0}, type_info_of<int>, 101);
    table.remove(gone);
    const array_list<fragment_data*> found = table.list(1);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0], &stays);
    table.track_writes(true);
    EXPECT_TRUE(stays.tracks_writes);
    table.track_writes(false);
    EXPECT_FALSE(stays.tracks_writes);
    for (std::uint64_t i = 0; i < 200; ++i)  // rehashes
        table.add(fragment_key{2, i, 0}, type_info_of<int>, 200 + i);
    EXPECT_EQ(&table.lookup(101), &stays);
    EXPECT_EQ(&table.lookup(100), &no_fragment);
}

TEST(fragment_bases, keep_the_ticks_of_writes_when_they_grow_towards_lower_chunks) {
    fragment_table table;
    fragment_data& fragment = table.add(type_index{3}, type_info_of<int>, 100);
    table.track_writes(true);
    std::byte there;
    const auto reserve = [&](std::uint32_t chunk) {
        fragment.reserve_base(chunk_index{chunk});
        fragment.set_base(chunk_index{chunk}, &there);
    };
    reserve(20);
    fragment.written[20 - fragment.first] = 7;
    reserve(10);
    EXPECT_LE(fragment.first, 10u);
    EXPECT_EQ(fragment.written[20 - fragment.first], 7u);
    EXPECT_EQ(fragment.written[10 - fragment.first], 0u);
    EXPECT_EQ(fragment.base(chunk_index{20}), &there);
}

TEST(fragment_copies, of_plain_values_need_no_destruction_if_the_user_function_throws) {
    fragment_table table;
    fragment_data& fragment = table.add(type_index{3}, type_info_of<int>, 100);
    fragment.duplicate.call = [](const void*, void* to, const void* from) {
        if (*static_cast<const int*>(from) < 0) throw 5;
        *static_cast<int*>(to) = 2 * *static_cast<const int*>(from);
    };
    int from = 4;
    int to[3] = {};
    fragment.copy_value(to, &from, 3);
    EXPECT_EQ(to[0] + to[1] + to[2], 24);
    from = -1;
    EXPECT_THROW(fragment.copy_value(to, &from, 3), int);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
