// Queries by relation: any target, one target, subtrees, joins.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/id_lists.hpp"

namespace muster::test {
namespace {

struct health {
    int points = 0;
};
struct rank {
    int value = 0;
};
struct burning {  // sparse
    int left = 0;
};
struct likes {
    int strength = 0;
};
struct docked_at {};

}  // namespace
}  // namespace muster::test

template <>
struct muster::component_traits<muster::test::burning> {
    static constexpr bool sparse = true;
};

namespace muster::test {
namespace {

template <class Query>
auto list_of(const Query& query) {
    std::vector<typename Query::id_type> all;
    query.each([&](typename Query::id_type e, auto&...) { all.push_back(e); });
    return all;
}

template <class Layout>
struct relation_query : id_lists<Layout> {
    using id_type = basic_id<Layout>;
    basic_world<Layout> world_;
    relation_query() {
        world_.template define<likes>().relation();
        world_.template define<docked_at>().relation().exclusive();
    }
};
TYPED_TEST_SUITE(relation_query, behavior_layouts, layout_names);

// ---- any target --------------------------------------------------------------------------------

TYPED_TEST(relation_query, a_relation_in_a_list_of_a_query_means_any_target) {
    auto& w = this->world_;
    const auto owes = w.template relation<int>("owes");
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2}), ship = w.spawn(health{3});
    w.template relate<likes>(bob, eve);
    w.template relate<docked_at>(eve, ship);
    w.relate(owes, ship, bob, 5);
    w.relate(child_of, ship, bob);
    const auto all = w.template query<const health>();
    EXPECT_EQ(list_of(all.template with<likes>()), this->ids(bob));
    EXPECT_EQ(list_of(all.template with<docked_at>()), this->ids(eve));
    EXPECT_EQ(list_of(all.with(owes)), this->ids(ship));
    EXPECT_EQ(list_of(all.template with<child_of_t>()), this->ids(ship));
    EXPECT_EQ(all.template without<likes>().count(), 2u);
    EXPECT_EQ(all.template without<docked_at>().without(owes).first(), bob);
    EXPECT_EQ((all.template any<likes, docked_at>().count()), 2u);
    EXPECT_EQ(w.template query<>().template with<likes>().count(), 1u);
    EXPECT_TRUE(all.template with<likes>().matches(bob));
    EXPECT_FALSE(all.template with<likes>().matches(eve));
    w.template unrelate<likes>(bob);
    EXPECT_TRUE(all.template with<likes>().empty());
}

TYPED_TEST(relation_query, a_list_names_a_relation_before_its_definition) {
    auto& w = this->world_;
    struct knows {};
    const auto any = w.template query<const health>().template with<knows>();
    const auto none = w.template query<const health>().template without<knows>();
    const auto shown = w.template query<knows*>();
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2});
    EXPECT_TRUE(any.empty());
    w.template define<knows>().relation();
    w.template relate<knows>(bob, eve);
    EXPECT_EQ(list_of(any), this->ids(bob));
    EXPECT_EQ(list_of(none), this->ids(eve));
    // A query that shows the type as a component finds none.
    shown.each([](knows* value) { EXPECT_EQ(value, nullptr); });
}

TYPED_TEST(relation_query, a_relation_is_no_component_of_a_query) {
    auto& w = this->world_;
    EXPECT_EQ(code_of([&] { (void)w.template query<likes>(); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { (void)w.template query<const docked_at*>(); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.each([](const likes&) {}); }), errc::type_mismatch);
    const auto& read = w;
    EXPECT_EQ(code_of([&] { (void)read.template query<const likes>(); }), errc::type_mismatch);
}

TYPED_TEST(relation_query, explain_names_the_relation) {
    auto& w = this->world_;
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2});
    w.template relate<likes>(bob, eve);
    w.template relate<docked_at>(bob, eve);
    const auto q = w.template query<const health>().template with<likes>();
    EXPECT_NE(q.explain(bob).find("::likes"), std::string::npos) << q.explain(bob);
    EXPECT_NE(q.explain(eve).find("likes, which is required"), std::string::npos) << q.explain(eve);
    EXPECT_EQ(q.explain(eve).find("links"), std::string::npos) << q.explain(eve);
}

