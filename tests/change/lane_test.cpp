#include <muster/change/lane.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

struct mark_of {
    std::uint32_t work;
    std::uint64_t row;
    std::uint32_t first;
    friend bool operator==(const mark_of&, const mark_of&) = default;
};
using marks = std::vector<mark_of>;

marks marks_of(const lane& worker) {
    marks found;
    for (const lane::mark& each : worker.marks) found.push_back({each.work, each.row, each.first});
    return found;
}

// Two worlds, of which only the addresses matter.
constexpr char first_store = 0;
constexpr char second_store = 0;

lane& set_store(lane& worker, const void* store) {
    worker.store = store;
    return worker;
}

// ---- marks -------------------------------------------------------------------------------------

TEST(lane, has_neither_marks_nor_a_window_at_first) {
    const lane worker;
    EXPECT_TRUE(worker.marks.empty());
    EXPECT_EQ(worker.changes.size(), 0u);
    EXPECT_EQ(worker.window.list, nullptr);
    EXPECT_EQ(worker.store, nullptr);
    EXPECT_EQ(worker.outer, nullptr);
}

TEST(lane, a_mark_tells_which_rows_caused_the_changes_after_it) {
    lane worker;
    worker.begin(0, 0);
    worker.changes.add(change_kind::destroy, 1);
    worker.changes.add(change_kind::destroy, 2);
    worker.begin(0, 64);
    worker.changes.add(change_kind::destroy, 3);
    worker.begin(3, 10);
    EXPECT_EQ(marks_of(worker), (marks{{0, 0, 0}, {0, 64, 2}, {3, 10, 3}}));
}

TEST(lane, the_current_work_is_that_of_the_last_mark) {
    lane worker;
    worker.begin(2, 0);
    EXPECT_EQ(worker.work, 2u);
    worker.begin(5, 0);
    EXPECT_EQ(worker.work, 5u);
}

TEST(lane, a_mark_without_changes_gives_way_to_the_next) {
    lane worker;
    for (std::uint64_t row = 0; row < 1000; ++row) worker.begin(1, row);
    EXPECT_EQ(marks_of(worker), (marks{{1, 999, 0}}));
    worker.changes.add(change_kind::destroy, 1);
    for (std::uint64_t row = 0; row < 1000; ++row) worker.begin(2, row);
    EXPECT_EQ(marks_of(worker), (marks{{1, 999, 0}, {2, 999, 1}}));
}

TEST(lane, marks_grow_with_the_changes) {
    lane worker;
    for (std::uint32_t i = 0; i < 500; ++i) {
        worker.begin(0, i * 8);
        worker.changes.add(change_kind::destroy, i);
    }
    ASSERT_EQ(worker.marks.size(), 500u);
    for (std::uint32_t i = 0; i < 500; ++i) {
        ASSERT_EQ(worker.marks[i].row, i * 8);
        ASSERT_EQ(worker.marks[i].first, i);
    }
}

// ---- the lane of a thread ------------------------------------------------------------------------

TEST(lane, a_thread_without_a_guard_has_no_lane) {
    EXPECT_EQ(find_lane(&first_store), nullptr);
    EXPECT_EQ(find_lane(nullptr), nullptr);
}

TEST(lane, a_thread_has_its_lane_while_the_guard_lives) {
    lane worker;
    set_store(worker, &first_store);
    {
        const lane_guard here(worker);
        EXPECT_EQ(find_lane(&first_store), &worker);
        EXPECT_EQ(find_lane(&second_store), nullptr);
        EXPECT_EQ(find_lane(nullptr), nullptr);
    }
    EXPECT_EQ(find_lane(&first_store), nullptr);
}

TEST(lane, a_guard_ends_with_an_exception) {
    lane worker;
    set_store(worker, &first_store);
    const auto fail = [&] {
        const lane_guard here(worker);
        throw std::runtime_error("failed");
    };
    EXPECT_THROW(fail(), std::runtime_error);
    EXPECT_EQ(find_lane(&first_store), nullptr);
}

