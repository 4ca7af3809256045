// Events in systems: `each_event`, and `events` as a parameter of other functions.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/errors.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace muster {
namespace {

using muster_tests::thread_executor;
using test::code_of;
using test::sentence_of;

struct damage {
    entity target;
    int amount = 0;
};
struct other {
    int value = 0;
};
struct health {
    int points = 100;
};
struct position {
    int x = 0;
};
struct armor {
    int value = 1;
};
using numbers = std::vector<int>;

TEST(event_systems, each_event_is_called_once_per_event) {
    world w;
    const entity orc = w.spawn(health{});
    w.system("apply damage").each_event([&](const damage& d) {
        w.get<health>(d.target).points -= d.amount;
    });
    w.send(damage{orc, 3});
    w.send(damage{orc, 4});
    w.process_all();
    EXPECT_EQ(w.get<health>(orc).points, 93);
    w.process_all();
    EXPECT_EQ(w.get<health>(orc).points, 93);
}

TEST(event_systems, each_event_takes_payload_and_singletons) {
    world w;
    w.set_single(armor{10});
    numbers seen;
    w.system("hit").each_event(
        [&](const damage& d, int factor, single<const armor> a, float bonus) {
            seen.push_back(d.amount * factor + a->value + static_cast<int>(bonus));
        });
    w.send(damage{{}, 3});
    w.process_with("hit", 2, 100.0f);
    EXPECT_EQ(seen, numbers{116});
    EXPECT_EQ(code_of([&] { w.process_with("hit", 2); }), errc::bad_payload);
}

TEST(event_systems, changes_of_each_event_are_applied_after_the_last_event) {
    world w;
    const entity e = w.spawn(health{});
    w.system("hit").each_event([&](const damage& d) {
        w.set(d.target, health{d.amount});
        EXPECT_EQ(w.get<health>(d.target).points, 100);
    });
    w.send(damage{e, 1});
    w.send(damage{e, 2});
    w.process_all();
    EXPECT_EQ(w.get<health>(e).points, 2);
}

TEST(event_systems, an_event_sent_by_a_system_that_reads_it_comes_in_the_next_run) {
    world w;
    numbers seen;
    w.system("echo").each_event([&](const damage& d) {
        seen.push_back(d.amount);
        if (d.amount < 3) w.send(damage{{}, d.amount + 1});
    });
    w.send(damage{{}, 1});
    for (int frame = 0; frame < 5; ++frame) w.process_all();
    EXPECT_EQ(seen, (numbers{1, 2, 3}));
}

TEST(event_systems, a_later_system_sees_what_an_earlier_one_sends_in_the_same_frame) {
    world w;
    std::string said;
    w.system("reads first").each_event([&](const other& o) {
        said += "a" + std::to_string(o.value);
    });
    w.system("sends").each([&](const position& p) { w.send(other{p.x}); });
    w.system("reads last").each_event([&](const other& o) {
        said += "b" + std::to_string(o.value);
    });
    w.spawn(position{1});
    w.process_all();
    EXPECT_EQ(said, "b1");
    w.process_all();
    EXPECT_EQ(said, "b1a1b1");
}

TEST(event_systems, every_function_of_a_system_takes_events) {
    world w;
    w.spawn(position{});
    std::string said;
    const auto note = [&](const char* who) {
        return [&said, who](events<const other> all) {
            said += who;
            for (const other& o : all) said += std::to_string(o.value);
        };
    };
    w.system("all")
        .prologue(note("p"))
        .execute([&](chunk_view v, events<const other> all) {
            if (v.has<position>()) said += "c" + std::to_string(all.size());
        })
        .epilogue(note("e"));
    w.system("once").execute(note("o"));
    w.send(other{7});
    w.process_all();
    EXPECT_EQ(said, "p7c1e7o7");
    w.process_all();  // the chunk did not visit the event
    EXPECT_EQ(said, "p7c1e7o7pc1eo");
    w.process_all();  // which is two frames old now
    EXPECT_EQ(said, "p7c1e7o7pc1eopc0eo");
}

TEST(event_systems, each_parameter_is_a_reader_of_its_own) {
    world w;
    numbers seen;
    w.system("two").execute([&](events<const other> a, events<const other> b) {
        for (const other& o : a) seen.push_back(o.value);
        for (const other& o : b) {
            seen.push_back(-o.value);
            break;
        }
    });
    w.send(other{1});
    w.send(other{2});
    w.process("two");
    EXPECT_EQ(seen, (numbers{1, 2, -1}));
    w.process("two");
    EXPECT_EQ(seen, (numbers{1, 2, -1, -2}));
}

TEST(event_systems, all_rows_of_a_run_see_the_same_events) {
    world w;
    thread_executor four(4);
    w.system("feel").each([](position& p, events<const other> all, int factor) {
        for (const other& o : all) p.x += o.value * factor;
        for (const other& o : all) p.x += o.value * factor;  // again
    });
    for (int i = 0; i < 500; ++i) w.spawn(position{});
    w.send(other{1});
    w.send(other{10});
    w.process_all(1);
    w.each([](const position& p) { EXPECT_EQ(p.x, 22); });
    w.process_all(1);
    w.each([](const position& p) { EXPECT_EQ(p.x, 22); });
    w.send(other{100});
    w.par_process_all(four, 1);
    w.each([](const position& p) { EXPECT_EQ(p.x, 222); });
    w.par_process_all(four, 1);
    w.process_all(1);
    w.each([](const position& p) { EXPECT_EQ(p.x, 222); });
}

TEST(event_systems, a_loop_that_stops_leaves_the_rest_to_the_next_run) {
    world w;
    numbers seen;
    w.system("one at a time").execute([&](events<const other> all) {
        for (const other& o : all) {
            seen.push_back(o.value);
            break;
        }
    });
    for (int i = 1; i <= 3; ++i) w.send(other{i});
    for (int i = 0; i < 5; ++i) w.process("one at a time");
    EXPECT_EQ(seen, (numbers{1, 2, 3}));
}

TEST(event_systems, an_event_is_seen_even_if_the_function_throws) {
    world w;
    numbers seen;
    w.system("bad").each_event([&](const other& o) {
        seen.push_back(o.value);
        w.send(damage{});
        if (o.value == 2) throw std::runtime_error("no");
    });
    auto dropped = w.reader<damage>();
    for (int i = 1; i <= 3; ++i) w.send(other{i});
    const std::string said = sentence_of([&] { w.process("bad"); });
    EXPECT_NE(said.find("system \"bad\" failed"), std::string::npos) << said;
    EXPECT_TRUE(dropped.empty());
    w.process("bad");
    EXPECT_EQ(seen, (numbers{1, 2, 3}));
    EXPECT_EQ(dropped.size(), 1u);
}

TEST(event_systems, a_system_sees_events_sent_after_it_received_its_function) {
    world w;
    numbers seen;
    w.send(other{1});
    const auto late = w.system("late");
    w.send(other{2});
    late.each_event([&](const other& o) { seen.push_back(o.value); });
    w.send(other{3});
    w.process_all();
    EXPECT_EQ(seen, numbers{3});
}

TEST(event_systems, a_disabled_system_misses_what_is_older_than_two_frames) {
    world w;
    numbers seen;
    auto watched = std::make_shared<int>(0);
    const auto reads =
        w.system("reads").each_event([&](const other& o) { seen.push_back(o.value); });
    w.system("watches").each_event([&](const std::shared_ptr<int>&) {});
    w.find_system("watches").disable();
    reads.disable();
    for (int frame = 1; frame <= 4; ++frame) {
        w.send(other{frame});
        w.send(watched);
        w.process_all();
        EXPECT_LE(watched.use_count(), 3);
    }
    reads.enable();
    w.process_all();
    EXPECT_EQ(seen, numbers{4});
}

TEST(event_systems, a_removed_system_holds_no_events) {
    world w;
    auto watched = std::make_shared<int>(0);
    const auto reads = w.system("reads").each_event([](const std::shared_ptr<int>&) {});
    w.send(watched);
    EXPECT_EQ(watched.use_count(), 2);
    reads.remove();
    EXPECT_EQ(watched.use_count(), 1);
    w.send(watched);
    EXPECT_EQ(watched.use_count(), 1);
}

TEST(event_systems, a_system_may_remove_itself_or_take_another_function_while_it_reads) {
    world w;
    numbers seen;
    const auto first = w.system("first");
    first.each_event([&](const other& o) {
        seen.push_back(o.value);
        if (o.value == 1) first.remove();
    });
    const auto second = w.system("second");
    second.each_event([&](const other& o) {
        seen.push_back(10 * o.value);
        second.execute([] {});
    });
    for (int i = 1; i <= 3; ++i) w.send(other{i});
    w.process_all();
    EXPECT_EQ(seen, (numbers{1, 2, 3, 10, 20, 30}));
    w.send(other{4});
    w.process_all();
    EXPECT_EQ(seen.size(), 6u);
}

TEST(event_systems, a_frame_within_a_system_drops_nothing_that_it_visits) {
    world w;
    int frames = 0;
    w.system("inner").execute([] {});
    w.system("outer").each_event([&](const std::string& s) {
        w.end_frame();
        w.end_frame();
        w.end_frame();
        EXPECT_EQ(s.size(), 90u);
        ++frames;
    });
    for (int i = 0; i < 3; ++i) w.send(std::string(90, 'x'));
    w.process("outer");
    EXPECT_EQ(frames, 3);
    // Outside of scopes, too.
    w.system("immediate").prologue([&](events<const std::string> all) {
        w.send(std::string(80, 'y'));
        w.end_frame();
        w.end_frame();
        for (const std::string& s : all) EXPECT_EQ(s.size(), 90u);
    });
    w.send(std::string(90, 'x'));
    w.process("immediate");
}

// ---- threads -----------------------------------------------------------------------------------

TEST(event_systems, a_parallel_loop_sends_in_the_order_of_its_rows) {
    world w;
    thread_executor four(4);
    auto reader = w.reader<other>();
    for (int i = 0; i < 1000; ++i) w.spawn(position{i});
    w.query<const position>().par_each(four, 7, [&](const position& p) {
        w.send(other{p.x});
        if (p.x % 3 == 0) w.send(other{-p.x});
    });
    numbers expected;
    for (int i = 0; i < 1000; ++i) {
        expected.push_back(i);
        if (i % 3 == 0) expected.push_back(-i);
    }
    numbers seen;
    for (const other& o : reader) seen.push_back(o.value);
    EXPECT_EQ(seen, expected);
    EXPECT_THROW(w.query<const position>().par_each(four, 7,
                                                    [&](const position& p) {
                                                        w.send(other{p.x});
                                                        if (p.x == 500)
                                                            throw std::runtime_error("no");
                                                    }),
                 std::runtime_error);
    EXPECT_TRUE(reader.empty());
}

TEST(event_systems, move_only_events_are_sent_from_threads) {
    world w;
    thread_executor four(4);
    auto reader = w.reader<std::unique_ptr<int>>();
    auto texts = w.reader<std::string>();
    for (int i = 0; i < 200; ++i) w.spawn(position{i});
    const std::string kept(100, 'k');
    w.query<const position>().par_each(four, 7, [&](const position& p) {
        w.send(std::make_unique<int>(p.x));
        w.send(kept);
    });
    EXPECT_EQ(kept.size(), 100u);
    int next = 0;
    for (const auto& value : reader) EXPECT_EQ(*value, next++);
    EXPECT_EQ(next, 200);
    for (const std::string& text : texts) EXPECT_EQ(text, kept);
}

TEST(event_systems, two_readers_run_at_the_same_time) {
    world w;
    thread_executor four(4);
    std::atomic<int> sum = 0;
    w.system("a").each([&](const position&, events<const other> all) {
        for (const other& o : all) sum += o.value;
    });
    w.system("b").each([&](const health&, events<const other> all) {
        for (const other& o : all) sum += o.value;
    });
    EXPECT_TRUE(w.system_conflicts().empty());
    for (int i = 0; i < 300; ++i) w.spawn(position{}, health{});
    w.send(other{1});
    w.par_process_all(four);
    EXPECT_EQ(sum, 600);
    w.par_process_all(four);
    EXPECT_EQ(sum, 600);
}

TEST(event_systems, events_of_a_parallel_stage_are_delivered_when_it_ends) {
    world w;
    thread_executor four(4);
    std::atomic<int> in_stage = 0;
    numbers after;
    w.system("send").each([&](const position& p) { w.send(other{p.x}); });
    w.system("read").each(
        [&](const health&, events<const other> all) { in_stage += static_cast<int>(all.size()); });
    w.system("read after").after("send").each_event([&](const other& o) {
        after.push_back(o.value);
    });
    for (int i = 0; i < 3; ++i) w.spawn(position{i}, health{});
    w.par_process_all(four);
    EXPECT_EQ(in_stage, 0);
    EXPECT_EQ(after, (numbers{0, 1, 2}));
    after.clear();
    w.par_process_all(four);
    EXPECT_EQ(in_stage, 9);
}

TEST(event_systems, declared_systems_of_events_share_a_stage) {
    world w;
    thread_executor two(2);
    std::atomic<int> sum = 0;
    w.system("count").each_event([&](const other& o) { sum += o.value; }).reads<position>();
    w.system("also")
        .execute([&](events<const other> all) {
            for (const other& o : all) sum += o.value;
        })
        .reads<position>();
    EXPECT_TRUE(w.system_conflicts().empty());
    w.send(other{1});
    w.send(other{2});
    w.par_process_all(two);
    EXPECT_EQ(sum, 6);
    w.par_process_all(two);
    EXPECT_EQ(sum, 6);
}

TEST(event_systems, buffers_send_from_any_thread) {
    world w;
    auto reader = w.reader<other>();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            command_buffer b{w};
            for (int i = 0; i < 100; ++i) b.send(other{t * 100 + i});
            w.submit(b);
        });
    for (std::thread& thread : threads) thread.join();
    w.apply_submitted();
    int count = 0;
    int last = -1;
    for (const other& o : reader) {
        if (o.value % 100 != 0) EXPECT_EQ(o.value, last + 1);  // the order of each buffer
        last = o.value;
        ++count;
    }
    EXPECT_EQ(count, 400);
}

TEST(event_systems, handles_are_refused_in_a_phase) {
    world w;
    thread_executor four(4);
    auto reader = w.reader<other>();
    std::vector<event_reader<other>> many;
    for (int i = 0; i < 40; ++i) many.push_back(w.reader<other>());
    w.send(other{1});
    for (int i = 0; i < 40; ++i) w.spawn(position{i});
    std::atomic<int> refused = 0;
    w.query<const position>().par_each(four, 1, [&](const position& p) {
        refused += code_of([&] { (void)reader.begin(); }) == errc::in_scope;
        refused += code_of([&] { (void)w.reader<other>(); }) == errc::in_scope;
        refused += code_of([&] { (void)w.reader<unsigned char>(); }) == errc::in_scope;
        refused += code_of([&] { w.end_frame(); }) == errc::in_scope;
        refused += reader.clear() ? 0 : 1;
        refused += reader.size() == 1 ? 1 : 0;
        many[static_cast<std::size_t>(p.x)] = {};
        w.send(other{p.x});
    });
    EXPECT_EQ(refused, 240);
    EXPECT_EQ(reader.size(), 41u);
    w.end_frame();
}

}  // namespace
}  // namespace muster