// ---- one target --------------------------------------------------------------------------------

TYPED_TEST(relation_query, to_selects_the_sources_of_a_target) {
    auto& w = this->world_;
    const auto owes = w.template relation<int>("owes");
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2}), ann = w.spawn(health{3});
    const auto ship = w.spawn(), crew = w.spawn(rank{1});
    w.template relate<likes>(bob, eve);
    w.template relate<likes>(ann, eve);
    w.template relate<likes>(ann, bob);
    w.template relate<likes>(crew, eve);
    w.template relate<docked_at>(bob, ship);
    w.template relate<docked_at>(eve, ship);
    w.relate(owes, eve, ann, 7);
    w.relate(child_of, bob, ship);
    const auto all = w.template query<const health>();
    EXPECT_EQ(list_of(all.template to<likes>(eve)), this->ids(bob, ann));
    EXPECT_EQ(list_of(all.template to<likes>(bob)), this->ids(ann));
    EXPECT_EQ(list_of(all.template to<likes>(ann)), this->ids());
    EXPECT_EQ(list_of(all.template to<docked_at>(ship)), this->ids(bob, eve));
    EXPECT_EQ(list_of(all.to(owes, ann)), this->ids(eve));
    EXPECT_EQ(list_of(all.to(child_of, ship)), this->ids(bob));
    EXPECT_EQ(list_of(all.template to<child_of>(ship)), this->ids(bob));
    EXPECT_EQ(list_of(all.template to<child_of_t>(ship)), this->ids(bob));
    // Any target.
    EXPECT_EQ(list_of(all.template to<likes>()), this->ids(bob, ann));
    EXPECT_EQ(list_of(all.template to<child_of>()), this->ids(bob));
    EXPECT_EQ(list_of(all.to(child_of)), this->ids(bob));
    EXPECT_EQ(list_of(all.to(owes)), this->ids(eve));
    // Conditions combine, among each other and with terms.
    EXPECT_EQ(list_of(all.template to<likes>(eve).template to<likes>(bob)), this->ids(ann));
    EXPECT_EQ(list_of(all.template to<likes>(eve).template to<docked_at>(ship)), this->ids(bob));
    EXPECT_EQ(list_of(all.template to<likes>(eve).template without<docked_at>()), this->ids(ann));
    EXPECT_EQ(list_of(all.template to<likes>(eve).template with<docked_at>()), this->ids(bob));
    EXPECT_EQ(w.template query<>().template to<likes>(eve).count(), 3u);
    EXPECT_EQ((w.template query<const rank*>().template to<likes>(eve).count()), 3u);
}

TYPED_TEST(relation_query, to_a_target_that_is_not_alive_matches_nothing) {
    auto& w = this->world_;
    using entity_type = typename TestFixture::id_type;
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2});
    w.template relate<likes>(bob, eve);
    w.relate(child_of, bob, eve);
    const auto all = w.template query<const health>();
    const auto q = all.template to<likes>(eve);
    const auto below = all.under(child_of, eve);
    EXPECT_EQ(q.count(), 1u);
    EXPECT_EQ(below.count(), 1u);
    w.unrelate(child_of, bob, eve);
    w.destroy(eve);
    basic_world<TypeParam> other;
    const auto foreign = other.spawn(health{1});
    const auto again = w.spawn(health{3});  // may use the key of the dead entity
    w.template relate<likes>(bob, again);
    for (const auto& empty :
         {q, below, all.template to<likes>(entity_type()), all.template to<likes>(foreign),
          all.under(child_of, entity_type()), all.under(child_of, foreign)}) {
        EXPECT_EQ(empty.count(), 0u);
        EXPECT_TRUE(empty.empty());
        EXPECT_FALSE(empty.first());
        EXPECT_TRUE(list_of(empty).empty());
        EXPECT_FALSE(empty.matches(bob));
        EXPECT_EQ(empty.destroy(), 0u);
    }
    EXPECT_EQ(all.template to<likes>(again).count(), 1u);
}

