// Singletons as arguments of loops: found once, read or written, and errors.
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

struct position {
    int x = 0;
};
struct lifetime {
    int left = 100;
};
struct game_clock {
    int dt = 3;
    int ticks = 0;
};
struct paused {};
struct names {
    std::vector<std::string> all;
};

TEST(single, a_loop_reads_a_singleton) {
    world w;
    w.set_single(game_clock{3});
    const entity e = w.spawn(lifetime{10}, position{1});
    w.each([](lifetime& l, single<const game_clock> t) { l.left -= t->dt; });
    EXPECT_EQ(w.get<lifetime>(e).left, 7);
    w.each([&](entity each, lifetime& l, const position* p, single<const game_clock> t) {
        EXPECT_EQ(each, e);
        l.left -= (*t).dt * p->x;
    });
    EXPECT_EQ(w.get<lifetime>(e).left, 4);
    w.query<lifetime>().with<position>().each(
        [](lifetime& l, single<const game_clock> t) { l.left -= t->dt; });
    EXPECT_EQ(w.get<lifetime>(e).left, 1);
}

TEST(single, a_loop_writes_a_singleton) {
    world w;
    w.set_single(game_clock{});
    for (int i = 0; i < 5; ++i) w.spawn(position{i});
    w.each([](const position& p, single<game_clock> t) { t->ticks += p.x; });
    EXPECT_EQ(w.single<game_clock>().ticks, 10);
}

TEST(single, a_loop_takes_several_singletons) {
    world w;
    w.set_single(game_clock{2});
    w.set_single(names{{"a", "b"}});
    w.set_single(paused{});
    w.spawn(position{});
    int calls = 0;
    w.each([&](position&, single<names> n, single<const paused>, single<const game_clock> t) {
        n->all.push_back("c");
        calls += t->dt;
    });
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(w.single<names>().all.size(), 3u);
}

TEST(single, a_missing_singleton_is_an_error_before_the_first_entity) {
    world w;
    w.spawn(position{});
    int calls = 0;
    const auto read = [&](position&, single<const game_clock>) { ++calls; };
    EXPECT_EQ(code_of([&] { w.each(read); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { w.query<position>().each(read); }), errc::missing_component);
    const std::string said = sentence_of([&] { w.each(read); });
    EXPECT_NE(said.find("no singleton"), std::string::npos) << said;
    EXPECT_NE(said.find("game_clock"), std::string::npos) << said;
    w.set_single(game_clock{});
    w.remove_single<game_clock>();
    EXPECT_EQ(code_of([&] { w.each(read); }), errc::missing_component);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(w.depth(), 0u);
}

TEST(single, a_missing_singleton_is_an_error_even_if_no_entity_matches) {
    world w;
    EXPECT_EQ(code_of([&] { w.each([](position&, single<const game_clock>) {}); }),
              errc::missing_component);
}

TEST(single, stays_until_the_loop_ends_even_if_it_is_removed) {
    world w;
    w.set_single(names{{"first"}});
    for (int i = 0; i < 3; ++i) w.spawn(position{i});
    std::size_t seen = 0;
    w.each([&](position&, single<const names> n) {
        w.remove_single<names>();
        w.spawn(names{{"other"}});  // would grow the column, if it were at once
        seen += n->all.size();
    });
    EXPECT_EQ(seen, 3u);
    EXPECT_FALSE(w.has_single<names>());
}

TEST(single, a_patch_changes_it_in_place) {
    world w;
    w.set_single(game_clock{1});
    w.spawn(position{});
    w.each([&](position&, single<const game_clock> t) {
        w.patch<game_clock>(w.component<game_clock>().id(), [](game_clock& c) { c.dt = 9; });
        EXPECT_EQ(t->dt, 9);
    });
}

TEST(single, a_const_world_reads_it) {
    world w;
    w.set_single(game_clock{4});
    w.spawn(position{1});
    const world& reader = w;
    int sum = 0;
    reader.each([&](const position& p, single<const game_clock> t) { sum += p.x + t->dt; });
    reader.query<const position>().each(
        [&](const position& p, single<const game_clock> t) { sum += p.x + t->dt; });
    EXPECT_EQ(sum, 10);
}

TEST(single, is_found_by_a_function) {
    world w;
    w.set_single(game_clock{4});
    w.spawn(position{1});
    void (*add)(position&, single<const game_clock>) = [](position& p, single<const game_clock> t) {
        p.x += t->dt;
    };
    w.each(add);
    w.query<position>().each(*add);
    w.each([](const position& p) { EXPECT_EQ(p.x, 9); });
}

TEST(single, threads_read_it_and_one_thread_writes_it) {
    world w;
    thread_executor four(4);
    w.set_single(game_clock{2});
    for (int i = 0; i < 1000; ++i) w.spawn(position{i});
    w.query<position>().par_each(four, 7,
                                 [](position& p, single<const game_clock> t) { p.x = t->dt; });
    w.query<const position>().par_each(
        four, 7, [](const position& p, single<game_clock> t) { t->ticks += p.x; });
    EXPECT_EQ(w.single<game_clock>().ticks, 2000);
    EXPECT_EQ(code_of([&] {
                  w.query<position>().par_each(four, 7, [](position&, single<const names>) {});
              }),
              errc::missing_component);
}

TEST(single, a_loop_over_links_takes_it) {
    world w;
    thread_executor two(2);
    w.set_single(game_clock{2});
    const entity parent = w.spawn(position{5});
    const entity child = w.spawn(lifetime{1});
    w.relate<child_of>(child, parent);
    const auto add = [](lifetime& l, up<const position> p, single<const game_clock> t) {
        l.left += p->x * t->dt;
    };
    w.each(add);
    EXPECT_EQ(w.get<lifetime>(child).left, 11);
    w.query<lifetime, up<const position>>().par_each(two, 1, add);
    EXPECT_EQ(w.get<lifetime>(child).left, 21);
    w.query<lifetime, up<const position>>().par_each(
        two, 1, [](lifetime&, up<const position>, single<game_clock> t) { ++t->ticks; });
    EXPECT_EQ(w.single<game_clock>().ticks, 1);
}

TEST(single, handles_of_ended_worlds_and_null_handles_are_errors) {
    query<position> kept;
    const auto read = [](position&, single<const game_clock>) {};
    EXPECT_EQ(code_of([&] { kept.each(read); }), errc::null_handle);
    {
        world w;
        kept = w.query<position>();
    }
    EXPECT_EQ(code_of([&] { kept.each(read); }), errc::world_ended);
    thread_executor two(2);
    EXPECT_EQ(code_of([&] { kept.par_each(two, 1, read); }), errc::world_ended);
}

}  // namespace
}  // namespace muster
