// Grouping relations, whose sources share chunks by target, and the chunks of groups and levels.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/open_world.hpp"

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct label {
    std::string text = "none";
};
struct member_of {
    int rank = 0;
};
struct serves {};
struct burning {};

template <class Layout>
struct grouping : testing::Test {
    using id_type = basic_id<Layout>;
    open_world<Layout> world_;

    grouping() {
        world_.template define<member_of>().relation().grouping();
        world_.template define<serves>().relation().grouping().when_target_destroyed(pass_on);
    }
    void TearDown() override { expect_right(); }
    void expect_right() {
        EXPECT_EQ(wrong_group<member_of>(world_), "");
        EXPECT_EQ(wrong_group<serves>(world_), "");
        EXPECT_EQ(wrong_group<is_a_t>(world_), "");
        EXPECT_EQ(wrong_level<child_of_t>(world_), "");
    }
};
TYPED_TEST_SUITE(grouping, behavior_layouts, layout_names);

TYPED_TEST(grouping, the_sources_of_each_target_have_chunks_of_their_own) {
    auto& w = this->world_;
    const auto guild = w.spawn(), other = w.spawn();
    const auto a = w.spawn(position{1}, to<member_of>(guild, member_of{1}));
    const auto b = w.spawn(position{2}, to<member_of>(other, member_of{2}));
    const auto c = w.spawn(position{3}, to<member_of>(guild, member_of{3}));
    EXPECT_EQ(w.locate(a).chunk, w.locate(c).chunk);
    EXPECT_NE(w.locate(a).chunk, w.locate(b).chunk);
    EXPECT_TRUE(w.template relate<member_of>(a, other, member_of{4}));
    EXPECT_EQ(w.locate(a).chunk, w.locate(b).chunk);
    EXPECT_EQ(w.template get<position>(a).x, 1);
    EXPECT_EQ((w.template link<member_of>(a, other).rank), 4);
    this->expect_right();
    w.set(c, label{});
    this->expect_right();
    w.destroy(guild);
    EXPECT_FALSE(w.template has<member_of>(c));
    EXPECT_EQ(w.template get<position>(c).x, 3);
}

TYPED_TEST(grouping, survivors_are_grouped_by_their_new_target) {
    auto& w = this->world_;
    const auto king = w.spawn(), duke = w.spawn(to<serves>(king));
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 10; ++i)
        all.push_back(w.spawn(label{std::to_string(i)}, to<serves>(duke), to<member_of>(duke)));
    w.destroy(duke);
    for (int i = 0; i < 10; ++i) {
        const auto e = all[static_cast<std::size_t>(i)];
        EXPECT_EQ(w.template target<serves>(e), king);
        EXPECT_FALSE(w.template has<member_of>(e));
        EXPECT_EQ(w.template get<label>(e).text, std::to_string(i));
    }
    this->expect_right();
}

TYPED_TEST(grouping, scopes_clones_and_batches_keep_the_groups) {
    auto& w = this->world_;
    const auto guild = w.spawn(), other = w.spawn();
    const auto a = w.spawn(position{1}, to<member_of>(guild));
    w.defer();
    w.template relate<member_of>(a, other);
    const auto copy = w.clone(a);
    const auto made = w.spawn(to<member_of>(a));
    w.template relate<member_of>(copy, guild);
    w.commit();
    EXPECT_EQ(w.template target<member_of>(copy), guild);
    EXPECT_EQ(w.template target<member_of>(made), a);
    this->expect_right();
    for (const auto e : w.clone_many(3, a)) EXPECT_EQ(w.template target<member_of>(e), other);
    this->expect_right();
    w.template query<position>().set(label{"all"});
    this->expect_right();
    w.template query<position>().template remove<member_of>();
    EXPECT_TRUE(w.template sources<member_of>(other).empty());
    this->expect_right();
    w.on_relate(child_of, [] { throw std::runtime_error("veto"); });
    EXPECT_THROW(w.set(a, to<member_of>(guild), to(child_of, other)), std::runtime_error);
    EXPECT_FALSE(w.template has<member_of>(a));
}

