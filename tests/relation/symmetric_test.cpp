// Symmetric relations: each link has another in the other direction, and both change together.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
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
struct married_to {
    std::string where = "here";
};
struct touches {
    int points = 0;
};
struct borders {};
struct owner_of {
    std::unique_ptr<int> value;
};

template <class Layout>
struct symmetric : testing::Test {
    using id_type = basic_id<Layout>;
    open_world<Layout> world_;

    symmetric() {
        world_.template define<married_to>().relation().exclusive().symmetric();
        world_.template define<touches>().relation().symmetric();
        world_.template define<borders>().relation().symmetric();
    }
    void TearDown() override { expect_both_directions(); }
    template <class R, class Same>
    void expect_pairs(Same same) {
        auto& w = world_;
        for (const auto e : w.entities()) {
            std::set<id_type> targets, sources;
            for (const auto other : std::as_const(w).template targets<R>(e)) targets.insert(other);
            for (const auto other : std::as_const(w).template sources<R>(e)) sources.insert(other);
            EXPECT_EQ(targets, sources) << e;
            EXPECT_EQ(w.template targets<R>(e).size(), targets.size());
            EXPECT_EQ(w.template has<R>(e), !targets.empty());
            for (const auto other : targets) {
                EXPECT_TRUE(w.template related<R>(other, e));
                same(w.template link<R>(e, other), w.template link<R>(other, e));
            }
        }
    }
    void expect_both_directions() {
        expect_pairs<married_to>([](const auto& a, const auto& b) { EXPECT_EQ(a.where, b.where); });
        expect_pairs<touches>([](const auto& a, const auto& b) { EXPECT_EQ(a.points, b.points); });
        expect_pairs<borders>([](const auto&, const auto&) {});
    }
};
TYPED_TEST_SUITE(symmetric, behavior_layouts, layout_names);

TYPED_TEST(symmetric, a_link_holds_in_both_directions) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1}), b = w.spawn(), c = w.spawn(position{3});
    EXPECT_TRUE(w.template relate<touches>(a, b, touches{2}));
    EXPECT_TRUE(w.template relate<touches>(a, c, touches{3}));
    EXPECT_EQ((w.template link<touches>(b, a).points), 2);
    EXPECT_FALSE(w.template relate<touches>(b, a, touches{5}));
    EXPECT_EQ((w.template link<touches>(a, b).points), 5);
    this->expect_both_directions();
    EXPECT_TRUE(w.template unrelate<touches>(b, a));
    EXPECT_FALSE(w.template related<touches>(a, b));
    EXPECT_FALSE(w.template has<touches>(b));
    EXPECT_EQ(w.template unrelate<touches>(c), 1u);
    EXPECT_FALSE(w.template has<touches>(a));
    EXPECT_TRUE(w.template relate<borders>(a, a));  // a self link has one direction
    EXPECT_EQ(w.template targets<borders>(a).size(), 1u);
    EXPECT_FALSE(w.template relate<borders>(a, a));
    EXPECT_TRUE(w.template unrelate<borders>(a, a));
}

TYPED_TEST(symmetric, a_new_partner_frees_the_former_partners) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1}), b = w.spawn(position{2}), c = w.spawn(), d = w.spawn();
    EXPECT_TRUE(w.template relate<married_to>(a, b, married_to{"Rome"}));
    EXPECT_EQ(w.template target<married_to>(b), a);
    EXPECT_TRUE(w.template relate<married_to>(c, d, married_to{"Oslo"}));
    EXPECT_TRUE(w.template relate<married_to>(b, c, married_to{"Bern"}));
    EXPECT_EQ((w.template link<married_to>(c, b).where), "Bern");
    EXPECT_FALSE(w.template has<married_to>(a));
    EXPECT_FALSE(w.template has<married_to>(d));
    this->expect_both_directions();
    EXPECT_EQ(w.template get<position>(b).x, 2);
    EXPECT_FALSE(w.template relate<married_to>(c, b, married_to{"Kiew"}));
    EXPECT_EQ((w.template link<married_to>(b, c).where), "Kiew");
    EXPECT_TRUE(w.template relate<married_to>(c, c));  // frees b
    EXPECT_FALSE(w.template has<married_to>(b));
    this->expect_both_directions();
    EXPECT_TRUE(w.template relate<married_to>(a, c));
    this->expect_both_directions();
    EXPECT_TRUE(w.template remove<married_to>(c));
    EXPECT_FALSE(w.template has<married_to>(a));
    w.set(d, position{4}, to<married_to>(a, married_to{"Ulm"}));
    EXPECT_EQ(w.template target<married_to>(a), d);
    const auto e = w.spawn(to<married_to>(d, married_to{"Graz"}), to<touches>(a, touches{7}));
    EXPECT_EQ((w.template link<married_to>(d, e).where), "Graz");
    EXPECT_FALSE(w.template has<married_to>(a));
    EXPECT_EQ((w.template link<touches>(a, e).points), 7);
    w.clear(d);
    EXPECT_FALSE(w.template has<married_to>(e));
}

