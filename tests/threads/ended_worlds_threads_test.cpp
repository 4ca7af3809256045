// Worlds that end on different threads, while handles of other worlds are used.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/errors.hpp"

namespace muster {
namespace {

using test::code_of;

struct position {
    float x = 0;
};

TEST(worlds_on_threads, end_independently) {
    auto ended = std::make_unique<world>();
    const auto old = ended->query<position>();
    const connection old_hook = ended->on_insert<position>([] {});
    ended.reset();  // the worlds below take its place in the table of lifetimes

    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            muster::query<position> mine;
            muster::system work;
            scoped_connection hook;
            muster::observer<position> seen;
            for (int round = 0; round < 100; ++round) {
                auto w = std::make_unique<world>();
                int hooks = 0;
                mine = w->query<position>();
                work = w->system().each([](position& p) { p.x += 1; });
                hook = w->on_insert<position>([&] { ++hooks; });
                seen = w->observer<position>();
                w->spawn_many(static_cast<std::size_t>(i) + 1, position{});
                w->process(work);
                wrong += mine.count() != static_cast<std::size_t>(i) + 1;
                wrong += hooks != i + 1;
                wrong += seen.size() != static_cast<std::size_t>(i) + 1;
                auto copy = old;
                wrong += code_of([&] { (void)copy.count(); }) != errc::world_ended;
                wrong += old_hook.connected();
                w.reset();
                wrong += code_of([&] { (void)mine.count(); }) != errc::world_ended;
                wrong += work ? 1 : 0;
                wrong += hook.connected() || !seen.empty();
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

TEST(worlds_on_threads, end_before_the_buffers_of_other_threads) {
    for (int round = 0; round < 20; ++round) {
        auto w = std::make_unique<world>();
        std::atomic<int> recorded = 0;
        std::atomic<bool> is_over = false;
        std::vector<std::thread> threads;
        std::atomic<int> wrong = 0;
        for (int i = 0; i < 3; ++i)
            threads.emplace_back([&] {
                command_buffer mine(*w);
                mine.spawn(position{}, std::string("owned"));
                ++recorded;
                while (!is_over) std::this_thread::yield();
                wrong += code_of([&] { mine.spawn(position{}); }) != errc::world_ended;
                mine.discard();
                wrong += !mine.empty();
            });
        while (recorded != 3) std::this_thread::yield();
        w.reset();
        is_over = true;
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(wrong, 0);
    }
}

}  // namespace
}  // namespace muster
