// Rare cases of links: definitions while changes are recorded, copies that throw, targets that die in a scope, ways
// that meet again, queries of what cannot match.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/id_lists.hpp"
#include "support/open_world.hpp"
#include "support/thread_executor.hpp"
#include "support/trouble.hpp"

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct cold {};
struct likes {
    int strength = 0;
};
struct owes {
    fragile amount{0};
};
struct needs {};
struct docked_at {};
struct part_of {
    int share = 0;
};
struct member_of {};
struct faces {
    int distance = 0;
};

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
struct rare_links : id_lists<Layout> {
    using id_type = basic_id<Layout>;
    open_world<Layout> world_;

    rare_links() {
        world_.template define<likes>().relation();
        world_.template define<owes>().relation();
        world_.template define<needs>().relation().acyclic().when_target_destroyed(refuse);
        world_.template define<docked_at>().relation().exclusive().when_target_destroyed(refuse);
        world_.template define<part_of>().relation().leveled().when_target_destroyed(pass_on);
        world_.template define<member_of>().relation().grouping();
        world_.template define<faces>().relation().exclusive().symmetric();
    }
};
TYPED_TEST_SUITE(rare_links, behavior_layouts, layout_names);

// ---- definitions -------------------------------------------------------------------------------

TYPED_TEST(rare_links, a_definition_is_refused_while_links_are_recorded) {
    struct rules {};
    struct weds {};
    struct wears {};
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    w.template define<rules>().relation();
    w.template define<weds>().relation();
    w.defer();
    w.template relate<rules>(a, b);
    w.template relate<weds>(a, b);
    w.set(a, wears{});
    const auto refused = [](auto call) { return code_of(call) == errc::fragment_in_use; };
    EXPECT_TRUE(refused([&] { w.template define<rules>().relation().exclusive(); }));
    EXPECT_TRUE(refused([&] { w.template define<rules>().relation().leveled(); }));
    EXPECT_TRUE(refused([&] { w.template define<weds>().relation().symmetric(); }));
    EXPECT_TRUE(refused([&] { w.template define<wears>().relation(); }));
    w.commit();
    EXPECT_TRUE(w.template related<rules>(a, b));
    EXPECT_TRUE(w.template related<weds>(a, b));
    EXPECT_FALSE(w.template related<weds>(b, a));
    EXPECT_TRUE(w.template has<wears>(a));
}

TYPED_TEST(rare_links, a_trait_that_a_relation_has_may_be_defined_again) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    w.template relate<part_of>(a, b, part_of{3});
    w.template relate<member_of>(a, b);
    w.template relate<faces>(a, b);
    w.template define<part_of>().relation().leveled().exclusive().acyclic();
    w.template define<member_of>().relation().grouping();
    w.template define<faces>().relation().symmetric();
    EXPECT_EQ((w.template link<part_of>(a, b).share), 3);
    EXPECT_EQ(wrong_level<part_of>(w), "");
    EXPECT_EQ(wrong_group<member_of>(w), "");
    EXPECT_TRUE(w.template related<faces>(b, a));
}

// ---- values ------------------------------------------------------------------------------------

TYPED_TEST(rare_links, a_copy_of_links_that_throws_in_the_middle_ends_the_copies_before_it) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1});
    for (int i = 0; i < 4; ++i) w.template relate<owes>(a, w.spawn(), owes{fragile(i)});
    for (int n = 0; n < 4; ++n) {
        const std::size_t size = w.size();
        const int living = fragile::count.living;
        copies.start(n);
        EXPECT_THROW((void)w.clone(a), broken) << n;
        copies.stop();
        EXPECT_EQ(fragile::count.living, living) << n;
        EXPECT_EQ(w.size(), size) << n;
    }
    const auto copy = w.clone(a);
    EXPECT_EQ(w.template targets<owes>(copy).size(), 4u);
    EXPECT_EQ(fragile::count.misused, 0);
}

