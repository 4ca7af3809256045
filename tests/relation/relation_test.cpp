// Links between entities: the semantics of relations, line by line.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/id_lists.hpp"

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct likes {
    int strength = 0;
};
struct docked_at {};
struct part_of {};
struct depends_on {};
struct memory {
    std::unique_ptr<int> text = std::make_unique<int>(7);
};
struct note {
    std::string text = "none";
};
struct plain {};

template <class Layout>
struct relations_of : id_lists<Layout> {
    using id_type = basic_id<Layout>;
    basic_world<Layout> world_;
    relations_of() {
        world_.template define<likes>().relation();
        world_.template define<docked_at>().relation().exclusive().when_target_destroyed(refuse);
        world_.template define<part_of>().relation().exclusive().acyclic().when_target_destroyed(
            pass_on);
        world_.template define<depends_on>().relation().acyclic().when_target_destroyed(
            destroy_sources);
    }
};
TYPED_TEST_SUITE(relations_of, behavior_layouts, layout_names);

TYPED_TEST(relations_of, links_have_many_targets_with_a_value_each) {
    auto& w = this->world_;
    const auto bob = w.spawn(position{1}), alice = w.spawn(), eve = w.spawn(position{2});
    EXPECT_TRUE(w.template relate<likes>(bob, alice, likes{3}));
    EXPECT_TRUE(w.template relate<likes>(bob, eve, likes{4}));
    EXPECT_FALSE(w.template relate<likes>(bob, alice, likes{5}));
    EXPECT_EQ(w.template link<likes>(bob, alice).strength, 5);
    EXPECT_EQ(w.template link<likes>(bob, eve).strength, 4);
    EXPECT_EQ(w.template try_link<likes>(alice, bob), nullptr);
    EXPECT_TRUE(w.template related<likes>(bob, eve));
    EXPECT_FALSE(w.template related<likes>(eve, bob));
    EXPECT_EQ(list_of(w.template targets<likes>(bob)), this->ids(alice, eve));
    EXPECT_EQ(list_of(w.template sources<likes>(eve)), this->ids(bob));
    EXPECT_EQ(w.template targets<likes>(bob).size(), 2u);
    EXPECT_TRUE(w.template unrelate<likes>(bob, alice));
    EXPECT_FALSE(w.template unrelate<likes>(bob, alice));
    EXPECT_EQ(list_of(w.template targets<likes>(bob)), this->ids(eve));
    EXPECT_TRUE(w.template sources<likes>(alice).empty());
    EXPECT_EQ(w.template unrelate<likes>(bob), 1u);
    EXPECT_EQ(w.template unrelate<likes>(bob), 0u);
    EXPECT_FALSE(w.template has<likes>(bob));
    EXPECT_EQ(w.template get<position>(bob).x, 1);
    EXPECT_TRUE(w.empty(alice));
}

TYPED_TEST(relations_of, exclusive_relations_replace_their_target) {
    auto& w = this->world_;
    const auto ship = w.spawn(position{1}), mars = w.spawn(), venus = w.spawn();
    EXPECT_TRUE(w.template relate<docked_at>(ship, mars));
    EXPECT_EQ(w.template target<docked_at>(ship), mars);
    EXPECT_TRUE(w.template relate<docked_at>(ship, venus));
    EXPECT_EQ(w.template target<docked_at>(ship), venus);
    EXPECT_TRUE(w.template sources<docked_at>(mars).empty());
    EXPECT_EQ(list_of(w.template sources<docked_at>(venus)), this->ids(ship));
    EXPECT_FALSE(w.template unrelate<docked_at>(ship, mars));
    EXPECT_TRUE(w.template has<docked_at>(ship));
    EXPECT_TRUE(w.template unrelate<docked_at>(ship, venus));
    EXPECT_FALSE(w.template target<docked_at>(ship));
    EXPECT_EQ(w.template get<position>(ship).x, 1);
}

