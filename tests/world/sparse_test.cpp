// Behaviour specific to sparse fragments. The runs in which every C++ type is sparse cover the
// behaviour that they share with other fragments.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace muster::test {
namespace {

struct position {
    float x = 0, y = 0;
};
struct burning {
    int left = 0;
};
struct selected {};
struct stunned {
    std::string why;
};
struct by_trait {
    int value = 0;
};

}  // namespace
}  // namespace muster::test

template <>
struct muster::component_traits<muster::test::by_trait> {
    static constexpr bool sparse = true;
};

namespace muster::test {
namespace {

struct sparse : testing::Test {
    sparse() {
        w.define<burning>().sparse();
        w.define<selected>().sparse();
        w.define<stunned>().sparse();
    }
    template <class... Ts>
    std::vector<entity> seen() {
        std::vector<entity> all;
        for (const auto& row : w.query<Ts...>()) all.push_back(std::get<0>(row));
        return all;
    }
    world w;
};

TEST_F(sparse, components_are_added_and_removed_without_a_move) {
    const auto all = w.spawn_many(10, position{});
    const position* const first = &w.get<position>(all[0]);
    const auto before = w.locate(all[3]);
    w.set(all[3], burning{5});
    w.add<selected>(all[3]);
    EXPECT_EQ(w.get<burning>(all[3]).left, 5);
    EXPECT_TRUE((w.has_all<burning, selected>(all[3])));
    EXPECT_EQ(w.locate(all[3]).row, before.row);
    EXPECT_EQ(w.locate(all[3]).chunk, before.chunk);
    EXPECT_TRUE((w.remove<burning, selected>(all[3])));
    EXPECT_FALSE((w.has_any<burning, selected>(all[3])));
    EXPECT_EQ(&w.get<position>(all[0]), first);
}

TEST_F(sparse, component_traits_can_make_a_type_sparse) {
    EXPECT_TRUE(w.define<by_trait>().is_sparse());
    EXPECT_FALSE(w.define<position>().is_sparse());
    const entity e = w.spawn(by_trait{1});
    EXPECT_EQ(w.get<by_trait>(e).value, 1);
    EXPECT_FALSE(w.locate(e).chunk);
    const auto f = w.fragment<by_trait>("another");
    EXPECT_TRUE(w.define(f).is_sparse());
}

TEST_F(sparse, a_value_keeps_its_address_while_others_change) {
    const auto all = w.spawn_many(5000, stunned{"by a blow on the head"});
    std::vector<const stunned*> addresses;
    for (const entity e : all) addresses.push_back(&w.get<stunned>(e));
    for (std::size_t i = 0; i < all.size(); i += 2) w.destroy(all[i]);
    for (int i = 0; i < 3000; ++i) w.spawn(position{}, stunned{"later"});
    w.query<stunned>().add<position>();
    w.set(all[1], stunned{"again"});
    for (std::size_t i = 1; i < all.size(); i += 2)
        ASSERT_EQ(&w.get<stunned>(all[i]), addresses[i]);
    EXPECT_EQ(addresses[1]->why, "again");
    w.defer();
    w.set(all[1], stunned{"in a scope"});
    w.commit();
    EXPECT_EQ(&w.get<stunned>(all[1]), addresses[1]);
    EXPECT_EQ(addresses[1]->why, "in a scope");
}

TEST_F(sparse, an_entity_with_only_sparse_values_is_not_empty) {
    const entity e = w.spawn(burning{1});
    EXPECT_FALSE(w.empty(e));
    EXPECT_FALSE(w.locate(e).chunk);
    EXPECT_EQ(seen<burning>(), std::vector{e});
    EXPECT_EQ(w.query().without<position>().count(), 1u);
    std::vector<id> fragments;
    w.each_fragment(e, [&](id f, void* value) {
        fragments.push_back(f);
        EXPECT_EQ(static_cast<burning*>(value)->left, 1);
    });
    EXPECT_EQ(fragments, std::vector<id>{w.component<burning>()});
    EXPECT_TRUE(w.clear(e));
    EXPECT_TRUE(w.empty(e));
    EXPECT_FALSE(w.clear(e));
}

TEST_F(sparse, destroying_an_entity_removes_its_values_before_its_key_is_reused) {
    const entity e = w.spawn(position{}, burning{1}, stunned{"x"});
    w.destroy(e);
    EXPECT_EQ(w.count<burning>() + w.count<stunned>(), 0u);
    const entity next = w.spawn(position{});
    ASSERT_EQ(next.key(), e.key());
    EXPECT_FALSE(w.has<burning>(next));
    EXPECT_EQ(w.try_get<burning>(e), nullptr);
    EXPECT_EQ(code_of([&] { w.set(e, burning{}); }), errc::dead_entity);
    w.set(next, burning{2});
    EXPECT_FALSE(w.has<burning>(e));
    EXPECT_FALSE(w.remove<burning>(e));
    EXPECT_EQ(w.get<burning>(next).left, 2);
}

TEST_F(sparse, loops_start_from_the_cheaper_side) {
    const auto all = w.spawn_many(100, position{});
    for (const int i : {40, 7, 90}) w.set(all[static_cast<std::size_t>(i)], burning{i});
    EXPECT_EQ((seen<position, burning>()), (std::vector{all[40], all[7], all[90]}));
    for (const entity e : all) w.set(e, stunned{});
    w.spawn(stunned{});  // more values than rows: the loop walks the chunks
    EXPECT_EQ((seen<position, stunned>()), all);
}

TEST_F(sparse, changes_in_a_loop_are_applied_at_its_end) {
    const auto all = w.spawn_many(1000, position{}, burning{3});
    std::size_t calls = 0;
    w.each([&](entity e, burning& b) {
        ++calls;
        if (b.left % 2 != 0) w.remove<burning>(e);
        w.spawn(burning{7});
        w.set(all[calls % all.size()], selected{});
    });
    EXPECT_EQ(calls, 1000u);
    EXPECT_EQ(w.count<burning>(), 1000u);
    EXPECT_EQ(w.count<selected>(), 1000u);
}

TEST_F(sparse, cannot_be_defined_while_entities_have_the_fragment) {
    const entity e = w.spawn(position{1, 2});
    EXPECT_EQ(code_of([&] { w.define<position>().sparse(); }), errc::fragment_in_use);
    EXPECT_FALSE(w.define<position>().is_sparse());
    EXPECT_EQ(w.get<position>(e).y, 2);
    w.remove<position>(e);
    w.define<position>().sparse();
    w.set(e, position{3, 4});
    EXPECT_FALSE(w.locate(e).chunk);
    w.define<position>().sparse();  // already sparse: no error
}

TEST_F(sparse, is_in_no_chunk) {
    EXPECT_EQ(code_of([&] { (void)w.chunk<burning>(); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { (void)w.chunk<position, selected>(); }), errc::missing_component);
    w.reserve<position, burning>(1000);
    EXPECT_EQ((w.chunk<position>().size()), 0u);
}

TEST_F(sparse, can_be_defined_for_an_untyped_id) {
    const auto [e, f] = w.ids<2>();
    w.define(f).sparse();
    w.set(e, f, std::string("a text that is too long for its object"));
    EXPECT_EQ(w.get<std::string>(e, f), "a text that is too long for its object");
    EXPECT_FALSE(w.locate(e).chunk);
}

TEST_F(sparse, is_sorted_by_a_comparison) {
    std::vector<entity> all;
    for (const int left : {3, 1, 2, 1, 5}) all.push_back(w.spawn(position{}, burning{left}));
    w.remove<burning>(all[2]);
    w.sort<burning>([](const burning& a, const burning& b) { return a.left < b.left; });
    EXPECT_EQ(seen<burning>(), (std::vector{all[1], all[3], all[0], all[4]}));
    EXPECT_EQ(w.get<burning>(all[4]).left, 5);
    w.sort(w.component<burning>(),
           [](const burning& a, const burning& b) { return a.left > b.left; });
    EXPECT_EQ(seen<burning>(), (std::vector{all[4], all[0], all[1], all[3]}));
}

TEST_F(sparse, is_sorted_like_another_fragment) {
    std::vector<entity> all;
    for (int i = 0; i < 6; ++i) all.push_back(w.spawn(burning{i}));
    for (const std::size_t i : {4u, 2u, 0u}) w.set(all[i], stunned{});
    w.sort_like<burning, stunned>();
    EXPECT_EQ(seen<burning>(), (std::vector{all[4], all[2], all[0], all[1], all[3], all[5]}));
    for (const std::size_t i : {5u, 4u}) w.set(all[i], position{});
    w.sort_like(w.component<burning>(), w.component<position>());
    EXPECT_EQ(seen<burning>(), (std::vector{all[5], all[4], all[2], all[0], all[1], all[3]}));
    for (int i = 0; i < 6; ++i) EXPECT_EQ(w.get<burning>(all[static_cast<std::size_t>(i)]).left, i);
}

TEST_F(sparse, a_throwing_comparison_keeps_the_order) {
    std::vector<entity> all;
    for (const int left : {3, 1, 2}) all.push_back(w.spawn(burning{left}));
    EXPECT_THROW(w.sort<burning>([](const burning&, const burning&) -> bool { throw 1; }), int);
    EXPECT_EQ(seen<burning>(), all);
    EXPECT_EQ(code_of([&] { w.sort<position>([](const auto&, const auto&) { return false; }); }),
              errc::not_sparse);
    w.defer();
    EXPECT_EQ(code_of([&] { w.sort_like<burning, position>(); }), errc::in_scope);
    w.cancel();
}

TEST_F(sparse, destroying_an_entity_keeps_the_values_of_others_among_300_fragments) {
    std::vector<id> kinds;
    for (int i = 0; i < 300; ++i) {
        kinds.push_back(w.fragment<int>());
        w.define(kinds.back()).sparse();
    }
    std::vector<entity> all;
    for (std::size_t i = 0; i < 300; ++i) {
        all.push_back(w.spawn(position{}));
        w.set(all[i], kinds[i], static_cast<int>(i));
        w.set(all[i], kinds[(i * 7 + 3) % 300], -1);
    }
    for (std::size_t i = 0; i < 300; i += 2) w.destroy(all[i]);
    for (std::size_t i = 1; i < 300; i += 2) EXPECT_TRUE(w.has(all[i], kinds[i]));
    for (std::size_t i = 0; i < 300; ++i) w.destroy(kinds[i]);
    for (std::size_t i = 1; i < 300; i += 2) {
        EXPECT_FALSE(w.empty(all[i]));
        w.clear(all[i]);
        EXPECT_TRUE(w.empty(all[i]));
    }
}

TEST_F(sparse, a_hidden_fragment_hides_entities) {
    const id asleep = w.tag("asleep");
    w.define(asleep).sparse().hidden();
    const auto all = w.spawn_many(3, position{});
    w.set(all[1], asleep);
    EXPECT_EQ(seen<position>(), (std::vector{all[0], all[2]}));
    EXPECT_EQ(w.query<position>().with(asleep).count(), 1u);
    EXPECT_FALSE(w.query<position>().matches(all[1]));
    w.remove(all[1], asleep);
    EXPECT_EQ(seen<position>(), all);
}

/// Sparse sets index keys relative to the first key of their world.
TEST(sparse_keys, may_begin_anywhere) {
    for (const std::uint64_t first : {0u, 1u, 511u, 512u, 65'535u, 65'536u, 3'000'000'000u}) {
        world w({.first_key = first});
        w.define<burning>().sparse();
        const std::vector<entity> all = w.spawn_many(1500, position{});
        ASSERT_EQ(all[0].key(), first);
        for (int turn = 0; turn < 3; ++turn) {
            for (std::size_t i = 0; i < all.size(); ++i) {
                w.set(all[i], by_trait{static_cast<int>(i) + turn});
                if (i % 3 == 0) w.set(all[i], burning{turn});
            }
            for (std::size_t i = 0; i < all.size(); ++i) {
                ASSERT_EQ(w.get<by_trait>(all[i]).value, static_cast<int>(i) + turn);
                ASSERT_EQ(w.has<burning>(all[i]), i % 3 == 0);
                w.set(all[i], by_trait{-1});
                ASSERT_EQ(w.get<by_trait>(all[i]).value, -1);
            }
            ASSERT_EQ(w.count<by_trait>(), all.size());
            ASSERT_EQ((w.query<position, by_trait, burning>().count()), all.size() / 3);
            for (const entity e : all) {
                ASSERT_TRUE(w.remove<by_trait>(e));
                ASSERT_FALSE(w.remove<by_trait>(e));
                w.remove<burning>(e);
            }
            ASSERT_EQ(w.count<by_trait>() + w.count<burning>(), 0u);
        }
        w.destroy(all[7]);
        EXPECT_EQ(code_of([&] { w.set(all[7], by_trait{1}); }), errc::dead_entity);
        EXPECT_FALSE(w.remove<by_trait>(all[7]));
    }
}

TEST(sparse_types, are_registered_anew_after_their_fragment_is_destroyed) {
    world w;
    const entity e = w.spawn(position{});
    for (int turn = 0; turn < 4; ++turn) {
        w.set(e, by_trait{turn});
        w.remove<by_trait>(e);
        w.set(e, by_trait{turn});
        EXPECT_EQ(w.get<by_trait>(e).value, turn);
        if (turn == 2) w.defer();
        w.destroy(w.component<by_trait>());
        if (turn == 2) {
            w.set(e, by_trait{9});  // pending for the next fragment of the type
            w.commit();
        }
        EXPECT_FALSE(turn != 2 && w.has<by_trait>(e));
    }
    w.set(e, by_trait{1});
    w.reset();
    const entity other = w.spawn();
    EXPECT_FALSE(w.remove<by_trait>(other));
    w.set(other, by_trait{2});
    EXPECT_EQ(w.count<by_trait>(), 1u);
}

}  // namespace
}  // namespace muster::test
