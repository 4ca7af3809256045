// Queries and deferred operations: the programs of evolved's README and the cases of its tests, on
// a Muster world.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

template <class Layout>
class evolved_queries : public testing::Test {};
TYPED_TEST_SUITE(evolved_queries, behavior_layouts, layout_names);

template <class Layout>
class evolved_scopes : public testing::Test {};
TYPED_TEST_SUITE(evolved_scopes, behavior_layouts, layout_names);

/// The entities that a query visits, in its order.
template <class Layout, class Query>
std::vector<basic_id<Layout>> seen_by(const Query& query) {
    std::vector<basic_id<Layout>> seen;
    query.each_chunk([&](auto rows) {
        for (const basic_id<Layout> e : rows.entities()) seen.push_back(e);
    });
    return seen;
}

// ---- queries -----------------------------------------------------------------------------------

/// The fragments of the README's section on queries, and entities that match or miss one term.
template <class Layout>
struct poisoned_people {
    basic_world<Layout> w;
    basic_fragment<int, Layout> health = w.template fragment<int>("health");
    basic_id<Layout> poisoned = w.tag("poisoned"), resistant = w.tag("resistant");
    basic_id<Layout> alive = w.tag("alive"), undead = w.tag("undead");
    basic_id<Layout> human = w.spawn(with(health, 2), with(poisoned), with(alive));
    basic_id<Layout> zombie = w.spawn(with(health, 0), with(poisoned), with(undead));
    basic_id<Layout> ghoul = w.spawn(with(health, 5), with(poisoned), with(alive), with(undead));
    basic_id<Layout> healthy = w.spawn(with(health, 9), with(alive));
    basic_id<Layout> immune =
        w.spawn(with(health, 9), with(poisoned), with(resistant), with(alive));
    basic_id<Layout> golem = w.spawn(with(health, 9), with(poisoned));
    basic_id<Layout> ghost = w.spawn(with(poisoned), with(undead));
    basic_id<Layout> bare = w.spawn();
    auto sick() { return w.query().with(health, poisoned).without(resistant).any(alive, undead); }
};

TYPED_TEST(evolved_queries, a_query_requires_all_excludes_any_and_needs_one_of_the_alternatives) {
    poisoned_people<TypeParam> p;
    EXPECT_EQ(seen_by<TypeParam>(p.sick()), (std::vector{p.human, p.zombie, p.ghoul}));
    EXPECT_EQ(p.sick().count(), 3u);
    EXPECT_TRUE(p.sick().matches(p.ghoul));
    for (const auto other : {p.healthy, p.immune, p.golem, p.ghost, p.bare})
        EXPECT_FALSE(p.sick().matches(other)) << other;
}

TYPED_TEST(evolved_queries, the_loop_over_chunks_subtracts_one_health_down_to_zero) {
    poisoned_people<TypeParam> p;
    std::size_t chunks = 0;
    p.sick().each_chunk([&](basic_chunk_view<TypeParam> view) {
        ++chunks;
        EXPECT_EQ(view.components(p.health).size(), view.entities().size());
        for (int& component : view.components(p.health)) component = std::max(component - 1, 0);
    });
    EXPECT_EQ(chunks, 3u);
    EXPECT_EQ(p.w.get(p.human, p.health), 1);
    EXPECT_EQ(p.w.get(p.zombie, p.health), 0);
    EXPECT_EQ(p.w.get(p.ghoul, p.health), 4);
    for (const auto other : {p.healthy, p.immune, p.golem})
        EXPECT_EQ(p.w.get(other, p.health), 9) << other;
}

TYPED_TEST(evolved_queries, a_query_without_terms_matches_every_entity_with_a_fragment) {
    MUSTER_ABOUT_CHUNKS();
    poisoned_people<TypeParam> p;
    EXPECT_EQ(seen_by<TypeParam>(p.w.query()),
              (std::vector{p.human, p.zombie, p.ghoul, p.healthy, p.immune, p.golem, p.ghost}));
}

TYPED_TEST(evolved_queries, disabled_enemies_match_only_a_query_that_names_disabled) {
    basic_world<TypeParam> w;
    const auto enemy_tag = w.tag();
    const auto enabled = w.spawn(with(enemy_tag));
    const auto off = w.spawn(with(enemy_tag), with(disabled));
    const auto model = w.spawn(with(enemy_tag), with(prefab));
    EXPECT_EQ(seen_by<TypeParam>(w.query().with(enemy_tag)), std::vector{enabled});
    EXPECT_EQ(seen_by<TypeParam>(w.query().with(enemy_tag).with(disabled)), std::vector{off});
    EXPECT_EQ(seen_by<TypeParam>(w.query().with(enemy_tag, prefab)), std::vector{model});
    const auto made = w.clone(model);
    EXPECT_EQ(seen_by<TypeParam>(w.query().with(enemy_tag)), (std::vector{enabled, made}));
}

