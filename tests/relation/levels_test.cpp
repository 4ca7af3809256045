// Leveled relations: the level of each entity, and the chunk that it shares with its level.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

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
struct part_of {
    int share = 0;
};
struct boss {};
struct many {};

template <class Layout>
struct levels : testing::Test {
    using id_type = basic_id<Layout>;
    open_world<Layout> world_;

    levels() {
        world_.template define<part_of>().relation().leveled().when_target_destroyed(pass_on);
        world_.template define<boss>().relation().leveled();
    }
    void TearDown() override { expect_right(); }
    void expect_right() {
        EXPECT_EQ(wrong_level<child_of_t>(world_), "");
        EXPECT_EQ(wrong_level<part_of>(world_), "");
        EXPECT_EQ(wrong_level<boss>(world_), "");
    }
    /// A chain: each entity is a source of the one before.
    template <class R>
    std::vector<id_type> chain(std::size_t count) {
        std::vector<id_type> all{world_.spawn(position{0})};
        while (all.size() < count) {
            all.push_back(world_.spawn(position{static_cast<int>(all.size())}));
            world_.template relate<R>(all.back(), all[all.size() - 2]);
        }
        return all;
    }
    std::uint64_t word(id_type e) { return world_.template word_in<child_of_t>(e); }
};
TYPED_TEST_SUITE(levels, behavior_layouts, layout_names);

TYPED_TEST(levels, each_level_has_chunks_of_its_own) {
    auto& w = this->world_;
    const auto root = w.spawn(position{1});
    const auto a = w.spawn(position{2}, to(child_of, root));
    const auto b = w.spawn(position{3}, to(child_of, root));
    const auto c = w.spawn(position{4}, to(child_of, a));
    EXPECT_EQ(w.level(root), 0u);
    EXPECT_EQ(w.level(b), 1u);
    EXPECT_EQ(w.level(c), 2u);
    EXPECT_EQ(w.locate(a).chunk, w.locate(b).chunk);
    EXPECT_NE(w.locate(a).chunk, w.locate(c).chunk);
    EXPECT_EQ(this->word(c), 2u);
    EXPECT_EQ(w.template get<position>(c).x, 4);
    w.destroy(root);
    EXPECT_EQ(w.level(c), 0u);
    EXPECT_EQ(w.level(typename TestFixture::id_type{}), 0u);
}

TYPED_TEST(levels, a_new_parent_at_the_same_level_moves_no_row) {
    auto& w = this->world_;
    const auto p = w.spawn(), q = w.spawn();
    const auto child = w.spawn(position{1}, to(child_of, p));
    const auto grandchild = w.spawn(position{2}, to(child_of, child));
    (void)w.spawn(position{3}, to(child_of, p));
    const auto* const before = &w.template get<position>(child);
    const auto* const below = &w.template get<position>(grandchild);
    EXPECT_TRUE(w.relate(child_of, child, q));
    EXPECT_EQ(&w.template get<position>(child), before);
    EXPECT_EQ(&w.template get<position>(grandchild), below);
    EXPECT_EQ(w.parent(child), q);
}

TYPED_TEST(levels, a_subtree_follows_its_root) {
    auto& w = this->world_;
    const auto top = this->template chain<child_of_t>(4);
    const auto moved = w.spawn(label{"moved"});
    std::vector<basic_id<TypeParam>> below;
    for (int i = 0; i < 20; ++i)
        below.push_back(
            w.spawn(position{i}, label{std::to_string(i)},
                    to(child_of, i < 4 ? moved : below[static_cast<std::size_t>(i) / 4 - 1])));
    const auto expect_values = [&] {
        for (int i = 0; i < 20; ++i) {
            EXPECT_EQ(w.template get<position>(below[static_cast<std::size_t>(i)]).x, i);
            EXPECT_EQ(w.template get<label>(below[static_cast<std::size_t>(i)]).text,
                      std::to_string(i));
        }
        this->expect_right();
    };
    for (const auto& parent : {top[3], top[1], top[2], top[3]}) {
        w.relate(child_of, moved, parent);
        EXPECT_EQ(w.level(below[19]), w.level(parent) + 3);
        expect_values();
    }
    w.unrelate(child_of, moved, top[3]);
    EXPECT_EQ(w.level(moved), 0u);
    EXPECT_EQ(w.level(below[19]), 2u);
    expect_values();
    w.relate(child_of, moved, top[2]);
    w.clear(moved);
    EXPECT_EQ(w.level(below[19]), 2u);
    expect_values();
    w.relate(child_of, moved, top[2]);
    w.template remove<child_of_t>(moved);
    expect_values();
}