TYPED_TEST(symmetric, hooks_see_both_directions_and_may_prevent_them) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    std::string log;
    const auto name = [&](auto e) { return e == a ? "a" : e == b ? "b" : e == c ? "c" : "-"; };
    int calls = 0, stop = -1;
    const auto may_throw = [&] {
        if (calls++ == stop) throw std::runtime_error("veto");
    };
    w.template on_relate<married_to>([&](auto e, auto from, auto to) {
        log += std::string(" ") + name(e) + ":" + name(from) + ">" + name(to);
        may_throw();
    });
    w.template on_unrelate<married_to>([&](auto e, auto from) {
        log += std::string(" ") + name(e) + ":" + name(from) + ">";
        may_throw();
    });
    w.template relate<married_to>(a, b);
    EXPECT_EQ(log, " b:->a a:->b");
    log.clear();
    w.template relate<married_to>(c, b);
    EXPECT_EQ(log, " a:b> b:a>c c:->b");
    for (stop = 0; stop < 3; ++stop) {
        calls = 0;
        EXPECT_THROW(w.template relate<married_to>(a, b), std::runtime_error);
        EXPECT_EQ(w.template target<married_to>(b), c);
        EXPECT_FALSE(w.template has<married_to>(a));
        this->expect_both_directions();
    }
    for (stop = 0; stop < 2; ++stop) {
        calls = 0;
        EXPECT_THROW(w.template unrelate<married_to>(b, c), std::runtime_error);
        calls = 0;
        EXPECT_THROW(w.destroy(c), std::runtime_error);
        this->expect_both_directions();
    }
    stop = -1;
    log.clear();
    w.destroy(c);
    EXPECT_EQ(log, " c:b> b:c>");
}

TYPED_TEST(symmetric, scopes_keep_both_sides_in_step) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1}), b = w.spawn(position{2}), c = w.spawn(position{3});
    w.defer();
    w.template relate<married_to>(a, b);
    w.template relate<married_to>(c, b);
    w.template relate<touches>(a, b, touches{1});
    w.template relate<touches>(b, a, touches{2});
    w.template relate<touches>(b, c, touches{3});
    w.commit();
    EXPECT_EQ(w.template target<married_to>(b), c);
    EXPECT_FALSE(w.template has<married_to>(a));
    EXPECT_EQ((w.template link<touches>(a, b).points), 2);
    this->expect_both_directions();
    w.defer();
    w.template unrelate<touches>(a, b);
    w.template unrelate<married_to>(c);
    w.cancel();
    EXPECT_TRUE(w.template related<touches>(b, a));
    w.defer();
    w.clear(b);
    w.template relate<touches>(b, a, touches{9});
    const auto made = w.spawn(to<touches>(c, touches{4}), to<married_to>(c));
    w.commit();
    EXPECT_EQ((w.template link<touches>(a, b).points), 9);
    EXPECT_FALSE(w.template related<touches>(c, b));
    EXPECT_EQ(w.template target<married_to>(c), made);
    this->expect_both_directions();
    w.template query<position>().each([&](auto e, const position&) {
        w.template relate<borders>(e, a);
        w.template relate<married_to>(e, a);
    });
    this->expect_both_directions();
    w.template query<position>().template remove<married_to>();
    w.template clear<borders>();
    EXPECT_FALSE(w.template has<borders>(a));
}