TYPED_TEST(evolved_queries, a_loop_over_the_fragments_of_an_entity_visits_each_component) {
    basic_world<TypeParam> w;
    const auto health = w.template fragment<int>("health");
    const auto stamina = w.template fragment<int>("stamina");
    const auto player = w.spawn(with(health, 100), with(stamina, 50));
    std::string printed;
    w.each_fragment(player, [&](basic_id<TypeParam> fragment, const void* component) {
        printed += detail::text("Fragment (", w.name(fragment), ") has value ",
                                std::to_string(*static_cast<const int*>(component)), "\n");
    });
    EXPECT_EQ(printed, "Fragment (health) has value 100\nFragment (stamina) has value 50\n");
}

TYPED_TEST(evolved_queries, a_loop_over_fragments_can_remove_them_all) {
    basic_world<TypeParam> w;
    const auto [a, b] = w.template ids<2>();
    const auto player = w.spawn(with(a, 1), with(b, 2));
    int seen = 0;
    w.each_fragment(player, [&](basic_id<TypeParam> fragment, void*) {
        ++seen;
        w.remove(player, fragment);
        EXPECT_TRUE(w.has(player, fragment));
    });
    EXPECT_EQ(seen, 2);
    EXPECT_TRUE(w.empty(player));
}

// ---- structural changes in a loop --------------------------------------------------------------

TYPED_TEST(evolved_queries, a_change_in_a_loop_is_applied_when_the_loop_ends) {
    poisoned_people<TypeParam> p;
    std::vector<basic_id<TypeParam>> made;
    p.sick().each([&](basic_id<TypeParam> e) {
        p.w.remove(e, p.poisoned);
        EXPECT_TRUE(p.w.has(e, p.poisoned));
        made.push_back(p.w.clone(e));
        EXPECT_TRUE(p.w.empty(made.back()));
        EXPECT_EQ(p.w.depth(), 1u);
    });
    EXPECT_EQ(made.size(), 3u);
    EXPECT_TRUE(p.sick().empty());
    for (const auto clone : made) EXPECT_EQ(p.w.has(clone, p.poisoned), false) << clone;
    EXPECT_EQ(p.w.depth(), 0u);
}

// ---- deferred operations -----------------------------------------------------------------------

TYPED_TEST(evolved_scopes, a_removal_is_applied_at_the_commit) {
    basic_world<TypeParam> w;
    const auto [health, poisoned] = w.template ids<2>();
    const auto player = w.spawn(with(health, 100), with(poisoned, true));
    w.defer();
    EXPECT_TRUE(w.remove(player, poisoned));
    EXPECT_TRUE(w.has(player, poisoned));
    w.commit();
    EXPECT_FALSE(w.has(player, poisoned));
    EXPECT_EQ(w.template get<int>(player, health), 100);
}

TYPED_TEST(evolved_scopes, a_cancelled_removal_is_not_applied) {
    basic_world<TypeParam> w;
    const auto [health, poisoned] = w.template ids<2>();
    const auto player = w.spawn(with(health, 100), with(poisoned, true));
    w.defer();
    w.remove(player, poisoned);
    EXPECT_TRUE(w.has(player, poisoned));
    w.cancel();
    EXPECT_TRUE(w.has(player, poisoned));
    w.defer();
    EXPECT_TRUE(w.commit());
    EXPECT_TRUE(w.has(player, poisoned));
}

TYPED_TEST(evolved_scopes, only_the_outermost_scope_reports_that_it_opened_and_closed) {
    basic_world<TypeParam> w;
    EXPECT_EQ(w.depth(), 0u);
    for (const bool first : {false, true})
        for (const bool second : {false, true}) {
            EXPECT_TRUE(w.defer());
            EXPECT_EQ(w.depth(), 1u);
            EXPECT_FALSE(w.defer());
            EXPECT_EQ(w.depth(), 2u);
            EXPECT_FALSE(first ? w.commit() : w.cancel());
            EXPECT_EQ(w.depth(), 1u);
            EXPECT_FALSE(w.defer());
            EXPECT_FALSE(w.cancel());
            EXPECT_TRUE(second ? w.commit() : w.cancel());
            EXPECT_EQ(w.depth(), 0u);
        }
}

