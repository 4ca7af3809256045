#include <muster/change/journal.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

/// Returns the kinds of the pending changes of an entity, in recording order.
std::vector<change_kind> pending(journal& value, std::uint64_t e) {
    std::vector<change_kind> made;
    for (const std::uint32_t at : value.dependency_of(e))
        if (!value.group(value.entry(at).group).is_barrier) made.push_back(value.entry(at).kind);
    return made;
}

void rewind(journal& value, const journal::position& to) {
    journal_entry entry{};
    while (value.pop_entry(to, entry)) {
    }
    journal_group group{};
    while (value.pop_group(to, group)) {
    }
}

using kinds = std::vector<change_kind>;
constexpr auto put = change_kind::put;
constexpr auto remove_fragment = change_kind::remove;

TEST(journal, groups_the_changes_of_an_entity_in_recording_order) {
    journal tested;
    tested.add(7, put, nullptr);
    tested.add(9, put, nullptr);
    tested.add(7, remove_fragment, nullptr);
    EXPECT_EQ(tested.size(), 2u);
    EXPECT_EQ(pending(tested, 7), (kinds{put, remove_fragment}));
    EXPECT_EQ(pending(tested, 9), kinds{put});
    EXPECT_EQ(pending(tested, 8), kinds{});
    EXPECT_EQ(tested.group(0).id, 7u);
    EXPECT_EQ(tested.group(1).id, 9u);
}

TEST(journal, merges_nothing_across_a_barrier) {
    journal tested;
    tested.add(7, put, nullptr);
    tested.add_barrier(0, change_kind::clear_fragment, nullptr);
    tested.add(7, remove_fragment, nullptr);
    EXPECT_EQ(pending(tested, 7), (kinds{put, remove_fragment}));
    ASSERT_EQ(tested.size(), 3u);
    EXPECT_TRUE(tested.group(1).is_barrier);
    EXPECT_EQ(tested.group(2).id, 7u);
    EXPECT_NE(tested.group(0).last, tested.group(2).last);
    EXPECT_EQ(tested.dependency_of(8).size(), 1u);  // the barrier affects every entity
}

struct fake_log final : scoped_log {
    void deliver() noexcept override { ++delivered; }
    void take_back() noexcept override { ++taken_back; }
    int delivered = 0;
    int taken_back = 0;
};

TEST(journal, records_of_logs_have_a_group_that_separates_nothing) {
    journal tested;
    fake_log log;
    tested.add(7, put, nullptr);
    tested.reserve_one();
    tested.add_record(log);
    tested.add(0, put, nullptr);  // an entity whose id is that of no group of records
    tested.add(7, remove_fragment, nullptr);
    tested.reserve_one();
    tested.add_record(log);
    ASSERT_EQ(tested.size(), 3u);
    EXPECT_TRUE(tested.group(1).has_records);
    EXPECT_EQ(pending(tested, 7), (kinds{put, remove_fragment}));
    EXPECT_EQ(pending(tested, 0), kinds{put});
    EXPECT_EQ(tested.entry(tested.group(1).last).value, &log);
    tested.add_barrier(5, change_kind::clear_fragment, nullptr);
    tested.reserve_one();
    tested.add_record(log);  // after the barrier
    EXPECT_EQ(tested.size(), 5u);
    EXPECT_TRUE(tested.group(4).has_records);
    tested.begin(5);
    tested.reserve_one();
    tested.add_record(log);  // the group before it is being applied
    EXPECT_EQ(tested.size(), 6u);
    rewind(tested, {});
    tested.reserve_one();
    tested.add_record(log);
    EXPECT_TRUE(tested.group(0).has_records);
}

TEST(journal, counts_the_positions_that_it_may_be_rewound_to) {
    journal tested;
    const std::uint64_t before = tested.captures();
    tested.add(7, put, nullptr);
    EXPECT_EQ(tested.captures(), before);
    (void)tested.now();
    EXPECT_NE(tested.captures(), before);
}

TEST(journal, adds_nothing_to_a_group_that_is_being_applied) {
    journal tested;
    tested.add(7, put, nullptr);
    tested.add(9, put, nullptr);
    tested.begin(1);
    tested.add(7, remove_fragment, nullptr);
    tested.add(9, remove_fragment, nullptr);
    EXPECT_EQ(pending(tested, 7), kinds{remove_fragment});
    EXPECT_EQ(pending(tested, 9), (kinds{put, remove_fragment}));
    EXPECT_EQ(tested.size(), 3u);
}

TEST(journal, rewinds_to_a_position) {
    journal tested;
    tested.add(7, put, nullptr);
    const auto before = tested.now();
    tested.add(7, remove_fragment, nullptr);
    tested.reserve_one();
    tested.record_spawn(8);
    tested.add(8, put, nullptr);
    tested.add_barrier(0, change_kind::clear_fragment, nullptr);
    tested.add(7, put, nullptr);
    rewind(tested, before);
    EXPECT_EQ(tested.size(), 1u);
    EXPECT_EQ(pending(tested, 7), kinds{put});
    EXPECT_EQ(pending(tested, 8), kinds{});
    tested.add(7, remove_fragment, nullptr);
    EXPECT_EQ(pending(tested, 7), (kinds{put, remove_fragment}));
}

