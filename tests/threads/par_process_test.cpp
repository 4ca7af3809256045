// Systems that run side by side.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
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
struct health {
    int left;
};
struct name {
    int number;
};
struct unused_by_all {};

/// Which systems were running while another one was, by name.
class overlap {
public:
    void enter(const std::string& one) {
        const std::lock_guard lock(guard_);
        for (const std::string& other : running_)
            if (other != one) seen_.push_back(std::min(one, other) + "|" + std::max(one, other));
        running_.push_back(one);
    }
    void leave(const std::string& one) {
        const std::lock_guard lock(guard_);
        running_.erase(std::ranges::find(running_, one));
    }
    [[nodiscard]] bool has(const std::string& a, const std::string& b) const {
        return std::ranges::find(seen_, a + "|" + b) != seen_.end();
    }

private:
    std::mutex guard_;
    std::vector<std::string> running_;
    std::vector<std::string> seen_;
};

struct par_process : testing::Test {
    world w;
    thread_executor threads{4};
    overlap seen;

    void fill(int count) {
        for (int i = 0; i < count; ++i) w.spawn(position{i, 0}, velocity{1, 1}, health{i}, name{i});
    }
    auto slowly(const std::string& what) {
        return [this, what] {
            seen.enter(what);
            std::this_thread::sleep_for(std::chrono::microseconds(300));
            seen.leave(what);
        };
    }
};

TEST_F(par_process, systems_that_touch_different_things_run_side_by_side) {
    fill(50);
    const auto a = slowly("a");
    const auto b = slowly("b");
    w.system("a").each([a](position&) { a(); });
    w.system("b").each([b](health&) { b(); });
    w.par_process_all(threads);
    EXPECT_TRUE(seen.has("a", "b"));
}

TEST_F(par_process, readers_run_side_by_side) {
    fill(50);
    const auto a = slowly("a");
    const auto b = slowly("b");
    w.system("a").each([a](const position&) { a(); });
    w.system("b").each([b](const position&) { b(); });
    w.par_process_all(threads);
    EXPECT_TRUE(seen.has("a", "b"));
}

TEST_F(par_process, a_writer_runs_with_nobody_that_touches_the_same) {
    fill(50);
    const auto a = slowly("a");
    const auto b = slowly("b");
    const auto c = slowly("c");
    w.system("a").each([a](position&) { a(); });
    w.system("b").each([b](const position&, velocity&) { b(); });
    w.system("c").each([c](const velocity*) { c(); });
    w.par_process_all(threads);
    EXPECT_FALSE(seen.has("a", "b"));
    EXPECT_FALSE(seen.has("b", "c"));
}

TEST_F(par_process, systems_that_are_put_in_order_run_in_it_and_see_each_other_s_changes) {
    fill(50);
    std::atomic<int> late = 0;
    w.system("spawn").each([&](const position&) { w.spawn(health{1}); });
    w.system("count").after("spawn").each([&](const health&) { ++late; });
    w.par_process_all(threads);
    EXPECT_EQ(late, 100);
}

TEST_F(par_process, what_is_recorded_is_carried_out_in_the_order_of_the_systems) {
    fill(60);
    w.system("first").each([&](entity e, const position& p) { w.set(e, name{p.x * 2}); });
    w.system("second").each([&](entity e, const health& h) {
        if (h.left % 2 == 0) w.set(e, name{-1});
    });
    w.par_process_all(threads);
    w.query<const position, const name>().each(
        [](const position& p, const name& n) { EXPECT_EQ(n.number, p.x % 2 == 0 ? -1 : p.x * 2); });
}

TEST(par_process_of_any_threads, has_the_result_of_one) {
    const auto play = [](executor& threads) {
        world w;
        for (int i = 0; i < 500; ++i) w.spawn(position{i, 0}, velocity{i % 7, 1}, health{i % 50});
        w.system("move").each([](position& p, const velocity& v, int dt) { p.x += v.x * dt; });
        w.system("hurt").each([&](entity e, health& h) {
            if (--h.left < 0) w.destroy(e);
        });
        w.system("name").without<name>().each([&](entity e, const velocity& v) {
            if (v.x == 3) w.set(e, name{v.x});
        });
        w.system("born").after("hurt").each([&](const health& h) {
            if (h.left == 20) w.spawn(position{0, 0}, health{30});
        });
        for (int i = 0; i < 40; ++i) w.par_process_all(threads, 2);
        std::vector<int> sums{static_cast<int>(w.size())};
        w.query<position, health*, name*>().each([&](position& p, health* h, name* n) {
            sums.push_back(p.x * 10'000 + (h != nullptr ? h->left : -1) * 10 +
                           (n != nullptr ? n->number : -1));
        });
        return sums;
    };
    sequential_executor one;
    thread_executor four(4);
    EXPECT_EQ(play(one), play(four));
}