TYPED_TEST(relations_of, relations_made_at_run_time_have_values_too) {
    auto& w = this->world_;
    const auto owes = w.template relation<int>("owes");
    const auto bob = w.spawn(), alice = w.spawn();
    EXPECT_TRUE(w.relate(owes, bob, alice, 5));
    EXPECT_EQ(w.link(owes, bob, alice), 5);
    w.link(owes, bob, alice) += 2;
    EXPECT_EQ(*w.try_link(owes, bob, alice), 7);
    EXPECT_EQ(w.target(owes, bob), alice);
    EXPECT_EQ(list_of(w.sources(owes, alice)), this->ids(bob));
    EXPECT_TRUE(w.related(owes, bob, alice));
    EXPECT_TRUE(w.unrelate(owes, bob, alice));
    w.relate(owes, bob, alice);
    EXPECT_EQ(w.link(owes, bob, alice), 0);
    EXPECT_TRUE(w.destroy(owes));  // takes all its links along
    EXPECT_TRUE(w.empty(bob));
    EXPECT_TRUE(w.alive_all(bob, alice));
    EXPECT_EQ(code_of([&] { w.relate(owes, bob, alice); }), errc::dead_fragment);
    EXPECT_FALSE(w.related(owes, bob, alice));
}

TYPED_TEST(relations_of, values_may_be_of_any_movable_type) {
    auto& w = this->world_;
    w.template define<memory>().relation();
    w.template define<note>().relation().exclusive();
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    for (const auto target : {a, b, c}) w.template relate<memory>(a, target);
    *w.template link<memory>(a, b).text = 9;
    EXPECT_TRUE(w.template unrelate<memory>(a, a));
    EXPECT_EQ(*w.template link<memory>(a, b).text, 9);
    EXPECT_EQ(*w.template link<memory>(a, c).text, 7);
    EXPECT_EQ(code_of([&] { w.clone(a); }), errc::not_copyable);
    w.template relate<note>(a, b, note{"a text that is longer than a small string"});
    w.template relate<note>(a, c, note{"another text that is longer than a small string"});
    EXPECT_EQ(w.template link<note>(a, c).text, "another text that is longer than a small string");
    EXPECT_EQ(w.template try_link<note>(a, b), nullptr);
    w.defer();
    w.template relate<note>(a, b, note{"first of the texts that a scope records here"});
    w.template relate<note>(a, c, note{"second of the texts that a scope records here"});
    w.template unrelate<note>(a, b);
    w.template unrelate<memory>(a, b);
    w.template relate<memory>(a, b);
    w.commit();
    EXPECT_EQ(w.template link<note>(a, c).text, "second of the texts that a scope records here");
    EXPECT_EQ(*w.template link<memory>(a, b).text, 7);
    w.destroy(b);
    EXPECT_EQ(list_of(w.template targets<memory>(a)), this->ids(c));
}

