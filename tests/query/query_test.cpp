// Queries: which entities match, in which order, and which changes a loop may make.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

struct place {
    int x = 0, y = 0;
};
struct speed {
    int value = 0;
};
struct label {
    std::string text;
};
struct frozen {};
struct other_tag {};

template <class Layout>
class query : public testing::Test {
protected:
    using id_type = basic_id<Layout>;
    basic_world<Layout> w;

    template <class Query>
    static std::vector<id_type> seen(const Query& q) {
        std::vector<id_type> made;
        for (const auto& value : q) made.push_back(std::get<0>(value));
        return made;
    }
};
TYPED_TEST_SUITE(query, behavior_layouts, layout_names);

TYPED_TEST(query, matches_entities_with_all_components_and_passes_them) {
    const auto a = this->w.spawn(place{1, 2}, speed{3});
    this->w.spawn(place{5, 5});
    const auto b = this->w.spawn(speed{4}, label{"b"}, place{7, 8});
    int sum = 0;
    this->w.template query<place, const speed>().each([&](place& p, const speed& s) {
        sum += p.x * s.value;
        p.y = 0;
    });
    EXPECT_EQ(sum, 3 + 28);
    EXPECT_EQ(this->w.template get<place>(a).y + this->w.template get<place>(b).y, 0);
}

TYPED_TEST(query, visits_entities_by_chunk_and_row_in_creation_order) {
    MUSTER_ABOUT_CHUNKS();
    const auto a = this->w.spawn(place{}, frozen{});
    const auto b = this->w.spawn(place{});
    const auto c = this->w.spawn(place{}, frozen{});
    const auto d = this->w.spawn(place{}, speed{});
    const std::vector wanted{a, c, b, d};
    auto q = this->w.template query<const place>();
    EXPECT_EQ(this->seen(q), wanted);
    std::vector<basic_id<TypeParam>> by_each;
    q.each([&](basic_id<TypeParam> e, const place&) { by_each.push_back(e); });
    EXPECT_EQ(by_each, wanted);
    EXPECT_EQ(q.first(), a);
}

TYPED_TEST(query, without_excludes_and_any_requires_one_of_a_group) {
    const auto plain = this->w.spawn(place{});
    const auto cold = this->w.spawn(place{}, frozen{});
    const auto fast = this->w.spawn(place{}, speed{});
    const auto both = this->w.spawn(place{}, speed{}, frozen{}, label{});
    auto q = this->w.template query<place>();
    using ids = std::vector<basic_id<TypeParam>>;
    EXPECT_EQ(this->seen(q.template without<frozen>()), (ids{plain, fast}));
    EXPECT_EQ(this->seen(q.template with<frozen>().template without<label>()), (ids{cold}));
    EXPECT_EQ(this->seen(q.template any<frozen, speed>()), (ids{cold, fast, both}));
    EXPECT_EQ(this->seen(q.template any<frozen>().template any<label, other_tag>()), (ids{both}));
    EXPECT_EQ(this->seen(this->w.query().template without<place>()), (ids{}));
    const auto lone = this->w.spawn(label{});
    this->w.spawn();  // without components, so no query matches it
    EXPECT_EQ(this->seen(this->w.query().template without<place>()), (ids{lone}));
    EXPECT_EQ(this->w.query().count(), 5u);
}

TYPED_TEST(query, accepts_ids_fragments_and_lists_of_them) {
    MUSTER_ABOUT_CHUNKS();
    const auto health = this->w.template fragment<int>("health");
    const auto enemy = this->w.tag("enemy");
    const auto a = this->w.spawn(with(health, 1), place{});
    const auto b = this->w.spawn(with(health, 2), with(enemy));
    using ids = std::vector<basic_id<TypeParam>>;
    EXPECT_EQ(this->seen(this->w.query().with(health)), (ids{a, b}));
    EXPECT_EQ(this->seen(this->w.query().with(health).without(enemy)), (ids{a}));
    EXPECT_EQ(this->seen(this->w.query().with(this->w.template component<place>())), (ids{a}));
    const ids list{health.id(), enemy};
    EXPECT_EQ(this->seen(this->w.query().with(std::span(list))), (ids{b}));
    EXPECT_EQ(this->seen(this->w.query().any(std::span(list))), (ids{a, b}));
    EXPECT_EQ(this->seen(this->w.query().with(health).without(std::span(list).subspan(1))),
              (ids{a}));
    int sum = 0;
    this->w.query().with(health).each_chunk([&](basic_chunk_view<TypeParam> v) {
        for (const int component : v.components(health)) sum += component;
    });
    EXPECT_EQ(sum, 3);
}

