#include <muster/base/array_list.hpp>
#include <muster/entity/name_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <map>
#include <random>
#include <string>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {
namespace {

using ids = array_list<std::uint64_t>;

/// The ids with this name, in the order of the list; also checks the way back.
ids ids_of(const name_table& table, std::string_view name) {
    ids made;
    const name_table::named* last = nullptr;
    for (const name_table::named* found = table.lookup(name); found != nullptr;
         last = found, found = found->next) {
        EXPECT_EQ(found->previous, last);
        made.push_back(found->id);
    }
    return made;
}

TEST(name_table, starts_empty) {
    name_table table;
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(table.find(1), "");
    EXPECT_EQ(table.lookup("goblin"), nullptr);
    table.erase(1);
    EXPECT_TRUE(table.empty());
}

TEST(name_table, finds_the_name_by_id_and_the_id_by_name) {
    name_table table;
    table.set(7, "goblin");
    EXPECT_FALSE(table.empty());
    EXPECT_EQ(table.find(7), "goblin");
    EXPECT_EQ(ids_of(table, "goblin"), ids{7});
    EXPECT_EQ(table.find(8), "");
    EXPECT_EQ(table.lookup("Goblin"), nullptr);
    EXPECT_EQ(table.lookup("gob"), nullptr);
}

TEST(name_table, lookup_returns_ids_in_the_order_of_their_naming) {
    name_table table;
    for (const std::uint64_t id : {5u, 1u, 9u, 3u}) table.set(id, "goblin");
    EXPECT_EQ(ids_of(table, "goblin"), (ids{5, 1, 9, 3}));
    table.erase(1);
    EXPECT_EQ(ids_of(table, "goblin"), (ids{5, 9, 3}));
    table.set(1, "goblin");
    EXPECT_EQ(ids_of(table, "goblin"), (ids{5, 9, 3, 1}));
}

TEST(name_table, setting_the_same_name_keeps_the_order) {
    name_table table;
    for (const std::uint64_t id : {1u, 2u}) table.set(id, "goblin");
    table.set(1, "goblin");
    EXPECT_EQ(ids_of(table, "goblin"), (ids{1, 2}));
}

TEST(name_table, a_new_name_replaces_the_old_name) {
    name_table table;
    table.set(1, "goblin");
    table.set(2, "goblin");
    table.set(1, "orc");
    EXPECT_EQ(table.find(1), "orc");
    EXPECT_EQ(ids_of(table, "orc"), ids{1});
    EXPECT_EQ(ids_of(table, "goblin"), ids{2});
    table.set(2, "orc");
    EXPECT_EQ(ids_of(table, "orc"), (ids{1, 2}));
    EXPECT_EQ(table.lookup("goblin"), nullptr);
}

TEST(name_table, an_empty_name_removes_the_name) {
    name_table table;
    table.set(1, "goblin");
    table.set(1, "");
    EXPECT_EQ(table.find(1), "");
    EXPECT_EQ(table.lookup("goblin"), nullptr);
    EXPECT_EQ(table.lookup(""), nullptr);
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
    EXPECT_EQ(table.lookup("goblin"), nullptr);
    EXPECT_EQ(table.find(2), "orc");
    EXPECT_FALSE(table.empty());
}

TEST(name_table, set_accepts_a_view_into_the_table) {
    name_table table;
    table.set(1, "a name that is too long to be kept inside a string");
    table.set(2, table.find(1));
    EXPECT_EQ(ids_of(table, table.find(1)), (ids{1, 2}));
    table.erase(2);
    table.set(1, table.find(1).substr(2));  // a suffix of the name that `set` replaces
    EXPECT_EQ(table.find(1), "name that is too long to be kept inside a string");
    EXPECT_EQ(ids_of(table, table.find(1)), ids{1});
}

TEST(name_table, keeps_every_byte_of_a_name) {
    name_table table;
    const std::string name("nul \0 and \xC3\xA4", 12);
    table.set(1, name);
    EXPECT_EQ(table.find(1), name);
    EXPECT_EQ(ids_of(table, name), ids{1});
    EXPECT_EQ(table.lookup("nul "), nullptr);
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
        for (const auto& [key, named] : order) ASSERT_EQ(ids_of(table, key), named) << "step " << i;
    }
    EXPECT_EQ(table.empty(),
              std::ranges::all_of(names, [](const auto& entry) { return entry.second.empty(); }));
}

TEST(name_table, each_visits_names_in_the_order_of_ids) {
    name_table table;
    table.each([](std::uint64_t, std::string_view) { FAIL() << "no one has a name"; });
    table.set(7, "orc");
    table.set(3, "goblin");
    table.set(9, "goblin");
    table.set(5, "elf");
    table.set(5, "");
    std::string seen;
    table.each([&](std::uint64_t id, std::string_view name) {
        seen += std::to_string(id) + ' ' + std::string(name) + ", ";
    });
    EXPECT_EQ(seen, "3 goblin, 7 orc, 9 goblin, ");
}

TEST(name_table, each_passes_an_exception_of_its_callback_on) {
    name_table table;
    table.set(1, "goblin");
    table.set(2, "goblin");
    int calls = 0;
    EXPECT_THROW(table.each([&](std::uint64_t, std::string_view) {
        ++calls;
        throw 1;
    }),
                 int);
    EXPECT_EQ(calls, 1);
}

/// The shortest of a few times that the processor takes to name, rename and erase `count` ids of one
/// name.
double time_of(std::uint64_t count) {
    double best = 1e9;
    for (int turn = 0; turn < 3; ++turn) {
        name_table table;
        const std::clock_t start = std::clock();
        for (std::uint64_t id = 0; id < count; ++id) table.set(id, "goblin");
        for (std::uint64_t id = 0; id < count; id += 2) table.set(count - 1 - id, "orc");
        for (std::uint64_t id = 0; id < count; ++id) table.erase(id * 7919 % count);
        best = std::min(best, static_cast<double>(std::clock() - start));
        EXPECT_TRUE(table.empty());
    }
    return best;
}

TEST(name_table, ids_with_one_name_do_not_slow_each_other_down) {
    // O(n log n) grows by a factor of about 10, a linear step per id by 64.
    EXPECT_LT(time_of(80'000), 30 * time_of(10'000));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