TYPED_TEST(relations_of, a_recycled_target_is_a_stranger) {
    auto& w = this->world_;
    const auto bob = w.spawn(), alice = w.spawn();
    w.template relate<likes>(bob, alice);
    w.destroy(alice);
    EXPECT_FALSE(w.template has<likes>(bob));
    const auto other = w.spawn();
    EXPECT_EQ(other.key(), alice.key());
    EXPECT_TRUE(w.template sources<likes>(other).empty());
    EXPECT_FALSE(w.template related<likes>(bob, other));
    EXPECT_FALSE(w.template related<likes>(bob, alice));
    EXPECT_EQ(code_of([&] { w.template relate<likes>(bob, alice); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { w.template relate<likes>(alice, bob); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { w.template relate<likes>(bob, basic_id<TypeParam>()); }),
              errc::dead_entity);
    EXPECT_TRUE(w.empty(bob));
}

TYPED_TEST(relations_of, reading_accepts_any_id) {
    auto& w = this->world_;
    const auto a = w.spawn(), dead = w.spawn();
    w.destroy(dead);
    for (const auto e : {dead, basic_id<TypeParam>()}) {
        EXPECT_FALSE(w.template target<likes>(e));
        EXPECT_TRUE(w.template targets<likes>(e).empty());
        EXPECT_TRUE(w.template sources<docked_at>(e).empty());
        EXPECT_FALSE(w.template related<likes>(e, a) || w.template related<likes>(a, e));
        EXPECT_FALSE(w.parent(e) || w.root(e) || w.is_below(e, a) || w.is_below(a, e));
        EXPECT_EQ(w.level(e), 0u);
        EXPECT_TRUE(w.children(e).empty() && w.ancestors(e).empty() && w.descendants(e).empty());
        EXPECT_FALSE(w.template unrelate<likes>(e, a) || w.template unrelate<likes>(a, e));
        EXPECT_EQ(w.template unrelate<likes>(e), 0u);
        EXPECT_EQ(code_of([&] { (void)w.template link<likes>(e, a); }), errc::dead_entity);
        EXPECT_EQ(code_of([&] { (void)w.template link<likes>(a, e); }), errc::dead_entity);
    }
    EXPECT_EQ(code_of([&] { (void)w.template link<likes>(a, a); }), errc::missing_component);
}

TYPED_TEST(relations_of, only_relations_relate) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    EXPECT_EQ(code_of([&] { w.template relate<plain>(a, b); }), errc::not_a_relation);
    EXPECT_FALSE(w.template related<plain>(a, b));
    EXPECT_TRUE(w.template targets<plain>(a).empty());
    for (const auto use :
         {+[](basic_world<TypeParam>& x, basic_id<TypeParam> e) { x.set(e, likes{}); },
          +[](basic_world<TypeParam>& x, basic_id<TypeParam> e) { x.template add<likes>(e); },
          +[](basic_world<TypeParam>& x, basic_id<TypeParam>) { x.spawn(likes{}); },
          +[](basic_world<TypeParam>& x, basic_id<TypeParam>) { x.spawn(position{}, likes{}); },
          +[](basic_world<TypeParam>& x, basic_id<TypeParam>) { x.spawn_many(3, likes{}); },
          +[](basic_world<TypeParam>& x, basic_id<TypeParam> e) { x.template emplace<likes>(e); }})
        EXPECT_EQ(code_of([&] { use(w, a); }), errc::type_mismatch);
    EXPECT_EQ(w.size(), 2u);
    EXPECT_TRUE(w.empty(a));
    w.set(a, plain{});
    EXPECT_EQ(code_of([&] { w.template define<plain>().relation(); }), errc::fragment_in_use);
    w.template relate<likes>(a, b);
    EXPECT_EQ(code_of([&] { w.template define<likes>().exclusive(); }), errc::fragment_in_use);
    EXPECT_EQ(code_of([&] { w.template define<likes>().acyclic(); }), errc::fragment_in_use);
    EXPECT_TRUE(w.template related<likes>(a, b));
}

TYPED_TEST(relations_of, an_entity_may_relate_to_itself_unless_that_is_a_cycle) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1});
    EXPECT_TRUE(w.template relate<likes>(a, a));
    EXPECT_TRUE(w.template relate<docked_at>(a, a));
    EXPECT_EQ(code_of([&] { w.relate(child_of, a, a); }), errc::cycle);
    EXPECT_EQ(code_of([&] { w.template relate<depends_on>(a, a); }), errc::cycle);
    EXPECT_TRUE(w.destroy(a));  // its own link does not refuse it
    const auto b = w.spawn();
    EXPECT_TRUE(w.template sources<docked_at>(b).empty());
}

TYPED_TEST(relations_of, cycles_are_refused_and_named) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    w.name(a, "a");
    w.name(b, "b");
    w.name(c, "c");
    w.relate(child_of, b, a);
    w.relate(child_of, c, b);
    const std::string sentence = sentence_of([&] { w.relate(child_of, a, c); });
    EXPECT_NE(sentence.find("child_of is acyclic"), std::string::npos) << sentence;
    const auto place = [&](const char* name) { return sentence.find(name); };
    EXPECT_LT(place("\"a\""), place("\"c\""));
    EXPECT_LT(place("\"c\""), place("\"b\""));
    EXPECT_FALSE(w.parent(a));
    w.template relate<depends_on>(a, b);
    w.template relate<depends_on>(b, c);
    w.template relate<depends_on>(a, c);
    EXPECT_EQ(code_of([&] { w.template relate<depends_on>(c, a); }), errc::cycle);
    EXPECT_EQ(w.template targets<depends_on>(c).size(), 0u);
}