TYPED_TEST(relation_query, a_query_names_only_relations) {
    auto& w = this->world_;
    const auto bob = w.spawn(health{1});
    const auto all = w.template query<const health>();
    EXPECT_EQ(code_of([&] { (void)all.template to<rank>(bob); }), errc::not_a_relation);
    EXPECT_EQ(code_of([&] { (void)all.template to<rank>(); }), errc::not_a_relation);
    EXPECT_EQ(code_of([&] { (void)all.template under<rank>(bob); }), errc::not_a_relation);
    EXPECT_EQ(code_of([&] { all.template each_link<rank>([](auto, auto) {}); }),
              errc::not_a_relation);
    EXPECT_EQ(code_of([&] { (void)all.template to<likes>(w.template query<likes>()); }),
              errc::type_mismatch);
    basic_world<TypeParam> other;
    const auto foreign = other.template query<>();
    EXPECT_EQ(code_of([&] { (void)all.template to<likes>(foreign); }), errc::foreign_entity);
    basic_link_query<TypeParam, const health> null;
    EXPECT_EQ(code_of([&] { (void)null.count(); }), errc::null_handle);
    EXPECT_EQ(code_of([&] { null.each([](const health&) {}); }), errc::null_handle);
    EXPECT_EQ(code_of([&] { (void)null.template to<likes>(bob); }), errc::null_handle);
}

TYPED_TEST(relation_query, all_calls_of_a_query_follow_the_links) {
    auto& w = this->world_;
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2}), ann = w.spawn(health{3});
    w.template relate<likes>(bob, eve);
    w.template relate<likes>(ann, eve);
    const auto q = w.template query<health>().template to<likes>(eve);
    std::vector<int> points;
    q.each([&](health& h) { points.push_back(h.points++); });
    EXPECT_EQ(points, (std::vector{1, 3}));
    auto found = this->ids();
    for (auto [e, h] : q) {
        found.push_back(e);
        EXPECT_EQ(h.points, e == bob ? 2 : 4);
    }
    EXPECT_EQ(found, this->ids(bob, ann));
    std::size_t rows = 0;
    q.each_chunk([&](const auto& view) {
        EXPECT_EQ(view.size(), view.template components<health>().size());
        rows += view.size();
    });
    EXPECT_EQ(rows, 2u);
    EXPECT_EQ(q.count(), 2u);
    EXPECT_FALSE(q.empty());
    EXPECT_EQ(q.first(), bob);
    EXPECT_TRUE(q.matches(bob));
    EXPECT_FALSE(q.matches(eve));
    EXPECT_NE(q.explain(bob).find(" matches: "), std::string::npos);
    EXPECT_NE(q.explain(eve).find("it has no link of "), std::string::npos) << q.explain(eve);
    EXPECT_NE(q.explain(eve).find("which is required"), std::string::npos) << q.explain(eve);
    // A const world.
    const auto& read = w;
    const auto c = read.template query<const health>().template to<likes>(eve);
    EXPECT_EQ(list_of(c), this->ids(bob, ann));
    EXPECT_EQ(c.count(), 2u);
}

