// Several threads loop over one const world at the same time. Runs under ThreadSanitizer.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/parallel_layout.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

using namespace muster;
using muster_tests::thread_executor;

namespace {

using muster_tests::parallel::entity;
using muster_tests::parallel::world;

struct position {
    int x;
};
struct velocity {
    int x;
};
struct burning {
    int left;
};
struct unused {
    int value;
};
struct frozen {};

}  // namespace

template <>
struct muster::component_traits<burning> {
    static constexpr bool sparse = true;
};

namespace {

constexpr int threads = 4;

template <class Function>
void on_threads(Function function) {
    std::barrier begin(threads);
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([&] {
            begin.arrive_and_wait();
            function();
        });
    for (std::thread& thread : all) thread.join();
}

void fill(world& w, int round) {
    for (int i = 0; i < 100; ++i) {
        const entity e = w.spawn(position{1});
        if (i % 2 == 0) w.set(e, velocity{1});
        if (i % 3 == 0) w.set(e, burning{1});
        if (i % 5 == 0) w.add<frozen>(e);
        if (i == 0) w.set(e, w.tag());  // a new chunk in each round
        if (i % 10 == round % 10) w.destroy(e);
    }
}

struct counts {
    std::size_t all = 0, moving = 0, burning = 0, warm = 0;
    friend bool operator==(const counts&, const counts&) = default;
};

counts count_by_loops(const world& w) {
    counts made;
    w.each([&](const position& p) { made.all += static_cast<std::size_t>(p.x); });
    for (auto [e, p, v] : w.query<const position, const velocity>())
        made.moving += static_cast<std::size_t>(v.x * p.x);
    w.each([&](entity e, const position&, const ::burning& b) {
        EXPECT_TRUE(w.alive(e));
        made.burning += static_cast<std::size_t>(b.left);
    });
    w.query<const position>().without<frozen>().each_chunk(
        [&](muster::basic_rows<const muster_tests::parallel::layout> view) {
            made.warm += view.template components<position>().size();
        });
    w.each([&](const unused&) { ADD_FAILURE(); });
    return made;
}
counts count_by_queries(world& w) {
    return {w.query<position>().count(), w.query<position, velocity>().count(),
            w.query<position, ::burning>().count(), w.query<position>().without<frozen>().count()};
}

TEST(const_world, several_threads_loop_over_it_while_the_lists_are_new) {
    world w;
    for (int round = 0; round < 20; ++round) {
        fill(w, round);
        std::vector<counts> seen(threads);
        std::atomic<std::size_t> next{0};
        on_threads([&] { seen[next++] = count_by_loops(w); });
        const counts wanted = count_by_queries(w);
        for (const counts& each : seen) EXPECT_EQ(each, wanted);
    }
}

TEST(const_world, several_threads_share_one_query) {
    world w;
    fill(w, 0);
    const world& shown = w;
    const auto q = shown.query<const position, const ::burning*>();
    const auto loose = shown.query<const ::burning>();
    for (int round = 0; round < 10; ++round) {
        fill(w, round);
        std::atomic<std::size_t> rows{0};
        on_threads([&] {
            q.each([&](const position&, const ::burning*) { ++rows; });
            const auto refined = q.without<frozen>();
            EXPECT_LT(refined.count(), q.count());
            EXPECT_EQ(loose.count(), loose.with<position>().count());
            EXPECT_TRUE(q.matches(q.first()));
            EXPECT_FALSE(q.explain(q.first()).empty());
        });
        EXPECT_EQ(rows, threads * w.query<position>().count());
    }
}

TEST(const_world, threads_of_a_parallel_loop_query_it) {
    world w;
    fill(w, 0);
    const world& shown = w;
    const std::size_t wanted = w.query<position, velocity>().count();
    thread_executor all(threads);
    std::atomic<std::size_t> calls{0};
    w.query<position>().par_each(all, 8, [&](entity e, position&) {
        std::size_t rows = 0;
        shown.each([&](const position&, const velocity&) { ++rows; });
        EXPECT_EQ(rows, wanted);
        w.set(e, velocity{2});  // recorded
        ++calls;
    });
    EXPECT_EQ(calls, w.query<position>().count());
    EXPECT_EQ((shown.query<const position, const velocity>().count()), calls.load());
}

TEST(const_world, worlds_of_different_threads_do_not_concern_each_other) {
    on_threads([&] {
        world w;
        fill(w, 3);
        EXPECT_EQ(count_by_loops(w), count_by_queries(w));
    });
}

}  // namespace
