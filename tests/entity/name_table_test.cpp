#include <muster/entity/name_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>

namespace muster::detail {
namespace {

using ids = array_list<std::uint64_t>;

TEST(name_table, starts_empty) {
    name_table table;
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(table.find(1), "");
    EXPECT_TRUE(table.lookup("goblin").empty());
    table.erase(1);
    EXPECT_TRUE(table.empty());
}

TEST(name_table, finds_the_name_by_id_and_the_id_by_name) {
    name_table table;
    table.set(7, "goblin");
    EXPECT_FALSE(table.empty());
    EXPECT_EQ(table.find(7), "goblin");
    EXPECT_EQ(table.lookup("goblin"), ids{7});
    EXPECT_EQ(table.find(8), "");
    EXPECT_TRUE(table.lookup("Goblin").empty());
    EXPECT_TRUE(table.lookup("gob").empty());
}

TEST(name_table, lookup_returns_ids_in_the_order_of_their_naming) {
    name_table table;
    for (const std::uint64_t id : {5u, 1u, 9u, 3u}) table.set(id, "goblin");
    EXPECT_EQ(table.lookup("goblin"), (ids{5, 1, 9, 3}));
    table.erase(1);
    EXPECT_EQ(table.lookup("goblin"), (ids{5, 9, 3}));
    table.set(1, "goblin");
    EXPECT_EQ(table.lookup("goblin"), (ids{5, 9, 3, 1}));
}

TEST(name_table, setting_the_same_name_keeps_the_order) {
    name_table table;
    for (const std::uint64_t id : {1u, 2u}) table.set(id, "goblin");
    table.set(1, "goblin");
    EXPECT_EQ(table.lookup("goblin"), (ids{1, 2}));
}

TEST(name_table, a_new_name_replaces_the_old_name) {
    name_table table;
    table.set(1, "goblin");
    table.set(2, "goblin");
    table.set(1, "orc");
    EXPECT_EQ(table.find(1), "orc");
    EXPECT_EQ(table.lookup("orc"), ids{1});
    EXPECT_EQ(table.lookup("goblin"), ids{2});
    table.set(2, "orc");
    EXPECT_EQ(table.lookup("orc"), (ids{1, 2}));
    EXPECT_TRUE(table.lookup("goblin").empty());
}

TEST(name_table, an_empty_name_removes_the_name) {
    name_table table;
    table.set(1, "goblin");
    table.set(1, "");
    EXPECT_EQ(table.find(1), "");
    EXPECT_TRUE(table.lookup("goblin").empty());
    EXPECT_TRUE(table.lookup("").empty());
    EXPECT_TRUE(table.empty());
    table.set(2, "");
    EXPECT_TRUE(table.empty());
}

TEST(name_table, erasing_a_name_keeps_the_others) {
    name_table table;
    table.set(1, "goblin");
    table.set(2, "orc");
    table.erase(1);
    table.erase(1);
    table.erase(99);
    EXPECT_EQ(table.find(1), "");
    EXPECT_TRUE(table.lookup("goblin").empty());
    EXPECT_EQ(table.find(2), "orc");
    EXPECT_FALSE(table.empty());
}

TEST(name_table, set_accepts_a_view_into_the_table) {
    name_table table;
    table.set(1, "a name that is too long to be kept inside a string");
    table.set(2, table.find(1));
    EXPECT_EQ(table.lookup(table.find(1)), (ids{1, 2}));
    table.erase(2);
    table.set(1, table.find(1).substr(2));  // a suffix of the name that `set` replaces
    EXPECT_EQ(table.find(1), "name that is too long to be kept inside a string");
    EXPECT_EQ(table.lookup(table.find(1)), ids{1});
}

TEST(name_table, keeps_every_byte_of_a_name) {
    name_table table;
    const std::string name("nul \0 and \xC3\xA4", 12);
    table.set(1, name);
    EXPECT_EQ(table.find(1), name);
    EXPECT_EQ(table.lookup(name), ids{1});
    EXPECT_TRUE(table.lookup("nul ").empty());
}

TEST(name_table, agrees_with_a_plain_map_over_random_changes) {
    name_table table;
    std::map<std::uint64_t, std::string> names;
    std::map<std::string, ids> order;
    std::mt19937_64 dice(11);
    for (int i = 0; i < 5'000; ++i) {
        const std::uint64_t id = dice() % 40;
        const std::uint64_t which = dice() % 8;
        const std::string name = which == 0 ? "" : "name " + std::to_string(which);
        if (names[id] != name) {
            order[names[id]].erase_value(id);
            if (!name.empty()) order[name].push_back(id);
            names[id] = name;
        }
        table.set(id, name);
        ASSERT_EQ(table.find(id), name);
        for (const auto& [key, named] : order) ASSERT_EQ(table.lookup(key), named) << "step " << i;
    }
    EXPECT_EQ(table.empty(),
              std::ranges::all_of(names, [](const auto& entry) { return entry.second.empty(); }));
}

}  // namespace
}  // namespace muster::detail