TYPED_TEST(relation_query, batches_change_what_a_query_by_link_matches) {
    auto& w = this->world_;
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2}), ann = w.spawn(health{3});
    w.template relate<likes>(bob, eve);
    w.template relate<likes>(ann, eve);
    const auto q = w.template query<>().template to<likes>(eve);
    EXPECT_EQ(q.set(rank{5}), 2u);
    EXPECT_TRUE(w.template has<rank>(bob));
    EXPECT_FALSE(w.template has<rank>(eve));
    EXPECT_EQ(q.template remove<rank>(), 2u);
    EXPECT_EQ(q.template add<rank>(), 2u);
    // A deferred batch changes what matches when the scope ends.
    {
        const basic_deferred<TypeParam> scope{w};
        w.template unrelate<likes>(bob, eve);
        w.template relate<likes>(eve, eve);
        EXPECT_EQ((w.template query<>().template to<likes>(eve).set(burning{1})), 2u);
        EXPECT_FALSE(w.template has<burning>(ann));
    }
    EXPECT_FALSE(w.template has<burning>(bob));
    EXPECT_TRUE(w.template has<burning>(ann));
    EXPECT_TRUE(w.template has<burning>(eve));
    EXPECT_EQ((w.template query<const rank>().template to<likes>(eve).template remove<likes>()),
              1u);
    EXPECT_FALSE(w.template has<likes>(ann));
    EXPECT_EQ(q.clear(), 1u);
    EXPECT_TRUE(w.alive(eve));
    EXPECT_FALSE(w.template has<health>(eve));
    w.template relate<likes>(bob, ann);
    EXPECT_EQ(w.template query<>().template to<likes>(ann).destroy(), 1u);
    EXPECT_FALSE(w.alive(bob));
}

TYPED_TEST(relation_query, changes_in_a_loop_are_applied_at_its_end) {
    auto& w = this->world_;
    const auto eve = w.spawn(health{0});
    auto fans = this->ids();
    for (int i = 0; i < 40; ++i) {
        fans.push_back(w.spawn(health{i}));
        w.template relate<likes>(fans.back(), eve);
    }
    const auto q = w.template query<const health>().template to<likes>(eve);
    std::size_t seen = 0;
    q.each([&](auto e, const health& h) {
        ++seen;
        if (h.points % 2 == 0) w.template unrelate<likes>(e, eve);
        if (h.points % 3 == 0) w.destroy(e);
        w.template relate<likes>(eve, e);
        EXPECT_TRUE(w.template related<likes>(e, eve));
    });
    EXPECT_EQ(seen, 40u);
    EXPECT_EQ(q.count(), 13u);
    EXPECT_ANY_THROW(q.each([&](auto e, const health&) {
        w.destroy(e);
        throw 1;
    }));
    EXPECT_EQ(q.count(), 13u);
    for (auto [e, h] : q) w.destroy(e);
    EXPECT_TRUE(q.empty());
}

TYPED_TEST(relation_query, a_target_of_a_grouping_relation_selects_chunks) {
    auto& w = this->world_;
    struct member_of {};
    w.template define<member_of>().relation().grouping();
    auto guilds = this->ids();
    for (int i = 0; i < 6; ++i) guilds.push_back(w.spawn(rank{i}));
    for (int i = 0; i < 60; ++i) {
        const auto e = w.spawn(health{i}, to<member_of>(guilds[static_cast<std::size_t>(i % 5)]));
        if (i % 2 == 0) w.set(e, rank{100});
        if (i % 3 == 0) w.set(e, burning{1});
        if (i % 4 == 0) w.template relate<likes>(e, guilds[1]);
    }
    const auto all = w.template query<const health>();
    for (std::size_t i = 0; i < 6; ++i) {
        std::size_t count = 0;
        all.template to<member_of>(guilds[i]).each([&](auto e, const health& h) {
            EXPECT_EQ(w.template target<member_of>(e), guilds[i]);
            EXPECT_EQ(h.points % 5, static_cast<int>(i));
            ++count;
        });
        EXPECT_EQ(count, i == 5 ? 0u : 12u);
        const auto q = all.template to<member_of>(guilds[i]);
        EXPECT_EQ(q.count(), count);
        EXPECT_EQ(q.template with<rank>().count(), count / 2);
        EXPECT_EQ(q.template with<burning>().count(), count / 3);
        EXPECT_EQ(q.template to<likes>(guilds[1]).count(), count / 4);
    }
    std::size_t chunks = 0;
    all.template to<member_of>(guilds[2]).each_chunk([&](const auto&) { ++chunks; });
    EXPECT_LE(chunks, 12u);
    std::vector<int> order;
    all.template by_target<member_of>().each([&](const health& h) {
        if (order.empty() || order.back() != h.points % 5) order.push_back(h.points % 5);
    });
    EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
    EXPECT_EQ((all.template to<member_of>(w.template query<const rank>()).count()), 60u);
    EXPECT_EQ(all.template to<member_of>(guilds[3]).set(burning{2}), 12u);
    EXPECT_EQ((w.template query<const burning>().template to<member_of>(guilds[3]).count()), 12u);
    w.destroy(guilds[3]);
    EXPECT_EQ(all.template to<member_of>(guilds[3]).count(), 0u);
}

