// Types that a world reflects: their codecs, and the ids in cloned trees.
#include <muster/reflect.hpp>

#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "support/behavior_layouts.hpp"

namespace muster::test {
namespace {

template <class Id>
struct party {
    Id leader;
    std::vector<Id> members;
    std::map<Id, int> shares;
};
struct position {
    float x, y;
};
struct tagged {};

template <class Layout>
class reflected_types : public testing::Test {};
TYPED_TEST_SUITE(reflected_types, behavior_layouts);

TYPED_TEST(reflected_types, have_a_codec_in_this_world) {
    basic_world<TypeParam> w, other;
    EXPECT_EQ(w.template define<position>().codec(), nullptr);
    reflect<position, tagged>(w);
    ASSERT_NE(w.template define<position>().codec(), nullptr);
    EXPECT_EQ(w.template define<position>().codec()->fields[1].name, "y");
    EXPECT_EQ(w.template define<tagged>().codec()->fields.size(), 0u);
    EXPECT_EQ(other.template define<position>().codec(), nullptr);
}

TYPED_TEST(reflected_types, have_their_ids_translated_in_clones_of_trees) {
    using id_type = basic_id<TypeParam>;
    basic_world<TypeParam> w;
    reflect<party<id_type>>(w);
    const id_type ship = w.spawn();
    const id_type captain = w.spawn(to<child_of>(ship));
    const id_type stranger = w.spawn();
    w.set(ship,
          party<id_type>{captain, {captain, stranger, id_type()}, {{captain, 5}, {stranger, 6}}});

    const id_type copy = w.clone_tree(ship);
    const party<id_type>& made = w.template get<party<id_type>>(copy);
    const id_type second = *w.children(copy).begin();
    EXPECT_NE(second, captain);
    EXPECT_EQ(made.leader, second);
    EXPECT_EQ(made.members, (std::vector{second, stranger, id_type()}));
    EXPECT_EQ(made.shares, (std::map<id_type, int>{{second, 5}, {stranger, 6}}));
    EXPECT_EQ((w.template get<party<id_type>>(ship).leader), captain)
        << "the prototype stays as it is";
}

TYPED_TEST(reflected_types, keep_a_remap_of_the_user) {
    using id_type = basic_id<TypeParam>;
    basic_world<TypeParam> w;
    w.template define<party<id_type>>().remap(
        [](party<id_type>& p, const basic_entity_map<TypeParam>&) { p.leader = {}; });
    reflect<party<id_type>>(w);
    const id_type ship = w.spawn();
    w.set(ship, party<id_type>{ship, {ship}, {}});
    const party<id_type>& made = w.template get<party<id_type>>(w.clone_tree(ship));
    EXPECT_EQ(made.leader, id_type());
    EXPECT_EQ(made.members[0], ship);
}

TYPED_TEST(reflected_types, do_not_mix_up_ids_of_other_layouts) {
    struct other_tag : layout<std::uint64_t, id_bits{.key = 30, .version = 30}> {};
    using other_id = basic_id<other_tag>;
    struct holder {
        other_id other;
    };
    basic_world<TypeParam> w;
    reflect<holder>(w);
    const auto e = w.spawn(holder{other_id::from_value(0)});
    w.set(e, holder{other_id::from_value(static_cast<std::uint64_t>(e.value()))});
    const auto copy = w.clone_tree(e);
    EXPECT_EQ(w.template get<holder>(copy).other.value(), static_cast<std::uint64_t>(e.value()));
}

TEST(reflect, of_a_world_in_a_scope_takes_effect_at_once) {
    world w;
    w.defer();
    reflect<position>(w);
    w.cancel();
    EXPECT_NE(w.define<position>().codec(), nullptr);
}

}  // namespace
}  // namespace muster::test
