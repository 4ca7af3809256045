// Observers of links: which sources they collect, and when.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/id_lists.hpp"

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct likes {
    int strength = 0;
};
struct part_of {};
struct plain {};

template <class Layout>
struct link_observers : id_lists<Layout> {
    using id_type = basic_id<Layout>;
    basic_world<Layout> world_;
    link_observers() {
        world_.template define<likes>().relation();
        world_.template define<part_of>().relation().exclusive().when_target_destroyed(pass_on);
    }
};
TYPED_TEST_SUITE(link_observers, behavior_layouts, layout_names);

TYPED_TEST(link_observers, collect_sources_of_new_and_moved_links) {
    auto& w = this->world_;
    auto related = w.template observer<>().template related<child_of>();
    auto unrelated = w.template observer<>().unrelated(child_of);
    const auto a = w.spawn(), b = w.spawn();
    const auto c = w.spawn(position{1}, to(child_of, a)), d = w.spawn();
    EXPECT_EQ(related.take(), this->ids(c));
    w.relate(child_of, d, a);
    w.relate(child_of, c, b);
    EXPECT_EQ(related.take(), this->ids(d, c));
    EXPECT_TRUE(unrelated.empty());  // moved, not removed
    w.relate(child_of, c, b);        // only assigned
    EXPECT_TRUE(related.empty());
    w.unrelate(child_of, d, a);
    w.template remove<position>(c);
    w.template remove<child_of_t>(c);
    EXPECT_EQ(unrelated.take(), this->ids(d, c));
    w.defer();
    w.relate(child_of, c, a);
    w.relate(child_of, d, c);
    w.unrelate(child_of, c);
    EXPECT_TRUE(related.empty());
    w.commit();
    EXPECT_EQ(related.take(), this->ids(d));
    EXPECT_TRUE(unrelated.empty());
}

TYPED_TEST(link_observers, collect_each_source_once_however_many_links_it_has) {
    auto& w = this->world_;
    const auto owes = w.template relation<int>("owes");
    auto related = w.template observer<>().template related<likes>().related(owes);
    auto unrelated = w.template observer<>().template unrelated<likes, part_of>();
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    w.set(a, to<likes>(b), to<likes>(c));
    w.template relate<likes>(a, a);
    w.relate(owes, b, c, 3);
    EXPECT_EQ(related.take(), this->ids(a, b));
    w.template unrelate<likes>(a, b);
    EXPECT_EQ(unrelated.take(), this->ids(a));
    w.template unrelate<likes>(a);
    EXPECT_EQ(unrelated.take(), this->ids(a));
    const auto many = w.spawn_many(3, to<likes>(c));
    EXPECT_EQ(related.take(), many);
    w.defer();
    w.template unrelate<likes>(many[0]);
    w.template relate<likes>(many[0], c);
    w.template unrelate<likes>(many[1]);
    w.template relate<likes>(many[1], b);
    w.commit();
    EXPECT_EQ(unrelated.take(), this->ids(many[1]));
    w.destroy(owes);                                // ends the relation, and what observes it
    EXPECT_EQ(related.take(), this->ids(many[1]));  // the link of many[0] was only assigned
}

TYPED_TEST(link_observers, collect_what_a_destruction_changes) {
    auto& w = this->world_;
    const auto top = w.spawn(), middle = w.spawn(to<part_of>(top)),
               low = w.spawn(to<part_of>(middle));
    const auto fan = w.spawn(to<likes>(middle), to<likes>(top)),
               child = w.spawn(to(child_of, middle));
    auto related = w.template observer<>().template related<part_of>();
    auto unrelated =
        w.template observer<>().template unrelated<part_of, likes>().unrelated(child_of);
    w.destroy(middle);
    EXPECT_EQ(related.take(), this->ids(low));  // passed on to the top
    auto lost = unrelated.take();
    std::ranges::sort(lost);
    auto wanted = this->ids(middle, fan, child);
    std::ranges::sort(wanted);
    EXPECT_EQ(lost, wanted);
    auto veto = w.template on_unrelate<likes>([] { throw std::runtime_error("no"); });
    EXPECT_THROW(w.destroy(top), std::runtime_error);
    EXPECT_TRUE(related.empty() && unrelated.empty());
    veto.disconnect();
    w.destroy(top);
    lost = unrelated.take();
    std::ranges::sort(lost);
    EXPECT_EQ(lost, this->ids(low, fan));
    w.template relate<likes>(low, fan);
    w.reset();
    EXPECT_EQ(unrelated.take(), this->ids(low));
}

TYPED_TEST(link_observers, see_no_change_that_a_hook_prevents) {
    auto& w = this->world_;
    auto related = w.template observer<>().template related<likes>();
    const auto a = w.spawn(), b = w.spawn();
    auto veto = w.template on_relate<likes>([] { throw std::runtime_error("no"); });
    EXPECT_THROW(w.template relate<likes>(a, b), std::runtime_error);
    EXPECT_THROW(w.spawn(to<likes>(a)), std::runtime_error);
    EXPECT_TRUE(related.empty());
    veto.disconnect();
    w.template relate<likes>(b, a);
    EXPECT_EQ(related.take(), this->ids(b));
}

TYPED_TEST(link_observers, show_components_and_can_be_paused) {
    auto& w = this->world_;
    auto moved = w.template observer<position>().related(child_of);
    const auto a = w.spawn(), b = w.spawn(to(child_of, a));
    moved.clear();
    w.set(b, position{4});
    w.relate(child_of, b, w.spawn());
    int calls = 0;
    moved.each([&](auto e, position& p) {
        EXPECT_EQ(e, b);
        EXPECT_EQ(p.x, 4);
        ++calls;
    });
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(moved.pause());
    w.relate(child_of, b, a);
    EXPECT_TRUE(moved.empty());
    EXPECT_TRUE(moved.resume());
    w.unrelate(child_of, b);
    w.relate(child_of, b, a);
    EXPECT_EQ(moved.size(), 1u);
    EXPECT_EQ(code_of([&] { (void)w.template observer<>().template related<plain>(); }),
              errc::not_a_relation);
    w.defer();
    EXPECT_EQ(code_of([&] { (void)w.template observer<>().template unrelated<likes>(); }),
              std::nullopt);
    w.commit();
}

TYPED_TEST(link_observers, hooks_end_with_their_scoped_connection) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    int calls = 0;
    {
        const basic_scoped_connection<TypeParam> on = w.template on_relate<likes>([&] { ++calls; });
        const basic_scoped_connection<TypeParam> off = w.on_unrelate(child_of, [&] { ++calls; });
        w.template relate<likes>(a, b);
        w.relate(child_of, a, b);
        w.unrelate(child_of, a);
        EXPECT_EQ(calls, 2);
    }
    w.template relate<likes>(b, a);
    w.relate(child_of, a, b);
    w.unrelate(child_of, a);
    EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace muster::test
