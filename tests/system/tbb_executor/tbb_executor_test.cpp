#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <vector>

using namespace muster;

namespace {

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

TEST(tbb_executor, calls_each_part_once) {
    std::vector<std::atomic<int>> calls(100);
    const executor::task count{[](void* all, unsigned index) noexcept {
                                   ++(*static_cast<std::vector<std::atomic<int>>*>(all))[index];
                               },
                               &calls};
    tbb_executor().run(100, count);
    for (const std::atomic<int>& part : calls) EXPECT_EQ(part, 1);
}

TEST(tbb_executor, concurrency_includes_the_caller) {
    EXPECT_GE(tbb_executor().concurrency(), 1u);
}

TEST(tbb_executor, par_each_without_an_executor_uses_it) {
    world w;
    const std::vector<entity> all = w.spawn_many(50'000, position{0, 0}, velocity{1, 2});
    w.query<position, const velocity>().par_each([](position& p, const velocity& v) {
        p.x += v.x;
        p.y += v.y;
    });
    for (const entity e : all) {
        ASSERT_EQ(w.get<position>(e).x, 1);
        ASSERT_EQ(w.get<position>(e).y, 2);
    }
}

TEST(tbb_executor, applies_the_changes_that_threads_record) {
    world w;
    w.spawn_many(20'000, position{0, 0}, velocity{1, 0});
    w.query<position>().par_each(tbb_executor(), 100, [&](entity e, position&) {
        if (e.key() % 2 == 0)
            w.destroy(e);
        else
            w.remove<velocity>(e);
        w.spawn(velocity{3, 3});
    });
    EXPECT_EQ(w.query<position>().count(), 10'000u);
    EXPECT_EQ((w.query<velocity>().without<position>().count()), 20'000u);
    EXPECT_EQ((w.query<velocity, position>().count()), 0u);
}

TEST(tbb_executor, an_exception_reaches_the_caller) {
    world w;
    w.spawn_many(20'000, position{0, 0});
    const auto callback = [&](entity e, position&) {
        w.destroy(e);
        if (e.key() == 15'000) throw std::runtime_error("here");
    };
    EXPECT_THROW(w.query<position>().par_each(tbb_executor(), 100, callback), std::runtime_error);
    EXPECT_EQ(w.size(), 20'000u);
}

TEST(tbb_executor, systems_run_on_it_without_naming_it) {
    world w;
    w.spawn_many(1000, position{0, 0}, velocity{1, 2});
    const auto move =
        w.system("move").each([](position& p, const velocity& v, float dt) { p.x += v.x * dt; });
    w.system("age").each([](velocity& v) { v.y += 1; });
    w.par_process_all(0.5f);
    w.par_process("age", w.find_system("age"));
    w.par_process_with(move, 2.0f);
    w.par_process_with("move", 2.0f);
    w.par_process("age");
    w.find_system("move").execute([] {});
    w.par_process_all();
    w.each([](const position& p, const velocity& v) {
        ASSERT_EQ(p.x, 4.5f);
        ASSERT_EQ(v.y, 7);
    });
}

TEST(tbb_executor, a_first_argument_derived_from_executor_is_the_executor) {
    struct counting_executor final : executor {
        [[nodiscard]] unsigned concurrency() const noexcept override { return 2; }
        void run(unsigned count, const task& work) override {
            ++runs;
            for (unsigned i = 0; i < count; ++i) work(i);
        }
        int runs = 0;
    };
    world w;
    w.spawn_many(1000, position{0, 0}, velocity{1, 2});
    std::atomic<int> calls = 0;
    // Too slow for one thread.
    const auto slow = w.system("slow").each([&](const position&) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(2);
        while (std::chrono::steady_clock::now() < end) {
        }
        ++calls;
    });
    counting_executor two;
    w.par_process_all(two);
    w.par_process_all(two, 0.5f);
    w.par_process(two, slow, "slow");
    w.par_process_with(two, "slow", 0.5f);
    EXPECT_EQ(calls, 5000);
    EXPECT_GE(two.runs, 4);
    executor& base = two;
    const int before = two.runs;
    w.par_process_all(base, 1);
    EXPECT_GT(two.runs, before);
    EXPECT_EQ(w.query<const position>().par_reduce(
                  0, [](int sum, const position&) { return sum + 1; }, std::plus<>{}),
              1000);
}

}  // namespace