TYPED_TEST(relations_of, a_cycle_across_a_scope_drops_one_entity_s_changes) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    w.defer();
    w.relate(child_of, a, b);
    w.set(a, position{1});
    w.relate(child_of, b, a);
    w.set(b, position{2});
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::cycle);
    EXPECT_EQ(w.parent(a), b);
    EXPECT_FALSE(w.parent(b));
    EXPECT_TRUE(w.template has<position>(a));
    EXPECT_FALSE(w.template has<position>(b));  // all of its changes, or none
}

TYPED_TEST(relations_of, hierarchies_can_be_walked) {
    auto& w = this->world_;
    const auto root = w.spawn();
    const auto left = w.spawn(to(child_of, root)), right = w.spawn(to(child_of, root));
    const auto leaf = w.spawn(position{3}, to(child_of, left)), last = w.spawn(to(child_of, left));
    EXPECT_EQ(w.parent(leaf), left);
    EXPECT_EQ(w.root(leaf), root);
    EXPECT_EQ(w.root(root), root);
    EXPECT_EQ(w.level(leaf), 2u);
    EXPECT_EQ(w.level(root), 0u);
    EXPECT_EQ(list_of(w.children(root)), this->ids(left, right));
    EXPECT_EQ(list_of(w.ancestors(leaf)), this->ids(left, root));
    EXPECT_EQ(list_of(w.descendants(root)), this->ids(left, leaf, last, right));
    EXPECT_EQ(list_of(w.descendants(left)), this->ids(leaf, last));
    EXPECT_TRUE(w.is_below(leaf, root));
    EXPECT_FALSE(w.is_below(root, leaf) || w.is_below(leaf, leaf) || w.is_below(right, left));
    EXPECT_EQ(w.template get<position>(leaf).x, 3);
    const auto& view = std::as_const(w);
    EXPECT_EQ(list_of(view.children(left)), this->ids(leaf, last));
    EXPECT_EQ(list_of(view.descendants(root)).size(), 4u);
}

TYPED_TEST(relations_of, children_keep_their_order_when_others_leave) {
    auto& w = this->world_;
    const auto root = w.spawn();
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 1000; ++i) all.push_back(w.spawn(position{i}, to(child_of, root)));
    for (std::size_t i = 0; i < all.size(); ++i)
        if (i % 3 == 0)
            w.destroy(all[i]);
        else if (i % 3 == 1)
            w.template unrelate<child_of>(all[i], root);
    const auto left = list_of(w.children(root));
    ASSERT_EQ(left.size(), 333u);
    EXPECT_TRUE(
        std::ranges::is_sorted(left, {}, [&](auto e) { return w.template get<position>(e).x; }));
    for (const auto e : left) EXPECT_EQ(w.parent(e), root);
}

TYPED_TEST(relations_of, a_destroyed_parent_takes_its_children_along) {
    auto& w = this->world_;
    const auto root = w.spawn(position{});
    const auto other = w.spawn();
    auto up = root;
    for (int i = 0; i < 20; ++i) up = w.spawn(position{i}, to(child_of, up));
    w.template relate<likes>(other, up);
    EXPECT_TRUE(w.destroy(root));
    EXPECT_EQ(w.size(), 1u);
    EXPECT_FALSE(w.template has<likes>(other));
}

