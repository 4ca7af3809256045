// key_frontier, ids and pools in rare states: keys that other threads take before the pool grows, exchanged states, and
// pools whose last keys are reserved.
#include <muster/id/id_pool.hpp>
#include <muster/id/key_frontier.hpp>
#include <muster/id/world_number.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(key_frontier_states, counts_the_keys_that_were_taken_since_the_last_sync) {
    key_frontier<> frontier(1000);
    frontier.claim(10);
    EXPECT_EQ(frontier.unknown(), 0u);
    const index_run taken = frontier.take(5);
    EXPECT_EQ(taken.first, 10u);
    EXPECT_EQ(frontier.unknown(), 5u);
    frontier.sync();
    EXPECT_EQ(frontier.unknown(), 0u);
    EXPECT_TRUE(frontier.is_reserved(12));
}

TEST(key_frontier_states, a_sync_after_an_exchange_keeps_keys_that_were_issued_ahead) {
    key_frontier<> frontier(1000);
    const key_frontier<> empty(frontier);
    key_frontier<> saved(empty);
    (void)frontier.take(8);
    frontier.sync();           // 0 to 7 are reserved
    frontier.exchange(saved);  // back to the empty state; keys of other threads stay theirs
    frontier.issue_ahead(3);
    frontier.claim(20);
    EXPECT_EQ(frontier.pool_end(), 20u);
    EXPECT_TRUE(frontier.is_issued(3));
    EXPECT_EQ(frontier.next_ahead(), frontier.is_issued(0) ? 0u : 3u);
}

TEST(id_comparison, at_run_time_depends_on_each_part) {
    const volatile std::uint64_t two = 2;
    const id one = id::pack(1, two, 1);
    EXPECT_TRUE(one < id::pack(2, two, 1));
    EXPECT_TRUE(one.unpack() == (id_parts{1, two, 1}));
    EXPECT_FALSE(one.unpack() == (id_parts{two, two, 1}));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