TYPED_TEST(evolved_scopes, closing_without_an_open_scope_is_an_error) {
    basic_world<TypeParam> w;
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::unbalanced_scope);
    EXPECT_EQ(code_of([&] { w.cancel(); }), errc::unbalanced_scope);
    w.defer();
    w.commit();
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::unbalanced_scope);
    EXPECT_EQ(w.depth(), 0u);
}

/// Whether a change in the outer scope and a change in the inner scope were applied.
template <class Layout>
std::pair<bool, bool> after_nested(bool inner_commits, bool outer_commits) {
    basic_world<Layout> w;
    const auto [e, f1, f2, f3] = w.template ids<4>();
    w.defer();
    w.set(e, f1);
    w.defer();
    w.set(e, f2);
    EXPECT_FALSE(w.has_any(e, f1, f2));
    inner_commits ? w.commit() : w.cancel();
    EXPECT_FALSE(w.has_any(e, f1, f2));
    w.set(e, f3);
    outer_commits ? w.commit() : w.cancel();
    EXPECT_EQ(w.has(e, f3), w.has(e, f1));
    return {w.has(e, f1), w.has(e, f2)};
}

TYPED_TEST(evolved_scopes, cancelling_affects_the_scope_and_its_inner_scopes_only) {
    using both = std::pair<bool, bool>;
    EXPECT_EQ(after_nested<TypeParam>(true, true), both(true, true));
    EXPECT_EQ(after_nested<TypeParam>(false, true), both(true, false));
    EXPECT_EQ(after_nested<TypeParam>(true, false), both(false, false));
    EXPECT_EQ(after_nested<TypeParam>(false, false), both(false, false));
}

TYPED_TEST(evolved_scopes,
           sets_removals_clears_and_destroys_of_many_entities_are_applied_together) {
    basic_world<TypeParam> w;
    const auto f1 = w.template fragment<int>(), f2 = w.template fragment<int>(),
               f3 = w.template fragment<int>();
    w.define(f1).default_value(42);
    const auto e1 = w.spawn(with(f3, 44));
    const auto e2 = w.spawn(with(f1, 45), with(f2, 46), with(f3, 47));
    const auto e3 = w.clone(e2);
    const auto e4 = w.spawn();
    w.defer();
    w.defer();
    w.set(e1, f1);
    w.set(e1, f2, 43);
    w.remove(e2, f1, f2);
    w.set(e2, f3, 48);
    w.clear(e3);
    w.set(e3, f1, 49);
    w.destroy(e4);
    const auto unchanged = [&] {
        return w.has_none(e1, f1, f2) && w.get(e1, f3) == 44 && w.get(e2, f1) == 45 &&
               w.get(e2, f2) == 46 && w.get(e2, f3) == 47 && w.get(e3, f1) == 45 &&
               w.get(e3, f2) == 46 && w.get(e3, f3) == 47 && w.alive(e4);
    };
    EXPECT_TRUE(unchanged());
    w.commit();
    EXPECT_TRUE(unchanged());
    w.commit();
    EXPECT_EQ(w.get(e1, f1), 42);
    EXPECT_EQ(w.get(e1, f2), 43);
    EXPECT_EQ(w.get(e1, f3), 44);
    EXPECT_TRUE(w.has_none(e2, f1, f2));
    EXPECT_EQ(w.get(e2, f3), 48);
    EXPECT_TRUE(w.has_none(e3, f2, f3));
    EXPECT_EQ(w.get(e3, f1), 49);
    EXPECT_FALSE(w.alive(e4));
}

// The remaining evolved tests of deferred spawns, clones and destroys.

TYPED_TEST(evolved_scopes, an_entity_spawned_in_a_scope_is_alive_and_empty_until_the_commit) {
    basic_world<TypeParam> w;
    const auto f1 = w.template fragment<int>(), f2 = w.template fragment<int>();
    const auto tag = w.tag();
    w.define(f2).default_value(3);
    w.define(f1).needs(f2);
    w.defer();
    const auto bare = w.spawn();
    const auto single = w.spawn(with(f1, 41));
    const auto several = w.spawn(with(f1, 41), with(f2, 42), with(tag));
    for (const auto e : {bare, single, several}) EXPECT_TRUE(w.alive(e) && w.empty(e));
    EXPECT_TRUE(w.commit());
    EXPECT_TRUE(w.alive(bare) && w.empty(bare));
    EXPECT_EQ(w.get(single, f1), 41);
    EXPECT_EQ(w.get(single, f2), 3);
    EXPECT_EQ(w.get(several, f2), 42);
    EXPECT_TRUE(w.has(several, tag));
    EXPECT_FALSE(w.has(single, tag));
}