TYPED_TEST(relations_of, chains_may_be_deep) {
    auto& w = this->world_;
    const auto root = w.spawn();
    auto up = root;
    constexpr unsigned depth = 60'000;
    for (unsigned i = 0; i < depth; ++i) up = w.spawn(to(child_of, up));
    EXPECT_EQ(w.level(up), depth);
    EXPECT_EQ(w.root(up), root);
    EXPECT_EQ(code_of([&] { w.relate(child_of, root, up); }), errc::cycle);
    EXPECT_TRUE(w.destroy(root));
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(relations_of, a_target_may_refuse_its_end) {
    auto& w = this->world_;
    const auto mars = w.spawn(), ship = w.spawn(), shuttle = w.spawn();
    w.template relate<docked_at>(ship, mars);
    w.template relate<docked_at>(shuttle, mars);
    w.name(ship, "ship");
    const std::string sentence = sentence_of([&] { w.destroy(mars); });
    EXPECT_NE(sentence.find("2 entities are still related"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("\"ship\""), std::string::npos) << sentence;
    EXPECT_EQ(code_of([&] { w.destroy(mars, ship); }), errc::still_related);
    EXPECT_TRUE(w.alive_all(mars, ship, shuttle));
    EXPECT_EQ(w.destroy(mars, ship, shuttle), 3u);  // all of them at once
    const auto a = w.spawn(), b = w.spawn();
    w.template relate<docked_at>(a, b);
    w.reset();
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(relations_of, a_dead_target_passes_its_sources_on) {
    auto& w = this->world_;
    const auto top = w.spawn(), middle = w.spawn(), low = w.spawn(), lowest = w.spawn();
    w.template relate<part_of>(middle, top);
    w.template relate<part_of>(low, middle);
    w.template relate<part_of>(lowest, low);
    std::string log;
    w.template on_relate<part_of>([&](auto e, auto from, auto target) {
        log += e == lowest && from == low && target == top ? "moved;" : "wrong;";
    });
    EXPECT_EQ(w.destroy(middle, low), 2u);
    EXPECT_EQ(w.template target<part_of>(lowest), top);
    EXPECT_EQ(list_of(w.template sources<part_of>(top)), this->ids(lowest));
    EXPECT_EQ(log, "moved;");
    w.destroy(top);
    EXPECT_FALSE(w.template has<part_of>(lowest));
    EXPECT_TRUE(w.alive(lowest));
}

TYPED_TEST(relations_of, hooks_see_each_link) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    w.name(a, "a");
    w.name(b, "b");
    w.name(c, "c");
    std::string log;
    const auto text = [&](auto e) { return e ? std::string(w.name(e)) : std::string("-"); };
    auto related = w.template on_relate<likes>(
        [&](auto e, auto from, auto target) { log += text(e) + text(from) + text(target) + " "; });
    auto unrelated = w.template on_unrelate<likes>(
        [&](auto e, auto target) { log += "!" + text(e) + text(target) + " "; });
    w.on_relate(child_of, [&](auto e, auto from, auto target) {
        log += text(e) + text(from) + text(target) + "^ ";
    });
    w.on_unrelate(child_of, [&](auto e) { log += "!" + text(e) + "^ "; });
    w.template relate<likes>(a, b);
    w.template relate<likes>(a, b);
    w.template relate<likes>(a, c);
    w.template unrelate<likes>(a, b);
    EXPECT_EQ(log, "a-b abb a-c !ab ");
    log.clear();
    w.relate(child_of, c, b);
    w.relate(child_of, c, a);
    w.template relate<likes>(b, c);
    EXPECT_EQ(log, "c-b^ cba^ b-c ");
    log.clear();
    w.destroy(a);  // sources come before targets
    EXPECT_EQ(log, "!c^ !ac !bc ");
    EXPECT_FALSE(w.alive(c));
    EXPECT_TRUE(related.disconnect() && unrelated.disconnect());
}

TYPED_TEST(relations_of, hooks_that_throw_prevent_the_change) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1}), b = w.spawn(position{2}), c = w.spawn(to(child_of, b));
    auto hook = w.template on_relate<likes>([] { throw std::runtime_error("no"); });
    EXPECT_THROW(w.template relate<likes>(a, b), std::runtime_error);
    EXPECT_FALSE(w.template has<likes>(a));
    EXPECT_TRUE(w.template sources<likes>(b).empty());
    hook.disconnect();
    w.template relate<likes>(a, b, likes{1});
    auto veto = w.template on_unrelate<likes>([] { throw std::runtime_error("no"); });
    EXPECT_THROW(w.template unrelate<likes>(a, b), std::runtime_error);
    EXPECT_THROW(w.destroy(b), std::runtime_error);
    EXPECT_THROW(w.destroy(a), std::runtime_error);
    EXPECT_THROW(w.clear(a), std::runtime_error);
    EXPECT_TRUE(w.alive_all(a, b, c));
    EXPECT_EQ(w.parent(c), b);
    EXPECT_EQ(w.template link<likes>(a, b).strength, 1);
    EXPECT_EQ(w.template get<position>(a).x, 1);
    veto.disconnect();
    w.template relate<likes>(a, c);
    auto first = w.template on_unrelate<child_of>([&](auto) { throw std::runtime_error("no"); });
    EXPECT_THROW(w.destroy(b), std::runtime_error);
    EXPECT_EQ(w.template targets<likes>(a).size(), 2u);
    first.disconnect();
    EXPECT_TRUE(w.destroy(b));
    EXPECT_FALSE(w.alive(c) || w.template has<likes>(a));
}

