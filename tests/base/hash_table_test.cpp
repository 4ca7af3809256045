#include <muster/base/hash_table.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <random>

namespace MUSTER_NAMESPACE::detail {
namespace {

struct entry {
    std::size_t hash = 0;
    int key = 0;
};
using table = hash_table<entry, &entry::hash>;

entry* find(const table& in, std::size_t hash, int key) {
    return in.find(hash, [=](const entry& found) { return found.key == key; });
}
void insert(table& in, entry& added) {
    in.reserve_one();
    in.insert(added);
}

TEST(hash_table, starts_empty) {
    const table tested;
    EXPECT_EQ(find(tested, 0, 0), nullptr);
}

TEST(hash_table, objects_with_equal_hashes_differ_by_the_predicate) {
    table tested;
    entry first{15, 1}, second{15, 2}, third{15, 3};
    for (entry* added : {&first, &second, &third}) insert(tested, *added);
    EXPECT_EQ(find(tested, 15, 1), &first);
    EXPECT_EQ(find(tested, 15, 3), &third);
    EXPECT_EQ(find(tested, 15, 4), nullptr);
    tested.erase(first);
    EXPECT_EQ(find(tested, 15, 1), nullptr);
    EXPECT_EQ(find(tested, 15, 2), &second);
    EXPECT_EQ(find(tested, 15, 3), &third);
}

TEST(hash_table, an_object_never_moves_before_the_place_of_its_hash) {
    table tested;  // 16 places
    entry first{3, 1}, second{4, 2}, wrapped{15, 3}, late{15, 4};
    for (entry* added : {&first, &second, &wrapped, &late}) insert(tested, *added);
    tested.erase(first);
    EXPECT_EQ(find(tested, 4, 2), &second);
    tested.erase(wrapped);
    EXPECT_EQ(find(tested, 15, 4), &late);
}

TEST(hash_table, agrees_with_a_map_over_random_changes) {
    for (const std::size_t hashes : {4u, 50u, 100'000u}) {
        table tested;
        std::map<int, entry> model;
        std::mt19937 dice(7);
        for (int i = 0; i < 4'000; ++i) {
            const int key = static_cast<int>(dice() % 200);
            const std::size_t hash = static_cast<std::size_t>(key) * 7919 % hashes;
            const auto known = model.find(key);
            ASSERT_EQ(find(tested, hash, key), known == model.end() ? nullptr : &known->second);
            if (known == model.end()) {
                insert(tested, model[key] = {hash, key});
            } else {
                tested.erase(known->second);
                model.erase(known);
            }
        }
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