TYPED_TEST(symmetric, observers_notice_both_directions) {
    auto& w = this->world_;
    auto related = w.template observer<>().template related<married_to, touches>();
    auto unrelated = w.template observer<>().template unrelated<married_to, touches>();
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    const auto sorted = [](auto& from) {
        auto all = from.take();
        std::ranges::sort(all);
        return all;
    };
    using ids = std::vector<basic_id<TypeParam>>;
    w.template relate<touches>(a, b);
    EXPECT_EQ(sorted(related), (ids{a, b}));
    w.template relate<touches>(b, a, touches{3});  // only assigned
    EXPECT_TRUE(related.empty());
    w.template unrelate<touches>(b);
    EXPECT_EQ(sorted(unrelated), (ids{a, b}));
    w.template relate<married_to>(a, b);
    EXPECT_EQ(sorted(related), (ids{a, b}));
    w.template relate<married_to>(c, b);  // frees a
    EXPECT_EQ(sorted(related), (ids{b, c}));
    EXPECT_EQ(sorted(unrelated), (ids{a}));
    w.template on_unrelate<married_to>([] { throw std::runtime_error("no"); });
    EXPECT_THROW(w.template unrelate<married_to>(b), std::runtime_error);
    EXPECT_TRUE(unrelated.empty());
}

/// The partner has no room for a second link to the same entity.
TYPED_TEST(symmetric, a_link_may_be_removed_and_added_again_in_one_scope) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    w.template relate<touches>(a, b, touches{1});
    w.template relate<married_to>(a, b);
    for (int i = 0; i < 40; ++i) {
        w.defer();
        w.template unrelate<touches>(a, b);
        w.template relate<touches>(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, touches{i});
        w.template unrelate<married_to>(a);
        w.template relate<married_to>(a, b, married_to{"Ulm"});
        w.commit();
        ASSERT_EQ((w.template link<touches>(b, a).points), i);
        ASSERT_EQ(w.template sources<touches>(a).size(), 1u);
        ASSERT_EQ(w.template target<married_to>(b), a);
    }
}

TYPED_TEST(symmetric, clones_do_not_take_the_only_partner) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1}), b = w.spawn();
    w.template relate<married_to>(a, b);
    w.template relate<touches>(a, b, touches{3});
    const auto copy = w.clone(a);
    EXPECT_FALSE(w.template has<married_to>(copy));
    EXPECT_EQ((w.template link<touches>(b, copy).points), 3);
    for (const auto e : w.clone_many(3, a)) EXPECT_TRUE(w.template related<touches>(b, e));
    EXPECT_EQ(w.template target<married_to>(a), b);
    this->expect_both_directions();
    EXPECT_EQ(code_of([&] { (void)w.spawn_many(3, to<married_to>(b)); }), errc::limit);
    EXPECT_EQ(w.template target<married_to>(b), a);
    const auto root = w.spawn(), left = w.spawn(to(child_of, root)),
               right = w.spawn(to(child_of, root));
    w.template relate<touches>(left, right, touches{1});
    w.template relate<touches>(root, a, touches{2});
    for (const auto e : w.clone_trees(2, root)) {
        EXPECT_TRUE(w.template related<touches>(a, e));
        for (const auto child : std::as_const(w).children(e))
            EXPECT_EQ(w.template targets<touches>(child).size(), 1u);
    }
}

TYPED_TEST(symmetric, ends_with_either_entity) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    w.template relate<touches>(a, b);
    w.template relate<touches>(a, c);
    w.template relate<married_to>(a, c);
    w.destroy(a);
    EXPECT_FALSE(w.template has<touches>(b));
    EXPECT_FALSE(w.template has<married_to>(c));
    w.template define<borders>().when_target_destroyed(refuse);
    w.template relate<borders>(b, c);
    EXPECT_EQ(code_of([&] { w.destroy(b); }), errc::still_related);
    w.destroy(b, c);
    EXPECT_FALSE(w.alive(b));
    w.template define<borders>().when_target_destroyed(destroy_sources);
    const auto d = w.spawn(), e = w.spawn(to<borders>(d)), f = w.spawn(to<borders>(e));
    w.destroy(f);
    EXPECT_FALSE(w.alive(d));
}

