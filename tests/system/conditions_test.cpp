// Conditions: when a system runs in a frame, and with which time.
#include <muster/muster.hpp>
#include <muster/system/conditions.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace muster {
namespace {

using detail::frame_timer;
using test::code_of;
using test::sentence_of;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// ---- timers ------------------------------------------------------------------------------------

/// How often a timer lets a system run in frames of this length.
std::vector<std::uint32_t> counts(frame_timer timer, std::vector<double> frames) {
    std::vector<std::uint32_t> made;
    for (const double dt : frames) made.push_back(timer.advance_by(dt).count);
    return made;
}
using numbers = std::vector<std::uint32_t>;

TEST(frame_timer, an_interval_first_passes_after_its_whole_length) {
    EXPECT_EQ(counts(frame_timer::every(1), {0.5, 0.25, 0.25, 0.5, 0.5}), (numbers{0, 0, 1, 0, 1}));
}

TEST(frame_timer, the_time_beyond_an_interval_counts_for_the_next) {
    EXPECT_EQ(counts(frame_timer::every(1), {0.75, 0.75, 0.5, 0.75, 0.25}),
              (numbers{0, 1, 1, 0, 1}));
}

TEST(frame_timer, a_long_frame_contains_many_intervals_but_passes_once) {
    EXPECT_EQ(counts(frame_timer::every(1), {5.5, 0.25, 0.25, 0}), (numbers{1, 0, 1, 0}));
}

TEST(frame_timer, fixed_steps_pass_as_often_as_the_time_asks_for) {
    EXPECT_EQ(counts(frame_timer::fixed(0.25, 8), {0.125, 0.125, 1, 0.5, 0.125, 0, 0.25}),
              (numbers{0, 1, 4, 2, 0, 0, 1}));
}

TEST(frame_timer, steps_beyond_the_limit_are_dropped_and_the_rest_of_a_step_stays) {
    EXPECT_EQ(counts(frame_timer::fixed(1, 3), {10.5, 0.25, 0.25, 1e18, 0}),
              (numbers{3, 0, 1, 3, 0}));
    EXPECT_EQ(counts(frame_timer::fixed(1e-300, 5), {1e300}), (numbers{5}));
    EXPECT_EQ(counts(frame_timer::every(1.7e308), {1.6e308, 1.6e308, 1.6e308, 1.6e308}),
              (numbers{0, 1, 0, 1}))
        << "the sum of the frames is no number";
}

TEST(frame_timer, elapsed_is_what_counts_for_the_next_step) {
    frame_timer timer = frame_timer::fixed(0.25, 8);
    EXPECT_EQ(timer.elapsed(), 0);
    (void)timer.advance_by(0.625);
    EXPECT_EQ(timer.elapsed(), 0.125);
    (void)timer.advance_by(0.1249999999);  // counts as the rest of the step
    EXPECT_EQ(timer.elapsed(), 0);
    EXPECT_EQ(frame_timer().elapsed(), 0);
}
TEST(frame_timer, rounded_frames_pass_an_interval_when_their_number_does) {
    for (const float length : {0.1f, 0.3f, 0.7f, 1.0f / 3}) {
        frame_timer timer = frame_timer::every(static_cast<double>(10 * length));
        for (int frame = 1; frame <= 100; ++frame)
            ASSERT_EQ(timer.advance_by(static_cast<double>(length)).count,
                      frame % 10 == 0 ? 1u : 0u)
                << length << ", frame " << frame;
    }
}

TEST(frame_timer, sixtieths_of_a_second_do_not_drift_in_an_hour) {
    for (const double frame : {1.0 / 60, static_cast<double>(1.0f / 60)}) {
        frame_timer steps = frame_timer::fixed(1.0 / 60, 8);
        frame_timer seconds = frame_timer::every(1);
        int runs = 0;
        int ticks = 0;
        for (int i = 0; i < 60 * 3600; ++i) {
            const std::uint32_t now = steps.advance_by(frame).count;
            ASSERT_EQ(now, 1u) << "frame " << i;
            runs += static_cast<int>(now);
            ticks += static_cast<int>(seconds.advance_by(frame).count);
        }
        EXPECT_EQ(runs, 60 * 3600);
        EXPECT_EQ(ticks, 3600);
    }
    frame_timer steps = frame_timer::fixed(1.0 / 60, 8);
    int runs = 0;
    for (int i = 0; i < 144 * 3600; ++i)
        runs += static_cast<int>(steps.advance_by(1.0 / 144).count);
    EXPECT_EQ(runs, 60 * 3600);
}

// ---- frames ------------------------------------------------------------------------------------

/// Runs frames on this thread, or as `par_process_all` does.
class frames : public testing::TestWithParam<bool> {
protected:
    world w;
    sequential_executor here;
    std::string log;

