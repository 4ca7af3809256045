// Defects 12 and 14 of the systems that Muster unites: command buffers and threads. A comment describes the
// defect of the original system.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/errors.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using namespace muster;
using muster_tests::thread_executor;

namespace {

struct position {
    int x, y;
};
struct velocity {
    int x, y;
};
struct tag {};
struct owned {
    std::unique_ptr<int> value;
};

TEST(defect_12, ids_of_a_command_buffer_are_no_placeholders) {
    // R-Type: placeholders collide with real ids.
    world w;
    command_buffer b{w};
    command_buffer c{w};
    std::set<entity> all;
    std::size_t count = 0;
    for (int i = 0; i < 1000; ++i) {
        all.insert(b.spawn());
        all.insert(w.spawn());
        all.insert(c.spawn());
        const entity gone = w.spawn();
        all.insert(gone);
        count += 4;
        if (i % 3 == 0) w.destroy(gone);
        if (i % 100 == 50) w.submit(b);
    }
    EXPECT_EQ(all.size(), count);
    w.submit(c);
    w.submit(b);
    EXPECT_EQ(w.size(), count - 334);
}

TEST(defect_12, a_failed_change_does_not_stop_the_others_and_is_not_repeated) {
    // R-Type: a flush after a failed one repeats the changes that succeeded.
    world w;
    const entity a = w.spawn(position{1, 0});
    const entity b = w.spawn(position{2, 0});
    const entity c = w.spawn(position{3, 0});
    int calls = 0;
    w.on_insert<velocity>([&](entity e, velocity&) {
        ++calls;
        if (e == b) throw std::runtime_error("not this one");
    });
    command_buffer changes{w};
    for (const entity e : {a, b, c}) changes.set(e, velocity{});
    EXPECT_THROW(w.submit(changes), std::runtime_error);
    EXPECT_EQ(calls, 3);
    EXPECT_TRUE(w.has<velocity>(a));
    EXPECT_FALSE(w.has<velocity>(b));
    EXPECT_TRUE(w.has<velocity>(c));
    EXPECT_TRUE(changes.empty());
    w.submit(changes);
    w.apply_submitted();
    EXPECT_EQ(calls, 3);
}

TEST(defect_12, a_hook_may_record_and_submit_while_a_buffer_is_applied) {
    // R-Type: a hook that records into the buffer being flushed deadlocks.
    world w;
    command_buffer b{w};
    entity follower;
    w.on_insert<position>([&](entity e, position& p) {
        if (p.x == 0) return;
        w.set(e, tag{});
        follower = b.spawn(position{p.x - 1, 0});
        w.submit(b);
    });
    const entity first = b.spawn(position{3, 0});
    w.submit(b);
    EXPECT_EQ(w.size(), 4u);
    EXPECT_TRUE(w.has<tag>(first));
    EXPECT_TRUE(w.alive(follower));
    EXPECT_EQ(w.get<position>(follower).x, 0);
}

TEST(defect_12, values_need_not_be_copied) {
    // R-Type: move-only components do not compile.
    world w;
    const entity e = w.spawn();
    command_buffer b{w};
    b.set(e, owned{std::make_unique<int>(1)});
    b.set(e, owned{std::make_unique<int>(2)});
    w.submit(b);
    EXPECT_EQ(*w.get<owned>(e).value, 2);
}

// R-Type: each call takes a lock, but no lock protects the references that it returns.

TEST(defect_14, a_reference_stays_valid_while_other_threads_spawn_and_destroy) {
    world w;
    std::vector<entity> all;
    for (int i = 0; i < 400; ++i) all.push_back(w.spawn(position{i, 0}, velocity{i, i}));
    thread_executor four(4);
    w.query<position>().par_each(four, 1, [&](entity e, position& p) {
        const auto which = static_cast<std::size_t>(p.x);
        for (int i = 0; i < 10; ++i) w.spawn(position{-1, i});  // in the same columns
        w.destroy(all[(which + 1) % all.size()]);
        w.remove<velocity>(all[(which + 2) % all.size()]);
        p.y = p.x;  // the row has not moved, and no other thread writes it
        EXPECT_EQ(&w.get<position>(e), &p);
        EXPECT_EQ(std::as_const(w).get<velocity>(e).x, p.x);
    });
    EXPECT_EQ(w.size(), 4000u);
    for (const entity e : all) EXPECT_FALSE(w.alive(e));
    int spawned = 0;
    w.query<const position>().each([&](const position& p) { spawned += p.x == -1 ? 1 : 0; });
    EXPECT_EQ(spawned, 4000);
}

TEST(defect_14, any_thread_may_spawn_and_destroy_and_no_entity_is_duplicated_or_lost) {
    world w;
    for (int i = 0; i < 200; ++i) w.spawn(position{i, 0});
    for (const entity e : w.spawn_many(150)) w.destroy(e);  // free keys
    thread_executor four(4);
    std::vector<std::vector<entity>> kept(200);
    std::atomic<int> calls = 0;
    for (int round = 0; round < 5; ++round)
        w.query<const position>().par_each(four, 3, [&](const position& p) {
            ++calls;
            std::vector<entity>& mine = kept[static_cast<std::size_t>(p.x)];
            for (const entity e : mine) EXPECT_TRUE(w.alive(e));
            if (!mine.empty() && p.x % 2 == 0) {
                EXPECT_TRUE(w.destroy(mine.back()));
                mine.pop_back();
            }
            mine.push_back(w.spawn(velocity{p.x, round}));
            EXPECT_TRUE(w.alive(mine.back()));
        });
    std::set<entity> all;
    std::size_t count = 0;
    for (std::size_t i = 0; i < kept.size(); ++i)
        for (const entity e : kept[i]) {
            all.insert(e);
            ++count;
            EXPECT_EQ(w.get<velocity>(e).x, static_cast<int>(i));
        }
    EXPECT_EQ(calls, 1000);
    EXPECT_EQ(count, 100u * 5 + 100u * 1);  // even rows destroy the last one in each round
    EXPECT_EQ(all.size(), count);
    EXPECT_EQ(w.query<velocity>().count(), count);
}

TEST(defect_14, a_pool_with_the_layout_of_r_type_is_recycled_while_other_threads_use_it) {
    using r_type = layout<std::uint32_t,
                          id_bits{.key = 8, .version = 3, .on_exhaustion = exhaustion::tombstone}>;
    concurrent_id_pool<r_type> pool;
    std::atomic<unsigned> owners[256]{};
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&] {
            std::vector<basic_id<r_type>> mine;
            for (int i = 0; i < 3000; ++i) {
                if (mine.size() < 16) {
                    mine.push_back(pool.create());
                    EXPECT_EQ(owners[mine.back().key()].fetch_add(1), 0u);
                } else {
                    EXPECT_TRUE(pool.alive(mine.front()));
                    EXPECT_EQ(owners[mine.front().key()].fetch_sub(1), 1u);
                    EXPECT_TRUE(pool.destroy(mine.front()));
                    mine.erase(mine.begin());
                }
                if (i % 20 == 0) pool.recycle_tombstones();
            }
            for (const auto e : mine) {
                owners[e.key()].fetch_sub(1);
                EXPECT_TRUE(pool.destroy(e));
            }
        });
    for (std::thread& thread : all) thread.join();
    EXPECT_EQ(pool.size(), 0u);
    pool.recycle_tombstones();
    EXPECT_EQ(pool.tombstones(), 0u);
}

