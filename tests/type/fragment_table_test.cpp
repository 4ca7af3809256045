#include <muster/type/fragment_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(fragment_table, find_returns_no_fragment_for_an_unknown_type) {
    const fragment_table table;
    for (const std::uint32_t type : {0u, 1u, 7u, 8u, 1'000'000u, ~0u})
        EXPECT_EQ(&table.find(type_index{type}), &no_fragment);
    EXPECT_TRUE(table.all().empty());
    EXPECT_EQ(no_fragment.base(chunk_index{0}), nullptr);
    EXPECT_EQ(no_fragment.base(chunk_index{~0u}), nullptr);
}

TEST(fragment_table, finds_a_fragment_by_its_type) {
    fragment_table table;
    const fragment_data& numbers = table.add(type_index{3}, type_info_of<int>, 100 + 3);
    const fragment_data& names = table.add(type_index{1}, type_info_of<std::string>, 100 + 1);
    EXPECT_EQ(&table.find(type_index{3}), &numbers);
    EXPECT_EQ(&table.find(type_index{1}), &names);
    EXPECT_EQ(&table.find(type_index{2}), &no_fragment);
    EXPECT_EQ(numbers.type, &type_info_of<int>);
    EXPECT_EQ(numbers.name, "int");
    EXPECT_EQ(names.name, "std::string");
    EXPECT_TRUE(numbers.chunks.empty());
    EXPECT_EQ(numbers.base(chunk_index{0}), nullptr);
}