TYPED_TEST(relations_of, changes_of_hooks_join_no_cascade) {
    auto& w = this->world_;
    const auto root = w.spawn(), child = w.spawn(to(child_of, root)), safe = w.spawn();
    w.on_unrelate(child_of, [&](auto e) {
        w.relate(child_of, e, safe);  // tries to leave
        w.relate(child_of, safe, e);  // tries to join
    });
    EXPECT_NO_THROW(w.destroy(root));
    EXPECT_FALSE(w.alive(root) || w.alive(child));
}

TYPED_TEST(relations_of, scopes_record_links) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    w.defer();
    EXPECT_TRUE(w.template relate<likes>(a, b, likes{1}));
    EXPECT_FALSE(w.template related<likes>(a, b));  // reads show the world before
    EXPECT_TRUE(w.template relate<docked_at>(a, b));
    EXPECT_TRUE(w.template relate<docked_at>(a, c));
    w.cancel();
    EXPECT_TRUE(w.empty(a));
    EXPECT_TRUE(w.template sources<likes>(b).empty());
    w.defer();
    w.template relate<likes>(a, b, likes{1});
    w.template relate<likes>(a, c, likes{2});
    w.template relate<likes>(a, b, likes{3});
    w.template unrelate<likes>(a, c);
    w.template relate<docked_at>(a, b);
    w.template relate<docked_at>(a, c);
    const auto made = w.spawn(position{4}, to(child_of, a), to<likes>(b, likes{7}));
    w.relate(child_of, b, made);
    w.commit();
    EXPECT_EQ(list_of(w.template targets<likes>(a)), this->ids(b));
    EXPECT_EQ(w.template link<likes>(a, b).strength, 3);
    EXPECT_EQ(w.template target<docked_at>(a), c);
    EXPECT_EQ(w.parent(made), a);
    EXPECT_EQ(w.parent(b), made);
    EXPECT_EQ(w.template link<likes>(made, b).strength, 7);
    w.defer();
    const auto lost = w.spawn(to(child_of, c));
    w.cancel();
    EXPECT_FALSE(w.alive(lost));
    EXPECT_TRUE(w.children(c).empty());
}

TYPED_TEST(relations_of, a_target_that_dies_in_the_scope) {
    auto& w = this->world_;
    const auto a = w.spawn(position{}), b = w.spawn(), c = w.spawn(position{}), d = w.spawn(),
               e = w.spawn();
    w.defer();
    w.destroy(b);
    w.template relate<likes>(a, b);
    w.template relate<likes>(a, d);
    w.relate(child_of, c, b);
    w.template relate<docked_at>(e, b);
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::dead_entity);
    EXPECT_EQ(list_of(w.template targets<likes>(a)), this->ids(d));
    EXPECT_FALSE(w.alive(c));  // its parent is gone
    EXPECT_TRUE(w.alive(e));
    EXPECT_FALSE(w.template has<docked_at>(e));
}