TYPED_TEST(evolved_scopes, entities_spawned_in_a_cancelled_scope_are_destroyed) {
    basic_world<TypeParam> w;
    const auto prototype = w.spawn(7);
    w.defer();
    auto made = w.spawn_many(3, std::string("never seen"));
    made.push_back(w.spawn());
    made.push_back(w.clone(prototype));
    made.push_back(w.tag("a tag"));
    made.push_back(w.template fragment<int>("a fragment"));
    for (const auto e : w.template ids<2>()) made.push_back(e);
    for (const auto e : made) EXPECT_TRUE(w.alive(e)) << e;
    w.cancel();
    for (const auto e : made) EXPECT_FALSE(w.alive(e)) << e;
    EXPECT_EQ(w.size(), 1u);
    EXPECT_TRUE(w.lookup("a tag").is_null());
    EXPECT_EQ(w.template count<std::string>(), 0u);
}

TYPED_TEST(evolved_scopes, a_builder_can_change_after_it_has_spawned_in_a_scope) {
    basic_world<TypeParam> w;
    const auto [f1, f2] = w.template ids<2>();
    auto recipe = w.builder();
    w.defer();
    const auto e1 = recipe.set(f1, 41).spawn();
    const auto e2 = recipe.set(f2, 42).clone(e1);
    recipe.clear();
    const auto e3 = recipe.set(f2, 43).spawn();
    for (const auto e : {e1, e2, e3}) EXPECT_TRUE(w.has_none(e, f1, f2));
    w.commit();
    EXPECT_EQ(w.template get<int>(e1, f1), 41);
    EXPECT_FALSE(w.has(e1, f2));
    EXPECT_EQ(w.template get<int>(e2, f1), 41);
    EXPECT_EQ(w.template get<int>(e2, f2), 42);
    EXPECT_FALSE(w.has(e3, f1));
    EXPECT_EQ(w.template get<int>(e3, f2), 43);
}

TYPED_TEST(evolved_scopes, a_clone_in_a_scope_includes_earlier_pending_changes_of_its_prototype) {
    basic_world<TypeParam> w;
    const auto f1 = w.template fragment<int>(), f2 = w.template fragment<int>(),
               f3 = w.template fragment<int>();
    const auto prototype = w.spawn(with(f1, 1), with(f2, 2));
    w.defer();
    const auto plain = w.clone(prototype);
    const auto changed = w.clone(prototype, with(f1, 11), with(f3, 33));
    w.set(prototype, f1, 5);
    w.remove(prototype, f2);
    const auto later = w.clone(prototype);
    for (const auto e : {plain, changed, later}) EXPECT_TRUE(w.alive(e) && w.empty(e));
    w.commit();
    EXPECT_EQ(w.get(plain, f1), 1);
    EXPECT_EQ(w.get(plain, f2), 2);
    EXPECT_FALSE(w.has(plain, f3));
    EXPECT_EQ(w.get(changed, f1), 11);
    EXPECT_EQ(w.get(changed, f2), 2);
    EXPECT_EQ(w.get(changed, f3), 33);
    EXPECT_EQ(w.get(later, f1), 5);
    EXPECT_FALSE(w.has(later, f2));
}

TYPED_TEST(evolved_scopes, spawn_many_and_clone_many_work_in_a_scope_as_outside) {
    basic_world<TypeParam> w;
    const auto passport = w.template fragment<std::string>("passport");
    w.define(passport).unique();
    const auto prototype = w.spawn(7, with(passport, std::string("X")));
    w.defer();
    const auto spawned = w.spawn_many(10, 1, std::string("one"));
    const auto cloned = w.clone_many(10, prototype, std::string("two"));
    EXPECT_EQ(w.template count<int>(), 1u);
    w.commit();
    for (const auto e : spawned) EXPECT_EQ(w.template get<std::string>(e), "one");
    for (const auto e : cloned) EXPECT_EQ(w.template get<int>(e), 7);
    for (const auto e : cloned) EXPECT_FALSE(w.has(e, passport));
    EXPECT_EQ(w.locate(spawned[0]).chunk, w.locate(cloned[9]).chunk);
    EXPECT_EQ(w.template count<std::string>(), 20u);
}