TYPED_TEST(query, passes_a_pointer_to_an_optional_component) {
    this->w.spawn(place{1, 0});
    this->w.spawn(place{2, 0}, speed{5});
    std::vector<int> found;
    this->w.template query<const place, speed*>().each([&](const place& p, speed* s) {
        found.push_back(s == nullptr ? -p.x : s->value);
        if (s != nullptr) s->value = 6;
    });
    EXPECT_EQ(found, (std::vector<int>{-1, 5}));
    EXPECT_EQ(
        this->w.template find_if<speed>([](const speed& s) { return s.value == 6; }).is_null(),
        false);
}

TYPED_TEST(query, skips_hidden_entities_unless_it_names_the_hiding_fragment) {
    const auto seen = this->w.spawn(place{});
    const auto sleeps = this->w.spawn(place{}, disabled);
    const auto model = this->w.spawn(place{}, prefab);
    auto q = this->w.template query<place>();
    using ids = std::vector<basic_id<TypeParam>>;
    EXPECT_EQ(this->seen(q), (ids{seen}));
    EXPECT_EQ(this->seen(q.with(disabled)), (ids{sleeps}));
    EXPECT_EQ(this->seen(q.any(disabled, prefab)), (ids{sleeps, model}));
    EXPECT_EQ(this->seen(this->w.template query<place, disabled_t*>()), (ids{seen, sleeps}));
    this->w.remove(sleeps, disabled);
    EXPECT_EQ(q.count(), 2u);
    this->w.template define<place>().hidden();  // the query names it
    EXPECT_EQ(q.count(), 2u);
    EXPECT_EQ(this->w.query().template without<label>().count(), 0u);
    this->w.template define<place>().hidden(false);
    EXPECT_EQ(this->w.query().template without<label>().count(), 2u);
}

TYPED_TEST(query, a_stored_query_follows_created_and_freed_chunks) {
    auto q = this->w.template query<place>();
    EXPECT_TRUE(q.empty());
    const auto a = this->w.spawn(place{});
    EXPECT_EQ(q.count(), 1u);
    const auto b = this->w.spawn(place{}, label{"x"});
    EXPECT_EQ(q.count(), 2u);
    this->w.destroy(a);
    this->w.collect_garbage();
    EXPECT_EQ(this->seen(q), std::vector{b});
    this->w.destroy(this->w.template component<place>());
    EXPECT_TRUE(q.empty());
    const auto c = this->w.spawn(place{});  // the query follows the type to its new fragment
    EXPECT_EQ(this->seen(q), std::vector{c});
    this->w.reset();
    EXPECT_TRUE(q.empty());
    this->w.spawn(place{});
    EXPECT_EQ(q.count(), 1u);
}

TYPED_TEST(query, a_destroyed_fragment_matches_nothing_and_excludes_nothing) {
    const auto tag = this->w.tag();
    const auto e = this->w.spawn(place{}, with(tag));
    auto has = this->w.query().with(tag);
    auto lacks = this->w.template query<place>().without(tag);
    EXPECT_EQ(has.count(), 1u);
    EXPECT_EQ(lacks.count(), 0u);
    this->w.destroy(tag);
    EXPECT_EQ(has.count(), 0u);
    EXPECT_EQ(this->seen(lacks), std::vector{e});
    EXPECT_EQ(this->w.query().with(basic_id<TypeParam>{}).count(), 0u);
}

