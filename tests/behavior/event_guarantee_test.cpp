// Events when memory runs out: every allocation fails once, and the failed call changes nothing.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "support/trouble.hpp"

namespace muster {
namespace {

using test::allocations;

struct position {
    int x = 0;
};
struct large {
    int number = 0;
    std::array<char, 500> rest{};
};

/// Makes a call, in which each allocation fails once, until it succeeds. Returns how often it failed.
template <class Call, class Check>
int insist(Call call, Check check) {
    for (int n = 0;; ++n) {
        bool failed = false;
        allocations.start(n);
        try {
            call();
        } catch (const std::bad_alloc&) {
            failed = true;
        }
        const bool struck = allocations.has_struck();
        allocations.stop();
        if (!failed) {
            EXPECT_FALSE(struck);
            return n;
        }
        check();
    }
}

std::vector<int> read(event_reader<large>& from) {
    std::vector<int> made;
    for (const large& event : from) made.push_back(event.number);
    return made;
}

TEST(event_guarantee, sending_at_once_and_in_scopes) {
    world w;
    auto reader = w.reader<large>();
    std::vector<int> sent;
    int failures = 0;
    for (int i = 0; i < 100; ++i) {
        failures += insist([&] { w.send(large{i}); },
                           [&] { EXPECT_EQ(reader.size(), static_cast<std::size_t>(i)); });
        sent.push_back(i);
    }
    EXPECT_EQ(read(reader), sent);
    sent.clear();
    w.end_frame();
    w.defer();
    for (int i = 0; i < 100; ++i) {
        if (i % 10 == 9) w.spawn();
        failures += insist([&] { w.send(large{i}); }, [&] { EXPECT_TRUE(reader.empty()); });
        sent.push_back(i);
        if (i % 20 != 19) continue;
        w.defer();
        failures += insist([&] { w.send(large{-1}); }, [] {});
        w.cancel();
    }
    w.commit();
    EXPECT_EQ(read(reader), sent);
    EXPECT_GT(failures, 5);
}

TEST(event_guarantee, creating_readers_and_systems) {
    int failures = 0;
    for (int round = 0; round < 3; ++round) {
        world w;
        event_reader<large> reader;
        failures += insist([&] { reader = w.reader<large>(); }, [&] { w.send(large{1}); });
        EXPECT_TRUE(reader.empty());
        const auto system = w.system("s");
        int calls = 0;
        failures += insist([&] { system.each_event([&](const std::string&) { ++calls; }); },
                           [&] { w.send(std::string("lost")); });
        w.send(std::string(100, 'x'));
        w.process("s");
        EXPECT_EQ(calls, 1);
    }
    EXPECT_GT(failures, 5);
}

TEST(event_guarantee, sending_from_phases_and_buffers) {
    world w;
    sequential_executor threads;
    auto reader = w.reader<large>();
    for (int i = 0; i < 20; ++i) w.spawn(position{i});
    const auto positions = w.query<const position>();
    const auto send_all = [&] {
        positions.par_each(threads, 3, [&](const position& p) { w.send(large{p.x}); });
    };
    // Applying a phase sends the events one by one: those that fail are missing, in order.
    int failures = 0;
    for (int n = 0;; ++n) {
        bool failed = false;
        allocations.start(n);
        try {
            send_all();
        } catch (const std::bad_alloc&) {
            failed = true;
        }
        const bool struck = allocations.has_struck();
        allocations.stop();
        const std::vector<int> seen = read(reader);
        for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_LT(seen[i - 1], seen[i]);
        if (!failed) EXPECT_EQ(seen.size(), 20u);
        failures += failed;
        w.end_frame();
        if (!struck) break;
    }
    command_buffer b{w};
    for (int i = 0; i < 20; ++i)
        failures += insist([&] { b.send(large{i}); },
                           [&] { EXPECT_EQ(b.pending(), static_cast<std::size_t>(i)); });
    w.submit(b);
    EXPECT_EQ(reader.size(), 20u);
    EXPECT_GT(failures, 5);
}

TEST(event_guarantee, values_are_neither_lost_nor_leaked) {
    auto watched = std::make_shared<int>(1);
    {
        world w;
        auto reader = w.reader<std::shared_ptr<int>>();
        long sent = 0;
        for (int i = 0; i < 200; ++i) {
            (void)insist([&] { w.send(watched); },
                         [&] { EXPECT_EQ(watched.use_count(), sent + 1); });
            ++sent;
            if (i % 50 == 49) {
                reader.clear();
                w.end_frame();
                sent = 0;
            }
        }
        w.defer();
        (void)insist([&] { w.send(watched); }, [&] { EXPECT_EQ(watched.use_count(), 1); });
        w.cancel();
        EXPECT_EQ(watched.use_count(), 1);
    }
    EXPECT_EQ(watched.use_count(), 1);
}

}  // namespace
}  // namespace muster
