// Queries that outlive their relation, which is then defined in another way.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <functional>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct cold {};
struct orbits {};

}  // namespace
}  // namespace muster::test

namespace muster {
template <>
struct component_traits<test::cold> {
    static constexpr bool sparse = true;
};
}  // namespace muster

namespace muster::test {
namespace {

template <class Layout>
struct redefined_relations : testing::Test {
    using world_type = basic_world<Layout>;

    /// Makes queries in the order of levels, destroys their relation, and defines another one in its place.
    /// Calls `look` with each query, for two entities that `define` has related in a circle.
    static void each_query(const std::function<void(world_type&)>& define, auto look) {
        world_type w;
        w.template define<orbits>().relation().leveled();
        const auto all = w.template query<const position>();
        const auto rows = all.template top_down<orbits>();
        const auto found = all.template with<cold>().template top_down<orbits>();
        const auto deepest = all.template with<cold>().template bottom_up<orbits>();
        w.destroy(w.template component<orbits>().id());
        define(w);
        const auto a = w.spawn(position{1}, cold{}), b = w.spawn(position{2}, cold{});
        w.template relate<orbits>(a, b);
        w.template relate<orbits>(b, a);
        look(rows);
        look(found);
        look(deepest);
    }
};
TYPED_TEST_SUITE(redefined_relations, behavior_layouts, layout_names);

TYPED_TEST(redefined_relations, of_no_levels_refuse_an_order_by_level) {
    using world = basic_world<TypeParam>;
    int count = 0;
    const auto expect_refused = [&](const auto& q) {
        ++count;
        EXPECT_EQ(code_of([&] { q.each([](const position&) {}); }), errc::not_a_relation);
    };
    this->each_query([](world& w) { w.template define<orbits>().relation(); }, expect_refused);
    this->each_query([](world& w) { w.template define<orbits>().relation().exclusive(); },
                     expect_refused);
    this->each_query([](world& w) { w.template define<orbits>().relation().grouping(); },
                     expect_refused);
    EXPECT_EQ(count, 9);
}

TYPED_TEST(redefined_relations, that_do_not_exist_have_no_order) {
    basic_world<TypeParam> w;
    w.template define<orbits>().relation().leveled();
    const auto q = w.template query<const position>().template bottom_up<orbits>();
    w.destroy(w.template component<orbits>().id());
    w.spawn(position{1}, cold{});
    w.spawn(position{2}, cold{});
    int sum = 0;
    q.each([&](const position& p) { sum = sum * 10 + p.x; });
    EXPECT_EQ(sum, 12);
    q.template with<cold>().each([&](const position& p) { sum = sum * 10 + p.x; });
    EXPECT_EQ(sum, 1212);
}

}  // namespace
}  // namespace muster::test