TYPED_TEST(rare_links, a_partner_of_plain_values_keeps_its_link_if_a_hook_refuses_the_next) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    w.template relate<faces>(a, b, faces{1});
    basic_scoped_connection<TypeParam> veto = w.template on_relate<faces>([&](auto e) {
        if (e == b) throw std::runtime_error("veto");
    });
    EXPECT_THROW(w.template relate<faces>(b, a, faces{2}), std::runtime_error);
    EXPECT_THROW(w.template relate<faces>(c, b, faces{3}), std::runtime_error);
    EXPECT_EQ((w.template link<faces>(a, b).distance), 1);
    EXPECT_EQ((w.template link<faces>(b, a).distance), 1);
    veto.disconnect();
    w.template relate<faces>(b, a, faces{4});
    EXPECT_EQ((w.template link<faces>(a, b).distance), 4);
    w.template relate<faces>(c, b, faces{5});
    EXPECT_EQ((w.template link<faces>(b, c).distance), 5);
    EXPECT_EQ(w.template target<faces>(a), basic_id<TypeParam>());
}

// ---- scopes ------------------------------------------------------------------------------------

TYPED_TEST(rare_links,
           a_link_to_a_target_that_died_in_the_scope_is_an_error_if_its_relation_refuses) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    w.defer();
    w.destroy(b);
    w.template relate<needs>(a, b);
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::dead_entity);
    EXPECT_EQ(w.template targets<needs>(a).size(), 0u);
    w.defer();
    w.destroy(c);
    w.template relate<docked_at>(a, c);
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::dead_entity);
    EXPECT_EQ(w.template targets<docked_at>(a).size(), 0u);
}

TYPED_TEST(rare_links, links_that_are_removed_and_lead_to_the_dead_again_end) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    w.template relate<likes>(a, b, likes{1});
    int ended = 0;
    w.template on_unrelate<likes>([&] { ++ended; });
    w.defer();
    w.destroy(c);
    w.template unrelate<likes>(a);
    w.template relate<likes>(a, c, likes{2});
    w.commit();
    EXPECT_EQ(w.template targets<likes>(a).size(), 0u);
    EXPECT_EQ(w.template sources<likes>(b).size(), 0u);
    EXPECT_FALSE(w.template has<likes>(a));
    EXPECT_EQ(ended, 1);
}

TYPED_TEST(rare_links, a_recorded_clone_of_a_tree_joins_the_given_group) {
    auto& w = this->world_;
    const auto guild = w.spawn(), other = w.spawn();
    const auto top = w.spawn(position{1}, to<member_of>(other));
    w.spawn(position{2}, to(child_of, top), to<member_of>(top));
    w.defer();
    const auto copy = w.clone_tree(top, to<member_of>(guild), to<likes>(guild, likes{5}));
    w.commit();
    EXPECT_EQ(w.template target<member_of>(copy), guild);
    EXPECT_EQ((w.template link<likes>(copy, guild).strength), 5);
    EXPECT_EQ(w.children(copy).size(), 1u);
    for (const auto child : std::as_const(w).children(copy))
        EXPECT_EQ(w.template target<member_of>(child), copy);
    EXPECT_EQ(wrong_group<member_of>(w), "");
}

TYPED_TEST(rare_links, a_clone_of_a_tree_adds_links_to_those_of_its_prototype) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    const auto top = w.spawn(position{1}, to<likes>(a, likes{1}));
    w.spawn(to(child_of, top));
    const auto copy = w.clone_tree(top, to<likes>(b, likes{2}));
    EXPECT_EQ((w.template link<likes>(copy, a).strength), 1);
    EXPECT_EQ((w.template link<likes>(copy, b).strength), 2);
    EXPECT_EQ(w.template targets<likes>(top).size(), 1u);
    EXPECT_EQ(w.children(copy).size(), 1u);
}