TEST(lane, a_thread_can_be_in_the_phases_of_several_worlds) {
    lane outer;
    lane inner;
    set_store(outer, &first_store);
    set_store(inner, &second_store);
    const lane_guard there(outer);
    {
        const lane_guard here(inner);
        EXPECT_EQ(find_lane(&first_store), &outer);
        EXPECT_EQ(find_lane(&second_store), &inner);
        EXPECT_EQ(inner.outer, &outer);
    }
    EXPECT_EQ(find_lane(&first_store), &outer);
    EXPECT_EQ(find_lane(&second_store), nullptr);
}

TEST(lane, the_innermost_lane_of_a_world_is_found) {
    lane outer;
    lane inner;
    set_store(outer, &first_store);
    set_store(inner, &first_store);
    const lane_guard there(outer);
    {
        const lane_guard here(inner);
        EXPECT_EQ(find_lane(&first_store), &inner);
    }
    EXPECT_EQ(find_lane(&first_store), &outer);
}

TEST(lane, a_lane_is_used_again_in_another_place) {
    lane outer;
    lane worker;
    set_store(outer, &first_store);
    set_store(worker, &second_store);
    {
        const lane_guard there(outer);
        const lane_guard here(worker);
    }
    const lane_guard here(worker);
    EXPECT_EQ(worker.outer, nullptr);
    EXPECT_EQ(find_lane(&second_store), &worker);
    EXPECT_EQ(find_lane(&first_store), nullptr);
}

TEST(lane, many_nested_lanes_are_all_found) {
    constexpr std::size_t depth = 50;
    char stores[depth];
    std::vector<lane> workers(depth);
    const auto enter = [&](auto& self, std::size_t level) -> void {
        if (level == depth) {
            for (std::size_t i = 0; i < depth; ++i) ASSERT_EQ(find_lane(&stores[i]), &workers[i]);
            return;
        }
        const lane_guard here(set_store(workers[level], &stores[level]));
        self(self, level + 1);
        ASSERT_EQ(find_lane(&stores[level]), &workers[level]);
        if (level + 1 < depth) ASSERT_EQ(find_lane(&stores[level + 1]), nullptr);
    };
    enter(enter, 0);
    EXPECT_EQ(find_lane(&stores[0]), nullptr);
}

// ---- several threads -----------------------------------------------------------------------------

TEST(lane, a_guard_concerns_no_other_thread) {
    lane worker;
    set_store(worker, &first_store);
    const lane_guard here(worker);
    const lane* found = &worker;
    std::thread([&] { found = find_lane(&first_store); }).join();
    EXPECT_EQ(found, nullptr);
    EXPECT_EQ(find_lane(&first_store), &worker);
}

TEST(lane, each_thread_records_in_its_own_lane) {
    constexpr std::size_t count = 4;
    std::vector<lane> workers(count);
    std::atomic<int> strangers = 0;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            const lane_guard here(set_store(workers[i], &first_store));
            for (std::uint64_t row = 0; row < 500; ++row) {
                lane& mine = *find_lane(&first_store);
                strangers += &mine != &workers[i];
                mine.begin(0, row);
                mine.changes.add(change_kind::destroy, i * 1000 + row);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(strangers.load(), 0);
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(workers[i].changes.size(), 500u);
        ASSERT_EQ(workers[i].marks.size(), 500u);
        for (std::uint32_t row = 0; row < 500; ++row) {
            ASSERT_EQ(workers[i].changes.at(row).id, i * 1000 + row);
            ASSERT_EQ(workers[i].marks[row].first, row);
        }
    }
}

TEST(lane, a_thread_keeps_its_number) {
    const std::uintptr_t number = this_thread();
    EXPECT_NE(number, 0u);
    EXPECT_EQ(this_thread(), number);
}

TEST(lane, no_two_threads_have_the_same_number_even_after_one_has_ended) {
    std::set<std::uintptr_t> numbers{this_thread()};
    for (int i = 0; i < 20; ++i) {  // one after the other
        std::uintptr_t number = 0;
        std::thread([&] { number = this_thread(); }).join();
        ASSERT_NE(number, 0u);
        ASSERT_TRUE(numbers.insert(number).second) << number;
    }
    std::vector<std::uintptr_t> together(8);
    std::vector<std::thread> threads;
    for (std::uintptr_t& number : together) threads.emplace_back([&] { number = this_thread(); });
    for (std::thread& thread : threads) thread.join();
    for (const std::uintptr_t number : together)
        ASSERT_TRUE(numbers.insert(number).second) << number;
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