TYPED_TEST(grouping, links_as_arguments_name_the_chunk) {
    auto& w = this->world_;
    const auto guild = w.spawn(), other = w.spawn(to(child_of, guild));
    const auto a = w.spawn(position{1}, to<member_of>(guild), to(child_of, other));
    EXPECT_EQ(w.level(a), 2u);
    for (const auto e : w.spawn_many(3, position{2}, to<member_of>(guild), to(child_of, other)))
        EXPECT_EQ(w.locate(e).chunk, w.locate(a).chunk);
    for (const auto e : w.clone_many(3, a, to<member_of>(other), to(child_of, guild))) {
        EXPECT_EQ(w.template target<member_of>(e), other);
        EXPECT_EQ(w.level(e), 1u);
    }
    this->expect_right();
    for (const auto e : w.clone_many(3, a, label{}, to<member_of>(other)))
        EXPECT_EQ(w.level(e), 2u);
    w.set(a, label{}, to<member_of>(a), to(child_of, guild));
    this->expect_right();
    w.template define<burning>().sparse();
    for (const auto e : w.spawn_many(2, burning{}, to<member_of>(guild), to(child_of, a)))
        EXPECT_EQ(w.level(e), 2u);
    w.set(a, burning{});
    for (const auto e : w.clone_many(2, a, to(child_of, other))) EXPECT_EQ(w.level(e), 2u);
    (void)w.clone(a, to<member_of>(other), to(child_of, other));
    this->expect_right();
    w.defer();
    (void)w.spawn_many(3, position{2}, to<member_of>(guild), to(child_of, other));
    (void)w.clone_many(3, a, to<member_of>(other), to(child_of, guild));
    w.commit();
}

TYPED_TEST(grouping, copies_of_trees_join_their_own_groups_and_levels) {
    auto& w = this->world_;
    auto deep = w.spawn();
    for (int i = 0; i < 70; ++i) deep = w.spawn(to(child_of, deep));
    const auto root = w.spawn(position{0}, to<member_of>(deep));
    const auto a = w.spawn(position{1}, to(child_of, root), to<member_of>(root));
    const auto b = w.spawn(position{2}, to(child_of, a), to<member_of>(root), to<serves>(a));
    w.template relate<member_of>(root, b);
    for (const auto e : w.clone_trees(5, root)) {
        EXPECT_EQ(w.children(e).size(), 1u);
        EXPECT_EQ(w.template sources<member_of>(e).size(), 2u);
    }
    this->expect_right();
    for (const auto e : w.clone_trees(3, root, to(child_of, deep))) EXPECT_EQ(w.level(e), 71u);
    for (const auto e : w.clone_trees(2, root, to(child_of, a))) EXPECT_EQ(w.level(e), 2u);
    this->expect_right();
    const auto one = w.clone_tree(root, to(child_of, b), to<serves>(deep));
    EXPECT_EQ(w.level(one), 3u);
    this->expect_right();
    w.defer();
    const auto later = w.clone_tree(root, to(child_of, one));
    w.commit();
    EXPECT_EQ(w.level(later), 4u);
}

TYPED_TEST(grouping, instances_keep_their_prefab_alive) {
    auto& w = this->world_;
    const auto base = w.spawn(position{1}), special = w.spawn(position{2}, to(is_a, base));
    const auto e = w.spawn(to(is_a, special));
    EXPECT_EQ(w.target(is_a, e), special);
    EXPECT_EQ(w.template target<is_a>(special), base);
    EXPECT_EQ(code_of([&] { w.relate(is_a, base, e); }), errc::cycle);
    EXPECT_EQ(code_of([&] { w.destroy(special); }), errc::still_related);
    this->expect_right();
    w.relate(is_a, e, base);
    EXPECT_TRUE(w.destroy(special));
}