TYPED_TEST(relations_of, loops_may_destroy_what_they_visit) {
    auto& w = this->world_;
    const auto root = w.spawn();
    for (int i = 0; i < 10; ++i) w.spawn(position{i}, to(child_of, root));
    for (const auto child : w.children(root))
        if (w.template get<position>(child).x % 2 == 0) w.destroy(child);
    EXPECT_EQ(w.children(root).size(), 5u);
    for (const auto child : w.children(root)) w.template unrelate<child_of>(child, root);
    EXPECT_TRUE(w.children(root).empty());
    EXPECT_THROW(
        {
            for (const auto e : w.ancestors(w.spawn(to(child_of, root)))) {
                w.destroy(e);
                throw std::runtime_error("left");
            }
        },
        std::runtime_error);
    EXPECT_TRUE(w.alive(root));
}

TYPED_TEST(relations_of, generic_calls_remove_links) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1}), b = w.spawn();
    const auto relate_all = [&] {
        w.template relate<likes>(a, b);
        w.template relate<docked_at>(a, b);
    };
    relate_all();
    EXPECT_TRUE((w.template has_all<likes, docked_at>(a)));
    EXPECT_TRUE((w.template remove<likes, docked_at>(a)));
    EXPECT_FALSE((w.template has_any<likes, docked_at>(a)));
    EXPECT_TRUE(w.template sources<likes>(b).empty() && w.template sources<docked_at>(b).empty());
    relate_all();
    EXPECT_TRUE(w.template remove<likes>(a));
    EXPECT_TRUE(w.template remove<docked_at>(a));
    EXPECT_FALSE(w.template remove<docked_at>(a));
    EXPECT_TRUE(w.template sources<likes>(b).empty() && w.template sources<docked_at>(b).empty());
    relate_all();
    EXPECT_TRUE(w.clear(a));
    EXPECT_TRUE(w.template sources<likes>(b).empty() && w.template sources<docked_at>(b).empty());
    relate_all();
    EXPECT_EQ(w.template clear<likes>(), 1u);
    EXPECT_EQ(w.template clear<docked_at>(), 1u);
    EXPECT_TRUE(w.template sources<likes>(b).empty() && w.template sources<docked_at>(b).empty());
    w.set(a, position{2});
    relate_all();
    w.template query<position>().clear();
    EXPECT_TRUE(w.template sources<likes>(b).empty() && w.template sources<docked_at>(b).empty());
    w.set(a, position{2});
    relate_all();
    EXPECT_EQ(w.template query<position>().destroy(), 1u);
    EXPECT_TRUE(w.destroy(b));
}

TYPED_TEST(relations_of, clones_copy_outgoing_links) {
    auto& w = this->world_;
    const auto a = w.spawn(position{1}), b = w.spawn(), c = w.spawn();
    w.template relate<likes>(a, b, likes{2});
    w.template relate<likes>(a, c, likes{3});
    w.relate(child_of, a, b);
    const auto copy = w.clone(a);
    EXPECT_EQ(list_of(w.template targets<likes>(copy)), this->ids(b, c));
    EXPECT_EQ(w.template link<likes>(copy, c).strength, 3);
    EXPECT_EQ(list_of(w.children(b)), this->ids(a, copy));
    const auto moved = w.clone(a, position{9}, to(child_of, c), to<likes>(b, likes{8}));
    EXPECT_EQ(w.parent(moved), c);
    EXPECT_EQ(w.template link<likes>(moved, b).strength, 8);
    EXPECT_EQ(w.template link<likes>(moved, c).strength, 3);
    EXPECT_EQ(w.template get<position>(moved).x, 9);
    const auto many = w.clone_many(5, a);
    EXPECT_EQ(w.children(b).size(), 7u);
    EXPECT_EQ(w.template sources<likes>(c).size(), 8u);
    w.destroy(b);
    for (const auto e : many) EXPECT_FALSE(w.alive(e));
    EXPECT_TRUE(w.alive(moved));
    EXPECT_EQ(list_of(w.template targets<likes>(moved)), this->ids(c));
}

