#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <string>

#include "support/errors.hpp"

namespace muster::test {
namespace {

struct position {
    float x, y;
};
struct frozen {};
struct alignas(128) wide {
    int value;
};

TEST(builder, spawns_any_number_of_entities) {
    world w;
    auto recipe = w.builder();
    recipe.set(position{1, 2}).set(std::string("orc")).set(frozen{}).set(wide{7});
    const entity a = recipe.spawn();
    w.get<std::string>(a) = "changed";
    const entity b = recipe.spawn();
    EXPECT_EQ(w.get<std::string>(b), "orc");
    EXPECT_EQ(w.get<wide>(b).value, 7);
    EXPECT_TRUE(w.has<frozen>(b));
    EXPECT_EQ(w.locate(a).chunk, w.locate(b).chunk);
    for (const entity e : recipe.spawn_many(5)) EXPECT_EQ(w.get<position>(e).y, 2);
}

TEST(builder, replaces_and_removes_values) {
    world w;
    auto recipe = w.builder();
    recipe.set(position{1, 2}).set(position{3, 4}).set(std::string("x"));
    EXPECT_EQ(recipe.size(), 2u);
    EXPECT_TRUE(recipe.remove<std::string>());
    EXPECT_FALSE(recipe.remove<std::string>());
    const entity e = recipe.spawn();
    EXPECT_EQ(w.get<position>(e).x, 3);
    EXPECT_FALSE(w.has<std::string>(e));
    recipe.clear();
    EXPECT_TRUE(w.empty(recipe.spawn()));
}

TEST(builder, clones_with_its_own_values) {
    world w;
    const entity prefab = w.spawn(position{1, 1}, std::string("prefab"));
    auto recipe = w.builder();
    recipe.set(position{9, 9});
    const entity e = recipe.clone(prefab);
    EXPECT_EQ(w.get<position>(e).x, 9);
    EXPECT_EQ(w.get<std::string>(e), "prefab");
    EXPECT_EQ(recipe.clone_many(3, prefab).size(), 3u);
    w.destroy(prefab);
    EXPECT_EQ(code_of([&] { recipe.clone(prefab); }), errc::dead_entity);
}

TEST(builder, outlives_the_fragment_of_a_type) {
    world w;
    auto recipe = w.builder();
    recipe.set(position{1, 1});
    recipe.spawn();
    w.destroy(w.component<position>());
    EXPECT_EQ(w.get<position>(recipe.spawn()).x, 1);
}

TEST(builder, can_be_moved) {
    world w;
    auto recipe = w.builder();
    recipe.set(std::string("moved along"));
    auto other = std::move(recipe);
    EXPECT_EQ(w.get<std::string>(other.spawn()), "moved along");
}

}  // namespace
}  // namespace muster::test
