#include <muster/id/id_pool.hpp>
#include <muster/id/world_number.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace muster {
namespace {

using test::code_of;
using test::sentence_of;

// Numbers are process-wide, and one process runs many tests: the tests below rely only on
// properties that hold for any history. A layout with few numbers shows exhaustion.
using seven_worlds = layout<std::uint16_t, id_bits{.key = 6, .version = 4, .world = 3}>;

TEST(world_number, is_never_0_and_never_shared) {
    std::vector<world_number> held;
    std::set<std::uint64_t> values;
    for (int i = 0; i < 100; ++i) {
        held.push_back(world_number::take<layouts::bound>());
        EXPECT_NE(held.back().value(), 0u);
        EXPECT_TRUE(values.insert(held.back().value()).second);
    }
}

TEST(world_number, can_be_chosen) {
    std::optional<world_number> mine(world_number::take<layouts::bound>(4711));
    EXPECT_EQ(mine->value(), 4711u);
    EXPECT_EQ(code_of([] { (void)world_number::take<layouts::bound>(4711); }), errc::number_taken);
    EXPECT_EQ(sentence_of([] { (void)world_number::take<layouts::bound>(4711); }),
              "world number 4711 belongs to a living world; choose another");
    EXPECT_EQ(sentence_of([] { (void)world_number::take<layouts::bound>(65536); }),
              "world number 65536 does not fit the layout: the largest is 65535");
    EXPECT_EQ(code_of([] { (void)world_number::take<seven_worlds>(8); }), errc::id_out_of_range);
    mine.reset();
    EXPECT_EQ(world_number::take<layouts::bound>(4711).value(), 4711u);
}

TEST(world_number, moving_transfers_the_number) {
    world_number a = world_number::take<layouts::bound>();
    const std::uint64_t value = a.value();
    world_number b(std::move(a));
    EXPECT_EQ(b.value(), value);
    EXPECT_EQ(a.value(),
              0u);  // NOLINT(bugprone-use-after-move): the moved-from value is part of the contract
    a = std::move(b);
    EXPECT_EQ(a.value(), value);
    EXPECT_EQ(code_of([&] { (void)world_number::take<layouts::bound>(value); }),
              errc::number_taken);
}

TEST(world_number, assignment_releases_the_old_number_and_keeps_retired_versions) {
    world_number a = world_number::take<layouts::bound>(801);
    world_number b = world_number::take<layouts::bound>(802);
    a.retire_versions(3);
    b.retire_versions(9);
    a = std::move(b);
    EXPECT_EQ(a.value(), 802u);
    EXPECT_EQ(a.first_version(), 9u);
    EXPECT_EQ(b.value(),
              0u);  // NOLINT(bugprone-use-after-move): the moved-from value is part of the contract
    EXPECT_EQ(world_number::take<layouts::bound>(801).first_version(), 3u);
}

TEST(world_number, its_last_version_can_still_be_used) {
    {
        world_number::take<seven_worlds>(3).retire_versions(14);
    }
    EXPECT_EQ(world_number::take<seven_worlds>(3).first_version(), 14u);
    // Likewise for a number that is not chosen: with all others held, 3 is the only candidate.
    std::vector<world_number> held;
    for (const std::uint64_t other : {1u, 2u, 4u, 5u, 6u, 7u})
        held.push_back(world_number::take<seven_worlds>(other));
    const world_number next = world_number::take<seven_worlds>();
    EXPECT_EQ(next.value(), 3u);
    EXPECT_EQ(next.first_version(), 14u);
}

TEST(world_number, take_skips_released_numbers_that_do_not_fit_the_layout) {
    {
        (void)world_number::take<layouts::bound>(100);
    }  // released, but above 7
    std::vector<world_number> held;
    for (std::uint64_t n = 1; n <= 7; ++n) held.push_back(world_number::take<seven_worlds>(n));
    EXPECT_EQ(code_of([] { (void)world_number::take<seven_worlds>(); }), errc::limit);
}

TEST(world_number, a_reused_number_starts_above_its_issued_versions) {
    basic_id<layouts::bound> old;
    {
        world_number number = world_number::take<layouts::bound>(900);
        id_pool<> pool{{.world = number.value(), .first_version = number.first_version()}};
        for (int i = 0; i < 5; ++i) pool.destroy(pool.create());
        old = pool.create();
        number.retire_versions(pool.unused_version());
        number.retire_versions(0);  // below the recorded version: no effect
    }
    world_number again = world_number::take<layouts::bound>(900);
    EXPECT_EQ(again.first_version(), 6u);
    id_pool<> pool{{.world = again.value(), .first_version = again.first_version()}};
    const id first = pool.create();
    EXPECT_EQ(first, id::pack(0, 6, 900));
    EXPECT_FALSE(pool.alive(old));
    EXPECT_EQ(code_of([&] { pool.create_at(id::pack(5, 5, 900)); }), errc::id_stale);
}

TEST(world_number, is_not_reused_once_its_versions_are_retired) {
    {
        world_number number = world_number::take<layouts::bound>(901);
        number.retire_versions(65535);
    }
    EXPECT_EQ(sentence_of([] { (void)world_number::take<layouts::bound>(901); }),
              "world number 901 has no versions left after earlier worlds; choose another");
    EXPECT_EQ(code_of([] { (void)world_number::take<layouts::bound>(901); }), errc::limit);
    // A layout with more version bits continues from there.
    using roomy = layout<std::uint64_t, id_bits{.key = 20, .version = 28, .world = 16}>;
    EXPECT_EQ(world_number::take<roomy>(901).first_version(), 65535u);
}

TEST(world_number, layouts_without_world_bits_ignore_retired_versions) {
    {
        world_number number = world_number::take<layouts::bound>(902);
        number.retire_versions(5000);
    }
    {
        world_number number = world_number::take<layouts::compact>(902);
        EXPECT_EQ(number.first_version(), 0u);
        number.retire_versions(1'000'000);  // no effect
    }
    EXPECT_EQ(world_number::take<layouts::bound>(902).first_version(), 5000u);
}

TEST(world_number, exhaustion_is_an_error_and_the_oldest_released_number_is_reused_first) {
    std::vector<world_number> held;
    for (std::uint64_t n = 1; n <= 7; ++n) {
        // Earlier tests of this process may have used up this number.
        try {
            held.push_back(world_number::take<seven_worlds>(n));
        } catch (const error& e) {
            GTEST_SKIP() << "numbers of this process are used up: " << e.what();
        }
    }
    EXPECT_EQ(code_of([] { (void)world_number::take<seven_worlds>(); }), errc::limit);
    EXPECT_EQ(sentence_of([] { (void)world_number::take<seven_worlds>(); }),
              "no world number is left: each from 1 to 7 belongs to a living world or has no "
              "versions left");
    for (const int i : {4, 1, 5}) held[static_cast<std::size_t>(i)].retire_versions(2);
    for (const int i : {4, 1, 5}) {  // releases 5, 2, 6 in this order
        const world_number released(std::move(held[static_cast<std::size_t>(i)]));
    }
    const world_number first = world_number::take<seven_worlds>();
    const world_number second = world_number::take<seven_worlds>();
    EXPECT_EQ(first.value(), 5u);
    EXPECT_EQ(first.first_version(), 2u);
    EXPECT_EQ(second.value(), 2u);
    {
        world_number third = world_number::take<seven_worlds>();
        EXPECT_EQ(third.value(), 6u);
        third.retire_versions(15);  // no version is left
    }
    EXPECT_EQ(code_of([] { (void)world_number::take<seven_worlds>(); }), errc::limit);
    // Another layout has numbers left.
    EXPECT_GT(world_number::take<layouts::bound>().value(), 7u);
}

TEST(world_number, a_released_number_is_taken_by_name_or_in_its_turn) {
    using three_worlds = layout<std::uint64_t, id_bits{.key = 32, .version = 3, .world = 2}>;
    std::vector<world_number> held;
    for (std::uint64_t n = 1; n <= 7; ++n) {
        try {  // as above
            held.push_back(world_number::take<seven_worlds>(n));
        } catch (const error& e) {
            GTEST_SKIP() << "numbers of this process are used up: " << e.what();
        }
    }
    if (held[0].first_version() > 3 || held[2].first_version() > 3 || held[6].first_version() > 3)
        GTEST_SKIP() << "versions of these numbers are used up";
    // Releases 7, 3, 1 in this order. Of these, 7 does not fit two bits.
    for (const int i : {6, 2, 0}) {
        const world_number released(std::move(held[static_cast<std::size_t>(i)]));
    }
    {
        const world_number three = world_number::take<three_worlds>();
        EXPECT_EQ(three.value(), 3u);
        const world_number by_name = world_number::take<seven_worlds>(1);
        EXPECT_EQ(by_name.value(), 1u);
        EXPECT_EQ(code_of([] { (void)world_number::take<three_worlds>(); }), errc::limit);
        EXPECT_EQ(world_number::take<seven_worlds>().value(), 7u);
    }  // releases 1, 3, after 7
    const world_number first = world_number::take<seven_worlds>();
    const world_number second = world_number::take<seven_worlds>();
    const world_number third = world_number::take<seven_worlds>();
    EXPECT_EQ(first.value(), 7u);
    EXPECT_EQ(second.value(), 1u);
    EXPECT_EQ(third.value(), 3u);
}

TEST(world_number, unused_numbers_are_taken_before_released_ones) {
    std::uint64_t before = 0;
    {
        const world_number number = world_number::take<layouts::bound>();
        before = number.value();
    }
    const world_number next = world_number::take<layouts::bound>();
    EXPECT_NE(next.value(), before);
    EXPECT_EQ(next.first_version(), 0u);
}

TEST(world_number, two_threads_never_hold_the_same_number) {
    std::vector<std::thread> threads;
    std::mutex guard;
    std::set<std::uint64_t> held;
    std::atomic<int> shared{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 500; ++i) {
                world_number number = world_number::take<layouts::bound>();
                {
                    const std::lock_guard lock(guard);
                    if (!held.insert(number.value()).second) ++shared;
                }
                number.retire_versions(1);
                {
                    const std::lock_guard lock(guard);
                    held.erase(number.value());
                }
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(shared, 0);
}

TEST(world_number, every_number_of_the_default_layout_can_be_held) {
    std::vector<world_number> held;
    try {
        for (;;) held.push_back(world_number::take<layouts::bound>());
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::limit);
    }
    // Another test of this process may have used up one number.
    EXPECT_GE(held.size(), 65'534u);
    EXPECT_LE(held.size(), 65'535u);
    const std::uint64_t first = held.front().value();
    held.erase(held.begin());
    EXPECT_EQ(world_number::take<layouts::bound>().value(), first);
}

}  // namespace
}  // namespace muster