TEST_F(par_process, one_whose_accesses_are_unknown_runs_alone) {
    fill(20);
    const auto a = slowly("a");
    const auto b = slowly("b");
    const auto c = slowly("c");
    w.system("a").each([a](position&) { a(); });
    w.system("b").execute([b] { b(); });
    w.system("c").each([c](health&) { c(); });
    w.par_process_all(threads);
    EXPECT_FALSE(seen.has("a", "b"));
    EXPECT_FALSE(seen.has("b", "c"));
}

TEST_F(par_process, one_that_says_what_it_touches_does_not) {
    fill(20);
    const auto a = slowly("a");
    const auto b = slowly("b");
    w.system("a").each([a](position&) { a(); });
    w.system("b").reads<velocity>().writes<health>().execute([b] {
        for (int i = 0; i < 20; ++i) b();
    });
    const auto c = slowly("c");
    w.system("c").each([c](health&) { c(); });
    w.par_process_all(threads);
    EXPECT_TRUE(seen.has("a", "b"));
    EXPECT_FALSE(seen.has("b", "c"));
}

TEST_F(par_process, chunk_views_are_divided_too) {
    fill(1000);
    std::atomic<int> rows = 0;
    w.system("a").query(w.query<position>()).execute([&](chunk_view v) {
        for (position& p : v.components<position>()) ++p.y;
        rows += static_cast<int>(v.size());
    });
    w.par_process_all(threads);
    EXPECT_EQ(rows, 1000);
    w.query<position>().each([](position& p) { EXPECT_EQ(p.y, 1); });
}

TEST_F(par_process, groups_prologues_and_epilogues_keep_their_order) {
    fill(10);
    std::mutex guard;
    std::vector<std::string> order;
    const auto note = [&](const std::string& what) {
        const std::lock_guard lock(guard);
        if (order.empty() || order.back() != what) order.push_back(what);
    };
    const auto group =
        w.system("group").prologue([&] { note("before"); }).epilogue([&] { note("behind"); });
    w.system("a").group(group).each([&](position&) { note("a"); });
    w.system("b").group(group).each([&](const position&) { note("b"); });
    w.par_process(threads, group);
    EXPECT_EQ(order, (std::vector<std::string>{"before", "a", "b", "behind"}));
}

TEST_F(par_process, disabled_systems_do_not_run) {
    fill(10);
    w.system("a").each([](position& p) { ++p.y; }).disable();
    w.par_process_all(threads);
    w.query<position>().each([](position& p) { EXPECT_EQ(p.y, 0); });
}

TEST_F(par_process, payloads_are_given) {
    fill(10);
    const auto move = w.system("move").each([](position& p, int by, double) { p.y += by; });
    w.par_process_with(threads, move, 3, 0.5);
    w.query<position>().each([](position& p) { EXPECT_EQ(p.y, 3); });
    EXPECT_THROW(w.par_process(threads, move), error);
}

TEST_F(par_process, an_exception_names_the_system_and_drops_what_ran_with_it) {
    fill(200);
    w.system("kill").each([&](entity e, const position&) { w.destroy(e); });
    w.system("fail").each([](const health& h) {
        if (h.left == 150) throw std::runtime_error("cannot");
    });
    try {
        w.par_process_all(threads);
        FAIL();
    } catch (const error& caught) {
        EXPECT_EQ(caught.code(), errc::system_failed);
        EXPECT_NE(std::string(caught.what()).find("\"fail\""), std::string::npos);
    }
    EXPECT_EQ(w.size(), 200u);
}

TEST_F(par_process, a_death_says_which_system_caused_it) {
    world observed(world_options{.provenance = true});
    const entity e = observed.spawn(position{});
    observed.system("reaper").each([&](entity it, const position&) { observed.destroy(it); });
    observed.par_process_all(threads);
    try {
        (void)observed.get<position>(e);
        FAIL();
    } catch (const error& caught) {
        EXPECT_NE(std::string(caught.what()).find("reaper"), std::string::npos) << caught.what();
    }
}

TEST_F(par_process, conflicts_that_nobody_put_in_order_are_told_by_name) {
    w.system("move").each([](position&, const velocity&) {});
    w.system("draw").each([](const position&) {});
    w.system("brake").each([](velocity&) {});
    w.system("heal").each([](health&) {});
    w.system("slow").after("brake").each([](velocity&) {});
    const std::vector<system_conflict> found = w.system_conflicts();
    std::vector<std::string> said;
    for (const system_conflict& one : found)
        said.push_back(std::string(one.first) + " " + std::string(one.second) + " " +
                       std::string(one.component).substr(one.component.rfind(':') + 1));
    EXPECT_EQ(said, (std::vector<std::string>{"move draw position", "move brake velocity",
                                              "move slow velocity"}));
}

TEST_F(par_process, an_order_that_was_said_by_way_of_another_system_is_no_conflict) {
    w.system("input").each([](position&) {});
    w.system("move").after("input").each([](velocity&) {});
    w.system("draw").after("move").each([](position&) {});
    EXPECT_TRUE(w.system_conflicts().empty());
}

