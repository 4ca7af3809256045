// Parallel loops that are expected to be short: the calling thread runs them alone, by the same rules.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
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
struct spark {
    int age;
};

/// Counts how often a loop asks for the number of threads and how often it starts them.
class watched_executor final : public executor {
public:
    [[nodiscard]] unsigned concurrency() const noexcept override {
        ++asked;
        return threads_.concurrency();
    }
    void run(unsigned count, const task& work) override {
        ++woken;
        threads_.run(count, work);
    }
    mutable int asked = 0;
    int woken = 0;

private:
    thread_executor threads_{2};
};

struct short_loops : testing::Test {
    world w;
    watched_executor threads;
    int alone = 0;  // turns that asked for no threads
#ifdef __OPTIMIZE__
    static constexpr int least = 5;
#else
    static constexpr int least = 0;  // no loop is short without optimization
#endif

    void fill(int count) {
        for (int i = 0; i < count; ++i) w.spawn(position{i, 0}, velocity{1, 0});
    }
    /// Runs the loop `turns` times, and more often until it ran `least` times without threads. A busy machine
    /// needs more turns.
    template <class Turn>
    void repeat(int turns, Turn turn) {
        for (int i = 0; i < turns || (alone < least && i < 5000); ++i) {
            const int before = threads.asked;
            turn(i);
            alone += threads.asked == before;
        }
        EXPECT_GE(alone, least);
    }
};

TEST_F(short_loops, write_their_components) {
    fill(4);
    const auto q = w.query<position, const velocity>();
    int turns = 0;
    repeat(50, [&](int) {
        q.par_each(threads, 0, [](position& p, const velocity& v) { p.y += v.x; });
        ++turns;
    });
    int complete = 0;
    w.each([&](const position& p) { complete += p.y == turns ? 1 : 0; });
    EXPECT_EQ(complete, 4);
}

TEST_F(short_loops, a_short_remainder_wakes_no_thread) {
#ifndef __OPTIMIZE__
    GTEST_SKIP() << "no loop is short without optimization";
#endif
    fill(24);
    const auto q = w.query<position>();
    const int turns = 400;
    int woken = turns;
    for (int again = 0; again < 20 && woken >= turns / 2; ++again) {  // the machine may be busy
        threads.woken = 0;
        for (int i = 0; i < turns; ++i)
            q.par_each(threads, 0,
                       [](position& p) {  // in total longer than starting a thread
                           const auto end =
                               std::chrono::steady_clock::now() + std::chrono::microseconds(1);
                           while (std::chrono::steady_clock::now() < end) p.y += 1;
                       });
        woken = threads.woken;
    }
    EXPECT_LT(woken, turns / 2);
}

TEST_F(short_loops, changes_are_applied_at_the_end) {
    fill(3);
    const auto q = w.query<const position>();
    repeat(50, [&](int turn) {
        std::vector<entity> made(3);
        q.par_each(threads, 0, [&](entity e, const position& p) {
            const entity spawned = w.spawn(spark{p.x});
            EXPECT_TRUE(w.alive(spawned));
            EXPECT_EQ(w.try_get<spark>(spawned), nullptr);
            made[std::size_t(p.x)] = spawned;
            w.set(e, velocity{turn, p.x});
            EXPECT_NE(w.get<velocity>(e).x, turn);
        });
        EXPECT_EQ(w.size(), 6u);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(w.get<spark>(made[i]).age, int(i));
        int rows = 0;
        q.each([&](entity e, const position& p) {
            ++rows;
            EXPECT_EQ(w.get<velocity>(e).x, turn);
            EXPECT_EQ(w.get<velocity>(e).y, p.x);
        });
        EXPECT_EQ(rows, 3);
        w.query<const spark>().par_each(threads, 0, [&](entity e, const spark&) {
            w.destroy(e);
            EXPECT_TRUE(w.alive(e));
        });
        EXPECT_EQ(w.size(), 3u);
        for (const entity e : made) EXPECT_FALSE(w.alive(e));
    });
}

TEST_F(short_loops, an_exception_leaves_the_world_unchanged) {
    fill(3);
    const auto q = w.query<const position>();
    entity made;
    bool fails = false;
    repeat(50, [&](int turn) {
        fails = turn % 3 == 2;
        const auto run = [&] {
            q.par_each(threads, 0, [&](entity e, const position& p) {
                if (p.x == 0) made = w.spawn(spark{1});
                w.set(e, velocity{turn, turn});
                if (fails && p.x == 2) throw std::runtime_error("the third");
            });
        };
        if (fails) {
            EXPECT_THROW(run(), std::runtime_error);
            EXPECT_FALSE(w.alive(made));
            int unchanged = 0;
            q.each([&](entity e, const position&) {
                unchanged += w.get<velocity>(e).x != turn ? 1 : 0;
            });
            EXPECT_EQ(unchanged, 3);
        } else {
            run();
            EXPECT_EQ(w.get<spark>(made).age, 1);
            w.destroy(made);
        }
        EXPECT_EQ(w.size(), 3u);
        EXPECT_EQ(w.depth(), 0u);
    });
}