TEST(fragment_table, types_between_two_registered_types_have_no_fragment) {
    fragment_table table;
    const fragment_data& low = table.add(type_index{2}, type_info_of<int>, 100 + 2);
    const fragment_data& high = table.add(type_index{5000}, type_info_of<int>, 100 + 5000);
    EXPECT_EQ(&table.find(type_index{2}), &low);
    EXPECT_EQ(&table.find(type_index{5000}), &high);
    for (std::uint32_t type = 3; type < 5000; ++type)
        ASSERT_EQ(&table.find(type_index{type}), &no_fragment);
    for (std::uint32_t type = 5001; type < 12'000; ++type)
        ASSERT_EQ(&table.find(type_index{type}), &no_fragment);
}

TEST(fragment_table, lists_fragments_in_registration_order) {
    fragment_table table;
    array_list<fragment_data*> made;
    for (const std::uint32_t type : {9u, 2u, 40u, 1u})
        made.push_back(&table.add(type_index{type}, type_info_of<int>, 100 + type));
    EXPECT_EQ(table.all(), made);
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(made[i]->index, fragment_index{i});
}

TEST(fragment_table, removing_a_fragment_keeps_the_others) {
    fragment_table table;
    const fragment_data& first = table.add(type_index{1}, type_info_of<int>, 100 + 1);
    fragment_data& second = table.add(type_index{2}, type_info_of<float>, 100 + 2);
    const fragment_data& third = table.add(type_index{3}, type_info_of<std::string>, 100 + 3);
    second.value_type = type_index{2};
    table.remove(second);
    EXPECT_EQ(&table.find(type_index{2}), &no_fragment);
    EXPECT_EQ(&table.find(type_index{1}), &first);
    EXPECT_EQ(&table.find(type_index{3}), &third);
    ASSERT_EQ(table.all().size(), 2u);
    EXPECT_EQ(table.all()[0], &first);
    EXPECT_EQ(table.all()[1], &third);
}

TEST(fragment_table, never_reuses_a_fragment_index) {
    fragment_table table;
    std::set<fragment_index> seen;
    for (std::uint32_t i = 0; i < 50; ++i) {
        fragment_data& made = table.add(type_index{1}, type_info_of<int>, 100 + 1);
        made.value_type = type_index{1};
        EXPECT_TRUE(seen.insert(made.index).second);
        EXPECT_EQ(&table.find(type_index{1}), &made);
        table.remove(made);
        EXPECT_EQ(&table.find(type_index{1}), &no_fragment);
    }
}

TEST(fragment_table, a_fragment_that_only_has_values_of_a_type_does_not_shadow_its_fragment) {
    fragment_table table;
    fragment_data& owned = table.add(type_index{1}, type_info_of<int>, 1);
    owned.value_type = type_index{1};
    fragment_data& other = table.add(no_type, type_info_of<int>, 2);
    other.value_type = type_index{1};
    EXPECT_EQ(&table.find(type_index{1}), &owned);
    table.remove(other);
    EXPECT_EQ(&table.find(type_index{1}), &owned);
}

TEST(fragment_table, lookup_returns_no_fragment_where_find_returns_null) {
    fragment_table table;
    EXPECT_EQ(&table.lookup(7), &no_fragment);
    EXPECT_EQ(&table.lookup(0), &no_fragment);
    const fragment_data& made = table.add(no_type, type_info_of<int>, 7);
    EXPECT_EQ(&table.lookup(7), &made);
    EXPECT_EQ(&table.lookup(8), &no_fragment);
}

TEST(fragment_data, bases_start_at_the_first_chunk_and_grow_in_both_directions) {
    fragment_data tested;
    std::map<std::uint32_t, std::byte*> model;
    std::byte column[40];
    std::uint32_t next = 0;
    for (const std::uint32_t chunk : {500u, 503u, 400u, 399u, 1000u, 0u, 1u, 200u}) {
        tested.reserve_base(chunk_index{chunk});
        tested.set_base(chunk_index{chunk}, model[chunk] = &column[next++]);
        for (std::uint32_t i = 0; i < 1200; ++i)
            ASSERT_EQ(tested.base(chunk_index{i}), model.contains(i) ? model[i] : nullptr)
                << chunk << " " << i;
    }
    tested.set_base(chunk_index{400}, nullptr);
    EXPECT_EQ(tested.base(chunk_index{400}), nullptr);
    EXPECT_EQ(tested.base(chunk_index{399}), model[399]);
}

TEST(fragment_data, bases_of_a_fragment_with_a_low_chunk_start_at_chunk_0) {
    fragment_data low;
    std::byte column[1];
    low.reserve_base(chunk_index{63});
    low.set_base(chunk_index{63}, column);
    EXPECT_EQ(low.first, 0u);
    EXPECT_EQ(low.dense_end, 64u);
    for (std::uint32_t i = 0; i < 70; ++i)
        EXPECT_EQ(low.base(chunk_index{i}), i == 63 ? column : nullptr) << i;

    fragment_data high;
    high.reserve_base(chunk_index{64});
    high.set_base(chunk_index{64}, column);
    EXPECT_EQ(high.first, 64u);
    EXPECT_EQ(high.dense_end, 0u);
    EXPECT_EQ(high.base(chunk_index{64}), column);
    EXPECT_EQ(high.base(chunk_index{0}), nullptr);
    high.reserve_base(chunk_index{0});
    high.set_base(chunk_index{0}, column);
    EXPECT_EQ(high.dense_end, 65u);
    EXPECT_EQ(high.base(chunk_index{0}), column);
    EXPECT_EQ(high.base(chunk_index{1}), nullptr);
}

TEST(fragment_table, finds_a_fragment_by_its_id) {
    fragment_table table;
    const fragment_data& first = table.add(type_index{1}, type_info_of<int>, 0x0001'0000'FFFF'FFFF);
    const fragment_data& second = table.add(no_type, type_info_of<int>, 0x0001'0000'FFFF'FFFE);
    const fragment_data& zero = table.add(no_type, type_info_of<int>, 0);
    EXPECT_EQ(table.find(0x0001'0000'FFFF'FFFF), &first);
    EXPECT_EQ(table.find(0x0001'0000'FFFF'FFFE), &second);
    EXPECT_EQ(table.find(std::uint64_t{0}), &zero);
    EXPECT_EQ(table.find(0x0002'0000'FFFF'FFFF), nullptr);
    EXPECT_EQ(&table.find(no_type),
              &no_fragment);  // a fragment without a type is found by its id only
    table.remove(zero);
    EXPECT_EQ(table.find(std::uint64_t{0}), nullptr);
    table.remove(first);
    EXPECT_EQ(table.find(0x0001'0000'FFFF'FFFF), nullptr);
    EXPECT_EQ(table.find(0x0001'0000'FFFF'FFFE), &second);
}

TEST(fragment_table, finds_all_ids_with_equal_low_bits) {
    fragment_table table;
    std::map<std::uint64_t, const fragment_data*> made;
    for (std::uint64_t i = 0; i < 300; ++i) {
        const std::uint64_t id = i << (i % 3 * 20) | (i & 1) << 63;
        if (made.contains(id)) continue;
        made[id] = &table.add(no_type, type_info_of<int>, id);
        if (i % 7 == 6) {
            table.remove(*made.begin()->second);
            EXPECT_EQ(table.find(made.begin()->first), nullptr);
            made.erase(made.begin());
        }
        for (const auto& [known, fragment] : made) ASSERT_EQ(table.find(known), fragment) << i;
    }
    EXPECT_EQ(
        table.all().size() - static_cast<std::size_t>(std::ranges::count(table.all(), nullptr)),
        made.size());
}

TEST(fragment_table, finds_a_fragment_by_its_key) {
    fragment_table table;
    const fragment_data& likes = table.add(fragment_key{1, 7, 0}, type_info_of<int>, 100);
    const fragment_data& hates = table.add(fragment_key{1, 0, 7}, type_info_of<int>, 101);
    const fragment_data& other = table.add(fragment_key{2, 7, 0}, type_info_of<int>, 102);
    EXPECT_EQ(table.find(fragment_key{1, 7, 0}), &likes);
    EXPECT_EQ(table.find(fragment_key{1, 0, 7}), &hates);
    EXPECT_EQ(table.find(fragment_key{2, 7, 0}), &other);
    EXPECT_EQ(table.find(fragment_key{1, 7, 7}), nullptr);
    EXPECT_EQ(table.find(fragment_key{}), nullptr);
    EXPECT_EQ(&table.lookup(101), &hates);
    EXPECT_EQ(likes.value_type, no_type);
    table.remove(likes);
    EXPECT_EQ(table.find(fragment_key{1, 7, 0}), nullptr);
    EXPECT_EQ(table.find(fragment_key{1, 0, 7}), &hates);
}

TEST(fragment_table, lists_the_fragments_of_a_kind_in_the_order_of_their_keys) {
    fragment_table table;
    table.add(type_index{1}, type_info_of<int>, 99);
    const fragment_data& c = table.add(fragment_key{1, 2, 1}, type_info_of<int>, 100);
    const fragment_data& a = table.add(fragment_key{1, 1, 9}, type_info_of<int>, 101);
    const fragment_data& b = table.add(fragment_key{1, 2, 0}, type_info_of<int>, 102);
    table.add(fragment_key{2, 0, 0}, type_info_of<int>, 103);
    const array_list<fragment_data*> found = table.list(1);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0], &a);
    EXPECT_EQ(found[1], &b);
    EXPECT_EQ(found[2], &c);
    EXPECT_TRUE(table.list(3).empty());
}

TEST(fragment_table, many_keys_are_found_and_removed) {
    fragment_table table;
    for (std::uint64_t i = 0; i < 3'000; ++i)
        table.add(fragment_key{1, i % 60, i / 60}, type_info_of<int>, 1000 + i);
    for (std::uint64_t i = 0; i < 3'000; ++i) {
        const fragment_data* const found = table.find(fragment_key{1, i % 60, i / 60});
        ASSERT_NE(found, nullptr);
        ASSERT_EQ(found->id, 1000 + i);
        if (i % 3 == 0) table.remove(*found);
    }
    for (std::uint64_t i = 0; i < 3'000; ++i)
        ASSERT_EQ(table.find(fragment_key{1, i % 60, i / 60}) == nullptr, i % 3 == 0);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
