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

TEST(connection, is_initially_disconnected) {
    connection none;
    EXPECT_FALSE(none.connected());
    EXPECT_FALSE(none.pause());
    EXPECT_FALSE(none.resume());
    EXPECT_FALSE(none.disconnect());
}

TEST(connection, can_be_paused_and_resumed) {
    world w;
    int calls = 0;
    connection c = w.on_insert<health>([&] { ++calls; });
    EXPECT_TRUE(c.connected());
    w.spawn(health{});
    EXPECT_TRUE(c.pause());
    EXPECT_FALSE(c.pause());
    w.spawn(health{});
    EXPECT_EQ(calls, 1);
    connection copy = c;
    EXPECT_TRUE(copy.resume());
    EXPECT_TRUE(c.connected());
    w.spawn(health{});
    EXPECT_EQ(calls, 2);
}

TEST(connection, can_be_paused_by_its_own_hook) {
    world w;
    int calls = 0;
    connection c;
    c = w.on_spawn([&](entity) {
        ++calls;
        c.pause();
    });
    w.spawn();
    w.spawn();
    EXPECT_EQ(calls, 1);
}

TEST(connection, disconnect_destroys_the_function) {
    world w;
    const auto token = std::make_shared<int>(0);
    connection c = w.on_remove<health>([token] { ++*token; });
    const entity e = w.spawn(health{});
    EXPECT_TRUE(c.disconnect());
    EXPECT_FALSE(c.resume());
    EXPECT_EQ(token.use_count(), 1);
    w.destroy(e);
    EXPECT_EQ(*token, 0);
}

TEST(connection, is_disconnected_when_its_fragment_is_destroyed) {
    world w;
    const auto f = w.fragment<int>("f");
    connection c = w.on_insert(f, [](entity, int&) { ADD_FAILURE(); });
    w.destroy(f);
    EXPECT_FALSE(c.connected());
    EXPECT_FALSE(c.resume());
    connection typed = w.on_insert<health>([](entity, health&) { ADD_FAILURE(); });
    w.destroy(w.component<health>());
    EXPECT_FALSE(typed.connected());
    w.spawn(health{});  // a new fragment, without hooks
}

TEST(connection, accepts_functions_with_fewer_parameters) {
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
    for (const char character : std::string("017b44p"))
        EXPECT_NE(log.find(character), std::string::npos) << log;
}

int inserted = 0;
void count_insert(entity, health& h) {
    inserted += h.points;
}

TEST(connection, of_a_plain_function_calls_it) {
    world w;
    inserted = 0;
    w.on_insert<health>(count_insert);
    w.spawn(health{3});
    EXPECT_EQ(inserted, 3);
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
