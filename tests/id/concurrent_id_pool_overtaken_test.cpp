// concurrent_id_pool: calls that another call overtakes while they allocate. The other call runs in the same thread,
// inside calloc, so that each interleaving is exact. A link with out_of_memory_test.cpp wraps calloc.
#include <muster/id/concurrent_id_pool.hpp>

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "support/allocation_pause.hpp"
#include "support/errors.hpp"

namespace muster {
namespace {

using ids_of = std::vector<id>;

ids_of created(concurrent_id_pool<>& pool, std::size_t count) {
    ids_of made(count);
    pool.create(made);
    return made;
}

void expect_living_and_different(const concurrent_id_pool<>& pool,
                                 const std::vector<ids_of>& groups) {
    std::set<id> seen;
    for (const ids_of& group : groups)
        for (const id e : group) {
            ASSERT_TRUE(pool.alive(e));
            ASSERT_TRUE(seen.insert(e).second);
        }
    EXPECT_EQ(pool.size(), seen.size());
}

concurrent_id_pool<> pool_of(std::uint64_t keys) {
    return concurrent_id_pool<>{{.last_key = keys - 1}};
}

TEST(concurrent_id_pool_overtaken, a_segment_that_another_thread_has_allocated_meanwhile_is_used) {
    auto pool = pool_of(5000);
    ids_of theirs;
    test::allocation_pause.start(1, [&] { theirs = created(pool, 10); });
    const ids_of ours = created(pool, 10);
    ASSERT_FALSE(test::allocation_pause.is_waiting());
    expect_living_and_different(pool, {ours, theirs});
    EXPECT_EQ(pool.capacity(), 1024u);
}

TEST(concurrent_id_pool_overtaken, creating_one_takes_the_next_key_if_another_thread_took_its_key) {
    auto pool = pool_of(5000);
    const ids_of before = created(pool, 1024);
    ids_of theirs;
    test::allocation_pause.start(1, [&] { theirs = created(pool, 2); });
    const ids_of ours{pool.create()};
    EXPECT_EQ(ours[0].key(), 1026u);
    expect_living_and_different(pool, {before, theirs, ours});
}

TEST(concurrent_id_pool_overtaken,
     creating_one_finds_a_key_that_another_thread_has_freed_meanwhile) {
    auto pool = pool_of(1025);
    ids_of before = created(pool, 1024);
    ids_of theirs;
    test::allocation_pause.start(1, [&] {
        theirs = created(pool, 1);  // the last key
        pool.destroy(before[3]);
    });
    const ids_of ours{pool.create()};
    EXPECT_EQ(ours[0].key(), before[3].key());
    EXPECT_NE(ours[0], before[3]);
    before.erase(before.begin() + 3);
    expect_living_and_different(pool, {before, theirs, ours});
}

TEST(concurrent_id_pool_overtaken, creating_many_takes_what_is_new_and_what_was_freed_meanwhile) {
    auto pool = pool_of(5000);
    ids_of first, second;
    // The second segment of the call, then the one that the call needs because it was overtaken.
    test::allocation_pause.start(2, [&] {
        first = created(pool, 500);
        test::allocation_pause.start(2, [&] {
            second = created(pool, 1000);
            for (const id e : first) pool.destroy(e);
        });
    });
    const ids_of ours = created(pool, 4000);
    ASSERT_FALSE(test::allocation_pause.is_waiting());
    expect_living_and_different(pool, {second, ours});
}

TEST(concurrent_id_pool_overtaken,
     creating_many_destroys_what_it_has_if_the_keys_are_used_up_meanwhile) {
    auto pool = pool_of(3000);
    ids_of theirs;
    test::allocation_pause.start(2, [&] { theirs = created(pool, 2000); });
    ids_of ours(1500);
    EXPECT_EQ(test::code_of([&] { pool.create(ours); }), errc::id_overflow);
    for (const id e : ours) ASSERT_TRUE(e.is_null());
    expect_living_and_different(pool, {theirs});
    const ids_of later = created(pool, 1000);  // no key is lost
    expect_living_and_different(pool, {theirs, later});
}

}  // namespace
}  // namespace muster
