// Systems that run in parallel. Compiled for two layouts; see support/parallel_layout.hpp.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/errors.hpp"
#include "support/parallel_layout.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace muster;
using muster_tests::thread_executor;

namespace {

using muster_tests::parallel::chunk_view;
using muster_tests::parallel::entity;
using muster_tests::parallel::world;

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

/// Records, by name, how often each system was called and which systems ran at the same time.
class overlap {
public:
    void enter(const std::string& text) {
        const std::lock_guard lock(guard_);
        for (const std::string& other : running_)
            if (other != text) seen_.push_back(std::min(text, other) + "|" + std::max(text, other));
        running_.push_back(text);
        calls_.push_back(text);
    }
    void leave(const std::string& text) {
        const std::lock_guard lock(guard_);
        running_.erase(std::ranges::find(running_, text));
    }
    [[nodiscard]] bool has(const std::string& a, const std::string& b) const {
        return std::ranges::find(seen_, a + "|" + b) != seen_.end();
    }
    [[nodiscard]] std::ptrdiff_t calls(const std::string& text) const {
        return std::ranges::count(calls_, text);
    }

private:
    std::mutex guard_;
    std::vector<std::string> running_;
    std::vector<std::string> seen_;
    std::vector<std::string> calls_;
};

struct par_process : testing::Test {
    world w;
    thread_executor threads{4};
    overlap seen;