TYPED_TEST(rare_links, a_clone_of_trees_refuses_dead_targets) {
    auto& w = this->world_;
    const auto top = w.spawn(position{1}), gone = w.spawn();
    w.spawn(position{2}, to(child_of, top));
    w.destroy(gone);
    const std::size_t size = w.size();
    EXPECT_EQ(code_of([&] { (void)w.clone_trees(2, top, to<docked_at>(gone)); }),
              errc::dead_entity);
    EXPECT_EQ(code_of([&] { (void)w.clone_tree(top, to<docked_at>(gone)); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { (void)w.spawn_many(2, position{}, to<docked_at>(gone)); }),
              errc::dead_entity);
    EXPECT_EQ(w.size(), size);
    EXPECT_EQ(w.children(top).size(), 1u);
}

// ---- ways that meet ----------------------------------------------------------------------------

TYPED_TEST(rare_links, ways_that_meet_again_are_no_cycle) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn(), d = w.spawn(), top = w.spawn(),
               low = w.spawn();
    w.template relate<needs>(a, b);
    w.template relate<needs>(a, c);
    w.template relate<needs>(b, d);
    w.template relate<needs>(c, d);
    w.template relate<needs>(low, top);
    EXPECT_TRUE(w.template relate<needs>(top, a));
    EXPECT_EQ(code_of([&] { w.template relate<needs>(d, low); }), errc::cycle);
    EXPECT_EQ((w.template query<>()
                   .under(basic_relation<needs, TypeParam>(w.template component<needs>().id()), d)
                   .count()),
              5u);
}

// ---- destruction -------------------------------------------------------------------------------

TYPED_TEST(rare_links, a_relation_that_refuses_may_be_destroyed_with_its_links) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1}), b = w.spawn();
    w.template relate<docked_at>(a, b);
    w.template relate<needs>(a, b);
    EXPECT_EQ(code_of([&] { w.destroy(b); }), errc::still_related);
    EXPECT_TRUE(w.destroy(w.template component<docked_at>().id()));
    EXPECT_EQ(code_of([&] { w.destroy(b); }), errc::still_related);
    EXPECT_TRUE(w.destroy(w.template component<needs>().id()));
    EXPECT_TRUE(w.destroy(b));
    EXPECT_TRUE(w.alive(a));
}

TYPED_TEST(rare_links, an_entity_may_lose_a_fragment_and_a_target_at_once) {
    auto& w = this->world_;
    struct rank {
        int level = 0;
    };
    struct moored_at {};
    w.template define<moored_at>().relation().exclusive();
    const auto port = w.spawn(), level = w.spawn();
    const auto ship = w.spawn(position{7}, rank{3}, to<moored_at>(port), to<part_of>(level));
    EXPECT_EQ(w.destroy(w.template component<rank>().id(), port), 2u);
    EXPECT_EQ(w.template get<position>(ship).x, 7);
    EXPECT_FALSE(w.template has<rank>(ship));
    EXPECT_FALSE(w.template has<moored_at>(ship));
    EXPECT_EQ(w.template target<part_of>(ship), level);
    EXPECT_EQ(wrong_level<part_of>(w), "");
}

TYPED_TEST(rare_links, links_with_many_targets_are_not_passed_on) {
    struct trades_with {};
    auto& w = this->world_;
    w.template define<trades_with>().relation().when_target_destroyed(pass_on);
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    w.template relate<trades_with>(a, b);
    w.template relate<trades_with>(b, c);
    const auto seen = w.template observer<>().template unrelated<trades_with>();
    EXPECT_TRUE(w.destroy(b));
    EXPECT_EQ(w.template targets<trades_with>(a).size(), 0u);
    EXPECT_EQ(w.template sources<trades_with>(c).size(), 0u);
    EXPECT_FALSE(w.template has<trades_with>(a));
}

// ---- reading -----------------------------------------------------------------------------------

TYPED_TEST(rare_links, an_entity_that_is_dead_has_no_tree) {
    auto& w = this->world_;
    const auto top = w.spawn(), gone = w.spawn(to(child_of, top));
    w.destroy(gone);
    EXPECT_TRUE(w.descendants(gone).empty());
    EXPECT_TRUE(w.ancestors(gone).empty());
    EXPECT_EQ(w.level(gone), 0u);
    EXPECT_FALSE(w.is_below(gone, top));
    EXPECT_FALSE(w.is_below(top, gone));
    EXPECT_FALSE(w.is_below(top, {}));
    EXPECT_TRUE(w.template targets<likes>(gone).empty());
}

