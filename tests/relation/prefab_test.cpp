// Values that instances inherit from their prefabs.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/id_lists.hpp"

namespace muster::test {
namespace {

struct place {
    int x = 0;
};
struct health {
    int points = 0;
};
struct label {
    std::string text = "none";
};
struct undead {};
struct fixed {
    std::unique_ptr<int> value;
};

template <class Layout>
struct prefabs_of : id_lists<Layout> {
    using id_type = basic_id<Layout>;
    basic_world<Layout> world_;
    prefabs_of() {
        world_.template define<health>().inherited();
        world_.template define<label>().inherited();
        world_.template define<undead>().inherited();
    }
    /// Returns what a query of inherited values shows, by entity.
    std::map<id_type, int> shown() {
        std::map<id_type, int> all;
        world_.template query<const health>().each(
            [&](id_type e, const health& h) { all[e] = h.points; });
        return all;
    }
};
TYPED_TEST_SUITE(prefabs_of, behavior_layouts, layout_names);

TYPED_TEST(prefabs_of, an_instance_reads_the_values_of_its_prefab) {
    auto& w = this->world_;
    const auto goblin = w.spawn(health{20}, label{"goblin"}, undead{}, prefab);
    const auto e = w.spawn(place{1}, to(is_a, goblin)), other = w.spawn(place{2});
    const auto& seen = w;
    EXPECT_EQ(&w.template get<const health>(e), &w.template get<health>(goblin));
    EXPECT_EQ(seen.template get<const label>(e).text, "goblin");
    EXPECT_EQ(w.template try_get<const health>(e)->points, 20);
    EXPECT_TRUE(w.template has<const undead>(e));
    EXPECT_FALSE(w.template has<undead>(e));
    EXPECT_FALSE(w.template has<health>(e));
    EXPECT_EQ(w.template try_get<health>(e), nullptr);
    EXPECT_EQ(w.template try_get<const health>(other), nullptr);
    EXPECT_FALSE(w.template has<const health>(other));
    EXPECT_EQ(w.template try_get<const place>(w.spawn(to(is_a, e))), nullptr);  // not inherited
    w.template get<health>(goblin).points = 25;
    EXPECT_EQ(w.template get<const health>(e).points, 25);
}

TYPED_TEST(prefabs_of, an_inherited_value_cannot_be_written_by_accident) {
    auto& w = this->world_;
    const auto goblin = w.spawn(health{20}, prefab);
    w.name(goblin, "goblin");
    const auto e = w.spawn(place{1}, to(is_a, goblin)), other = w.spawn();
    EXPECT_EQ(code_of([&] { (void)w.template get<health>(e); }), errc::inherited_component);
    EXPECT_EQ(code_of([&] { w.template touch<health>(e); }), errc::inherited_component);
    EXPECT_EQ(code_of([&] { (void)w.template get<health>(other); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { (void)w.template get<label>(e); }), errc::missing_component);
    const std::string why = sentence_of([&] { (void)w.template get<health>(e); });
    EXPECT_NE(why.find("\"goblin\""), std::string::npos) << why;
    EXPECT_NE(why.find("own"), std::string::npos) << why;
    int count = 0;
    w.template query<health>().each([&](health&) { ++count; });
    EXPECT_EQ(count, 0);
    w.template query<place>().template with<health>().each([&](place&) { ++count; });
    EXPECT_EQ(count, 0);
    w.template query<place>().template without<health>().each([&](place&) { ++count; });
    EXPECT_EQ(count, 1);
}

TYPED_TEST(prefabs_of, own_set_and_patch_give_an_instance_its_own_copy) {
    auto& w = this->world_;
    const auto goblin = w.spawn(health{20}, label{"goblin"}, undead{}, prefab);
    const auto a = w.spawn(to(is_a, goblin)), b = w.spawn(to(is_a, goblin)),
               c = w.spawn(to(is_a, goblin));
    int inserted = 0;
    w.template on_insert<health>([&] { ++inserted; });
    w.template own<health>(a).points -= 5;
    EXPECT_EQ(inserted, 1);
    EXPECT_EQ(&w.template own<health>(a), &w.template get<health>(a));
    w.template patch<health>(b, [](health& h) { h.points -= 1; });
    w.set(c, health{7});
    EXPECT_EQ(w.template get<health>(a).points, 15);
    EXPECT_EQ(w.template get<health>(b).points, 19);
    EXPECT_EQ(w.template get<const health>(c).points, 7);
    EXPECT_EQ(w.template get<health>(goblin).points, 20);
    EXPECT_EQ(this->shown(),
              (std::map<typename TestFixture::id_type, int>{{a, 15}, {b, 19}, {c, 7}}));
    EXPECT_TRUE(w.template remove<health>(a));
    EXPECT_FALSE(w.template remove<health>(a));
    EXPECT_EQ(w.template get<const health>(a).points, 20);
    (void)w.template own<undead>(a);
    EXPECT_TRUE(w.template has<undead>(a));
    EXPECT_EQ(w.template own<label>(b).text, "goblin");
    const auto lone = w.spawn(place{});
    EXPECT_EQ(code_of([&] { (void)w.template own<health>(lone); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { w.template patch<health>(lone, [](health&) {}); }),
              errc::missing_component);
}

TYPED_TEST(prefabs_of, queries_of_const_components_see_inherited_values) {
    auto& w = this->world_;
    const auto goblin = w.spawn(health{20}, label{"goblin"}, prefab);
    const auto ogre = w.spawn(health{50}, prefab);
    const auto query = w.template query<place, const health>();
    const auto optional = w.template query<place, const label*>();
    std::map<typename TestFixture::id_type, int> wanted;
    for (int i = 0; i < 150; ++i) {
        wanted[w.spawn(place{i}, to(is_a, goblin))] = 20;
        wanted[w.spawn(place{i}, to(is_a, ogre))] = 50;
        wanted[w.spawn(place{i}, health{i})] = i;
    }
    const auto poor = w.spawn(place{1});
    decltype(wanted) found;
    query.each([&](auto e, place& p, const health& h) {
        ++p.x;
        found[e] = h.points;
    });
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(query.count(), 450u);
    EXPECT_TRUE(query.matches(wanted.begin()->first));
    EXPECT_FALSE(query.matches(poor));
    found.clear();
    for (auto [e, p, h] : query) found[e] = h.points;
    EXPECT_EQ(found, wanted);
    int labels = 0, all = 0;
    optional.each([&](place&, const label* l) {
        ++all;
        labels += l != nullptr ? 1 : 0;
    });
    EXPECT_EQ(all, 451);
    EXPECT_EQ(labels, 150);
    const auto& seen = w;
    EXPECT_EQ(seen.template query<const health>().count(), 450u);
    EXPECT_EQ(w.template query<health>().count(), 150u);
    EXPECT_EQ(w.template query<const health>().with(prefab).count(), 2u);
    // The address of the value is found by each loop.
    w.template get<health>(goblin).points = 21;
    for (int i = 0; i < 100; ++i) (void)w.spawn(health{}, label{}, prefab);  // moves the column
    EXPECT_EQ(this->shown()[wanted.begin()->first],
              wanted.begin()->second == 20 ? 21 : wanted.begin()->second);
}

TYPED_TEST(prefabs_of, a_prefab_that_changes_changes_what_queries_see) {
    auto& w = this->world_;
    const auto monster = w.spawn(health{1}, prefab), goblin = w.spawn(prefab, to(is_a, monster));
    const auto e = w.spawn(place{}, to(is_a, goblin));
    using map = std::map<typename TestFixture::id_type, int>;
    EXPECT_EQ(this->shown(), (map{{e, 1}}));
    w.set(goblin, health{5});
    EXPECT_EQ(this->shown(), (map{{e, 5}}));
    EXPECT_EQ(w.template get<const health>(e).points, 5);
    w.template remove<health>(goblin);
    EXPECT_EQ(this->shown(), (map{{e, 1}}));
    w.template remove<health>(monster);
    EXPECT_EQ(this->shown(), map{});
    EXPECT_FALSE(w.template has<const health>(e));
    w.set(monster, health{9});
    EXPECT_EQ(this->shown(), (map{{e, 9}}));
    const auto other = w.spawn(health{30}, prefab);
    w.relate(is_a, goblin, other);
    EXPECT_EQ(this->shown(), (map{{e, 30}}));
    w.unrelate(is_a, goblin, other);
    EXPECT_EQ(this->shown(), map{});
    w.relate(is_a, e, other);
    EXPECT_EQ(this->shown(), (map{{e, 30}}));
    w.destroy(e);
    EXPECT_EQ(this->shown(), map{});
}

TYPED_TEST(prefabs_of, the_nearest_prefab_counts) {
    auto& w = this->world_;
    const auto monster = w.spawn(health{1}, label{"monster"}, prefab);
    const auto goblin = w.spawn(health{2}, prefab, to(is_a, monster));
    const auto chief = w.spawn(label{"chief"}, prefab, to(is_a, goblin));
    const auto e = w.spawn(to(is_a, chief));
    EXPECT_EQ(w.template get<const health>(e).points, 2);
    EXPECT_EQ(w.template get<const label>(e).text, "chief");
    EXPECT_EQ(w.template get<const label>(goblin).text, "monster");
    const auto copy = w.clone(e), child = w.clone_tree(chief);
    EXPECT_EQ(w.template get<const health>(copy).points, 2);
    EXPECT_EQ(w.target(is_a, copy), chief);
    EXPECT_FALSE(w.template has<health>(copy));
    EXPECT_EQ(w.target(is_a, child), goblin);
    EXPECT_EQ(w.template get<const health>(child).points, 2);
    EXPECT_EQ(code_of([&] { w.destroy(goblin); }), errc::still_related);
    EXPECT_EQ(code_of([&] { w.relate(is_a, monster, chief); }), errc::cycle);
}

TYPED_TEST(prefabs_of, sparse_fragments_are_inherited) {
    auto& w = this->world_;
    w.template define<place>().sparse().inherited();
    const auto a = w.spawn(place{1}, prefab), b = w.spawn(prefab);
    const auto first = w.spawn(to(is_a, a)), second = w.spawn(to(is_a, b), place{5}),
               third = w.spawn(to(is_a, b));
    const auto loose = w.spawn(place{7});
    std::map<typename TestFixture::id_type, int> found;
    const auto look = [&] {
        found.clear();
        w.template query<const place>().each([&](auto e, const place& p) { found[e] = p.x; });
        EXPECT_EQ(w.template query<const place>().count(), found.size());
        return found;
    };
    using map = std::map<typename TestFixture::id_type, int>;
    EXPECT_EQ(look(), (map{{first, 1}, {second, 5}, {loose, 7}}));
    w.set(b, place{3});
    EXPECT_EQ(look(), (map{{first, 1}, {second, 5}, {third, 3}, {loose, 7}}));
    EXPECT_EQ(w.template get<const place>(third).x, 3);
    EXPECT_EQ(w.template query<place>().count(), 2u);
    w.template own<place>(third).x = 4;
    w.template remove<place>(b);
    EXPECT_EQ(look(), (map{{first, 1}, {second, 5}, {third, 4}, {loose, 7}}));
    int seen = 0;
    w.template query<const health*, const place*>().each(
        [&](const health*, const place* p) { seen += p != nullptr ? p->x : 0; });
    EXPECT_EQ(seen, 17);
}

TYPED_TEST(prefabs_of, a_query_notices_each_of_many_sparse_fragments_of_a_prefab) {
    auto& w = this->world_;
    w.template define<place>().sparse().inherited();
    for (int i = 0; i < 80; ++i) {
        const auto more = w.template fragment<int>();
        w.define(more).sparse().inherited();
    }
    const auto prototype = w.spawn(prefab);
    (void)w.spawn(to(is_a, prototype));
    const auto places = w.template query<const place>();
    EXPECT_EQ(places.count(), 0u);
    w.set(prototype, place{1});
    EXPECT_EQ(places.count(), 1u);
    w.template remove<place>(prototype);
    EXPECT_EQ(places.count(), 0u);
}

TYPED_TEST(prefabs_of, fragments_made_at_run_time_are_inherited) {
    auto& w = this->world_;
    const auto armor = w.template fragment<int>("armor");
    w.define(armor).inherited();
    const auto knight = w.spawn(with(armor, 12), prefab), e = w.spawn(to(is_a, knight));
    EXPECT_EQ(w.template get<const int>(e, armor.id()), 12);
    EXPECT_EQ(code_of([&] { (void)w.get(e, armor); }), errc::inherited_component);
    w.own(e, armor) += 1;
    EXPECT_EQ(w.get(e, armor), 13);
    EXPECT_EQ(w.get(knight, armor), 12);
    w.remove(e, armor);
    w.patch(e, armor, [](int& a) { a += 2; });
    EXPECT_EQ(w.get(e, armor), 14);
    w.destroy(armor.id());
    (void)w.template query<const health>().count();
    (void)w.template fragment<int>("other");
    EXPECT_EQ(this->shown().size(), 0u);
}

TYPED_TEST(prefabs_of, scopes_record_own_copies) {
    auto& w = this->world_;
    const auto goblin = w.spawn(health{20}, prefab), e = w.spawn(place{}, to(is_a, goblin));
    w.defer();
    w.template own<health>(e).points = 3;
    EXPECT_EQ(w.template own<health>(e).points, 3);
    w.template patch<health>(e, [](health& h) { h.points += 1; });
    EXPECT_EQ(w.template get<const health>(e).points, 20);
    w.commit();
    EXPECT_EQ(w.template get<health>(e).points, 4);
    w.template remove<health>(e);
    w.defer();
    w.template own<health>(e).points = 3;
    w.cancel();
    EXPECT_FALSE(w.template has<health>(e));
    w.defer();
    const auto young = w.spawn(place{}, to(is_a, goblin));
    EXPECT_EQ(w.template try_get<const health>(young), nullptr);  // not an instance yet
    w.commit();
    EXPECT_EQ(w.template get<const health>(young).points, 20);
    w.template query<const health>().template without<health>().each(
        [&](auto found, const health&) { w.template own<health>(found).points += 1; });
    EXPECT_EQ(w.template get<health>(young).points, 21);
    EXPECT_EQ(w.template get<health>(e).points, 21);
}

TYPED_TEST(prefabs_of, values_that_cannot_be_copied_are_inherited_but_not_owned) {
    auto& w = this->world_;
    w.template define<fixed>().inherited();
    const auto goblin = w.spawn(prefab);
    w.set(goblin, fixed{std::make_unique<int>(4)});
    const auto e = w.spawn(to(is_a, goblin));
    EXPECT_EQ(*w.template get<const fixed>(e).value, 4);
    EXPECT_EQ(code_of([&] { (void)w.template own<fixed>(e); }), errc::not_copyable);
    w.set(e, fixed{});
    EXPECT_EQ(w.template get<const fixed>(e).value, nullptr);
}

TYPED_TEST(prefabs_of, explain_tells_that_a_value_is_inherited) {
    auto& w = this->world_;
    const auto goblin = w.spawn(health{20}, prefab), e = w.spawn(to(is_a, goblin)),
               other = w.spawn(place{});
    const auto query = w.template query<const health>();
    EXPECT_NE(query.explain(e).find("inherits"), std::string::npos) << query.explain(e);
    EXPECT_NE(query.explain(other).find("it has no"), std::string::npos);
    w.set(e, health{});
    EXPECT_EQ(query.explain(e).find("inherits"), std::string::npos);
}

TYPED_TEST(prefabs_of, dead_null_and_foreign_ids_inherit_nothing) {
    auto& w = this->world_;
    const auto goblin = w.spawn(health{20}, prefab), dead = w.spawn(to(is_a, goblin));
    w.destroy(dead);
    basic_world<TypeParam> elsewhere;
    using any_id = basic_id<TypeParam>;
    for (const auto e : {dead, any_id{}}) {
        EXPECT_FALSE(w.template has<const health>(e));
        EXPECT_EQ(w.template try_get<const health>(e), nullptr);
        EXPECT_EQ(code_of([&] { (void)w.template get<const health>(e); }), errc::dead_entity);
        EXPECT_EQ(code_of([&] { (void)w.template own<health>(e); }), errc::dead_entity);
    }
    if (TypeParam::world_bits != 0)
        EXPECT_EQ(code_of([&] { (void)w.template own<health>(elsewhere.spawn()); }),
                  errc::foreign_entity);
}

TYPED_TEST(prefabs_of, a_reset_keeps_the_definition) {
    auto& w = this->world_;
    (void)w.spawn(to(is_a, w.spawn(health{20}, prefab)));
    EXPECT_EQ(this->shown().size(), 1u);
    w.reset();
    EXPECT_EQ(this->shown().size(), 0u);
    const auto e = w.spawn(to(is_a, w.spawn(health{21}, prefab)));
    EXPECT_EQ(w.template get<const health>(e).points, 21);
    EXPECT_EQ(this->shown().size(), 1u);
}

/// Random forests of prefabs, compared with a naive model.
TEST(inheritance_model, finds_what_a_naive_model_finds) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
        world w;
        if (seed % 2 == 0)
            w.define<health>().sparse().inherited();
        else
            w.define<health>().inherited();
        w.define<undead>().inherited();
        struct known {
            int points = -1;  // no own value
            bool is_undead = false;
            std::size_t above = ~std::size_t{0};
        };
        std::vector<entity> all;
        std::vector<known> model;
        for (int i = 0; i < 16; ++i) {
            all.push_back(w.spawn(place{i}));
            model.emplace_back();
        }
        const auto query = w.query<const health>();
        const auto both = w.query<const place, const health*, const undead*>();
        for (int step = 0; step < 120; ++step) {
            const std::size_t e = below(all.size()), target = below(all.size());
            switch (below(8)) {
            case 0: w.set(all[e], health{step}), model[e].points = step; break;
            case 1: w.remove<health>(all[e]), model[e].points = -1; break;
            case 2:
            case 3: {
                bool is_circle = false;
                for (std::size_t at = target; at != ~std::size_t{0}; at = model[at].above)
                    is_circle |= at == e;
                EXPECT_EQ(code_of([&] { w.relate(is_a, all[e], all[target]); }),
                          is_circle ? std::optional(errc::cycle) : std::nullopt);
                if (!is_circle) model[e].above = target;
                break;
            }
            case 4: w.unrelate<is_a>(all[e]), model[e].above = ~std::size_t{0}; break;
            case 5:
                if (model[e].is_undead)
                    w.remove<undead>(all[e]);
                else
                    w.set(all[e], undead{});
                model[e].is_undead = !model[e].is_undead;
                break;
            case 6:
                all.push_back(w.clone(all[e]));
                model.push_back(model[e]);
                break;
            default:
                if (w.has<const health>(all[e])) {
                    const int points = w.get<const health>(all[e]).points;
                    EXPECT_EQ(w.own<health>(all[e]).points, points);
                    model[e].points = points;
                }
            }
            std::map<entity, int> wanted, found;
            std::map<entity, bool> undeads, seen;
            for (std::size_t i = 0; i < all.size(); ++i) {
                std::size_t at = i, mark = i;
                while (at != ~std::size_t{0} && model[at].points == -1) at = model[at].above;
                while (mark != ~std::size_t{0} && !model[mark].is_undead) mark = model[mark].above;
                undeads[all[i]] = mark != ~std::size_t{0};
                ASSERT_EQ(w.has<health>(all[i]), model[i].points != -1);
                ASSERT_EQ(w.has<const undead>(all[i]), mark != ~std::size_t{0});
                const health* const shown = w.try_get<const health>(all[i]);
                ASSERT_EQ(shown != nullptr, at != ~std::size_t{0});
                if (shown == nullptr) continue;
                ASSERT_EQ(shown->points, model[at].points);
                wanted[all[i]] = model[at].points;
            }
            query.each([&](entity one, const health& h) { found[one] = h.points; });
            ASSERT_EQ(found, wanted) << step;
            ASSERT_EQ(query.count(), wanted.size());
            found.clear();
            both.each([&](entity one, const place&, const health* h, const undead* u) {
                if (h != nullptr) found[one] = h->points;
                seen[one] = u != nullptr;
            });
            ASSERT_EQ(found, wanted) << step;
            ASSERT_EQ(seen, undeads) << step;
        }
    }
}

}  // namespace
}  // namespace muster::test