TYPED_TEST(relations_of, links_are_arguments_of_set) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    w.set(a, position{1}, to(child_of, b), to<likes>(b, likes{4}));
    EXPECT_EQ(w.parent(a), b);
    EXPECT_EQ(w.template link<likes>(a, b).strength, 4);
    EXPECT_EQ(w.template get<position>(a).x, 1);
    w.destroy(b);
    EXPECT_EQ(code_of([&] { w.spawn(position{}, to(child_of, b)); }), errc::dead_entity);
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(relations_of, reset_and_reuse) {
    auto& w = this->world_;
    for (const bool has_hooks : {false, true}) {
        const auto a = w.spawn(), b = w.spawn(to(child_of, a));
        w.template relate<likes>(a, b);
        const auto owes = w.template relation<int>("owes");
        w.relate(owes, a, b, 3);
        if (has_hooks) w.on_destroy([] {});
        w.reset();
        EXPECT_EQ(w.size(), 0u);
        EXPECT_FALSE(w.related(owes, a, b));
        const auto tag = w.tag();  // may take the number of the relation
        EXPECT_EQ(code_of([&] { w.relate(basic_relation<int, TypeParam>(tag), tag, tag); }),
                  errc::not_a_relation);
        w.destroy(tag);
        const auto c = w.spawn(), d = w.spawn();
        EXPECT_TRUE(w.template sources<likes>(c).empty() && w.template sources<likes>(d).empty());
        EXPECT_TRUE(w.children(c).empty() && w.children(d).empty());
        w.destroy(c, d);
    }
}

TYPED_TEST(relations_of, a_hundred_thousand_children_of_one_parent) {
    auto& w = this->world_;
    const auto root = w.spawn(), other = w.spawn();
    constexpr std::size_t count = 100'000;
    std::vector<basic_id<TypeParam>> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(w.spawn(to(child_of, root)));
    for (std::size_t i = 0; i < count; i += 2) w.relate(child_of, all[i], other);
    EXPECT_EQ(w.children(root).size(), count / 2);
    EXPECT_EQ(w.children(other).size(), count / 2);
    w.destroy(other);
    EXPECT_EQ(w.size(), 1 + count / 2);
    for (std::size_t i = 1; i < count; i += 2) w.destroy(all[i]);
    EXPECT_TRUE(w.children(root).empty());
}

TYPED_TEST(relations_of, hubs_on_both_sides_stay_cheap) {
    auto& w = this->world_;
    const auto hub = w.spawn(), star = w.spawn();
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 20'000; ++i) all.push_back(w.spawn());
    for (const auto e : all) {
        w.template relate<likes>(hub, e);
        w.template relate<likes>(e, star);
    }
    for (const auto e : all) {
        EXPECT_TRUE(w.template unrelate<likes>(hub, e));
        EXPECT_TRUE(w.template unrelate<likes>(e, star));
    }
    EXPECT_TRUE(w.empty(hub));
    w.defer();  // all in one move
    for (const auto e : all) w.template relate<likes>(hub, e);
    for (const auto e : all)
        if (e.key() % 2 == 0) w.template unrelate<likes>(hub, e);
    w.commit();
    const std::size_t left = w.template targets<likes>(hub).size();
    EXPECT_GT(left, 9'990u);
    w.defer();
    for (const auto e : all) w.template unrelate<likes>(hub, e);
    w.template relate<likes>(hub, star);
    w.commit();
    EXPECT_EQ(list_of(w.template targets<likes>(hub)), this->ids(star));
    w.defer();
    w.template unrelate<likes>(hub);
    for (const auto e : all) w.template relate<likes>(hub, e);
    w.commit();
    EXPECT_EQ(w.template targets<likes>(hub).size(), all.size());
}

}  // namespace
}  // namespace muster::test