TEST_F(short_loops, refuse_the_calls_that_long_loops_refuse) {
    fill(1);
    const auto q = w.query<const position>();
    const auto refuses = [&](const auto& call) {
        try {
            call();
            return false;
        } catch (const error& caught) {
            return caught.code() == errc::in_scope;
        }
    };
    repeat(50, [&](int turn) {
        bool is_right = turn % 3 != 0;  // an exception is slow: only the other turns are short
        q.par_each(threads, 0, [&](entity e, const position&) {
            if (is_right) return;
            switch (turn % 5) {
            case 0: is_right = refuses([&] { (void)w.clone(e); }); break;
            case 1: is_right = refuses([&] { (void)w.spawn_many(2); }); break;
            case 2: is_right = refuses([&] { w.reset(); }); break;
            case 3: is_right = refuses([&] { w.defer(); }); break;
            default: is_right = refuses([&] { (void)w.query<spark>(); }); break;
            }
        });
        ASSERT_TRUE(is_right) << turn % 5;
    });
    EXPECT_EQ(w.size(), 1u);
}

TEST_F(short_loops, a_loop_inside_another_is_an_ordinary_loop) {
    fill(3);
    const auto q = w.query<position>();
    repeat(50, [&](int) {
        std::atomic<int> seen = 0;
        q.par_each(threads, 0,
                   [&](position&) { q.par_each(threads, 0, [&](const position&) { ++seen; }); });
        EXPECT_EQ(seen, 9);
    });
}

TEST_F(short_loops, in_a_scope_changes_are_deferred_until_it_closes) {
    fill(3);
    const auto q = w.query<const position>();
    repeat(50, [&](int turn) {
        w.defer();
        q.par_each(threads, 0, [&](entity e, const position&) {
            w.set(e, velocity{turn, 0});
            w.spawn(spark{turn});
        });
        EXPECT_EQ(w.query<spark>().count(), 0u);
        if (turn % 2 == 0) {
            w.cancel();
            EXPECT_EQ(w.size(), 3u);
        } else {
            w.commit();
            EXPECT_EQ(w.size(), 6u);
            EXPECT_EQ(w.query<spark>().destroy(), 3u);
        }
    });
}

TEST_F(short_loops, a_hook_may_start_a_loop_when_another_ends) {
    fill(2);
    const auto q = w.query<const position>();
    std::atomic<int> calls = 0;
    w.on_insert<spark>([&](entity, spark&) {
        q.par_each(threads, 0, [&](entity e, const position&) { w.set(e, velocity{++calls, 0}); });
    });
    int turns = 0;
    repeat(50, [&](int) {
        ++turns;
        q.par_each(threads, 0, [&](const position&) { w.spawn(spark{}); });
        EXPECT_EQ(w.query<spark>().destroy(), 2u);
    });
    EXPECT_EQ(calls,
              4 * turns);  // each turn inserts two sparks, and each calls the loop for two rows
    int latest = 0;
    w.each([&](const velocity& v) { latest += v.x > calls - 2 ? 1 : 0; });
    EXPECT_EQ(latest, 2);
}

TEST_F(short_loops, new_chunks_are_visited) {
    const auto q = w.query<const position>();
    const auto others = w.query<const spark>();
    repeat(50, [&](int turn) {
        const entity e = w.spawn(position{turn, 0}, spark{turn});
        if (turn < 50) w.add(e, w.spawn());  // a new chunk
        int seen = 0;
        q.par_each(threads, 0, [&](const position&) {
            seen = 0;
            others.each([&](const spark&) { ++seen; });
        });
        EXPECT_EQ(seen, 1);
        w.destroy(e);
    });
}

TEST_F(short_loops, a_loop_that_becomes_long_soon_runs_on_several_threads) {
    fill(40);
    const auto q = w.query<const position>();
    bool is_slow = false;
    std::mutex guard;
    std::set<std::thread::id> seen;
    const auto turn = [&](int) {
        q.par_each(threads, 0, [&](const position&) {
            if (!is_slow) return;
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            const std::lock_guard lock(guard);
            seen.insert(std::this_thread::get_id());
        });
    };
    repeat(50, turn);
    is_slow = true;
    for (int i = 0; i < 200 && seen.size() < 2; ++i) turn(i);
    EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
