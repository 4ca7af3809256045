// A small room that rewinds the ids of a world: it saves the state of the pool, and later exchanges
// it for the present one.
#include <gtest/gtest.h>

#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/room_world.hpp"

namespace muster::test {
namespace {

template <class Layout>
struct pool_seam : testing::Test {};
TYPED_TEST_SUITE(pool_seam, behavior_layouts, layout_names);

TYPED_TEST(pool_seam, a_room_saves_and_restores_the_ids_of_a_world) {
    room_world<TypeParam> w;
    auto& pool = w.parts().table().pool();
    auto made = w.spawn_many(20);
    for (const unsigned i : {3u, 17u, 5u}) w.destroy(made[i]);
    auto saved = pool.save();
    const auto future = [&] {
        std::vector<basic_id<TypeParam>> all = w.spawn_many(2);
        w.destroy(made[7]);
        for (int i = 0; i < 4; ++i) all.push_back(w.spawn());
        return all;
    };
    const auto first = future();
    EXPECT_EQ(w.size(), 22u);
    pool.exchange(saved);
    EXPECT_EQ(w.size(), 17u);
    EXPECT_TRUE(w.alive(made[7]));
    EXPECT_FALSE(w.alive(made[3]));
    EXPECT_EQ(future(), first);
}

}  // namespace
}  // namespace muster::test