TEST(journal, popping_groups_returns_entities_created_since_a_position) {
    journal tested;
    tested.reserve_one();
    tested.record_spawn(1);
    const auto before = tested.now();
    tested.add(1, put, nullptr);
    tested.reserve_one();
    tested.record_spawn(2);
    journal_entry entry{};
    EXPECT_TRUE(tested.pop_entry(before, entry));
    EXPECT_FALSE(tested.pop_entry(before, entry));
    journal_group group{};
    EXPECT_TRUE(tested.pop_group(before, group));
    EXPECT_EQ(group.id, 2u);
    EXPECT_TRUE(group.is_new_entity);
    EXPECT_FALSE(tested.pop_group(before, group));
}

TEST(journal, has_value_of_finds_pending_values_of_a_fragment) {
    journal tested;
    fragment_data f;
    fragment_data g;
    tested.add(7, put, &f);
    tested.add(7, remove_fragment, &g);
    EXPECT_TRUE(tested.has_value_of(f));
    EXPECT_TRUE(tested.has_value_of(f, 7));
    EXPECT_FALSE(tested.has_value_of(f, 8));
    EXPECT_FALSE(tested.has_value_of(g));
}

TEST(journal, looks_for_a_fragment_only_between_its_first_and_last_entry) {
    journal tested;
    fragment_data f;
    fragment_data g;
    const auto size_of = [&](const fragment_data& fragment) {
        const journal::entry_range range = tested.range_of(fragment);
        return range.end - range.first;
    };
    EXPECT_EQ(size_of(f), 0u);
    for (std::uint64_t e = 0; e < 100; ++e) tested.add(e, put, &g);
    tested.add(7, put, &f);
    const journal::position before = tested.now();
    tested.add(8, put, &f);
    for (std::uint64_t e = 0; e < 100; ++e) tested.add(e, put, &g);
    EXPECT_EQ(size_of(f), 2u);
    EXPECT_EQ(size_of(g), 202u);
    journal_entry entry{};
    while (tested.pop_entry(before, entry)) {
    }
    EXPECT_EQ(size_of(f), 1u);
    EXPECT_TRUE(tested.has_value_of(f, 7));
    EXPECT_FALSE(tested.has_value_of(f, 8));
    journal_group group{};
    while (tested.pop_group({}, group)) {
    }
    tested.clear();
    EXPECT_EQ(size_of(f), 0u);
    EXPECT_FALSE(tested.has_value_of(f));
    tested.add(9, put, &f);
    EXPECT_EQ(size_of(f), 1u);
}

/// Counts the entries that are visited until the answer is known.
TEST(journal, visits_the_last_entries_first) {
    journal tested;
    fragment_data f;
    for (int i = 0; i < 1000; ++i) tested.add(7, put, &f);
    tested.add(8, put, &f);
    journal::dependencies all(tested, 7);
    EXPECT_EQ(all.next(), 999u);
    EXPECT_EQ(all.next(), 998u);
}

TEST(journal, reuses_its_memory) {
    journal tested;
    const type_info& type = type_info_of<std::uint64_t>;
    void* const first = tested.allocate(type);
    tested.clear();
    EXPECT_EQ(tested.allocate(type), first);
    tested.clear();
    tested.free();
    EXPECT_TRUE(tested.empty());
    EXPECT_NE(tested.allocate(type), nullptr);
}

TEST(journal, agrees_with_a_map_over_random_changes) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::mt19937 random(seed);
        journal tested;
        std::map<std::uint64_t, kinds> wanted;
        struct mark {
            journal::position at;
            std::map<std::uint64_t, kinds> wanted;
        };
        std::vector<mark> marks;
        for (int step = 0; step < 2000; ++step) {
            const std::uint64_t e = random() % 300 << (random() % 2 * 32);
            const auto what = random() % 100;
            if (what < 80) {
                const auto kind = random() % 2 == 0 ? put : remove_fragment;
                tested.add(e, kind, nullptr);
                wanted[e].push_back(kind);
            } else if (what < 84) {
                tested.add_barrier(e, change_kind::destroy, nullptr);
            } else if (what < 90) {
                marks.push_back({tested.now(), wanted});
            } else if (what < 94 && !marks.empty()) {
                rewind(tested, marks.back().at);
                wanted = marks.back().wanted;
                marks.pop_back();
            } else if (what < 95) {
                tested.clear();
                wanted.clear();
                marks.clear();
            }
            ASSERT_EQ(pending(tested, e), wanted.contains(e) ? wanted[e] : kinds{})
                << "seed " << seed << " step " << step;
        }
        for (const auto& [e, list] : wanted) ASSERT_EQ(pending(tested, e), list) << seed;
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