TYPED_TEST(rare_links, a_join_with_a_dead_entity_matches_nothing) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1}), b = w.spawn(position{2}), gone = w.spawn();
    w.template relate<docked_at>(a, b);
    w.template relate<likes>(b, gone);
    w.destroy(gone);
    const auto joined = w.template query<>().template to<likes>(gone);
    const auto q = w.template query<const position>().template to<docked_at>(joined);
    EXPECT_EQ(q.count(), 0u);
    EXPECT_FALSE(q.matches(a));
    EXPECT_TRUE(q.empty());
    EXPECT_NE(q.explain(a).find("no link"), std::string::npos) << q.explain(a);
    EXPECT_FALSE(joined.matches(gone));
    q.each([](const position&) { ADD_FAILURE(); });
}

TYPED_TEST(rare_links, a_group_and_a_target_may_be_asked_for_together) {
    auto& w = this->world_;
    const auto guild = w.spawn(), port = w.spawn();
    std::vector<basic_id<TypeParam>> wanted;
    for (int i = 0; i < 12; ++i) {
        const auto e = w.spawn(position{i}, to<member_of>(i % 2 == 0 ? guild : port));
        if (i % 3 != 0) continue;
        w.template relate<docked_at>(e, port);
        if (i % 2 == 0) wanted.push_back(e);
        if (i % 4 == 0) w.set(e, cold{});
    }
    const auto q =
        w.template query<const position>().template to<member_of>(guild).template to<docked_at>(
            port);
    std::vector<basic_id<TypeParam>> found;
    q.each([&](basic_id<TypeParam> e, const position&) { found.push_back(e); });
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(q.template without<cold>().count(), 1u);
    EXPECT_EQ(q.template with<cold>().count(), 1u);
}

TYPED_TEST(rare_links, a_query_has_a_limit_of_conditions_on_links) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1});
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 17; ++i) {
        all.push_back(w.spawn());
        w.template relate<likes>(a, all.back());
    }
    const auto one = w.template query<const position>().template to<likes>(all[0]);
    auto q = one;
    for (std::size_t i = 1; i < 15; ++i) q = q.template to<likes>(all[i]);  // 16 terms
    EXPECT_EQ(q.count(), 1u);
    EXPECT_EQ(code_of([&] { (void)q.template to<likes>(all[15]); }), errc::limit);
    EXPECT_EQ(q.count(), 1u);
}

TYPED_TEST(rare_links, links_of_one_target_show_their_values) {
    auto& w = this->world_;
    const auto top = w.spawn();
    int sum = 0;
    for (int i = 1; i < 4; ++i) w.template relate<part_of>(w.spawn(), top, part_of{i});
    w.template query<>().template each_link<part_of>(
        [&](basic_id<TypeParam>, basic_id<TypeParam> target, const part_of& link) {
            EXPECT_EQ(target, top);
            sum += link.share;
        });
    EXPECT_EQ(sum, 6);
}

TYPED_TEST(rare_links, deep_rows_in_the_order_of_their_levels_are_visited_as_one_chunk) {
    auto& w = this->world_;
    auto last = w.spawn(position{0});
    for (int i = 1; i < 90; ++i) last = w.spawn(position{i}, to(child_of, last));
    std::vector<int> expected, seen;
    for (int i = 0; i < 90; ++i) expected.push_back(i);
    const auto q = w.template query<const position>();
    q.top_down().each([&](const position& p) { seen.push_back(p.x); });
    EXPECT_EQ(seen, expected);
    seen.clear();
    q.bottom_up().each([&](const position& p) { seen.push_back(p.x); });
    EXPECT_EQ(seen, std::vector<int>(expected.rbegin(), expected.rend()));
}

