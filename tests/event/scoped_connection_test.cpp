#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace muster {
namespace {

struct item {
    int weight = 0;
};

static_assert(!std::is_copy_constructible_v<scoped_connection>);
static_assert(!std::is_copy_assignable_v<scoped_connection>);
static_assert(std::is_nothrow_move_constructible_v<scoped_connection>);
static_assert(std::is_nothrow_move_assignable_v<scoped_connection>);
static_assert(std::is_nothrow_default_constructible_v<scoped_connection>);

TEST(scoped_connection, disconnects_when_it_is_destroyed) {
    world w;
    int calls = 0;
    const auto token = std::make_shared<int>(0);
    {
        const scoped_connection c = w.on_insert<item>([&calls, token] { ++calls; });
        EXPECT_TRUE(c.connected());
        w.spawn(item{});
    }
    w.spawn(item{});
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(token.use_count(), 1);  // the function is destroyed
}

TEST(scoped_connection, without_a_hook_does_nothing) {
    scoped_connection none;
    EXPECT_FALSE(none.connected());
    EXPECT_FALSE(none.pause());
    EXPECT_FALSE(none.resume());
    EXPECT_FALSE(none.disconnect());
    EXPECT_FALSE(none.release().connected());
}

TEST(scoped_connection, pauses_resumes_and_disconnects) {
    world w;
    int calls = 0;
    scoped_connection c = w.on_insert<item>([&] { ++calls; });
    EXPECT_TRUE(c.pause());
    EXPECT_FALSE(c.pause());
    EXPECT_FALSE(c.connected());
    w.spawn(item{});
    EXPECT_TRUE(c.resume());
    w.spawn(item{});
    EXPECT_TRUE(c.disconnect());
    EXPECT_FALSE(c.disconnect());
    EXPECT_FALSE(c.resume());
    w.spawn(item{});
    EXPECT_EQ(calls, 1);
}

TEST(scoped_connection, moves_its_hook) {
    world w;
    int calls = 0;
    std::optional<scoped_connection> first(w.on_insert<item>([&] { ++calls; }));
    scoped_connection second = std::move(*first);
    EXPECT_FALSE(first->connected());
    first.reset();
    w.spawn(item{});
    EXPECT_EQ(calls, 1);
    scoped_connection third;
    third = std::move(second);
    EXPECT_FALSE(second.connected());
    EXPECT_TRUE(third.connected());
    scoped_connection& same = third;
    third = std::move(same);
    EXPECT_TRUE(third.connected());
    third = {};
    w.spawn(item{});
    EXPECT_EQ(calls, 1);
}

TEST(scoped_connection, disconnects_the_old_hook_when_it_is_assigned) {
    world w;
    int first = 0, second = 0;
    scoped_connection c = w.on_insert<item>([&] { ++first; });
    c = w.on_insert<item>([&] { ++second; });
    w.spawn(item{});
    EXPECT_EQ(first, 0);
    EXPECT_EQ(second, 1);
}

TEST(scoped_connection, release_keeps_the_hook) {
    world w;
    int calls = 0;
    connection kept;
    {
        scoped_connection c = w.on_insert<item>([&] { ++calls; });
        kept = c.release();
        EXPECT_FALSE(c.connected());
    }
    w.spawn(item{});
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(kept.disconnect());
}

TEST(scoped_connection, may_be_destroyed_by_its_own_hook) {
    world w;
    int calls = 0;
    std::optional<scoped_connection> c;
    c = w.on_insert<item>([&] {
        ++calls;
        c.reset();
    });
    w.spawn(item{});
    w.spawn(item{});
    EXPECT_EQ(calls, 1);
}

TEST(scoped_connection, of_every_kind_of_hook) {
    world w;
    const auto bag = w.fragment<int>("bag");
    int calls = 0;
    {
        const auto count = [&] { ++calls; };
        const scoped_connection all[] = {w.on_insert<item>(count), w.on_assign<item>(count),
                                         w.on_set<item>(count),    w.on_remove<item>(count),
                                         w.on_insert(bag, count),  w.on_spawn(count),
                                         w.on_destroy(count)};
        const entity e = w.spawn(item{}, with(bag, 1));  // insert, set, insert, spawn
        w.set(e, item{1});                               // assign, set
        w.destroy(e);                                    // remove, destroy
        for (const scoped_connection& c : all) EXPECT_TRUE(c.connected());
    }
    EXPECT_EQ(calls, 8);
    const entity e = w.spawn(item{}, with(bag, 1));
    w.set(e, item{1});
    w.destroy(e);
    EXPECT_EQ(calls, 8);
}

struct owning {
    scoped_connection hook;
};
TEST(scoped_connection, may_be_a_component) {
    world w;
    int calls = 0;
    const entity e = w.spawn(owning{w.on_insert<item>([&] { ++calls; })});
    w.spawn(item{});
    w.destroy(e);
    w.spawn(item{});
    EXPECT_EQ(calls, 1);
    w.spawn(owning{w.on_insert<item>([&] { ++calls; })});  // ends with the world
}

}  // namespace
}  // namespace muster