TYPED_TEST(relation_query, a_query_outlives_its_relation_and_its_world) {
    auto& w = this->world_;
    auto owes = w.template relation<int>("owes");
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2});
    w.relate(owes, bob, eve, 1);
    const auto q = w.template query<const health>().to(owes, eve);
    const auto below = w.template query<const health>().under(owes, eve);
    EXPECT_EQ(q.count(), 1u);
    EXPECT_EQ(below.count(), 1u);
    w.destroy(owes.id());
    EXPECT_EQ(q.count(), 0u);
    EXPECT_EQ(below.count(), 0u);
    EXPECT_FALSE(q.matches(bob));
    EXPECT_NE(q.explain(bob).find("does not exist"), std::string::npos) << q.explain(bob);
    w.template query<>().template each_link<likes>([](auto, auto) { FAIL(); });
    w.template relate<likes>(bob, eve);
    const auto fans = w.template query<const health>().template to<likes>(eve);
    EXPECT_EQ(fans.count(), 1u);
    w.reset();
    EXPECT_EQ(fans.count(), 0u);
    auto orphan = fans;
    {
        basic_world<TypeParam> other;
        other.template define<likes>().relation();
        orphan = other.template query<const health>().template to<likes>(other.spawn());
        EXPECT_EQ(orphan.count(), 0u);
    }
    EXPECT_EQ(code_of([&] { (void)orphan.count(); }), errc::world_ended);
    EXPECT_EQ(code_of([&] { orphan.each([](const health&) {}); }), errc::world_ended);
    EXPECT_EQ(code_of([&] { (void)orphan.top_down(); }), errc::world_ended);
    EXPECT_EQ(code_of([&] { orphan.destroy(); }), errc::world_ended);
}

TYPED_TEST(relation_query, a_loop_over_links_ends_with_its_world) {
    auto w = std::make_unique<basic_world<TypeParam>>();
    w->template define<likes>().relation();
    const auto eve = w->spawn();
    for (int i = 0; i < 3; ++i) w->template relate<likes>(w->spawn(health{i}), eve);
    const auto q = w->template query<const health>().template to<likes>(eve);
    int seen = 0;
    for (auto at = q.begin(); at != q.end(); ++at)
        if (++seen == 2) w.reset();
    EXPECT_EQ(seen, 2);
}

// ---- subtrees ----------------------------------------------------------------------------------

