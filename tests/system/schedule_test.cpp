// The order of systems, and changes to systems while they run.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace muster {
namespace {

using test::code_of;
using test::sentence_of;
using names = std::vector<std::string_view>;

class schedule : public ::testing::Test {
public:
    world w;
    std::string log;

    /// A system that logs its name.
    system_handle logs(std::string_view name) {
        return w.system(name).execute([this, text = std::string(name)] { log += text; });
    }
    /// Like `logs`, but its prologue logs "(" and its epilogue logs ")".
    system_handle brackets(std::string_view name) {
        return logs(name).prologue([this] { log += "("; }).epilogue([this] { log += ")"; });
    }
    std::string run_all() {
        w.process_all();
        return std::exchange(log, {});
    }
    template <class... Targets>
    std::string run(const Targets&... targets) {
        w.process(targets...);
        return std::exchange(log, {});
    }
};

// ---- order -------------------------------------------------------------------------------------

TEST_F(schedule, runs_systems_in_creation_order) {
    logs("c");
    logs("a");
    logs("b");
    EXPECT_EQ(run_all(), "cab");
    EXPECT_EQ(w.system_order(), (names{"c", "a", "b"}));
    EXPECT_EQ(run("b", "c", "b"), "bcb");  // by name, as often as requested
}

TEST_F(schedule, applies_before_and_after_to_systems_created_later) {
    logs("a").after("d");
    logs("b").before("a");
    logs("c");
    logs("d").before("c");
    EXPECT_EQ(run_all(), "bdac");
    logs("e").before("a", "b", "c").after("d");
    logs("f").before("e").before("d");
    EXPECT_EQ(run_all(), "fdebac");
    EXPECT_EQ(w.system_order(), (names{"f", "d", "e", "b", "a", "c"}));
    EXPECT_EQ(run("a", "d"), "ad");  // constraints do not reorder the targets of a call
}

TEST_F(schedule, accepts_handles_instead_of_names) {
    const auto a = logs("a"), b = logs("b"), c = logs("c");
    a.after(c, b);
    c.before(b);
    EXPECT_EQ(run_all(), "cba");
}

TEST_F(schedule, accepts_handles_of_unnamed_systems) {
    const auto nameless = w.system().execute([this] { log += "?"; });
    logs("a").before(nameless);
    EXPECT_EQ(run_all(), "a?");
}

TEST_F(schedule, unnamed_systems_have_distinct_names) {
    const auto a = w.system(), b = w.system();
    EXPECT_FALSE(a.name().empty());
    EXPECT_NE(a.name(), b.name());
    EXPECT_NE(a, b);
    EXPECT_TRUE(a && b);
    EXPECT_EQ(w.system_order().size(), 2u);
    // A name that the user chooses is never equal to a generated name.
    const std::string taken(a.name());
    const std::optional<errc> code = code_of([&] { logs(taken); });
    if (code) {
        EXPECT_EQ(code, errc::system_taken);
    } else {
        EXPECT_NE(a.name(), taken);
    }
}

TEST_F(schedule, repeated_constraints_change_nothing) {
    logs("a");
    logs("b").before("a").before("a");
    w.find_system("a").after("b").after("b");
    EXPECT_EQ(run_all(), "ba");
}

TEST_F(schedule, accepts_constraints_at_any_time) {
    const auto a = logs("a"), b = logs("b");
    logs("c");
    EXPECT_EQ(run_all(), "abc");
    a.after("b");
    EXPECT_EQ(run_all(), "bac");
    b.after("c");
    EXPECT_EQ(run_all(), "cba");
}

TEST_F(schedule, orders_groups_by_the_constraints_of_their_members) {
    const auto render = brackets("R"), physics = brackets("P");
    logs("a").group(render).after("y");
    logs("b").group(render);
    logs("x").group(physics);
    logs("y").group(physics).before("x");
    EXPECT_EQ(run_all(), "(Pyx)(Rab)");
    EXPECT_EQ(w.system_order(), (names{"P", "y", "x", "R", "a", "b"}));
    EXPECT_EQ(run(render), "(Rab)");  // the other group does not run
    logs("i").before("P");
    logs("j").before("b");  // constrains the whole group of b
    EXPECT_EQ(run_all(), "i(Pyx)j(Rab)");
}

TEST_F(schedule, nests_groups) {
    const auto frame = brackets("F"), inner = brackets("I").group(frame);
    logs("a").group("I");
    logs("b").group(frame).before("I");
    EXPECT_EQ(run_all(), "(Fb(Ia))");
    EXPECT_EQ(run("I"), "(Ia)");
    EXPECT_EQ(w.system_order(inner), (names{"I", "a"}));
    EXPECT_EQ(w.system_order("F"), (names{"F", "b", "I", "a"}));
}

TEST_F(schedule, lets_a_system_change_its_group) {
    const auto g = brackets("G"), h = brackets("H");
    const auto a = logs("a").group(g);
    logs("b").group(g);
    EXPECT_EQ(run_all(), "(Gab)(H)");
    a.group(h);
    EXPECT_EQ(run_all(), "(Gb)(Ha)");
    a.group("G");
    EXPECT_EQ(run_all(), "(Gba)(H)");  // appended to the group
}

TEST_F(schedule, runs_a_group_of_an_id_only_on_request) {
    const id physics = w.spawn();
    w.name(physics, "physics");
    const id idle = w.spawn();
    logs("a").group(physics);
    logs("b");
    logs("c").group(physics).before("a");
    EXPECT_EQ(run_all(), "b");
    EXPECT_EQ(run(physics), "ca");
    EXPECT_EQ(run(idle), "");
    EXPECT_EQ(w.system_order(physics), (names{"physics", "c", "a"}));
    EXPECT_EQ(w.system_order(idle), names{});
    EXPECT_FALSE(w.find_system("physics"));     // a group, not a system
    w.find_system("a").before("b").after("b");  // no circle: they never run in one call
    EXPECT_EQ(run_all(), "b");
    EXPECT_EQ(run(physics), "ca");
    w.destroy(physics);
    EXPECT_EQ(code_of([&] { w.process(physics); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { logs("d").group(physics); }), errc::dead_entity);
    EXPECT_EQ(run_all(), "bd");
}

TEST_F(schedule, an_unknown_name_in_a_constraint_is_an_error_before_any_system_runs) {
    logs("a");
    logs("b").before("nobody");
    const std::string message = sentence_of([&] { w.process_all(); });
    EXPECT_NE(message.find("\"b\""), std::string::npos) << message;
    EXPECT_NE(message.find("before \"nobody\""), std::string::npos) << message;
    EXPECT_EQ(code_of([&] { w.process_all(); }), errc::unknown_system);
    EXPECT_EQ(code_of([&] { (void)w.system_order(); }), errc::unknown_system);
    EXPECT_EQ(log, "");
    EXPECT_EQ(run("a"), "a");
    logs("nobody");
    EXPECT_EQ(run_all(), "abnobody");
}

TEST_F(schedule, an_unknown_target_is_an_error_before_any_system_runs) {
    logs("a");
    EXPECT_EQ(code_of([&] { w.process("nobody"); }), errc::unknown_system);
    EXPECT_NE(sentence_of([&] { w.process("nobody"); }).find("\"nobody\""), std::string::npos);
    EXPECT_EQ(code_of([&] { w.process("a", "nobody"); }), errc::unknown_system);
    EXPECT_EQ(log, "");
}

TEST_F(schedule, names_the_systems_of_a_circular_order) {
    logs("y").after("a");  // depends on the circle, but is not in it
    logs("x");
    logs("a").before("b");
    logs("b").before("c");
    logs("c").before("a");
    const std::string message = sentence_of([&] { w.process_all(); });
    EXPECT_EQ(code_of([&] { w.process_all(); }), errc::system_circle);
    EXPECT_TRUE(message.ends_with("\"a\" before \"b\" before \"c\" before \"a\"") ||
                message.ends_with("\"b\" before \"c\" before \"a\" before \"b\"") ||
                message.ends_with("\"c\" before \"a\" before \"b\" before \"c\""))
        << message;
    EXPECT_EQ(message.find("\"y\""), std::string::npos) << message;
    EXPECT_EQ(log, "");
    w.find_system("c").remove();
    EXPECT_EQ(code_of([&] { w.process_all(); }), errc::unknown_system);
    logs("c");
    EXPECT_EQ(run_all(), "xaybc");
}

TEST_F(schedule, detects_circles_of_one_system_and_of_groups) {
    logs("a").before("a");
    EXPECT_NE(sentence_of([&] { w.process_all(); }).find("\"a\" before \"a\""), std::string::npos);
    w.find_system("a").remove();
    const auto g = brackets("G"), h = brackets("H");
    logs("m").group(g).before("n");
    logs("n").group(h);
    logs("o").group(h).before("p");
    logs("p").group(g);
    const std::string message = sentence_of([&] { w.process_all(); });
    EXPECT_EQ(code_of([&] { w.process_all(); }), errc::system_circle);
    EXPECT_NE(message.find("\"G\" before \"H\""), std::string::npos) << message;
    EXPECT_NE(message.find("\"H\" before \"G\""), std::string::npos) << message;
    EXPECT_EQ(run("G"), "(Gmp)");
    EXPECT_EQ(log, "");
}

TEST_F(schedule, refuses_a_group_within_itself) {
    const auto a = brackets("A"), b = brackets("B").group(a), c = brackets("C").group(b);
    EXPECT_EQ(code_of([&] { a.group(a); }), errc::system_circle);
    EXPECT_EQ(code_of([&] { a.group(c); }), errc::system_circle);
    const std::string message = sentence_of([&] { a.group("C"); });
    EXPECT_NE(message.find("\"A\""), std::string::npos) << message;
    EXPECT_NE(message.find("\"C\""), std::string::npos) << message;
    EXPECT_EQ(run_all(), "(A(B(C)))");
    c.group(a);
    b.group(c);
    EXPECT_EQ(run_all(), "(A(C(B)))");
}

TEST_F(schedule, refuses_a_duplicate_name) {
    logs("a");
    EXPECT_EQ(code_of([&] { logs("a"); }), errc::system_taken);
    EXPECT_NE(sentence_of([&] { logs("a"); }).find("\"a\""), std::string::npos);
    EXPECT_EQ(run_all(), "a");
    w.find_system("a").remove();
    logs("a");
    EXPECT_EQ(run_all(), "a");
}

// ---- disabling and removing --------------------------------------------------------------------

TEST_F(schedule, skips_a_disabled_system_and_its_members) {
    const auto g = brackets("G");
    const auto a = logs("a").group(g);
    logs("b").group(g);
    EXPECT_TRUE(a.is_enabled());
    a.disable();
    EXPECT_FALSE(a.is_enabled());
    EXPECT_EQ(run_all(), "(Gb)");
    EXPECT_EQ(run(a), "");
    EXPECT_EQ(w.system_order(), (names{"G", "a", "b"}));  // it keeps its position
    g.disable();
    EXPECT_EQ(run_all(), "");
    a.enable();
    EXPECT_EQ(run_all(), "");
    EXPECT_EQ(run(a), "a");  // requested directly
    g.enable(true);
    EXPECT_EQ(run_all(), "(Gab)");
}

TEST_F(schedule, removing_a_group_keeps_its_members) {
    const auto g = brackets("G");
    const auto a = logs("a").group(g);
    logs("b").group(g);
    g.remove();
    EXPECT_FALSE(g);
    EXPECT_FALSE(w.find_system("G"));
    EXPECT_EQ(run_all(), "ab");
    a.remove();
    EXPECT_EQ(run_all(), "b");
    EXPECT_EQ(w.system_order(), (names{"b"}));
}

TEST_F(schedule, destroys_the_functions_of_a_removed_system) {
    const auto kept = std::make_shared<int>(1);
    const auto s = w.system("s").execute([kept] {}).prologue([kept] {}).epilogue([kept] {});
    EXPECT_EQ(kept.use_count(), 4);
    s.prologue([] {});
    EXPECT_EQ(kept.use_count(), 3);
    s.remove();
    EXPECT_EQ(kept.use_count(), 1);
}

// ---- changes while systems run -----------------------------------------------------------------

TEST_F(schedule, lets_a_system_remove_itself) {
    const auto kept = std::make_shared<int>(1);
    auto self = std::make_shared<system_handle>();
    *self = w.system("once")
                .prologue([this] { log += "("; })
                .execute([this, self = self.get(), kept] {
                    self->remove();
                    EXPECT_FALSE(*self);
                    EXPECT_EQ(kept.use_count(), 2);  // the running function still exists
                    log += "once";
                })
                .epilogue([this] { log += ")"; });
    logs("a");
    EXPECT_EQ(run_all(), "(once)a");  // the current run completes
    EXPECT_EQ(kept.use_count(), 1);
    EXPECT_EQ(run_all(), "a");
    logs("once");
    EXPECT_EQ(run_all(), "aonce");
}

TEST_F(schedule, lets_a_member_remove_its_group) {
    const auto g = brackets("G");
    logs("a").group(g);
    const auto ends = w.system("e").group(g).execute([this, g] {
        g.remove();
        log += "e";
    });
    logs("b").group(g);
    logs("z");
    EXPECT_EQ(run_all(), "(Gaeb)z");  // no system runs twice
    ends.execute([this] { log += "e"; });
    EXPECT_EQ(run_all(), "zaeb");
}

TEST_F(schedule, skips_systems_removed_or_disabled_before_their_turn) {
    logs("a");
    w.system("b").execute([this] {
        for (const char* name : {"a", "c", "g"})
            if (const auto found = w.find_system(name)) found.remove();
        w.find_system("d").disable();
        log += "b";
    });
    logs("c");
    const auto g = brackets("g");
    logs("m").group(g);
    logs("d");
    logs("e");
    EXPECT_EQ(run_all(), "abe");
    EXPECT_EQ(run_all(), "bem");
}

TEST_F(schedule, systems_added_during_a_run_start_with_the_next_run) {
    const auto g = brackets("g");
    w.system("a").group(g).execute([this, g] {
        log += "a";
        if (w.find_system("b")) return;
        logs("b").group(g);
        logs("c").before("g");
        for (int i = 0; i < 40; ++i) w.system();  // reallocates the lists
        logs("d").group(w.find_system("z"));
    });
    brackets("z");
    EXPECT_EQ(run_all(), "(ga)(z)");
    EXPECT_EQ(run_all(), "(zd)c(gab)");
}

TEST_F(schedule, lets_a_system_change_order_and_groups_while_it_runs) {
    const auto g = brackets("g"), h = brackets("h");
    const auto m = logs("m").group(h);
    const auto first = w.system("x").group(g).execute([this, g, h, m] {
        log += "x";
        m.group(g);
        h.before("g");
        w.process("m");
    });
    logs("y").group(g);
    EXPECT_EQ(run_all(), "(gxmy)(hm)");  // the current run keeps its order
    first.execute([this] { log += "x"; });
    EXPECT_EQ(run_all(), "(h)(gxym)");
}

TEST_F(schedule, a_run_keeps_its_order_when_system_order_is_called) {
    const auto g = brackets("g"), h = brackets("h");
    const auto m = logs("m").group(h);
    const auto first = w.system("x").group(g).execute([this, g, h, m] {
        log += "x";
        m.group(g);
        logs("n").group(h);
        EXPECT_EQ(w.system_order(), (names{"g", "x", "y", "m", "h", "n"}));
    });
    logs("y").group(g);
    EXPECT_EQ(run_all(), "(gxy)(hm)");
    first.execute([this] { log += "x"; });
    EXPECT_EQ(run_all(), "(gxym)(hn)");
}

TEST_F(schedule, lets_a_system_replace_its_own_function_while_it_runs) {
    const auto kept = std::make_shared<std::string>("old");
    const auto s = w.system("s");
    s.execute([this, s, kept] {
        s.execute([this] { log += "new"; });
        log += *kept;  // its captures still exist
    });
    EXPECT_EQ(kept.use_count(), 2);
    EXPECT_EQ(run_all(), "old");
    EXPECT_EQ(kept.use_count(), 1);
    EXPECT_EQ(run_all(), "new");
    // A loop over entities also completes with the old function.
    w.spawn_many(3, 1);
    const std::string long_word = "a word that is too long for its object";
    s.each([this, s, long_word](int&) {
        s.execute([] {});
        log += long_word[0];
    });
    EXPECT_EQ(run_all(), "aaa");
    EXPECT_EQ(run_all(), "");
}

TEST_F(schedule, the_destructor_of_a_function_may_remove_systems) {
    struct remover {
        system_handle other;
        ~remover() {
            if (other) other.remove();
        }
    };
    const auto a = logs("a"), b = logs("b");
    a.execute([ends = std::make_shared<remover>(b)] {});
    a.remove();
    EXPECT_FALSE(a || b);
    EXPECT_EQ(w.system_order(), names{});
}

TEST_F(schedule, runs_a_system_in_a_system) {
    int left = 2;
    logs("in");
    w.system("out").execute([&] {
        log += "<";
        w.process("in");
        if (--left != 0) w.process("out");
        log += ">";
    });
    EXPECT_EQ(run("out"), "<in<in>>");
}

TEST_F(schedule, stays_usable_after_an_exception) {
    const auto g = brackets("G");
    const auto bad = w.system("bad").group(g).execute([this] {
        log += "!";
        w.find_system("gone").remove();
        throw std::runtime_error("bad");
    });
    logs("behind").group(g);
    const auto kept = std::make_shared<int>(1);
    w.system("gone").execute([kept] {});
    EXPECT_EQ(code_of([&] { w.process_all(); }), errc::system_failed);
    EXPECT_EQ(std::exchange(log, {}), "(G!");  // skips the next member and the epilogue
    EXPECT_EQ(kept.use_count(), 1);            // the removed function is destroyed
    bad.remove();
    EXPECT_EQ(run_all(), "(Gbehind)");
}

// ---- timings -----------------------------------------------------------------------------------

TEST_F(schedule, records_no_timings_by_default) {
    const auto a = logs("a");
    run_all();
    EXPECT_EQ(a.timings().count, 0u);
    EXPECT_EQ(a.timings().mean, 0u);
    EXPECT_EQ(a.timings().max, 0u);
}

TEST_F(schedule, records_timings_while_enabled) {
    int rounds = 0;
    const auto g = w.system("g");
    const auto a = w.system("a").group(g).execute([&] {
        volatile int sum = 0;
        for (int i = 0; i < rounds; ++i) sum = sum + 1;
    });
    const auto off = logs("off").group(g).disable();
    w.time_systems(true);
    std::vector<std::uint64_t> took;
    for (const int how_many : {1'000, 400'000, 0}) {
        rounds = how_many;
        w.process(g);
        took.push_back(a.timings().last);
        EXPECT_GE(g.timings().last, took.back());  // includes its members
    }
    const system_timings t = a.timings();
    EXPECT_EQ(t.count, 3u);
    EXPECT_EQ(t.max, std::ranges::max(took));
    EXPECT_EQ(t.mean, (took[0] + took[1] + took[2]) / 3);
    EXPECT_GT(took[1], 0u);
    EXPECT_EQ(off.timings().count, 0u);
    w.time_systems(false);
    w.process(g);
    EXPECT_EQ(a.timings().count, 3u);
    EXPECT_EQ(a.timings().last, took[2]);
    a.reset_timings();
    EXPECT_EQ(a.timings().count + a.timings().last + a.timings().mean + a.timings().max, 0u);
    EXPECT_EQ(g.timings().count, 3u);
}

TEST_F(schedule, records_no_timing_of_a_run_that_throws) {
    bool fails = true;
    const auto a = w.system("a").execute([&] {
        if (fails) throw std::runtime_error("bad");
    });
    w.time_systems(true);
    EXPECT_EQ(code_of([&] { w.process(a); }), errc::system_failed);
    EXPECT_EQ(a.timings().count, 0u);
    fails = false;
    w.process(a);
    EXPECT_EQ(a.timings().count, 1u);
}

// ---- destruction of the world ------------------------------------------------------------------

TEST(schedule_of_a_world_that_ends, may_be_changed_by_the_destructors_of_its_functions) {
    struct remover {
        system_handle other;
        ~remover() {
            if (other) other.remove();
        }
    };
    const auto kept = std::make_shared<int>(1);
    {
        world w;
        const auto a = w.system("a"), b = w.system("b"), c = w.system("c");
        a.execute([kept, ends = std::make_shared<remover>(c)] {});
        b.execute([kept, ends = std::make_shared<remover>(a)] {});
        c.execute([kept, ends = std::make_shared<remover>(b)] {});
    }
    EXPECT_EQ(kept.use_count(), 1);
}

}  // namespace
}  // namespace muster
