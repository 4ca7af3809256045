#include <muster/type/change_log.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <ctime>

namespace MUSTER_NAMESPACE::detail {
namespace {

using ids = array_list<std::uint64_t>;

/// Takes all entities out of the log.
ids taken(change_log& log) {
    const ids all = log.begin_reading();
    log.end_reading(all, all.size());
    return all;
}
void note(change_log& log, const ids& all) {
    for (const std::uint64_t id : all) log.note(id);
}

TEST(change_log, stores_each_id_once_in_the_order_of_first_changes) {
    change_log log;
    EXPECT_EQ(log.size(), 0u);
    note(log, {7, 2, 7, 9, 2, 2, 0});
    EXPECT_EQ(log.size(), 4u);
    EXPECT_EQ(taken(log), (ids{7, 2, 9, 0}));
    EXPECT_EQ(log.size(), 0u);
}

TEST(change_log, distinguishes_ids_with_equal_low_bits) {
    change_log log;
    ids all;
    for (std::uint64_t version = 0; version < 40; ++version)
        for (std::uint64_t key = 0; key < 3; ++key) all.push_back(version << 32 | key);
    note(log, all);
    note(log, all);
    EXPECT_EQ(taken(log), all);
}

TEST(change_log, keeps_all_ids_when_it_grows) {
    for (const std::uint64_t step : {1u, 16u, 1024u, 4097u}) {
        change_log log;
        ids all;
        for (std::uint64_t i = 0; i < 3000; ++i) {
            all.push_back(i * step);
            log.note(all.back());
            log.note(all[i / 2]);
        }
        EXPECT_EQ(taken(log), all) << step;
    }
}

TEST(change_log, reserve_works_during_a_reading) {
    change_log log;
    log.reserve(100);
    note(log, {1, 2, 3});
    const ids out = log.begin_reading();
    log.reserve(1000);
    for (std::uint64_t i = 0; i < 1000; ++i) log.note(10 + i);
    log.end_reading(out, 0);
    EXPECT_EQ(log.size(), 1003u);
    const ids all = taken(log);
    EXPECT_EQ(all[0], 1u);
    EXPECT_EQ(all[3], 10u);
    EXPECT_EQ(all[1002], 1009u);
}

TEST(change_log, an_id_can_be_noted_again_after_a_reading) {
    change_log log;
    for (int round = 0; round < 50; ++round) {
        note(log, {5, 6});
        EXPECT_EQ(taken(log), (ids{5, 6}));
    }
}

TEST(change_log, unread_ids_precede_the_ids_added_since) {
    change_log log;
    note(log, {1, 2, 3, 4});
    const ids out = log.begin_reading();
    EXPECT_EQ(out, (ids{1, 2, 3, 4}));
    EXPECT_EQ(log.size(), 0u);
    note(log, {9, 4, 1, 8});
    log.end_reading(out, 2);
    EXPECT_EQ(log.size(), 5u);
    note(log, {3, 8, 7});  // 3 and 8 are in the log already
    EXPECT_EQ(taken(log), (ids{3, 4, 9, 1, 8, 7}));
}

TEST(change_log, end_reading_does_not_restore_read_ids) {
    change_log log;
    note(log, {1, 2});
    const ids out = log.begin_reading();
    note(log, {2, 3});
    log.end_reading(out, 2);
    EXPECT_EQ(taken(log), (ids{2, 3}));
}

TEST(change_log, readings_can_be_nested) {
    change_log log;
    note(log, {1, 2, 3});
    const ids outer = log.begin_reading();
    note(log, {4, 2, 5});
    const ids inner = log.begin_reading();
    EXPECT_EQ(inner, (ids{4, 2, 5}));
    note(log, {6});
    log.end_reading(inner, 1);
    EXPECT_EQ(log.size(), 3u);  // 2 5 6
    log.end_reading(outer, 1);
    EXPECT_EQ(taken(log), (ids{2, 3, 5, 6}));
}

TEST(change_log, keeps_room_for_all_readings_in_any_order_of_ending) {
    change_log log;
    ids expected;
    for (std::uint64_t i = 0; i < 64; ++i) log.note(i);
    const ids first = log.begin_reading();
    for (std::uint64_t i = 64; i < 200; ++i) log.note(i);
    const ids second = log.begin_reading();
    for (std::uint64_t i = 200; i < 500; ++i) log.note(i);
    log.end_reading(first, 0);
    log.end_reading(second, 0);
    EXPECT_EQ(log.size(), 500u);
    ids all = taken(log);
    for (std::uint64_t i = 64; i < 200; ++i) expected.push_back(i);
    for (std::uint64_t i = 0; i < 64; ++i) expected.push_back(i);
    for (std::uint64_t i = 200; i < 500; ++i) expected.push_back(i);
    EXPECT_EQ(all, expected);
}

TEST(change_log, clear_empties_the_log) {
    change_log log;
    note(log, {1, 2});
    log.clear();
    EXPECT_EQ(log.size(), 0u);
    note(log, {2, 1});
    EXPECT_EQ(taken(log), (ids{2, 1}));
}

TEST(change_log, a_clear_during_a_reading_keeps_the_unread_ids) {
    change_log log;
    note(log, {1, 2, 3});
    const ids out = log.begin_reading();
    note(log, {4});
    log.clear();
    log.end_reading(out, 1);
    EXPECT_EQ(taken(log), (ids{2, 3}));
}

TEST(change_log, a_paused_log_ignores_changes_and_keeps_its_ids) {
    change_log log;
    note(log, {1});
    log.is_paused = true;
    note(log, {2, 3});
    EXPECT_EQ(log.size(), 1u);
    log.is_paused = false;
    note(log, {3});
    EXPECT_EQ(taken(log), (ids{1, 3}));
}

TEST(change_log, many_versions_of_one_key_are_noted_fast) {
    // `spawn` and `destroy` reuse a key: its ids differ only in their high bits.
    const auto time_of = [](std::uint64_t step) {
        change_log log;
        const std::clock_t start = std::clock();
        for (std::uint64_t i = 0; i < 30'000; ++i) log.note(i * step);
        return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    };
    const double by_key = time_of(1);
    const double by_version = time_of(std::uint64_t{1} << 32);
    EXPECT_LT(by_version, by_key * 50 + 0.05) << "by key: " << by_key << " s";
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