TYPED_TEST(evolved_scopes, clearing_or_destroying_an_entity_repeatedly_is_accepted) {
    basic_world<TypeParam> w;
    const auto all = w.spawn_many(4, 1);
    w.defer();
    for (const auto e : {all[0], all[1], all[0]}) EXPECT_TRUE(w.clear(e));
    w.destroy(all[2], all[3], all[2], all[2]);
    for (const auto e : all) EXPECT_TRUE(w.alive(e) && !w.empty(e));
    w.commit();
    EXPECT_TRUE(w.alive_all(all[0], all[1]));
    EXPECT_TRUE(w.empty(all[0]) && w.empty(all[1]));
    EXPECT_FALSE(w.alive_any(all[2], all[3]));
    EXPECT_EQ(w.size(), 2u);
}

TYPED_TEST(evolved_scopes, changes_after_a_destroy_in_the_same_scope_are_dropped) {
    basic_world<TypeParam> w;
    const auto e = w.spawn(1);
    w.defer();
    w.destroy(e);
    w.set(e, 2, std::string("too late"));
    w.commit();
    EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.template count<int>(), 0u);
    EXPECT_EQ(w.template count<std::string>(), 0u);
}

TYPED_TEST(evolved_scopes, a_destroyed_fragment_is_removed_from_its_entities_at_the_commit) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto [f1, f2, f3] = w.template ids<3>();
    w.set(f2, f1);
    w.set(f3, f2);
    const auto owner = w.spawn(with(f1), 5);
    w.defer();
    EXPECT_TRUE(w.destroy(f1));
    EXPECT_TRUE(w.alive(f1) && w.has(owner, f1) && w.has(f2, f1));
    w.commit();
    EXPECT_FALSE(w.alive(f1));
    EXPECT_TRUE(w.alive(f2) && w.empty(f2));
    EXPECT_TRUE(w.has(f3, f2));
    EXPECT_EQ(w.locate(owner).chunk, w.template chunk<int>());
}

TYPED_TEST(evolved_scopes, a_destroyed_fragment_can_destroy_its_entities_at_the_commit) {
    basic_world<TypeParam> w;
    const auto [f1, f2, f3] = w.template ids<3>();
    w.set(f1, f1);
    w.set(f2, f1);
    w.set(f3, f2);
    w.define(f1).when_destroyed(destroy_owners);
    const auto other = w.spawn(5);
    w.defer();
    const auto late = w.spawn(with(f1));
    w.destroy(f1);
    EXPECT_TRUE(w.alive_all(f1, f2, f3, late));
    w.commit();
    EXPECT_FALSE(w.alive_any(f1, f2, late));
    EXPECT_TRUE(w.alive(f3) && w.empty(f3));  // its fragment f2 was destroyed
    EXPECT_TRUE(w.alive(other));
}

TYPED_TEST(evolved_scopes, clearing_a_fragment_keeps_its_position_among_the_changes) {
    basic_world<TypeParam> w;
    const auto before = w.spawn(1), after = w.spawn();
    w.defer();
    w.set(before, 2);
    w.template clear<int>();
    w.set(after, 3);
    w.set(before, std::string("still there"));
    w.commit();
    EXPECT_FALSE(w.template has<int>(before));
    EXPECT_EQ(w.template get<int>(after), 3);
    EXPECT_EQ(w.template get<std::string>(before), "still there");
}

TYPED_TEST(evolved_scopes, a_fragment_made_in_a_scope_can_be_used_in_it) {
    basic_world<TypeParam> w;
    const auto e = w.spawn();
    w.defer();
    const auto health = w.template fragment<int>("health");
    const auto plain = w.spawn();
    w.set(e, health, 100);
    w.set(e, plain, std::string("of any type"));
    w.commit();
    EXPECT_EQ(w.get(e, health), 100);
    EXPECT_EQ(w.template get<std::string>(e, plain), "of any type");
}

TYPED_TEST(evolved_scopes, an_id_used_as_a_fragment_only_in_a_cancelled_scope_remains_untyped) {
    basic_world<TypeParam> w;
    const auto [e, f] = w.template ids<2>();
    w.defer();
    w.set(e, f, 1);
    w.cancel();
    w.set(e, f, std::string("text"));
    EXPECT_EQ(w.template get<std::string>(e, f), "text");
}

TYPED_TEST(evolved_scopes, garbage_is_not_collected_in_a_scope) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto chunk = w.template chunk<int>();
    w.defer();
    EXPECT_EQ(code_of([&] { w.collect_garbage(); }), errc::in_scope);
    EXPECT_EQ(code_of([&] { w.reset(); }), errc::in_scope);
    EXPECT_EQ(w.template chunk<int>(), chunk);
    EXPECT_TRUE(w.commit());
    w.collect_garbage();
    w.reset();
    EXPECT_EQ(w.size(), 0u);
}

}  // namespace
}  // namespace muster::test