TYPED_TEST(rare_links, values_above_are_read_along_the_first_of_many_links) {
    auto& w = this->world_;
    const auto top = w.spawn(position{5}), middle = w.spawn(), e = w.spawn(cold{}),
               alone = w.spawn(cold{});
    w.template relate<likes>(middle, top);
    w.template relate<likes>(e, middle);
    w.template relate<likes>(e, alone);
    w.template relate<likes>(alone, e);
    int sum = 0;
    const auto q = w.template query<const cold, above<const position, likes>>();
    q.each([&](basic_id<TypeParam> which, const cold&, const position& p) {
        sum += which == e ? p.x : 10 * p.x;
    });
    EXPECT_EQ(sum, 55);  // `alone` follows `e`
    w.template unrelate<likes>(middle, top);
    EXPECT_EQ(q.count(), 0u);
}

TYPED_TEST(rare_links, the_value_of_the_first_of_many_targets_may_be_missing) {
    auto& w = this->world_;
    const auto top = w.spawn(), bare = w.spawn();
    const auto a = w.spawn(position{1}), b = w.spawn(position{2}), c = w.spawn(position{3});
    w.template relate<likes>(a, top);
    w.template relate<likes>(b, bare);
    w.template relate<likes>(b, top);
    std::vector<int> seen;
    const auto q = w.template query<const position, up<const cold*, likes>>();
    const auto look = [&](const position& p, const cold* value) {
        seen.push_back(value != nullptr ? 10 * p.x : p.x);
    };
    q.each(look);
    EXPECT_EQ(seen, (std::vector{1, 2, 3}));
    w.set(top, cold{});
    w.set(c, to<likes>(top));
    seen.clear();
    q.each(look);
    EXPECT_EQ(seen, (std::vector{10, 2, 30}));
    w.destroy(w.template component<likes>().id());
    seen.clear();
    q.each(look);
    EXPECT_EQ(seen, (std::vector{1, 2, 3}));
}

TYPED_TEST(rare_links, a_loop_along_links_in_a_phase_runs_on_its_thread) {
    auto& w = this->world_;
    const auto top = w.spawn(position{1});
    for (int i = 0; i < 20; ++i) w.spawn(position{i}, to(child_of, top));
    const auto below = w.template query<const position>().to(child_of, top);
    muster_tests::thread_executor threads(4);
    std::atomic<int> count = 0;
    w.template query<const position>().par_each(threads, 4, [&](const position&) {
        below.par_each(threads, 4, [&](const position&) { ++count; });
    });
    EXPECT_EQ(count, 21 * 20);
}

TYPED_TEST(rare_links, an_exception_that_leaves_a_loop_along_links_drops_its_changes) {
    auto& w = this->world_;
    const auto top = w.spawn(), e = w.spawn(position{1}, to(child_of, top));
    const auto q = w.template query<const position>().to(child_of, top);
    const auto leave = [&] {
        for (auto [which, p] : q) {
            w.destroy(which);
            if (p.x == 1) throw std::runtime_error("left");
        }
    };
    EXPECT_THROW(leave(), std::runtime_error);
    EXPECT_TRUE(w.alive(e));
    EXPECT_EQ(w.depth(), 0u);
    for (auto [which, p] : q) w.set(which, position{p.x + 1});
    EXPECT_EQ(w.template get<position>(e).x, 2);
}

TYPED_TEST(rare_links, fragments_are_inherited_in_any_order_of_their_definition) {
    struct first {
        int value = 0;
    };
    struct second {};
    struct third {
        int value = 0;
    };
    auto& w = this->world_;
    (void)w.template component<first>();
    (void)w.template component<second>();
    w.template define<third>().inherited();
    w.template define<first>().inherited();
    w.template define<third>().inherited();
    const auto kind = w.spawn(first{1}, third{3}, prefab);
    const auto e = w.spawn(position{1}, to(is_a, kind));
    EXPECT_EQ(w.template get<const first>(e).value, 1);
    const auto q = w.template query<const first, const third>().template with<position>();
    int sum = 0;
    q.each([&](const first& f, const third& t) { sum += f.value + t.value; });
    EXPECT_EQ(sum, 4);
    w.destroy(w.template component<third>().id());
    EXPECT_EQ(q.count(), 0u);
    EXPECT_EQ((w.template query<const first>().template with<position>().count()), 1u);
}

}  // namespace
}  // namespace muster::test
