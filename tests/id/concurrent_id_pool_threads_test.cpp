// concurrent_id_pool on several threads: no key has two owners, no key is lost, and no thread reads
// a segment that does not exist yet.
//
// Each key has an atomic owner and plain data. The owner is asserted; the thread sanitizer reports
// any other thread that touches the plain data.
#include <muster/base/thread_number.hpp>
#include <muster/id/concurrent_id_pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/layouts.hpp"
#include "support/scale.hpp"

namespace muster {
namespace {

constexpr unsigned thread_count = 4;

/// Whether each thread frees keys to its own stack, or all threads to one stack.
enum class stacks : bool { own, shared };

/// Runs `work(0)` to `work(3)` at the same time.
void in_threads(const std::function<void(unsigned)>& work, stacks which = stacks::own) {
    std::atomic<unsigned> ready = 0;
    std::vector<std::thread> threads;
    while (threads.size() < thread_count) {
        std::atomic<int> fits = -1;
        std::thread thread([&, i = static_cast<unsigned>(threads.size())] {
            // The thread number selects the stack. Threads with other numbers return at once.
            const bool stays = which == stacks::own || detail::thread_number() % 8 == 0;
            fits = stays;
            if (!stays) return;
            ++ready;
            while (ready != thread_count) std::this_thread::yield();
            work(i);
        });
        while (fits == -1) std::this_thread::yield();
        if (fits == 1)
            threads.push_back(std::move(thread));
        else
            thread.join();
    }
    for (std::thread& thread : threads) thread.join();
}

/// Records which thread holds which key.
template <class Layout>
class owners {
public:
    using id_type = basic_id<Layout>;

    explicit owners(std::size_t keys) : keys_(keys) {}

    void take(id_type e, unsigned thread) {
        slot& key = at(e);
        if (key.owner.exchange(thread + 1, std::memory_order_relaxed) != 0) ++faults;
        key.last = e;
    }
    /// Call before destroying `e`.
    void release(id_type e, unsigned thread) {
        slot& key = at(e);
        if (key.last != e) ++faults;
        key.last = id_type{};
        if (key.owner.exchange(0, std::memory_order_relaxed) != thread + 1) ++faults;
    }

    std::atomic<int> faults = 0;

private:
    struct slot {
        std::atomic<unsigned> owner = 0;
        id_type last;  // not atomic: only the owner may touch it
    };
    slot& at(id_type e) { return keys_.at(e.key() - Layout::first_key); }

