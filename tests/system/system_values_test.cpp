// What functions of systems take after their components: the payload, and singletons.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/errors.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster {
namespace {

using muster_tests::thread_executor;
using test::code_of;
using test::sentence_of;

struct lifetime {
    float left = 100;
};
struct position {
    int x = 0;
};
struct game_clock {
    float dt = 3;
    int ticks = 0;
};
struct score {
    int value = 0;
};

TEST(system_values, a_singleton_takes_no_part_of_the_payload) {
    world w;
    w.set_single(game_clock{2});
    w.set_single(score{});
    const entity e = w.spawn(lifetime{100});
    std::vector<std::string> said;
    w.system("age").each(
        [&](lifetime& l, single<const game_clock> t, int a, single<score> s, float b) {
            l.left -= t->dt * static_cast<float>(a);
            s->value += static_cast<int>(b);
        });
    w.process_with("age", 3, 4.0f);
    EXPECT_EQ(w.get<lifetime>(e).left, 94);
    EXPECT_EQ(w.single<score>().value, 4);
    EXPECT_EQ(code_of([&] { w.process_with("age", 3); }), errc::bad_payload);
}

TEST(system_values, every_function_of_a_system_takes_singletons) {
    world w;
    w.set_single(game_clock{2});
    w.set_single(score{});
    w.spawn(position{1});
    w.system("all")
        .prologue([](single<score> s, int by) { s->value += by; })
        .execute([](chunk_view v, single<score> s, single<const game_clock> t) {
            s->value += static_cast<int>(v.size()) * static_cast<int>(t->dt);
        })
        .epilogue([](single<score> s) { s->value *= 10; });
    w.process_with("all", 5);
    // The singletons are chunks, too: the one of clocks, the one of scores, that of the position.
    EXPECT_EQ(w.single<score>().value % 10, 0);
    EXPECT_GE(w.single<score>().value, 70);
    w.single<score>().value = 0;
    w.system("once").execute(
        [](single<score> s, single<const game_clock> t) { s->value = static_cast<int>(t->dt); });
    w.process("once");
    EXPECT_EQ(w.single<score>().value, 2);
}

TEST(system_values, a_missing_singleton_names_its_type_and_the_system) {
    world w;
    w.spawn(position{});
    int calls = 0;
    w.system("age").each([&](position&, single<const game_clock>) { ++calls; });
    EXPECT_EQ(code_of([&] { w.process("age"); }), errc::missing_component);
    const std::string said = sentence_of([&] { w.process("age"); });
    EXPECT_NE(said.find("system \"age\""), std::string::npos) << said;
    EXPECT_NE(said.find("game_clock"), std::string::npos) << said;
    w.system("before").prologue([](single<game_clock>) {});
    EXPECT_EQ(code_of([&] { w.process("before"); }), errc::missing_component);
    w.set_single(game_clock{});
    w.process("age", "before");
    EXPECT_EQ(calls, 1);
}

TEST(system_values, a_missing_singleton_is_an_error_without_entities_and_on_threads) {
    world w;
    thread_executor four(4);
    w.system("read").each([](position&, single<const game_clock>) {});
    EXPECT_EQ(code_of([&] { w.process("read"); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { w.par_process(four, "read"); }), errc::missing_component);
    for (int i = 0; i < 100; ++i) w.spawn(position{});
    EXPECT_EQ(code_of([&] { w.par_process(four, "read"); }), errc::missing_component);
}

TEST(system_values, a_removed_singleton_stays_until_the_function_ends) {
    world w;
    w.set_single(score{7});
    int seen = 0;
    w.on_remove<score>([&](entity, score& s) { seen += s.value; });
    w.system("end").execute([&](single<score> s) {
        w.remove_single<score>();
        s->value += 1;
    });
    w.process("end");
    EXPECT_EQ(seen, 8);
    EXPECT_FALSE(w.has_single<score>());
}

TEST(system_values, where_changes_are_immediate_a_singleton_is_found_at_each_access) {
    world w;
    w.set_single(score{7});
    w.system("move").prologue([&](single<score> s) {
        for (int i = 0; i < 100; ++i) w.spawn(score{i});  // the column grows, and moves
        s->value = 8;
        w.remove_single<score>();
        EXPECT_EQ(code_of([&] { s->value = 9; }), errc::missing_component);
        w.set_single(score{10});
        EXPECT_EQ(s->value, 10);
    });
    w.process("move");
    EXPECT_EQ(w.single<score>().value, 10);
}

TEST(system_values, writers_of_a_singleton_run_one_after_another) {
    world w;
    thread_executor four(4);
    w.set_single(score{});
    for (int i = 0; i < 200; ++i) w.spawn(position{1}, lifetime{});
    w.system("add").each([](const position& p, single<score> s) { s->value += p.x; });
    w.system("double").each([](const lifetime&, single<score> s) { s->value += 2; });
    w.system("read").each(
        [](lifetime& l, single<const score> s) { l.left = static_cast<float>(s->value); });
    const auto conflicts = w.system_conflicts();
    EXPECT_EQ(conflicts.size(), 3u);
    for (int i = 0; i < 20; ++i) w.par_process_all(four);
    EXPECT_EQ(w.single<score>().value, 20 * (200 + 400));
    w.each([](const lifetime& l) { EXPECT_EQ(l.left, 12000.0f); });
}

TEST(system_values, readers_of_a_singleton_conflict_with_writers_only) {
    world w;
    w.system("a").each([](position&, single<const score>) {});
    w.system("b").each([](lifetime&, single<const score>) {});
    EXPECT_TRUE(w.system_conflicts().empty());
    w.system("c").each([](const game_clock&, single<score>) {});
    EXPECT_EQ(w.system_conflicts().size(), 2u);
}

}  // namespace
}  // namespace muster