TYPED_TEST(symmetric, definitions_exclude_each_other) {
    auto& w = this->world_;
    EXPECT_EQ(code_of([&] { w.template define<touches>().acyclic(); }), errc::cycle);
    EXPECT_EQ(code_of([&] { w.template define<touches>().leveled(); }), errc::cycle);
    EXPECT_EQ(code_of([&] { w.template define<touches>().grouping(); }), errc::limit);
    EXPECT_EQ(code_of([&] { w.template define<child_of_t>().symmetric(); }), errc::cycle);
    EXPECT_EQ(code_of([&] { w.template define<owner_of>().relation().symmetric(); }),
              errc::not_copyable);
    const auto near = w.template relation<int>("near");
    w.define(near).grouping();
    EXPECT_EQ(code_of([&] { w.define(near).symmetric(); }), errc::limit);
    const auto beside = w.template relation<int>("beside");
    const auto a = w.spawn(), b = w.spawn();
    w.relate(beside, a, b, 3);
    EXPECT_EQ(code_of([&] { w.define(beside).symmetric(); }), errc::fragment_in_use);
    w.unrelate(beside, a, b);
    w.define(beside).symmetric().exclusive();
    w.relate(beside, a, b, 4);
    EXPECT_EQ(w.link(beside, b, a), 4);
    EXPECT_EQ(w.target(beside, w.clone(a)), basic_id<TypeParam>{});
}

TYPED_TEST(symmetric, agrees_with_a_naive_model) {
    auto& w = this->world_;
    std::mt19937 dice(3);
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 12; ++i) all.push_back(w.spawn(position{i}, to(child_of, w.spawn())));
    std::map<basic_id<TypeParam>, basic_id<TypeParam>> partner;
    std::map<std::pair<basic_id<TypeParam>, basic_id<TypeParam>>, int> touching;
    const auto free = [&](auto e) {
        if (!partner.contains(e)) return;
        const auto other = partner[e];
        partner.erase(e);
        partner.erase(other);
    };
    for (int i = 0; i < 2'000; ++i) {
        const auto a = all[dice() % all.size()], b = all[dice() % all.size()];
        switch (dice() % 6) {
        case 0:
            w.template relate<married_to>(a, b);
            free(a);
            free(b);
            partner[a] = b;
            partner[b] = a;
            break;
        case 1:
            w.set(a, to<touches>(b, touches{i}), to(child_of, w.spawn()));
            touching[{a, b}] = touching[{b, a}] = i;
            break;
        case 2:
            w.template relate<touches>(a, b, touches{i});
            touching[{a, b}] = touching[{b, a}] = i;
            break;
        case 3:
            EXPECT_EQ(w.template unrelate<touches>(a, b), touching.erase({a, b}) == 1);
            touching.erase({b, a});
            break;
        case 4:
            w.template unrelate<married_to>(a);
            free(a);
            break;
        default:
            w.set(a, to<married_to>(b), to(child_of, b == a ? w.spawn() : w.spawn()));
            free(a);
            free(b);
            partner[a] = b;
            partner[b] = a;
        }
        if (i % 10 != 0) continue;
        for (const auto e : all) {
            const auto found = partner.find(e);
            ASSERT_EQ(w.template target<married_to>(e),
                      found != partner.end() ? found->second : basic_id<TypeParam>{})
                << i;
            for (const auto other : all) {
                const auto* const link = w.template try_link<touches>(e, other);
                ASSERT_EQ(link != nullptr, touching.contains({e, other})) << i;
                if (link != nullptr) ASSERT_EQ(link->points, (touching[{e, other}]));
            }
        }
    }
}

}  // namespace
}  // namespace muster::test
