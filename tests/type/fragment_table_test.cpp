#include <muster/type/fragment_table.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace muster::detail {
namespace {

void give_id(fragment_data& fragment, std::uint64_t id) {
    std::memcpy(fragment.id, &id, sizeof id);
}

TEST(fragment_table, a_type_that_was_not_met_has_the_fragment_that_no_chunk_has) {
    const fragment_table table;
    for (const std::uint32_t type : {0u, 1u, 7u, 8u, 1'000'000u, ~0u})
        EXPECT_EQ(&table.find(type_index{type}), &no_fragment);
    EXPECT_TRUE(table.all().empty());
    EXPECT_EQ(no_fragment.base(chunk_index{0}), nullptr);
    EXPECT_EQ(no_fragment.base(chunk_index{~0u}), nullptr);
}

TEST(fragment_table, finds_what_was_added) {
    fragment_table table;
    const fragment_data& numbers = table.add(type_index{3}, type_info_of<int>);
    const fragment_data& names = table.add(type_index{1}, type_info_of<std::string>);
    EXPECT_EQ(&table.find(type_index{3}), &numbers);
    EXPECT_EQ(&table.find(type_index{1}), &names);
    EXPECT_EQ(&table.find(type_index{2}), &no_fragment);
    EXPECT_EQ(numbers.type, &type_info_of<int>);
    EXPECT_EQ(numbers.name, "int");
    EXPECT_EQ(names.name, "std::string");
    EXPECT_TRUE(numbers.chunks.empty());
    EXPECT_EQ(numbers.base(chunk_index{0}), nullptr);
}

TEST(fragment_table, the_types_between_two_that_are_far_apart_have_none) {
    fragment_table table;
    const fragment_data& low = table.add(type_index{2}, type_info_of<int>);
    const fragment_data& high = table.add(type_index{5000}, type_info_of<int>);
    EXPECT_EQ(&table.find(type_index{2}), &low);
    EXPECT_EQ(&table.find(type_index{5000}), &high);
    for (std::uint32_t type = 3; type < 5000; ++type)
        ASSERT_EQ(&table.find(type_index{type}), &no_fragment);
    for (std::uint32_t type = 5001; type < 12'000; ++type)
        ASSERT_EQ(&table.find(type_index{type}), &no_fragment);
}

TEST(fragment_table, lists_its_fragments_by_registration) {
    fragment_table table;
    std::vector<fragment_data*> made;
    for (const std::uint32_t type : {9u, 2u, 40u, 1u})
        made.push_back(&table.add(type_index{type}, type_info_of<int>));
    EXPECT_EQ(table.all(), made);
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(made[i]->index, fragment_index{i});
}

TEST(fragment_table, forgets_what_was_removed_and_nothing_else) {
    fragment_table table;
    const fragment_data& first = table.add(type_index{1}, type_info_of<int>);
    const fragment_data& second = table.add(type_index{2}, type_info_of<float>);
    const fragment_data& third = table.add(type_index{3}, type_info_of<std::string>);
    table.remove(second);
    EXPECT_EQ(&table.find(type_index{2}), &no_fragment);
    EXPECT_EQ(&table.find(type_index{1}), &first);
    EXPECT_EQ(&table.find(type_index{3}), &third);
    ASSERT_EQ(table.all().size(), 2u);
    EXPECT_EQ(table.all()[0], &first);
    EXPECT_EQ(table.all()[1], &third);
}

TEST(fragment_table, never_gives_a_number_twice) {
    fragment_table table;
    std::set<fragment_index> seen;
    for (std::uint32_t i = 0; i < 50; ++i) {
        const fragment_data& made = table.add(type_index{1}, type_info_of<int>);
        EXPECT_TRUE(seen.insert(made.index).second);
        EXPECT_EQ(&table.find(type_index{1}), &made);
        table.remove(made);
    }
}

TEST(fragment_table, finds_a_fragment_by_the_bytes_of_its_id) {
    fragment_table table;
    fragment_data& first = table.add(type_index{1}, type_info_of<int>);
    fragment_data& second = table.add(type_index{2}, type_info_of<int>);
    give_id(first, 0x0001'0000'FFFF'FFFF);
    give_id(second, 0x0001'0000'FFFF'FFFE);
    for (fragment_data* one : {&first, &second})
        EXPECT_EQ(table.find_id(one->id, sizeof(std::uint64_t)), one);
    const std::uint64_t of_nobody = 0x0002'0000'FFFF'FFFF;
    EXPECT_EQ(table.find_id(&of_nobody, sizeof of_nobody), nullptr);
    table.remove(first);
    const std::uint64_t of_the_first = 0x0001'0000'FFFF'FFFF;
    EXPECT_EQ(table.find_id(&of_the_first, sizeof of_the_first), nullptr);
}

TEST(fragment_table, the_bytes_beyond_a_small_id_do_not_count) {
    fragment_table table;
    fragment_data& one = table.add(type_index{1}, type_info_of<int>);
    give_id(one, 0xABCD'EF01'0000'0007);
    const std::uint32_t small = 7;
    EXPECT_EQ(table.find_id(&small, sizeof small), &one);
}

}  // namespace
}  // namespace muster::detail