TYPED_TEST(levels, deep_levels_share_a_chunk) {
    auto& w = this->world_;
    const auto all = this->template chain<child_of_t>(70);
    EXPECT_EQ(w.level(all[69]), 69u);
    EXPECT_EQ(this->word(all[62]), 62u);
    EXPECT_EQ(this->word(all[63]), 63u);
    EXPECT_EQ(this->word(all[69]), 63u);
    w.relate(child_of, all[3], all[1]);
    EXPECT_EQ(w.level(all[69]), 68u);
    EXPECT_EQ(this->word(all[63]), 62u);
    EXPECT_EQ(this->word(all[64]), 63u);
    const auto top = w.spawn();
    w.relate(child_of, all[0], top);
    EXPECT_EQ(w.level(all[69]), 69u);
}

TYPED_TEST(levels, a_chain_of_60_000_moves_at_once) {
    auto& w = this->world_;
    const auto all = this->template chain<child_of_t>(60'000);
    const auto top = w.spawn();
    w.relate(child_of, all[0], top);
    EXPECT_EQ(w.level(all.back()), 60'000u);
    EXPECT_TRUE(w.is_below(all.back(), top));
    EXPECT_EQ(w.root(all.back()), top);
    EXPECT_EQ(code_of([&] { w.relate(child_of, all[0], all.back()); }), errc::cycle);
    EXPECT_EQ(code_of([&] { w.relate(child_of, top, all.back()); }), errc::cycle);
    w.unrelate(child_of, all[0], top);
    EXPECT_EQ(w.level(all.back()), 59'999u);
    EXPECT_EQ(w.template clear<child_of_t>(), 59'999u);
    EXPECT_EQ(w.level(all.back()), 0u);
    EXPECT_FALSE(w.parent(all[17]));
}

TYPED_TEST(levels, a_batch_unlinks_each_entity_that_it_finds) {
    auto& w = this->world_;
    for (const int which : {0, 1, 2}) {
        const auto all = this->template chain<child_of_t>(80);
        for (std::size_t i = 0; i < all.size(); i += 2) w.set(all[i], label{});
        if (which == 0)
            w.template query<label>().template remove<child_of_t>();
        else if (which == 1)
            w.template query<label>().clear();
        else
            w.template query<position>().template remove<child_of_t>();
        this->expect_right();
        for (std::size_t i = 1; i < all.size(); ++i)
            EXPECT_EQ(w.level(all[i]), which == 2 ? 0u : i % 2) << i;
        w.reset();
    }
}

TYPED_TEST(levels, survivors_of_a_destruction_move_up) {
    auto& w = this->world_;
    auto all = this->template chain<part_of>(70);  // passes on
    w.destroy(all[2]);
    EXPECT_EQ(w.template target<part_of>(all[3]), all[1]);
    this->expect_right();
    w.destroy(all[0]);
    this->expect_right();
    w.destroy(all[10], all[11], all[13], all[1], all[30]);
    EXPECT_EQ(w.template target<part_of>(all[12]), all[9]);
    EXPECT_EQ(w.template target<part_of>(all[14]), all[12]);
    this->expect_right();
    all = this->template chain<boss>(70);  // removes
    w.destroy(all[5], all[6], all[40]);
    EXPECT_FALSE(w.template target<boss>(all[7]));
    EXPECT_FALSE(w.template target<boss>(all[41]));
    this->expect_right();
    w.destroy(all[0]);
    this->expect_right();
}

TYPED_TEST(levels, an_entity_may_change_its_level_in_several_relations_at_once) {
    auto& w = this->world_;
    const auto tree = this->template chain<child_of_t>(5);
    const auto parts = this->template chain<part_of>(3);
    const auto bosses = this->template chain<boss>(4);
    const auto e = w.spawn(label{"e"});
    for (int i = 0; i < 5; ++i) {
        const auto below = w.spawn(position{i}, to(child_of, e), to<part_of>(e), to<boss>(e));
        (void)w.spawn(label{}, to(child_of, below), to<part_of>(below), to<boss>(e));
    }
    this->expect_right();
    w.set(e, position{1}, to(child_of, tree[4]), to<part_of>(parts[2]), to<boss>(bosses[3]));
    this->expect_right();
    w.defer();
    w.unrelate(child_of, e, tree[4]);
    w.template relate<boss>(e, bosses[0]);
    w.template relate<part_of>(e, parts[0]);
    w.commit();
    this->expect_right();
    w.template relate<boss>(bosses[0], tree[0]);
    w.template relate<boss>(tree[0], parts[2]);
    w.destroy(parts[0], bosses[0], tree[0]);
    this->expect_right();
    EXPECT_FALSE(w.alive(tree[4]));
    EXPECT_EQ(w.template target<part_of>(e), basic_id<TypeParam>{});
    w.clear(e);
    this->expect_right();
}

TYPED_TEST(levels, a_scope_finds_the_levels_when_it_commits) {
    auto& w = this->world_;
    const auto top = this->template chain<child_of_t>(4);
    const auto other = this->template chain<child_of_t>(6);
    w.defer();
    w.relate(child_of, other[0], top[3]);  // in the order of the groups
    w.relate(child_of, other[2], top[1]);
    w.relate(child_of, top[0], w.spawn());
    const auto copy = w.clone(other[3]);
    const auto made = w.spawn(position{}, to(child_of, other[5]));
    EXPECT_EQ(w.level(other[5]), 5u);
    w.commit();
    this->expect_right();
    EXPECT_EQ(w.level(made), 7u);
    EXPECT_EQ(w.level(copy), 4u);
    w.defer();
    w.relate(child_of, top[0], other[5]);  // a cycle: the other changes are made
    w.relate(child_of, other[4], top[0]);
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::cycle);
    this->expect_right();
    w.defer();
    w.unrelate(child_of, top[0]);
    w.cancel();
    this->expect_right();
}

TYPED_TEST(levels, a_hook_that_throws_keeps_all_levels) {
    auto& w = this->world_;
    const auto top = this->template chain<child_of_t>(3);
    const auto other = this->template chain<child_of_t>(80);
    w.on_relate(child_of, [&] { throw std::runtime_error("veto"); });
    w.on_unrelate(child_of, [&] { throw std::runtime_error("veto"); });
    const auto where = w.locate(other[40]);
    EXPECT_THROW(w.relate(child_of, other[0], top[2]), std::runtime_error);
    EXPECT_THROW(w.unrelate(child_of, other[1]), std::runtime_error);
    EXPECT_THROW(w.clear(other[1]), std::runtime_error);
    EXPECT_THROW(w.template clear<child_of_t>(), std::runtime_error);
    EXPECT_THROW(w.destroy(other[70]), std::runtime_error);
    EXPECT_THROW((void)w.spawn(to(child_of, other[79])), std::runtime_error);
    this->expect_right();
    EXPECT_EQ(w.level(other[79]), 79u);
    EXPECT_EQ(w.locate(other[40]).row, where.row);
}

TYPED_TEST(levels, clones_are_at_the_level_of_their_prototype) {
    auto& w = this->world_;
    const auto all = this->template chain<child_of_t>(4);
    w.set(all[3], label{"a"});
    EXPECT_EQ(w.level(w.clone(all[3])), 3u);
    for (const auto e : w.clone_many(5, all[3])) EXPECT_EQ(w.level(e), 3u);
    for (const auto e : w.clone_many(5, all[2], position{})) EXPECT_EQ(w.level(e), 2u);
    EXPECT_EQ(w.level(w.clone(all[3], to(child_of, all[0]))), 1u);
    EXPECT_EQ(w.level(w.clone(all[0], to(child_of, all[3]))), 4u);
}

TYPED_TEST(levels, a_relation_with_links_cannot_become_leveled) {
    auto& w = this->world_;
    w.template define<many>().relation();
    const auto a = w.spawn(), b = w.spawn();
    w.template relate<many>(a, b);
    EXPECT_EQ(code_of([&] { w.template define<many>().leveled(); }), errc::fragment_in_use);
    w.template unrelate<many>(a);
    w.template define<many>().leveled();
    w.template relate<many>(a, b);
    EXPECT_EQ(code_of([&] { w.template relate<many>(b, a); }), errc::cycle);
    EXPECT_EQ(wrong_level<many>(w), "");
    const auto owes = w.template relation<int>("owes");
    w.define(owes).leveled();
    w.relate(owes, a, b, 5);
    EXPECT_EQ(w.link(owes, a, b), 5);
}

TYPED_TEST(levels, agree_with_brute_force_over_random_deep_trees) {
    auto& w = this->world_;
    std::mt19937 dice(11);
    std::vector<basic_id<TypeParam>> all = this->template chain<part_of>(150);
    for (int i = 0; i < 1'500; ++i) {
        const auto any = [&]() -> auto& { return all[dice() % all.size()]; };
        const auto e = any(), target = any();
        switch (dice() % 8) {
        case 0: w.template unrelate<part_of>(e); break;
        case 1: {
            auto& gone = any();
            w.destroy(gone);
            gone = w.spawn(label{}, to<part_of>(all[0] == gone ? target : all[0]));
            break;
        }
        case 2:
            if (w.depth() == 0)
                w.defer();
            else
                (void)code_of([&] { w.commit(); });
            break;
        default: (void)code_of([&] { w.template relate<part_of>(e, target, part_of{i}); });
        }
        ASSERT_EQ(wrong_level<part_of>(w), "") << i;
    }
    if (w.depth() != 0) (void)code_of([&] { w.commit(); });
}

}  // namespace
}  // namespace muster::test