TYPED_TEST(relation_query, under_selects_all_below_a_root) {
    auto& w = this->world_;
    const auto root = w.spawn(health{0});
    const auto a = w.spawn(health{1}, to(child_of, root)), b = w.spawn(to(child_of, root));
    const auto c = w.spawn(health{3}, to(child_of, b)), d = w.spawn(health{4}, to(child_of, a));
    const auto other = w.spawn(health{5}), e = w.spawn(health{6}, to(child_of, other));
    const auto all = w.template query<const health>();
    EXPECT_EQ(list_of(all.under(child_of, root)), this->ids(a, d, c));
    EXPECT_EQ(list_of(all.template under<child_of>(root)), this->ids(a, d, c));
    EXPECT_EQ(list_of(all.template under<child_of_t>(other)), this->ids(e));
    EXPECT_EQ(w.template query<>().under(child_of, root).count(), 4u);
    EXPECT_TRUE(all.under(child_of, root).matches(c));
    EXPECT_FALSE(all.under(child_of, root).matches(root));
    EXPECT_FALSE(all.under(child_of, root).matches(e));
    EXPECT_NE(all.under(child_of, root).explain(e).find("it is not below"), std::string::npos);
    // Fewer entities than the subtree has: the components lead.
    w.set(c, rank{1});
    w.set(e, rank{1});
    EXPECT_EQ(list_of(w.template query<const rank>().under(child_of, root)), this->ids(c));
}

TYPED_TEST(relation_query, under_follows_circles_and_many_targets_once) {
    auto& w = this->world_;
    auto all = this->ids();
    for (int i = 0; i < 6; ++i) all.push_back(w.spawn(health{i}));
    for (std::size_t i = 0; i < 6; ++i) {
        w.template relate<docked_at>(all[i], all[(i + 1) % 6]);  // one circle
        w.template relate<likes>(all[i], all[(i + 1) % 6]);
        w.template relate<likes>(all[i], all[(i + 2) % 6]);
    }
    const auto q = w.template query<const health>();
    EXPECT_EQ(q.template under<docked_at>(all[0]).count(), 5u);
    EXPECT_EQ(q.template under<likes>(all[0]).count(), 5u);
    const auto marked = w.template query<const rank>();
    w.set(all[0], rank{});
    w.set(all[3], rank{});
    EXPECT_EQ(list_of(marked.template under<docked_at>(all[0])), this->ids(all[3]));
    EXPECT_EQ(list_of(marked.template under<likes>(all[0])), this->ids(all[3]));
}

