#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace muster {
namespace {

struct health {
    int points = 0;
};
struct burning {};

TEST(connection, is_of_nothing_at_first) {
    connection none;
    EXPECT_FALSE(none.is_connected());
    EXPECT_FALSE(none.cut());
    EXPECT_FALSE(none.restore());
    EXPECT_FALSE(none.remove());
}

TEST(connection, is_cut_and_restored) {
    world w;
    int calls = 0;
    connection c = w.on_insert<health>([&] { ++calls; });
    EXPECT_TRUE(c.is_connected());
    w.spawn(health{});
    EXPECT_TRUE(c.cut());
    EXPECT_FALSE(c.cut());
    w.spawn(health{});
    EXPECT_EQ(calls, 1);
    connection copy = c;
    EXPECT_TRUE(copy.restore());
    EXPECT_TRUE(c.is_connected());
    w.spawn(health{});
    EXPECT_EQ(calls, 2);
}

TEST(connection, is_cut_by_its_own_hook) {
    world w;
    int calls = 0;
    connection c;
    c = w.on_spawn([&](entity) {
        ++calls;
        c.cut();
    });
    w.spawn();
    w.spawn();
    EXPECT_EQ(calls, 1);
}

TEST(connection, ends_its_function_when_it_is_removed) {
    world w;
    const auto token = std::make_shared<int>(0);
    connection c = w.on_remove<health>([token] { ++*token; });
    const entity e = w.spawn(health{});
    EXPECT_TRUE(c.remove());
    EXPECT_FALSE(c.restore());
    EXPECT_EQ(token.use_count(), 1);
    w.destroy(e);
    EXPECT_EQ(*token, 0);
}

TEST(connection, means_nothing_when_its_fragment_is_destroyed) {
    world w;
    const auto f = w.fragment<int>("f");
    connection c = w.on_insert(f, [](entity, int&) { ADD_FAILURE(); });
    w.destroy(f);
    EXPECT_FALSE(c.is_connected());
    EXPECT_FALSE(c.restore());
    connection typed = w.on_insert<health>([](entity, health&) { ADD_FAILURE(); });
    w.destroy(w.component<health>());
    EXPECT_FALSE(typed.is_connected());
    w.spawn(health{});  // a new fragment, without hooks
}

TEST(connection, is_made_of_a_function_that_takes_as_much_as_it_wants) {
    world w;
    std::string log;
    const auto raw = w.fragment<int>("raw");
    w.on_insert<health>([&] { log += "0"; });
    w.on_insert<health>([&](entity) { log += "1"; });
    w.on_insert<health>([&](entity, const health& h) { log += std::to_string(h.points); });
    w.on_insert<burning>([&](entity e, burning&) { log += w.has<burning>(e) ? "b" : "?"; });
    w.on_insert(raw, [&](entity, int& value) { log += std::to_string(value); });
    w.on_insert(raw.id(), [&](entity, void* at) { log += std::to_string(*static_cast<int*>(at)); });
    w.on_insert(prefab, [&](entity) { log += "p"; });
    w.spawn(health{7}, burning{}, with(raw, 4), prefab);
    EXPECT_EQ(log.size(), 7u);
    for (const char one : std::string("017b44p"))
        EXPECT_NE(log.find(one), std::string::npos) << log;
}

TEST(connection, keeps_the_state_of_a_function) {
    world w;
    int last = 0;
    w.on_insert<health>([&last, count = 0](entity) mutable { last = ++count; });
    w.spawn(health{});
    w.spawn(health{});
    EXPECT_EQ(last, 2);
}

}  // namespace
}  // namespace muster