TYPED_TEST(query, is_deduced_from_a_callback) {
    const auto e = this->w.spawn(place{1, 1}, speed{2});
    this->w.spawn(place{5, 5});
    int calls = 0;
    this->w.each([&](basic_id<TypeParam> id, place& p, const speed& s) {
        EXPECT_EQ(id, e);
        p.x += s.value;
        ++calls;
    });
    this->w.each([&](const place&) { ++calls; });
    this->w.each([&](place& p, const speed* s) mutable { calls += s == nullptr ? p.x : 0; });
    EXPECT_EQ(calls, 1 + 2 + 5);
    EXPECT_EQ(this->w.template get<place>(e).x, 3);
}

TYPED_TEST(query, changes_in_a_loop_are_applied_at_its_end) {
    const auto e = this->w.spawn(place{});
    auto q = this->w.template query<place>();
    q.each([&](place&) {
        this->w.set(e, speed{});
        EXPECT_FALSE(this->w.template has<speed>(e));
        EXPECT_EQ(code_of([&] { this->w.collect_garbage(); }), errc::in_scope);
    });
    EXPECT_TRUE(this->w.template has<speed>(e));
    for (const auto& value : q) {
        (void)value;
        this->w.template remove<speed>(e);
        auto second = q.begin();
        EXPECT_EQ(std::get<0>(*second), e);
    }
    EXPECT_FALSE(this->w.template has<speed>(e));
    q.each_chunk([&](const auto&) { EXPECT_TRUE(this->w.clear(e)); });
    EXPECT_TRUE(this->w.empty(e));
    this->w.set(e, place{});
    EXPECT_THROW(q.each([&](place&) {
        this->w.destroy(e);
        throw std::runtime_error("out");
    }),
                 std::runtime_error);
    EXPECT_EQ(this->w.depth(), 0u);
    EXPECT_TRUE(this->w.destroy(e));
}

TYPED_TEST(query, each_chunk_passes_spans_of_whole_chunks) {
    MUSTER_ABOUT_CHUNKS();
    for (int i = 0; i < 100; ++i) this->w.spawn(place{i, 0}, speed{1});
    int sum = 0;
    std::size_t chunks = 0;
    this->w.template query<place, const speed>().each_chunk([&](basic_chunk_view<TypeParam> v) {
        ++chunks;
        const std::span<place> p = v.template components<place>();
        const std::span<const speed> s = v.template components<const speed>();
        ASSERT_EQ(p.size(), v.entities().size());
        for (std::size_t i = 0; i < v.size(); ++i) sum += p[i].x * s[i].value;
        EXPECT_TRUE(v.template has<place>());
        EXPECT_FALSE(v.template has<label>());
    });
    EXPECT_EQ(sum, 4950);
    EXPECT_EQ(chunks, 1u);
}

TYPED_TEST(query, explains_term_by_term) {
    this->w.name(this->w.template component<place>(), "place");
    const auto e = this->w.spawn(place{}, frozen{});
    this->w.name(e, "goblin");
    auto q = this->w.template query<place>().template with<speed>().template without<frozen>();
    const std::string why = q.explain(e);
    EXPECT_FALSE(q.matches(e));
    EXPECT_NE(why.find("speed, which is required; it has "), std::string::npos) << why;
    EXPECT_TRUE(why.ends_with("frozen, which is excluded")) << why;
    EXPECT_NE(why.find("\"goblin\" does not match: it has place; "), std::string::npos) << why;
    EXPECT_NE(this->w.template query<place>().explain(e).find(" matches: it has place"),
              std::string::npos);
    EXPECT_NE(q.explain(this->w.spawn()).find("it has no components"), std::string::npos);
    EXPECT_NE(q.explain({}).find("it is not alive"), std::string::npos);
    this->w.set(e, prefab);
    EXPECT_NE(this->w.template query<place>().explain(e).find("it is hidden by prefab"),
              std::string::npos);
}

TYPED_TEST(query, too_many_terms_are_an_error) {
    auto q = this->w.query();
    for (int i = 0; i < 16; ++i) q = q.with(this->w.tag());
    EXPECT_EQ(code_of([&] { (void)q.with(this->w.tag()); }), errc::limit);
    EXPECT_EQ(q.count(), 0u);
}