TYPED_TEST(relation_query, under_takes_chains_of_any_depth) {
    auto& w = this->world_;
    const auto root = w.spawn(health{0});
    auto last = root;
    for (int i = 1; i <= 60'000; ++i) last = w.spawn(health{i}, to(child_of, last));
    const auto q = w.template query<const health>().under(child_of, root);
    EXPECT_EQ(q.count(), 60'000u);
    int next = 1;
    q.each([&](const health& h) { EXPECT_EQ(h.points, next++); });
    w.set(last, rank{});
    EXPECT_EQ(w.template query<const rank>().under(child_of, root).first(), last);
}

// ---- joins -------------------------------------------------------------------------------------

TYPED_TEST(relation_query, a_join_selects_sources_of_entities_that_another_query_matches) {
    auto& w = this->world_;
    struct ruled_by {};
    w.template define<ruled_by>().relation().exclusive();
    const auto me = w.spawn(), you = w.spawn();
    const auto mars = w.spawn(rank{1}), venus = w.spawn(rank{2}), moon = w.spawn();
    w.template relate<ruled_by>(mars, me);
    w.template relate<ruled_by>(venus, you);
    w.template relate<ruled_by>(moon, me);
    auto ships = this->ids();
    for (int i = 0; i < 12; ++i) {
        ships.push_back(w.spawn(health{i}));
        w.template relate<docked_at>(ships.back(), i % 3 == 0 ? mars : i % 3 == 1 ? venus : moon);
    }
    const auto mine = w.template query<const rank>().template to<ruled_by>(me);
    const auto q = w.template query<const health>().template to<docked_at>(mine);
    EXPECT_EQ(list_of(q), this->ids(ships[0], ships[3], ships[6], ships[9]));
    EXPECT_EQ(list_of(w.template query<const health>().template to<docked_at>(
                          w.template query<const rank>()))
                  .size(),
              8u);
    EXPECT_TRUE(q.matches(ships[3]));
    EXPECT_FALSE(q.matches(ships[1]));
    EXPECT_NE(q.explain(ships[1]).find("joined query"), std::string::npos);
    // Fewer ships than planets' links: the ships lead.
    w.set(ships[3], burning{1});
    w.set(ships[4], burning{1});
    EXPECT_EQ(list_of(w.template query<const burning>().template to<docked_at>(mine)),
              this->ids(ships[3]));
    w.template unrelate<ruled_by>(mars, me);
    EXPECT_TRUE(q.empty());
    w.destroy(me);
    EXPECT_TRUE(q.empty());
}

TYPED_TEST(relation_query, a_join_visits_an_entity_with_several_matching_targets_once) {
    auto& w = this->world_;
    const auto a = w.spawn(rank{}), b = w.spawn(rank{});
    auto fans = this->ids();
    for (int i = 0; i < 5; ++i) {
        fans.push_back(w.spawn(health{i}));
        w.template relate<likes>(fans.back(), a);
        w.template relate<likes>(fans.back(), b);
    }
    for (int i = 0; i < 20; ++i) w.spawn(health{});
    EXPECT_EQ(list_of(w.template query<const health>().template to<likes>(
                  w.template query<const rank>())),
              fans);
}

// ---- links -------------------------------------------------------------------------------------

TYPED_TEST(relation_query, each_link_visits_links_with_their_values) {
    auto& w = this->world_;
    using entity_type = typename TestFixture::id_type;
    const auto owes = w.template relation<int>("owes");
    const auto bob = w.spawn(health{1}), eve = w.spawn(), ann = w.spawn(health{2});
    w.template relate<likes>(bob, eve, likes{1});
    w.template relate<likes>(bob, ann, likes{2});
    w.template relate<likes>(eve, ann, likes{3});
    w.relate(owes, ann, bob, 4);
    w.relate(child_of, bob, eve);
    std::vector<std::tuple<entity_type, entity_type, int>> all;
    w.template query<>().template each_link<likes>(
        [&](entity_type from, entity_type to, likes& value) {
            all.emplace_back(from, to, value.strength++);
        });
    std::ranges::sort(all, {}, [](const auto& link) { return std::get<2>(link); });
    EXPECT_EQ(all, (std::vector<std::tuple<entity_type, entity_type, int>>{
                       {bob, eve, 1}, {bob, ann, 2}, {eve, ann, 3}}));
    EXPECT_EQ(w.template link<likes>(bob, ann).strength, 3);
    int sum = 0;
    w.template query<const health>().template each_link<likes>(
        [&](entity_type from, entity_type) { sum += from == bob ? 1 : 100; });
    EXPECT_EQ(sum, 2);
    w.template query<>().each_link(owes, [&](entity_type from, entity_type to, int& value) {
        EXPECT_EQ(from, ann);
        EXPECT_EQ(to, bob);
        value = 9;
    });
    EXPECT_EQ(w.link(owes, ann, bob), 9);
    int count = 0;
    w.template query<>().each_link(child_of, [&](entity_type, entity_type) { ++count; });
    w.template query<>().template each_link<child_of>([&](entity_type, entity_type) { ++count; });
    w.template query<>().template to<likes>(ann).template each_link<likes>(
        [&](entity_type, entity_type) { ++count; });
    EXPECT_EQ(count, 2 + 3);
    const auto& read = w;
    read.template query<>().template each_link<likes>(
        [&](entity_type, entity_type, const likes&) { ++count; });
    EXPECT_EQ(count, 8);
    // Opens a scope.
    w.template query<>().template each_link<likes>(
        [&](entity_type from, entity_type to) { w.template unrelate<likes>(from, to); });
    EXPECT_EQ(w.template query<>().template with<likes>().count(), 0u);
}

}  // namespace
}  // namespace muster::test