TEST(defect_14, readers_need_no_lock_while_no_thread_changes_the_world) {
    world w;
    const fragment<int> health = w.fragment<int>();
    std::vector<entity> all;
    for (int i = 0; i < 300; ++i) {
        all.push_back(w.spawn(position{i, 0}));
        if (i % 2 == 0) w.set(all.back(), health, i);
        if (i % 3 == 0) w.name(all.back(), "third");
    }
    const entity dead = w.spawn();
    w.destroy(dead);
    const auto positions = w.query<const position>();
    EXPECT_EQ(positions.count(), 300u);
    const world& seen = w;
    std::vector<std::thread> readers;
    for (int t = 0; t < 4; ++t)
        readers.emplace_back([&] {
            for (std::size_t i = 0; i < all.size(); ++i) {
                EXPECT_TRUE(seen.alive(all[i]));
                EXPECT_EQ(seen.get<position>(all[i]).x, static_cast<int>(i));
                EXPECT_EQ(seen.has(all[i], health), i % 2 == 0);
                EXPECT_EQ(seen.name(all[i]).empty(), i % 3 != 0);
                EXPECT_TRUE(positions.matches(all[i]));
            }
            EXPECT_FALSE(seen.alive(dead));
            EXPECT_EQ(seen.try_get<position>(dead), nullptr);
            EXPECT_EQ(positions.count(), 300u);
            EXPECT_EQ(seen.lookup("third"), all[0]);
            EXPECT_EQ(test::code_of([&] { (void)seen.get<velocity>(all[0]); }),
                      errc::missing_component);
        });
    for (std::thread& reader : readers) reader.join();
}

}  // namespace