TEST_F(par_process, who_waits_for_a_system_that_does_nothing_waits_for_what_that_waits_for) {
    fill(30);
    for (const bool is_empty : {true, false}) {
        w.query<const health>().without<position>().destroy();
        std::atomic<int> late = 0;
        const auto spawn = w.system("spawn").each([&](const position&) { w.spawn(health{1}); });
        const auto milestone = w.system("milestone").after("spawn");
        if (!is_empty) milestone.each([](const velocity&) {}).disable();
        const auto count =
            w.system("count").after("milestone").each([&](const health&) { ++late; });
        w.par_process_all(threads);
        EXPECT_EQ(late, 60);
        for (const auto& one : {spawn, milestone, count}) one.remove();
    }
}

TEST_F(par_process, what_a_prologue_or_epilogue_throws_names_the_system) {
    fill(10);
    const auto said = [&](auto call) {
        try {
            call();
        } catch (const error& caught) {
            EXPECT_EQ(caught.code(), errc::system_failed);
            return std::string(caught.what());
        }
        return std::string();
    };
    std::atomic<int> calls = 0;
    const auto bad = w.system("bad").prologue([] { throw std::runtime_error("no"); });
    w.system("member").group(bad).each([&](position&) { ++calls; });
    EXPECT_NE(said([&] { w.par_process(threads, bad); }).find("\"bad\""), std::string::npos);
    EXPECT_EQ(calls, 0);
    bad.prologue([] {}).epilogue([] { throw std::runtime_error("no"); });
    EXPECT_NE(said([&] { w.par_process(threads, bad); }).find("\"bad\""), std::string::npos);
    EXPECT_EQ(calls, 10);
    EXPECT_EQ(w.size(), 10u);
}

TEST_F(par_process, groups_in_groups_run_in_their_order) {
    fill(10);
    std::mutex guard;
    std::string order;
    const auto note = [&](char what) {
        const std::lock_guard lock(guard);
        if (order.empty() || order.back() != what) order += what;
    };
    const auto outer = w.system("outer").prologue([&] { note('('); }).epilogue([&] { note(')'); });
    const auto inner =
        w.system("inner").group(outer).prologue([&] { note('['); }).epilogue([&] { note(']'); });
    w.system("a").group(inner).each([&](position&) { note('a'); });
    w.system("b").group(outer).each([&](position&) { note('b'); });
    w.system("none").group(inner).each([&](name&, unused_by_all&) { note('!'); });
    w.par_process(threads, outer);
    EXPECT_EQ(order, "([a]b)");
}

TEST_F(par_process, terms_are_no_accesses) {
    // What is only asked for is not read: it does not change before both are done.
    fill(50);
    const auto a = slowly("a");
    const auto b = slowly("b");
    w.system("a").each([a](position&) { a(); });
    w.system("b").with<position>().without<unused_by_all>().any<velocity, health>().each(
        [b](const name&) { b(); });
    w.par_process_all(threads);
    EXPECT_TRUE(seen.has("a", "b"));
}

TEST_F(par_process, a_circle_is_told_by_name) {
    w.system("a").after("b").each([](position&) {});
    w.system("b").after("a").each([](position&) {});
    try {
        w.par_process_all(threads);
        FAIL();
    } catch (const error& caught) {
        EXPECT_EQ(caught.code(), errc::system_circle);
        EXPECT_NE(std::string(caught.what()).find("\"a\""), std::string::npos);
        EXPECT_NE(std::string(caught.what()).find("\"b\""), std::string::npos);
    }
}

TEST_F(par_process, times_are_noted) {
    fill(100);
    const auto one = w.system("a").each([](position& p) { ++p.x; });
    w.time_systems(true);
    w.par_process_all(threads);
    w.par_process_all(threads);
    EXPECT_EQ(one.timings().count, 2u);
    EXPECT_GT(one.timings().max, 0u);
}

TEST_F(par_process, times_of_groups_and_of_systems_that_run_alone_are_noted) {
    fill(100);
    const auto group = w.system("group").prologue([] {});
    const auto alone = w.system("alone").group(group).execute([] {
        volatile int work = 0;
        for (int i = 0; i < 1000; ++i) work = work + 1;
    });
    const auto shared = w.system("shared").group(group).each([](position& p) { ++p.x; });
    w.time_systems(true);
    for (std::uint64_t count = 1; count <= 3; ++count) {
        if (count == 2)
            w.process_all();
        else
            w.par_process_all(threads);
        for (const auto& one : {group, alone, shared}) EXPECT_EQ(one.timings().count, count);
        EXPECT_GT(alone.timings().last, 0u);
        EXPECT_GE(group.timings().last, alone.timings().last);
    }
}

TEST_F(par_process, a_system_cannot_process_in_a_phase) {
    fill(5);
    const auto other = w.system("other").each([](health&) {});
    other.disable();
    w.system("a").each([&](position&) { w.process(other); });
    EXPECT_THROW(w.par_process_all(threads), error);
}

}  // namespace