    template <class... Values>
    std::string run(const Values&... values) {
        if (GetParam())
            w.par_process_all(here, values...);
        else
            w.process_all(values...);
        return std::exchange(log, {});
    }
    basic_system<> logs(std::string_view name) {
        return w.system(name).execute([this, text = std::string(name)] { log += text; });
    }
    /// Logs its name with the sixtieths of a second that it receives.
    basic_system<> logs_time(std::string_view name) {
        return w.system(name).execute([this, text = std::string(name)](double dt) {
            log += text + std::to_string(std::lround(dt * 60)) + " ";
        });
    }
};
INSTANTIATE_TEST_SUITE_P(all, frames, testing::Bool(), [](const auto& tested) {
    return std::string(tested.param ? "in_parallel" : "in_order");
});

TEST_P(frames, every_runs_a_system_once_in_each_interval) {
    logs("always ");
    logs("regen ").every(0.5f);
    EXPECT_EQ(run(0.25f), "always ");
    EXPECT_EQ(run(0.25f), "always regen ");
    EXPECT_EQ(run(frame{1.75}), "always regen ");
    EXPECT_EQ(run(frame{0.25}), "always regen ") << "the rest counted for the next interval";
}

TEST_P(frames, fixed_passes_the_step_in_place_of_the_frame) {
    logs_time("f").fixed(1.0 / 60);
    logs_time("all");
    EXPECT_EQ(run(1.0 / 120), "all1 ");  // rounded
    EXPECT_EQ(run(1.0 / 120), "f1 all1 ");
    EXPECT_EQ(run(3.0 / 60), "f1 f1 f1 all3 ");
    EXPECT_EQ(run(frame{1}), "f1 f1 f1 f1 f1 f1 f1 f1 all60 ");
    EXPECT_EQ(run(0.0), "all0 ");
}

TEST_P(frames, the_limit_of_fixed_is_chosen) {
    logs_time("f").fixed(1.0 / 60, 2);
    EXPECT_EQ(run(1.0), "f1 f1 ");
}

TEST_P(frames, the_time_is_the_frame_or_the_first_real_number) {
    int calls = 0;
    w.system("f").fixed(0.5f).execute([&](int number, float dt, double gravity) {
        EXPECT_EQ(number, 7);
        EXPECT_EQ(dt, 0.5f);
        EXPECT_EQ(gravity, 9.5);
        ++calls;
    });
    run(7, 1.0f, 9.5);
    EXPECT_EQ(calls, 2);
    w.find_system("f").execute([&](double gravity, frame f, std::string text) {
        EXPECT_EQ(gravity, 9.5);
        EXPECT_EQ(f.dt, 0.5);
        EXPECT_EQ(text, "text");
        ++calls;
    });
    run(9.5, frame{1}, std::string("text"));
    EXPECT_EQ(calls, 4);
}

TEST_P(frames, a_frame_is_taken_as_a_real_number_and_a_real_number_as_a_frame) {
    w.spawn(1);
    std::vector<double> seen;
    w.system().execute([&](float dt) { seen.push_back(static_cast<double>(dt)); });
    w.system().execute([&](double dt) { seen.push_back(dt); });
    w.system().execute([&](frame f) { seen.push_back(f.dt); });
    w.system().each([&](const int&, frame f) { seen.push_back(f.dt); });
    run(frame{0.25});
    run(0.25f);
    EXPECT_EQ(seen, std::vector<double>(8, 0.25));
    EXPECT_EQ(code_of([&] { run(1); }), errc::bad_payload) << "an integer is no time";
}

TEST_P(frames, timers_without_a_time_are_refused) {
    logs("a");
    const auto e = logs("e").every(1);
    EXPECT_EQ(sentence_of([&] { run(); }),
              "system \"e\": every and fixed need the seconds of the frame: pass a floating-point "
              "number or muster::frame to process_all()");
    EXPECT_EQ(std::exchange(log, {}), "a") << "it ran what came before";
    EXPECT_EQ(code_of([&] { run(1); }), errc::bad_payload);
    e.fixed(1);
    EXPECT_EQ(code_of([&] { run(std::string("1")); }), errc::bad_payload);
    e.disable();
    log.clear();
    EXPECT_EQ(run(), "a");
}

TEST_P(frames, times_that_no_frame_has_are_refused) {
    logs("e").every(1);
    for (const double wrong : {-1.0, -1e-9, not_a_number, infinity, -infinity})
        EXPECT_EQ(code_of([&] { run(wrong); }), errc::bad_payload) << wrong;
    EXPECT_EQ(sentence_of([&] { run(frame{-0.5}); }),
              "system \"e\": the seconds of a frame are a number from 0 on, but process_all() was "
              "called with -0.5");
    EXPECT_EQ(run(0.5) + run(0.5), "e") << "a refused frame has added time";
}

TEST_P(frames, intervals_and_steps_are_positive) {
    const auto a = logs("a");
    for (const double wrong : {0.0, -0.0, -1.0, not_a_number, infinity, -infinity}) {
        EXPECT_EQ(code_of([&] { a.every(wrong); }), errc::bad_interval) << wrong;
        EXPECT_EQ(code_of([&] { a.fixed(wrong); }), errc::bad_interval) << wrong;
    }
    for (const int wrong : {0, -1, std::numeric_limits<int>::min()})
        EXPECT_EQ(code_of([&] { a.fixed(1, wrong); }), errc::bad_interval) << wrong;
    EXPECT_EQ(sentence_of([&] { a.every(-1); }),
              "every takes an interval of more than 0 seconds, but was called with -1");
    EXPECT_EQ(sentence_of([&] { a.fixed(0); }),
              "fixed takes a step of more than 0 seconds, but was called with 0");
    EXPECT_EQ(sentence_of([&] { a.fixed(1, 0); }),
              "fixed takes at least 1 as the number of steps in a frame, but was called with 0");
    EXPECT_EQ(run(), "a") << "a refused condition stayed";
}

TEST_P(frames, a_later_timer_replaces_the_first) {
    const auto a = logs("a").every(1);
    run(0.75);
    a.every(2);
    EXPECT_EQ(run(0.75), "");
    a.fixed(0.5);
    EXPECT_EQ(run(1.0), "aa");
}

TEST_P(frames, run_if_asks_when_it_is_the_turn_of_the_system) {
    bool is_on = false;
    w.system("switch").execute([&] { is_on = !is_on; });
    logs("a").run_if([&](const world&) { return is_on; });
    EXPECT_EQ(run() + "," + run() + "," + run(), "a,,a");
}

TEST_P(frames, run_if_reads_the_world_as_earlier_systems_left_it) {
    w.spawn(1);
    w.system("spawn").each([&](const int&) { w.spawn(std::string()); });
    int seen = 0;
    logs("a").run_if([&](const world& now) {
        seen = static_cast<int>(now.query<const std::string>().count());
        return seen > 1;
    });
    EXPECT_EQ(run(), "");
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(run(), "a");
}

TEST_P(frames, all_functions_of_run_if_must_agree_and_are_asked_in_order) {
    std::string asked;
    bool first = false;
    logs("a")
        .run_if([&](const world&) {
            asked += "1";
            return first;
        })
        .run_if([&](const world&) {
            asked += "2";
            return true;
        });
    EXPECT_EQ(run(), "");
    first = true;
    EXPECT_EQ(run(), "a");
    EXPECT_EQ(asked, "112");
}

TEST_P(frames, time_passes_only_while_the_other_conditions_hold) {
    bool is_on = false;
    const auto a = logs("a").every(1).run_if([&](const world&) { return is_on; });
    run(0.75);
    is_on = true;
    EXPECT_EQ(run(0.75), "");
    a.disable();
    run(0.75);
    a.enable();
    EXPECT_EQ(run(0.25), "a");
}

TEST_P(frames, conditions_of_a_group_apply_to_its_members) {
    const auto physics = logs("(").fixed(1.0 / 60, 2).epilogue([&] { log += ")"; });
    logs_time("move").group(physics);
    logs("slow ").group(physics).every(2.0 / 60);
    logs("end");
    EXPECT_EQ(run(1.0 / 60), "(move1 )end");
    EXPECT_EQ(run(2.0 / 60), "(move1 slow )(move1 )end") << "time of a member is that of its group";
    physics.run_if([](const world&) { return false; });
    EXPECT_EQ(run(2.0 / 60), "end");
}

TEST_P(frames, process_ignores_conditions) {
    const auto group = logs("g").every(1).run_if([](const world&) { return false; });
    logs("m").group(group).fixed(1);
    w.process(group, "m");
    EXPECT_EQ(std::exchange(log, {}), "gmm");
    w.process_with("g", std::string("no time"));
    w.par_process(here, "g");
    w.par_process_with(here, "m", 5.0);
    EXPECT_EQ(log, "gmgmm");
}

TEST_P(frames, exceptions_of_conditions_name_the_system) {
    logs("a");
    logs("b").run_if([](const world&) -> bool { throw std::runtime_error("asked"); });
    EXPECT_EQ(sentence_of([&] { run(); }), "system \"b\" failed: asked");
    EXPECT_EQ(log, "a");
}

TEST_P(frames, a_system_may_change_its_conditions_while_it_runs) {
    const auto a = w.system("a");
    a.fixed(0.25).execute([&, a] {
        log += "a";
        a.fixed(1, 1).run_if([](const world&) { return true; });
    });
    EXPECT_EQ(run(1.0), "aaaa") << "the number of runs was decided before";
    EXPECT_EQ(run(1.0), "a");
    const auto b = w.system("b");
    b.execute([&] { log += "b"; }).fixed(0.5).run_if([&, b](const world&) {
        if (log.find('+') == std::string::npos)
            for (int i = 0; i < 100; ++i) b.run_if([](const world&) { return true; });
        log += "+";
        return true;
    });
    EXPECT_EQ(run(1.0), "a+bb");
}

TEST_P(frames, a_system_that_is_disabled_or_removed_in_a_step_takes_no_further_steps) {
    const auto a = w.system("a");
    a.fixed(0.25).execute([&, a] {
        log += "a";
        if (log.size() == 2) a.disable();
    });
    EXPECT_EQ(run(1.0), "aa");
    a.enable().execute([&, a] {
        log += "b";
        a.remove();
    });
    EXPECT_EQ(run(1.0), "b");
    EXPECT_EQ(run(1.0), "");
}

TEST_P(frames, conditions_end_with_their_system) {
    const auto token = std::make_shared<int>(1);
    const auto a = logs("a").run_if([token](const world&) { return *token == 1; });
    EXPECT_EQ(run(), "a");
    EXPECT_EQ(token.use_count(), 2);
    a.remove();
    EXPECT_EQ(token.use_count(), 1);
}

TEST_P(frames, a_step_may_run_a_frame_of_its_own) {
    int depth = 0;
    w.system("a").fixed(0.5).immediate([&](double dt) {
        log += std::to_string(std::lround(dt * 2));
        if (++depth == 1) w.process_all(0.5, std::string("more values"), 1, 2, 3);
        --depth;
    });
    EXPECT_EQ(run(1.0), "1111");
}

TEST_P(frames, timed_systems_count_each_step) {
    const auto a = logs("a").fixed(0.5);
    w.time_systems(true);
    run(1.0);
    EXPECT_EQ(a.timings().count, 2u);
}

TEST_P(frames, an_immediate_system_changes_the_world_at_once) {
    w.spawn(1);
    const auto a = w.system("a").immediate([&] {
        const entity e = w.spawn(std::string("new"));
        log += w.get<std::string>(e) + std::to_string(w.depth());
    });
    EXPECT_EQ(run(), "new0");
    a.writes<int>();  // does not make it run beside other systems
    w.system("b").each([](int& i) { ++i; });
    EXPECT_EQ(run(), "new0");
    a.remove();
    const auto c =
        w.system("c").immediate([] {}).execute([&] { log += std::to_string(w.depth()); });
    EXPECT_EQ(run(), "1") << "execute runs in a scope again";
    c.immediate([&](frame f, int more) { log += std::to_string(more + std::lround(f.dt)); });
    EXPECT_EQ(run(frame{1}, 2), "3");
}

TEST_P(frames, null_and_removed_systems_and_those_of_ended_worlds_are_refused) {
    const auto all = [](const auto& s, errc wanted) {
        EXPECT_EQ(code_of([&] { s.every(1); }), wanted);
        EXPECT_EQ(code_of([&] { s.fixed(1); }), wanted);
        EXPECT_EQ(code_of([&] { s.run_if([](const world&) { return true; }); }), wanted);
        EXPECT_EQ(code_of([&] { s.immediate([] {}); }), wanted);
    };
    all(muster::system_handle(), errc::unknown_system);
    const auto a = logs("a");
    a.remove();
    all(a, errc::unknown_system);
    auto other = std::make_unique<world>();
    const auto b = other->system("b");
    other.reset();
    all(b, errc::world_ended);
}

}  // namespace
}  // namespace muster
