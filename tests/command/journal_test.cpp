#include <muster/command/journal.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace muster::detail {
namespace {

/// The kinds that wait for an entity, in their order.
std::vector<change_kind> waiting(journal& one, std::uint64_t who) {
    std::vector<change_kind> made;
    for (const std::uint32_t at : one.waiting_for(who))
        if (!one.group(one.entry(at).group).is_barrier) made.push_back(one.entry(at).kind);
    return made;
}

void rewind(journal& one, const journal::position& to) {
    journal_entry entry{};
    while (one.pop_entry(to, entry)) {
    }
    journal_group group{};
    while (one.pop_group(to, group)) {
    }
}

using kinds = std::vector<change_kind>;
constexpr auto put = change_kind::put;
constexpr auto remove_it = change_kind::remove;

TEST(journal, puts_the_changes_of_an_entity_together_in_their_order) {
    journal one;
    one.add(7, put, nullptr);
    one.add(9, put, nullptr);
    one.add(7, remove_it, nullptr);
    EXPECT_EQ(one.size(), 2u);
    EXPECT_EQ(waiting(one, 7), (kinds{put, remove_it}));
    EXPECT_EQ(waiting(one, 9), kinds{put});
    EXPECT_EQ(waiting(one, 8), kinds{});
    EXPECT_EQ(one.group(0).id, 7u);
    EXPECT_EQ(one.group(1).id, 9u);
}

TEST(journal, puts_nothing_together_across_a_barrier) {
    journal one;
    one.add(7, put, nullptr);
    one.add_barrier(0, change_kind::clear_fragment, nullptr);
    one.add(7, remove_it, nullptr);
    EXPECT_EQ(waiting(one, 7), (kinds{put, remove_it}));
    ASSERT_EQ(one.size(), 3u);
    EXPECT_TRUE(one.group(1).is_barrier);
    EXPECT_EQ(one.group(2).id, 7u);
    EXPECT_NE(one.group(0).last, one.group(2).last);
    EXPECT_EQ(one.waiting_for(8).size(), 1u);  // the barrier waits for all
}

TEST(journal, adds_nothing_to_what_has_begun) {
    journal one;
    one.add(7, put, nullptr);
    one.add(9, put, nullptr);
    one.begin(1);
    one.add(7, remove_it, nullptr);
    one.add(9, remove_it, nullptr);
    EXPECT_EQ(waiting(one, 7), kinds{remove_it});
    EXPECT_EQ(waiting(one, 9), (kinds{put, remove_it}));
    EXPECT_EQ(one.size(), 3u);
}

TEST(journal, takes_back_what_came_since_a_position) {
    journal one;
    one.add(7, put, nullptr);
    const auto before = one.now();
    one.add(7, remove_it, nullptr);
    one.reserve_one();
    one.bear(8);
    one.add(8, put, nullptr);
    one.add_barrier(0, change_kind::clear_fragment, nullptr);
    one.add(7, put, nullptr);
    rewind(one, before);
    EXPECT_EQ(one.size(), 1u);
    EXPECT_EQ(waiting(one, 7), kinds{put});
    EXPECT_EQ(waiting(one, 8), kinds{});
    one.add(7, remove_it, nullptr);
    EXPECT_EQ(waiting(one, 7), (kinds{put, remove_it}));
}

TEST(journal, tells_who_was_born_since_a_position) {
    journal one;
    one.reserve_one();
    one.bear(1);
    const auto before = one.now();
    one.add(1, put, nullptr);
    one.reserve_one();
    one.bear(2);
    journal_entry entry{};
    EXPECT_TRUE(one.pop_entry(before, entry));
    EXPECT_FALSE(one.pop_entry(before, entry));
    journal_group group{};
    EXPECT_TRUE(one.pop_group(before, group));
    EXPECT_EQ(group.id, 2u);
    EXPECT_TRUE(group.is_born);
    EXPECT_FALSE(one.pop_group(before, group));
}

TEST(journal, knows_whether_a_value_of_a_fragment_waits) {
    journal one;
    fragment_data f;
    fragment_data g;
    one.add(7, put, &f);
    one.add(7, remove_it, &g);
    EXPECT_TRUE(one.has_value_of(f));
    EXPECT_TRUE(one.has_value_of(f, 7));
    EXPECT_FALSE(one.has_value_of(f, 8));
    EXPECT_FALSE(one.has_value_of(g));
}

TEST(journal, uses_its_memory_again) {
    journal one;
    const type_info& type = type_info_of<std::uint64_t>;
    void* const first = one.allocate(type);
    one.clear();
    EXPECT_EQ(one.allocate(type), first);
    one.clear();
    one.free();
    EXPECT_TRUE(one.empty());
    EXPECT_NE(one.allocate(type), nullptr);
}

TEST(journal, agrees_with_a_map_over_random_changes) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        journal one;
        std::map<std::uint64_t, kinds> wanted;
        struct mark {
            journal::position at;
            std::map<std::uint64_t, kinds> wanted;
        };
        std::vector<mark> marks;
        for (int step = 0; step < 2000; ++step) {
            const std::uint64_t who = random() % 300 << (random() % 2 * 32);
            const auto what = random() % 100;
            if (what < 80) {
                const auto kind = random() % 2 == 0 ? put : remove_it;
                one.add(who, kind, nullptr);
                wanted[who].push_back(kind);
            } else if (what < 84) {
                one.add_barrier(who, change_kind::destroy, nullptr);
            } else if (what < 90) {
                marks.push_back({one.now(), wanted});
            } else if (what < 94 && !marks.empty()) {
                rewind(one, marks.back().at);
                wanted = marks.back().wanted;
                marks.pop_back();
            } else if (what < 95) {
                one.clear();
                wanted.clear();
                marks.clear();
            }
            ASSERT_EQ(waiting(one, who), wanted.contains(who) ? wanted[who] : kinds{})
                << "seed " << seed << " step " << step;
        }
        for (const auto& [who, list] : wanted) ASSERT_EQ(waiting(one, who), list) << seed;
    }
}

}  // namespace
}  // namespace muster::detail