    void fill(int count) {
        for (int i = 0; i < count; ++i) w.spawn(position{i, 0}, velocity{1, 1}, health{i}, name{i});
    }
    int count_with_y(int y) {
        int count = 0;
        w.query<const position>().each([&](const position& p) { count += p.y == y ? 1 : 0; });
        return count;
    }
    /// A function that takes long enough for another thread to run at the same time.
    auto slowly(const std::string& what) {
        return [this, what] {
            seen.enter(what);
            std::this_thread::sleep_for(std::chrono::microseconds(300));
            seen.leave(what);
        };
    }
};

TEST_F(par_process, systems_that_access_different_components_run_in_parallel) {
    fill(50);
    const auto a = slowly("a");
    const auto b = slowly("b");
    w.system("a").each([a](position&) { a(); });
    w.system("b").each([b](health&) { b(); });
    w.par_process_all(threads);
    EXPECT_TRUE(seen.has("a", "b"));
}

TEST_F(par_process, systems_that_read_the_same_component_run_in_parallel) {
    fill(50);
    const auto a = slowly("a");
    const auto b = slowly("b");
    w.system("a").each([a](const position&) { a(); });
    w.system("b").each([b](const position&) { b(); });
    w.par_process_all(threads);
    EXPECT_TRUE(seen.has("a", "b"));
}

TEST_F(par_process, a_writer_does_not_run_in_parallel_with_other_users_of_its_component) {
    fill(50);
    const auto a = slowly("a");
    const auto b = slowly("b");
    const auto c = slowly("c");
    w.system("a").each([a](position&) { a(); });
    w.system("b").each([b](const position&, velocity&) { b(); });
    w.system("c").each([c](const velocity*) { c(); });
    w.par_process_all(threads);
    for (const char* name : {"a", "b", "c"}) EXPECT_EQ(seen.calls(name), 50) << name;
    EXPECT_FALSE(seen.has("a", "b"));
    EXPECT_FALSE(seen.has("b", "c"));
}

TEST_F(par_process, ordered_systems_see_the_changes_of_earlier_systems) {
    fill(50);
    std::atomic<int> late = 0;
    w.system("spawn").each([&](const position&) { w.spawn(health{1}); });
    w.system("count").after("spawn").each([&](const health&) { ++late; });
    w.par_process_all(threads);
    EXPECT_EQ(late, 100);
}

TEST_F(par_process, changes_are_applied_in_the_order_of_the_systems) {
    fill(60);
    w.system("first").each([&](entity e, const position& p) { w.set(e, name{p.x * 2}); });
    w.system("second").each([&](entity e, const health& h) {
        if (h.left % 2 == 0) w.set(e, name{-1});
    });
    w.par_process_all(threads);
    int rows = 0;
    w.query<const position, const name>().each([&](const position& p, const name& n) {
        ++rows;
        EXPECT_EQ(n.number, p.x % 2 == 0 ? -1 : p.x * 2);
    });
    EXPECT_EQ(rows, 60);
}

TEST(par_process_of_any_threads, has_the_result_of_one_thread) {
    const auto simulate = [](executor& threads) {
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
    const std::vector<int> expected = simulate(one);
    EXPECT_EQ(expected, simulate(four));
    // 100 of the first 500 have more health than there are rounds. 880 are spawned, and the oldest 90 of them die.
    EXPECT_EQ(expected.front(), 100 + 880 - 90);
}

TEST_F(par_process, a_system_with_unknown_accesses_runs_alone) {
    fill(20);
    const auto a = slowly("a");
    const auto b = slowly("b");
    const auto c = slowly("c");
    w.system("a").each([a](position&) { a(); });
    w.system("b").execute([b] { b(); });
    w.system("c").each([c](health&) { c(); });
    w.par_process_all(threads);
    EXPECT_EQ(seen.calls("a"), 20);
    EXPECT_EQ(seen.calls("b"), 1);
    EXPECT_EQ(seen.calls("c"), 20);
    EXPECT_FALSE(seen.has("a", "b"));
    EXPECT_FALSE(seen.has("b", "c"));
}

TEST_F(par_process, a_system_that_declares_its_accesses_runs_in_parallel) {
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
    EXPECT_EQ(seen.calls("c"), 20);
    EXPECT_TRUE(seen.has("a", "b"));
    EXPECT_FALSE(seen.has("b", "c"));
}

TEST_F(par_process, chunk_views_are_divided_among_the_threads) {
    fill(1000);
    std::atomic<int> rows = 0;
    w.system("a").query(w.query<position>()).execute([&](chunk_view v) {
        for (position& p : v.components<position>()) ++p.y;
        rows += static_cast<int>(v.size());
    });
    w.par_process_all(threads);
    EXPECT_EQ(rows, 1000);
    EXPECT_EQ(count_with_y(1), 1000);
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
        w.system("group").prologue([&] { note("before"); }).epilogue([&] { note("after"); });
    w.system("a").group(group).each([&](position&) { note("a"); });
    w.system("b").group(group).each([&](const position&) { note("b"); });
    w.par_process(threads, group);
    EXPECT_EQ(order, (std::vector<std::string>{"before", "a", "b", "after"}));
}

TEST_F(par_process, disabled_systems_do_not_run) {
    fill(10);
    const auto system = w.system("a").each([](position& p) { ++p.y; });
    system.disable();
    w.par_process_all(threads);
    EXPECT_EQ(count_with_y(0), 10);
    system.enable();
    w.par_process_all(threads);
    EXPECT_EQ(count_with_y(1), 10);
}

TEST_F(par_process, payloads_are_passed_to_the_systems) {
    fill(10);
    const auto move = w.system("move").each([](position& p, int by, double) { p.y += by; });
    w.par_process_with(threads, move, 3, 0.5);
    EXPECT_EQ(count_with_y(3), 10);
    EXPECT_EQ(test::code_of([&] { w.par_process(threads, move); }), errc::bad_payload);
    EXPECT_EQ(count_with_y(3), 10);
}

TEST_F(par_process, an_exception_names_its_system_and_drops_all_changes_of_the_phase) {
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

TEST_F(par_process, provenance_names_the_system_that_destroyed_an_entity) {
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

TEST_F(par_process, unordered_conflicts_are_listed_by_name) {
    w.system("move").each([](position&, const velocity&) {});
    w.system("draw").each([](const position&) {});
    w.system("brake").each([](velocity&) {});
    w.system("heal").each([](health&) {});
    w.system("slow").after("brake").each([](velocity&) {});
    const std::vector<system_conflict> found = w.system_conflicts();
    std::vector<std::string> said;
    for (const system_conflict& value : found)
        said.push_back(std::string(value.first) + " " + std::string(value.second) + " " +
                       std::string(value.component).substr(value.component.rfind(':') + 1));
    EXPECT_EQ(said, (std::vector<std::string>{"move draw position", "move brake velocity",
                                              "move slow velocity"}));
}

TEST_F(par_process, a_transitive_order_is_no_conflict) {
    w.system("input").each([](position&) {});
    w.system("move").after("input").each([](velocity&) {});
    w.system("draw").after("move").each([](position&) {});
    EXPECT_TRUE(w.system_conflicts().empty());
}

TEST_F(par_process, an_empty_or_disabled_system_passes_its_order_on) {
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
        for (const auto& system : {spawn, milestone, count}) system.remove();
    }
}

TEST_F(par_process, an_exception_of_a_prologue_or_epilogue_names_the_system) {
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

TEST_F(par_process, nested_groups_keep_their_order) {
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

TEST_F(par_process, terms_without_values_are_no_accesses) {
    // A fragment that a query only names is not read: no entity gains or loses it before both are done.
    fill(50);
    const auto a = slowly("a");
    const auto b = slowly("b");
    w.system("a").each([a](position&) { a(); });
    w.system("b").with<position>().without<unused_by_all>().any<velocity, health>().each(
        [b](const name&) { b(); });
    w.par_process_all(threads);
    EXPECT_TRUE(seen.has("a", "b"));
}

TEST_F(par_process, a_cycle_is_reported_by_name) {
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

TEST_F(par_process, timings_of_parallel_systems_are_recorded) {
    fill(100);
    const auto system = w.system("a").each([](position& p) { ++p.x; });
    w.time_systems(true);
    w.par_process_all(threads);
    w.par_process_all(threads);
    EXPECT_EQ(system.timings().count, 2u);
    EXPECT_GT(system.timings().max, 0u);
}

TEST_F(par_process, timings_of_groups_and_of_systems_that_run_alone_are_recorded) {
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
        for (const auto& system : {group, alone, shared}) EXPECT_EQ(system.timings().count, count);
        EXPECT_GT(alone.timings().last, 0u);
        EXPECT_GE(group.timings().last, alone.timings().last);
    }
}

TEST_F(par_process, a_system_cannot_process_other_systems_in_a_phase) {
    fill(5);
    const auto other = w.system("other").each([](health&) {});
    other.disable();
    w.system("a").each([&](position&) { w.process(other); });
    EXPECT_EQ(test::code_of([&] { w.par_process_all(threads); }), errc::in_scope);
}

}  // namespace
