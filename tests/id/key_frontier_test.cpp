#include <muster/id/key_frontier.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {
namespace {

/// A frontier that owns its first `owned` keys and has slots for as many.
key_frontier<> frontier_of(std::uint64_t keys, std::uint64_t owned) {
    key_frontier<> made(keys);
    made.claim(owned);
    made.set_limit(owned);
    return made;
}

TEST(key_frontier, issues_keys_in_order_up_to_the_limit) {
    key_frontier<> frontier = frontier_of(1000, 3);
    EXPECT_EQ(frontier.ready(), 3u);
    EXPECT_EQ(frontier.issue(), 0u);
    EXPECT_EQ(frontier.issue(), 1u);
    frontier.undo_issue();
    EXPECT_EQ(frontier.issue(), 1u);
    EXPECT_TRUE(frontier.is_ready());
    EXPECT_EQ(frontier.issue(), 2u);
    EXPECT_FALSE(frontier.is_ready());
    EXPECT_EQ(frontier.ready(), 0u);
    EXPECT_EQ(frontier.issued(), 3u);
    EXPECT_TRUE(frontier.is_issued(2));
    EXPECT_FALSE(frontier.is_issued(3));
}

TEST(key_frontier, the_limit_is_the_least_of_slots_range_own_keys_and_keys_issued_ahead) {
    key_frontier<> frontier(1000);
    frontier.claim(100);
    frontier.set_limit(40);
    EXPECT_EQ(frontier.ready(), 40u);
    frontier.set_limit(400);
    EXPECT_EQ(frontier.ready(), 100u);
    frontier.issue_ahead(7);
    frontier.set_limit(400);
    EXPECT_EQ(frontier.ready(), 7u);

    key_frontier<> small(5);
    small.claim(5);
    small.set_limit(400);
    EXPECT_EQ(small.ready(), 5u);
}

TEST(key_frontier, passes_keys_that_were_issued_ahead) {
    key_frontier<> frontier = frontier_of(1000, 100);
    frontier.issue_ahead(1);
    frontier.issue_ahead(2);
    EXPECT_EQ(frontier.issued(), 2u);
    EXPECT_TRUE(frontier.is_issued(2));
    EXPECT_EQ(frontier.end_of(0, 3), 5u);  // 0 3 4
    EXPECT_FALSE(frontier.is_next_ahead());
    frontier.issue();
    for (const std::uint64_t next : {2u, 3u}) {
        ASSERT_TRUE(frontier.is_next_ahead());
        frontier.pass_ahead();
        EXPECT_EQ(frontier.fresh(), next);
    }
    EXPECT_FALSE(frontier.is_next_ahead());
    EXPECT_EQ(frontier.issued(), 3u);
}

TEST(key_frontier, issue_until_includes_the_keys_that_were_issued_ahead) {
    key_frontier<> frontier = frontier_of(1000, 100);
    frontier.issue_ahead(3);
    frontier.issue_ahead(10);
    frontier.issue_until(10);
    EXPECT_EQ(frontier.issued(), 11u);
    EXPECT_FALSE(frontier.is_ahead(3));
    EXPECT_TRUE(frontier.is_next_ahead());
}

TEST(key_frontier, a_key_belongs_either_to_the_pool_or_to_the_thread_that_took_it) {
    key_frontier<> frontier = frontier_of(1000, 10);
    const index_run taken = frontier.take(5);
    EXPECT_EQ(taken.first, 10u);
    EXPECT_EQ(taken.count, 5u);
    EXPECT_TRUE(frontier.has_reserved());
    EXPECT_EQ(frontier.reserved(), 0u);  // the pool has not looked yet
    frontier.claim(20);
    EXPECT_EQ(frontier.pool_end(), 20u);
    EXPECT_EQ(frontier.reserved(), 5u);
    for (std::uint64_t index = 0; index < 20; ++index) {
        EXPECT_EQ(frontier.is_reserved(index), index >= 10 && index < 15);
        EXPECT_EQ(frontier.is_ahead(index), index >= 10 && index < 15);
    }
    EXPECT_EQ(frontier.take(1).first, 20u);
}

TEST(key_frontier, the_last_keys_of_the_range_are_not_open) {
    key_frontier<> frontier(160);
    EXPECT_EQ(frontier.open(), 150u);
    EXPECT_EQ(frontier.take(1000).count, 150u);
    EXPECT_FALSE(frontier.has_open());
    EXPECT_EQ(frontier.take(1).count, 0u);
}

TEST(key_frontier, a_reservation_ends_once) {
    key_frontier<> frontier = frontier_of(1000, 10);
    EXPECT_FALSE(frontier.has_reserved());
    frontier.reserve(frontier.issue());
    EXPECT_TRUE(frontier.has_reserved());
    EXPECT_TRUE(frontier.is_reserved(0));
    frontier.end_reservation(0);
    EXPECT_FALSE(frontier.has_reserved());
    EXPECT_FALSE(frontier.is_reserved(0));
}

TEST(key_frontier, share_leaves_keys_for_other_threads_while_it_can) {
    const key_frontier<> frontier(16'000);
    ASSERT_EQ(frontier.open(), 15'000u);
    EXPECT_EQ(frontier.share(10, 64), 64u);
    EXPECT_EQ(frontier.share(100, 64), 100u);
    const std::uint64_t most = 15'000 - 15'000 / 16;
    EXPECT_EQ(frontier.share(10, 16'000), most);
    EXPECT_EQ(frontier.share(14'900, 16'000), 14'950u);
    EXPECT_EQ(frontier.share(15'000, 16'000), 16'000u);
    EXPECT_EQ(key_frontier<>(100).share(10, 1000), 100u);
}

TEST(key_frontier, a_phase_gets_most_keys_but_not_all_that_are_left) {
    const key_frontier<> unused(16'000);
    EXPECT_EQ(unused.phase_share(), 15'000u - 15'000u / 32);
    EXPECT_EQ(key_frontier<>(100).phase_share(), 100u);

    key_frontier<> used(16'000);
    used.claim(14'800);
    EXPECT_EQ(used.phase_share(), 14'800u);  // it has used none of its keys
    used.issue(14'700);
    EXPECT_EQ(used.phase_share(), 14'900u);
    used.claim(15'000);
    EXPECT_EQ(used.phase_share(), 16'000u);
}

TEST(key_frontier, opens_keys_again_only_if_nobody_took_later_ones) {
    key_frontier<> frontier = frontier_of(1000, 100);
    frontier.open_again(40);
    EXPECT_EQ(frontier.pool_end(), 40u);
    EXPECT_EQ(frontier.take(1).first, 40u);
    frontier.claim(100);
    EXPECT_EQ(frontier.take(1).first, 100u);
    frontier.open_again(60);
    EXPECT_EQ(frontier.pool_end(), 100u);
}

TEST(key_frontier, exchange_restores_which_keys_were_issued) {
    key_frontier<> frontier = frontier_of(1000, 100);
    frontier.issue(5);
    frontier.issue_ahead(50);
    key_frontier<> saved(frontier);
    frontier.issue(60);
    frontier.issue_until(80);
    frontier.exchange(saved);
    EXPECT_EQ(frontier.fresh(), 5u);
    EXPECT_EQ(frontier.issued(), 6u);
    EXPECT_TRUE(frontier.is_ahead(50));
    frontier.exchange(saved);
    EXPECT_EQ(frontier.issued(), 80u);
}

TEST(key_frontier, exchange_keeps_the_keys_that_the_pool_has_claimed_since) {
    key_frontier<> frontier = frontier_of(1000, 10);
    key_frontier<> saved(frontier);
    frontier.claim(100);
    frontier.exchange(saved);
    EXPECT_EQ(frontier.pool_end(), 100u);
    EXPECT_FALSE(frontier.has_reserved());
    EXPECT_EQ(frontier.take(1).first, 100u);
}

TEST(key_frontier, exchange_never_opens_a_key_twice) {
    key_frontier<> frontier = frontier_of(1000, 10);
    key_frontier<> saved(frontier);
    EXPECT_EQ(frontier.take(5).first, 10u);
    frontier.sync();
    frontier.exchange(saved);
    EXPECT_EQ(frontier.take(1).first, 15u);
    frontier.exchange(saved);
    EXPECT_EQ(frontier.take(1).first, 16u);
}

TEST(key_frontier, after_exchange_the_pool_does_not_issue_a_key_that_a_thread_has) {
    for (const bool is_known : {false, true}) {  // whether the pool has seen that the key is taken
        key_frontier<> frontier = frontier_of(1000, 10);
        key_frontier<> saved(frontier);
        ASSERT_EQ(frontier.take(5).first, 10u);
        if (is_known) frontier.claim(40);
        frontier.exchange(saved);
        frontier.claim(50);
        for (std::uint64_t index = 10; index < 15; ++index) {
            EXPECT_TRUE(frontier.is_ahead(index));
            EXPECT_TRUE(frontier.is_reserved(index));
        }
        EXPECT_FALSE(frontier.is_ahead(45));
    }
}

TEST(key_frontier, after_exchange_the_last_keys_are_still_the_pools) {
    key_frontier<> frontier = frontier_of(160, 10);
    frontier.issue_ahead(155);
    key_frontier<> saved(frontier);
    ASSERT_EQ(frontier.take(5).first, 10u);
    frontier.claim(160);
    frontier.exchange(saved);
    frontier.claim(160);
    EXPECT_FALSE(frontier.is_reserved(155));
    EXPECT_FALSE(frontier.is_issued(159));
    EXPECT_TRUE(frontier.is_reserved(14));
    EXPECT_EQ(frontier.issued(), 1u + 140u);
}

TEST(key_frontier, exchange_takes_the_range_and_the_keys_of_another_pool) {
    key_frontier<> saved = frontier_of(500, 200);
    saved.issue(150);
    key_frontier<> frontier = frontier_of(1000, 10);
    frontier.exchange(saved);
    EXPECT_EQ(frontier.keys(), 500u);
    EXPECT_EQ(frontier.fresh(), 150u);
    EXPECT_EQ(frontier.take(1).first, 200u);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