    std::vector<slot> keys_;
};

/// Expects that every unused key can be created, each once.
template <class Layout>
void expect_all_keys(concurrent_id_pool<Layout>& pool, std::size_t keys) {
    ASSERT_EQ(pool.size(), 0u);
    pool.recycle_tombstones();
    const std::size_t usable = keys - pool.retired();
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < usable; ++i) ASSERT_TRUE(seen.insert(pool.create().key()).second);
    ASSERT_EQ(test::code_of([&] { pool.create(); }), errc::id_overflow);
    ASSERT_EQ(pool.size(), usable);
}

template <class Layout>
class threads_of : public testing::Test {};
using some_layouts =
    testing::Types<layouts::bound, layouts::compact, layouts::exact,
                   layout<std::uint64_t, id_bits{.key = 32, .version = 32}>,
                   test::nibble<exhaustion::retire>, test::nibble<exhaustion::wrap>,
                   test::nibble_from_1<exhaustion::tombstone>, test::tiny_bound<exhaustion::wrap>,
                   test::least<exhaustion::wrap>, test::least<exhaustion::tombstone>>;
TYPED_TEST_SUITE(threads_of, some_layouts, test::layout_names);

/// Four threads create and destroy at random.
template <class TypeParam>
void churn(stacks which) {
    using id_type = basic_id<TypeParam>;
    const std::size_t keys = static_cast<std::size_t>(
        detail::smaller(TypeParam::last_key - TypeParam::first_key + 1, 24));
    concurrent_id_pool<TypeParam> pool{{.last_key = TypeParam::first_key + keys - 1}};
    owners<TypeParam> held(keys);
    in_threads(
        [&](unsigned thread) {
            std::mt19937 dice(thread);
            std::vector<id_type> mine;
            for (unsigned i = 0; i < 3000 * test::scale(); ++i) {
                if (mine.empty() || dice() % 2 == 0) {
                    id_type e;
                    if (test::code_of([&] { e = pool.create(); })) {
                        if (dice() % 8 == 0) pool.recycle_tombstones();
                        if (mine.empty()) continue;
                    } else {
                        held.take(e, thread);
                        if (!pool.alive(e)) ++held.faults;
                        mine.push_back(e);
                        continue;
                    }
                }
                std::swap(mine[dice() % mine.size()], mine.back());
                held.release(mine.back(), thread);
                if (!pool.destroy(mine.back())) ++held.faults;
                mine.pop_back();
            }
            for (const id_type e : mine) {
                held.release(e, thread);
                if (!pool.destroy(e)) ++held.faults;
            }
        },
        which);
    EXPECT_EQ(held.faults, 0);
    expect_all_keys(pool, keys);
}

TYPED_TEST(threads_of, no_key_has_two_owners_and_none_is_lost) {
    churn<TypeParam>(stacks::own);
}

TYPED_TEST(threads_of, sharing_one_stack_keeps_keys_unique_and_complete) {
    churn<TypeParam>(stacks::shared);
}

TYPED_TEST(threads_of, creating_many_is_all_or_nothing_and_loses_no_key) {
    using id_type = basic_id<TypeParam>;
    const std::size_t keys = static_cast<std::size_t>(
        detail::smaller(TypeParam::last_key - TypeParam::first_key + 1, 40));
    concurrent_id_pool<TypeParam> pool{{.last_key = TypeParam::first_key + keys - 1}};
    owners<TypeParam> held(keys);
    in_threads([&](unsigned thread) {
        std::mt19937 dice(thread);
        for (unsigned i = 0; i < 400 * test::scale(); ++i) {
            std::vector<id_type> ids(dice() % 16);
            const auto failed = test::code_of([&] { pool.create(ids); });
            for (const id_type e : ids) {
                if (e.is_null() != failed.has_value()) ++held.faults;
                if (!e.is_null()) held.take(e, thread);
            }
            if (failed) continue;
            for (const id_type e : ids) {
                held.release(e, thread);
                if (!pool.destroy(e)) ++held.faults;
            }
            if (i % 8 == 0) pool.recycle_tombstones();
        }
    });
    EXPECT_EQ(held.faults, 0);
    expect_all_keys(pool, keys);
}

TYPED_TEST(threads_of, only_one_thread_succeeds_in_destroying_an_id) {
    const std::size_t count = static_cast<std::size_t>(
        detail::smaller(TypeParam::last_key - TypeParam::first_key + 1, 2000));
    concurrent_id_pool<TypeParam> pool;
    std::vector<basic_id<TypeParam>> ids(count);
    pool.create(ids);
    std::vector<std::atomic<int>> successes(count);
    in_threads([&](unsigned) {
        for (std::size_t i = 0; i < count; ++i)
            if (pool.destroy(ids[i])) ++successes[i];
    });
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(successes[i], 1) << i;
    EXPECT_EQ(pool.size(), 0u);
}

TEST(concurrent_id_pool_threads, as_many_keys_as_threads_suffice_for_one_id_each) {
    // A thread without an id always finds a key that is free or about to be: create() never fails.
    using few =
        layout<std::uint8_t, id_bits{.key = 4, .version = 4, .on_exhaustion = exhaustion::wrap}>;
    concurrent_id_pool<few> pool{{.last_key = thread_count - 1}};
    std::atomic<int> refused = 0;
    in_threads([&](unsigned) {
        for (unsigned i = 0; i < 5000 * test::scale(); ++i) {
            if (test::code_of([&] { pool.destroy(pool.create()); })) ++refused;
        }
    });
    EXPECT_EQ(refused, 0);
    EXPECT_EQ(pool.size(), 0u);
}

TEST(concurrent_id_pool_threads, new_keys_are_issued_once_while_segments_are_allocated) {
    concurrent_id_pool<> pool;
    constexpr std::size_t each = 10'000;
    std::vector<id> ids(each * thread_count);
    in_threads([&](unsigned thread) {
        for (std::size_t i = 0; i < each; ++i) ids[thread * each + i] = pool.create();
    });
    std::vector<bool> seen(ids.size());
    for (const id e : ids) {
        ASSERT_LT(e.key(), ids.size());
        ASSERT_FALSE(seen[e.key()]);
        seen[e.key()] = true;
        ASSERT_TRUE(pool.alive(e));
    }
    EXPECT_EQ(pool.size(), ids.size());
    EXPECT_LT(pool.capacity(), 2 * ids.size());
}

TEST(concurrent_id_pool_threads, segments_requested_by_all_threads_are_allocated_once) {
    for (unsigned round = 0; round < 20; ++round) {
        concurrent_id_pool<layouts::compact> pool;
        in_threads([&](unsigned thread) {
            std::vector<basic_id<layouts::compact>> ids(1500 + thread);
            if (thread % 2 == 0)
                pool.reserve(5000);
            else
                pool.create(ids);
        });
        ASSERT_EQ(pool.size(), 1501u + 1503u);
        ASSERT_EQ(pool.capacity(), 8192u);
    }
}

TEST(concurrent_id_pool_threads, alive_is_correct_while_other_threads_create_and_destroy) {
    concurrent_id_pool<> pool;
    std::array<id, 64> staying, destroyed;
    pool.create(staying);
    pool.create(destroyed);
    for (const id e : destroyed) pool.destroy(e);
    std::atomic<int> faults = 0;
    std::atomic<unsigned> working = 2;
    in_threads([&](unsigned thread) {
        if (thread < 2) {
            std::vector<id> mine;
            for (unsigned i = 0; i < 8000; ++i) {
                mine.push_back(pool.create());
                if (i % 3 == 0) {  // grows and reuses keys
                    pool.destroy(mine[mine.size() / 2]);
                    mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(mine.size() / 2));
                }
            }
            --working;
            return;
        }
        std::mt19937_64 dice(thread);
        while (working != 0) {
            for (const id e : staying)
                if (!pool.alive(e)) ++faults;
            for (const id e : destroyed)
                if (pool.alive(e)) ++faults;
            // Keys of segments that may be allocated right now; versions and worlds never issued.
            if (pool.alive(id::pack(dice() % 20'000, 60'000, 1))) ++faults;
            if (pool.alive(id::pack(dice() % 20'000, 0, 2))) ++faults;
            if (pool.destroy(id::from_value(dice() | std::uint64_t{2} << 48))) ++faults;
            if (pool.size() > 20'000) ++faults;
            std::this_thread::yield();
        }
    });
    EXPECT_EQ(faults, 0);
    for (const id e : staying) EXPECT_TRUE(pool.alive(e));
}

TEST(concurrent_id_pool_threads, an_id_may_be_destroyed_by_another_thread_than_its_creator) {
    // Threads 0 and 1 create, 2 and 3 destroy: keys return through the stacks of other threads.
    concurrent_id_pool<> pool;
    constexpr std::size_t ring_size = 64, each = 4000;
    std::array<std::array<std::atomic<std::uint64_t>, ring_size>, 2> rings{};
    std::vector<std::uint64_t> data(
        4 * ring_size);  // not atomic: published with the id and by the pool
    std::atomic<int> faults = 0;
    in_threads([&](unsigned thread) {
        auto& ring = rings[thread % 2];
        for (std::size_t i = 0; i < each; ++i) {
            std::atomic<std::uint64_t>& entry = ring[i % ring_size];
            if (thread < 2) {
                const id e = pool.create();
                while (entry.load() != 0) std::this_thread::yield();
                data.at(e.key()) = e.value();
                entry.store(e.value());
            } else {
                while (entry.load() == 0) std::this_thread::yield();
                const id e = id::from_value(entry.exchange(0));
                if (!pool.alive(e) || data.at(e.key()) != e.value()) ++faults;
                data.at(e.key()) = 0;
                if (!pool.destroy(e)) ++faults;
                if (pool.alive(e)) ++faults;
            }
        }
    });
    EXPECT_EQ(faults, 0);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_EQ(pool.capacity(), 1024u);  // enough for the keys in use at a time
}

TEST(concurrent_id_pool_threads, tombstones_are_recycled_once) {
    using parking =
        layout<std::uint16_t,
               id_bits{.key = 10, .version = 1, .on_exhaustion = exhaustion::tombstone}>;
    concurrent_id_pool<parking> pool;
    std::vector<basic_id<parking>> ids(1024);
    for (unsigned round = 0; round < 20; ++round) {
        pool.create(ids);
        std::atomic<std::size_t> recycled = 0;
        in_threads([&](unsigned thread) {
            for (std::size_t i = thread; i < ids.size(); i += thread_count) {
                pool.destroy(ids[i]);  // its only version
                if (i % 50 == 0) recycled += pool.recycle_tombstones();
            }
        });
        recycled += pool.recycle_tombstones();
        ASSERT_EQ(recycled, 1024u);
        ASSERT_EQ(pool.tombstones(), 0u);
        ASSERT_EQ(pool.size(), 0u);
    }
}

}  // namespace
}  // namespace muster