/// Compares queries over random entities with a loop over all entities.
TYPED_TEST(query, agrees_with_a_check_of_every_entity) {
    std::mt19937 dice(7);
    auto& world = this->w;
    const auto a = world.template fragment<int>("a");
    auto first = world.template query<place>().template without<frozen>();
    auto second = world.query().with(a).template any<speed, label>();
    auto third = world.template query<const speed, place*>().without(a);
    std::vector<basic_id<TypeParam>> all;
    for (int step = 0; step < 3000; ++step) {
        const auto what = dice() % 10;
        if (what < 4 || all.empty()) {
            all.push_back(world.spawn());
        } else {
            const std::size_t at = dice() % all.size();
            const auto e = all[at];
            switch (dice() % 12) {
            case 0: world.set(e, place{}); break;
            case 1: world.set(e, speed{}); break;
            case 2: world.set(e, label{}); break;
            case 3: world.template add<frozen>(e); break;
            case 4: world.set(e, a, 1); break;
            case 5: world.template remove<place>(e); break;
            case 6: world.template remove<frozen, speed>(e); break;
            case 7: world.remove(e, a); break;
            case 8:
                world.destroy(e);
                all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
                break;
            case 9: world.set(e, disabled); break;
            case 10: world.remove(e, disabled); break;
            case 11:
                if (dice() % 50 == 0) world.collect_garbage();
                break;
            }
        }
        if (step % 20 != 0) continue;
        const auto expect = [&](const auto& q, auto wanted) {
            std::vector<basic_id<TypeParam>> expected;
            for (const auto e : all)
                if (!world.has(e, disabled) && wanted(e)) expected.push_back(e);
            std::vector<basic_id<TypeParam>> found = this->seen(q);
            std::ranges::sort(expected);
            std::ranges::sort(found);
            ASSERT_EQ(found, expected);
            ASSERT_EQ(q.count(), found.size());
            for (const auto e : all)
                ASSERT_EQ(q.matches(e), std::ranges::binary_search(expected, e));
        };
        expect(first, [&](auto e) {
            return world.template has<place>(e) && !world.template has<frozen>(e);
        });
        expect(second,
               [&](auto e) { return world.has(e, a) && world.template has_any<speed, label>(e); });
        expect(third, [&](auto e) { return world.template has<speed>(e) && !world.has(e, a); });
    }
}

int visits = 0;
void count_visit(place&) {
    ++visits;
}

TEST(each_of_a_world, takes_the_entity_by_reference_to_const) {
    world w;
    const entity e = w.spawn(place{});
    std::vector<entity> found;
    w.each([&](const entity& visited, place&) { found.push_back(visited); });
    EXPECT_EQ(found, (std::vector{e}));
}

TEST(each_of_a_world, takes_functions_and_noexcept_callbacks) {
    world w;
    w.spawn(place{});
    visits = 0;
    w.each(count_visit);
    w.each([](place&) noexcept { ++visits; });
    EXPECT_EQ(visits, 2);
}

TYPED_TEST(query, world_calls_for_a_fragment_work_on_hidden_values_that_queries_skip) {
    auto& world = this->w;
    const auto hidden = world.spawn(speed{1}, prefab);
    world.spawn(speed{2}, disabled);
    const auto shown = world.spawn(speed{3});
    world.set_single(speed{4});
    const auto is = [](int value) { return [=](const speed& s) { return s.value == value; }; };
    EXPECT_EQ(world.template count<speed>(), 4u);
    EXPECT_EQ(world.count(world.template component<speed>()), 4u);
    EXPECT_EQ(world.template find_if<speed>(is(1)), hidden);
    EXPECT_EQ(world.template find_if<speed>(is(4)), world.template component<speed>());
    const auto q = world.template query<speed>();
    EXPECT_TRUE(q.matches(shown) && !q.matches(hidden));
    EXPECT_EQ(q.count(), 2u);  // a singleton is not hidden
    const auto copy = world.template fragment<speed>("copy");
    EXPECT_EQ(world.copy_fragment(world.template component<speed>(), copy), 4u);
    EXPECT_TRUE(world.has(hidden, copy));
    EXPECT_EQ(world.template clear<speed>(), 4u);
}

}  // namespace
}  // namespace muster::test