TYPED_TEST(grouping, a_relation_is_leveled_or_grouping) {
    auto& w = this->world_;
    EXPECT_EQ(code_of([&] { w.template define<member_of>().leveled(); }), errc::limit);
    EXPECT_EQ(code_of([&] { w.template define<child_of_t>().grouping(); }), errc::limit);
    const auto a = w.spawn(), b = w.spawn();
    EXPECT_TRUE(w.template relate<member_of>(a, b));
    EXPECT_TRUE(w.template relate<member_of>(b, a));  // not acyclic
    EXPECT_TRUE(w.template relate<member_of>(a, a));
    this->expect_right();
    w.destroy(a);
    EXPECT_FALSE(w.template has<member_of>(b));
}

TYPED_TEST(grouping, chunks_can_be_named_by_a_target) {
    MUSTER_ABOUT_CHUNKS();
    auto& w = this->world_;
    const auto guild = w.spawn(), other = w.spawn();
    const auto a = w.spawn(position{1}, to<member_of>(guild));
    const auto b = w.spawn(position{2}, to<member_of>(guild), to(child_of, other));
    EXPECT_EQ(w.template chunk<position>(to<member_of>(guild)), w.locate(a).chunk);
    EXPECT_EQ(w.template chunk<position>(to<member_of>(guild)).size(), 1u);
    EXPECT_EQ(w.template chunk<position>(to<member_of>(guild), level{1}), w.locate(b).chunk);
    EXPECT_EQ(w.template chunk<position>(level{1}, to<member_of>(guild)), w.locate(b).chunk);
    EXPECT_TRUE(w.template chunk<position>(to<member_of>(other)).empty());
    const auto f = w.template fragment<float>("f");
    const auto g = w.tag("g");
    w.set(a, with(f, 1.0F), with(g));
    EXPECT_EQ(w.template chunk<position>(f, to<member_of>(guild), g), w.locate(a).chunk);
    EXPECT_EQ(w.chunk(w.template component<position>(), f, g, to<member_of>(guild)),
              w.locate(a).chunk);
    const auto owes = w.template relation<int>("owes");
    w.define(owes).grouping();
    w.relate(owes, other, a, 5);
    EXPECT_EQ(w.chunk(to(owes, a)), w.locate(other).chunk);
    EXPECT_EQ(code_of([&] { (void)w.chunk(to(child_of, other)); }), errc::not_a_relation);
    EXPECT_EQ(code_of([&] { (void)w.chunk(to<burning>(other)); }), errc::not_a_relation);
    EXPECT_EQ(code_of([&] { (void)w.chunk(to<member_of>(guild), to<member_of>(other)); }),
              errc::given_twice);
    w.destroy(other);
    EXPECT_EQ(code_of([&] { (void)w.chunk(to<member_of>(other)); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { (void)w.chunk(to<member_of>(basic_id<TypeParam>{})); }),
              errc::dead_entity);
    w.template define<burning>().sparse();
    EXPECT_EQ(code_of([&] { (void)w.template chunk<burning>(level{1}); }), errc::missing_component);
}

TYPED_TEST(grouping, chunks_can_be_named_by_a_level) {
    MUSTER_ABOUT_CHUNKS();
    auto& w = this->world_;
    std::vector<basic_id<TypeParam>> all{w.spawn(position{0})};
    for (int i = 1; i < 70; ++i) all.push_back(w.spawn(position{i}, to(child_of, all.back())));
    EXPECT_EQ(w.template chunk<position>(level{0}), w.template chunk<position>());
    EXPECT_EQ(w.template chunk<position>(level{0}), w.locate(all[0]).chunk);
    for (const std::uint32_t i : {1u, 62u, 63u, 69u})
        EXPECT_EQ(w.template chunk<position>(level{i}), w.locate(all[i]).chunk) << i;
    EXPECT_EQ(w.template chunk<position>(level{63}).size(), 7u);
    EXPECT_EQ(w.template chunk<position>(level{4'000'000'000}), w.locate(all[69]).chunk);
    EXPECT_EQ(w.template chunk<position>(level{1}).template components<position>()[0].x, 1);
}

}  // namespace
}  // namespace muster::test
