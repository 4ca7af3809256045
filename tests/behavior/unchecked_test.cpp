// Compiled with MUSTER_UNCHECKED: valid calls work as usual; calls that never throw still accept
// any id.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

static_assert(MUSTER_UNCHECKED == 1 && !detail::checked);

struct position {
    float x, y;
};
struct frozen {};

TEST(unchecked, valid_calls_work_as_usual) {
    world w;
    const entity e = w.spawn(position{1, 2}, std::string("x"));
    w.set(e, position{3, 4}, frozen{});
    EXPECT_EQ(w.get<position>(e).x, 3);
    EXPECT_EQ(w.get<std::string>(e), "x");
    (void)w.get<frozen>(e);
    EXPECT_TRUE(w.remove<std::string>(e));
    EXPECT_EQ(w.get<position>(e).y, 4);
    w.set_single(7);
    EXPECT_EQ(w.single<int>(), 7);
}

TEST(unchecked, calls_that_never_throw_accept_any_id) {
    world w;
    world other;
    const entity dead = w.spawn(position{});
    w.destroy(dead);
    const entity foreign = other.spawn(position{});
    for (const entity e : {dead, foreign, entity{}, entity::from_value(~std::uint64_t{0})}) {
        EXPECT_FALSE(w.alive(e));
        EXPECT_FALSE(w.has<position>(e));
        EXPECT_EQ(w.try_get<position>(e), nullptr);
        EXPECT_TRUE(w.empty(e));
    }
    EXPECT_FALSE(w.destroy(dead));
    EXPECT_FALSE(w.remove<position>(dead));
}

}  // namespace
}  // namespace muster
