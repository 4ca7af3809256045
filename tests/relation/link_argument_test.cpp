// `to(...)` as an argument: of one entity, of many, of clones, in scopes.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct likes {
    int strength = 0;
};
struct docked_at {};
struct owns {
    std::unique_ptr<int> deed;
};
struct plain {};

template <class Range>
auto list_of(Range&& range) {
    std::vector<std::remove_cvref_t<decltype(*range.begin())>> all;
    for (const auto e : range) all.push_back(e);
    return all;
}

template <class Layout>
struct link_arguments : testing::Test {
    using id_type = basic_id<Layout>;
    basic_world<Layout> world_;
    link_arguments() {
        world_.template define<likes>().relation();
        world_.template define<owns>().relation();
        world_.template define<docked_at>().relation().exclusive();
    }
    template <class... Ids>
    static std::vector<id_type> ids(Ids... all) {
        return {all...};
    }
};
TYPED_TEST_SUITE(link_arguments, behavior_layouts, layout_names);

TYPED_TEST(link_arguments, an_entity_is_created_in_one_move) {
    auto& w = this->world_;
    const auto ship = w.spawn(), bob = w.spawn();
    int inserts = 0, assigns = 0;
    std::string log;
    w.template on_insert<position>([&](auto e, position&) {
        ++inserts;
        log += w.parent(e) == ship && w.template targets<likes>(e).size() == 2 ? "whole;" : "part;";
    });
    w.template on_assign<position>([&] { ++assigns; });
    w.on_relate(child_of, [&](auto e) { log += w.template has<position>(e) ? "whole;" : "part;"; });
    const auto made = w.spawn(to(child_of, ship), position{3}, to<likes>(bob, likes{2}),
                              to<likes>(ship), to<likes>(bob, likes{5}));
    EXPECT_EQ(inserts, 1);
    EXPECT_EQ(assigns, 0);
    EXPECT_EQ(log.find("part"), std::string::npos) << log;
    EXPECT_EQ(w.parent(made), ship);
    EXPECT_EQ(list_of(w.template targets<likes>(made)), this->ids(bob, ship));
    EXPECT_EQ(w.template link<likes>(made, bob).strength, 5);  // the last one wins
    EXPECT_EQ(w.template link<likes>(made, ship).strength, 0);
    EXPECT_EQ(w.template get<position>(made).x, 3);
}

TYPED_TEST(link_arguments, the_last_target_of_an_exclusive_relation_wins) {
    auto& w = this->world_;
    const auto mars = w.spawn(), venus = w.spawn();
    const auto ship = w.spawn(to<docked_at>(mars), to<docked_at>(venus));
    EXPECT_EQ(w.template target<docked_at>(ship), venus);
    EXPECT_TRUE(w.template sources<docked_at>(mars).empty());
    w.set(ship, to<docked_at>(venus), to<docked_at>(mars));
    EXPECT_EQ(w.template target<docked_at>(ship), mars);
    EXPECT_TRUE(w.template sources<docked_at>(venus).empty());
}

TYPED_TEST(link_arguments, set_extends_the_links_that_are_there) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn(), d = w.spawn();
    w.set(a, to<likes>(b, likes{1}));
    w.set(a, to<likes>(c, likes{2}), position{4}, to<likes>(b, likes{3}), to(child_of, d));
    EXPECT_EQ(list_of(w.template targets<likes>(a)), this->ids(b, c));
    EXPECT_EQ(w.template link<likes>(a, b).strength, 3);
    EXPECT_EQ(w.template get<position>(a).x, 4);
    EXPECT_EQ(w.parent(a), d);
    w.defer();
    w.set(a, to<likes>(d, likes{4}));
    w.set(a, to<likes>(c, likes{5}));
    w.commit();
    EXPECT_EQ(list_of(w.template targets<likes>(a)), this->ids(b, c, d));
    EXPECT_EQ(w.template link<likes>(a, c).strength, 5);
    EXPECT_EQ(list_of(w.template sources<likes>(d)), this->ids(a));
}

TYPED_TEST(link_arguments, many_entities_receive_copies_of_links) {
    auto& w = this->world_;
    const auto root = w.spawn(), bob = w.spawn();
    const auto owes = w.template relation<std::string>("owes");
    const auto made =
        w.spawn_many(100, position{1}, to(child_of, root), to<likes>(bob, likes{3}),
                     to<likes>(root, likes{4}), to(owes, bob, "a text of some length"));
    EXPECT_EQ(list_of(w.children(root)), made);
    EXPECT_EQ(list_of(w.template sources<likes>(bob)), made);
    for (const auto e : made) {
        EXPECT_EQ(w.template link<likes>(e, root).strength, 4);
        EXPECT_EQ(w.link(owes, e, bob), "a text of some length");
        EXPECT_EQ(w.template get<position>(e).x, 1);
    }
    std::vector<basic_id<TypeParam>> out(3);
    w.spawn_into(out, to<docked_at>(bob));
    EXPECT_EQ(list_of(w.template sources<docked_at>(bob)), out);
    int next = 0;
    w.spawn_rows(
        4,
        [&](auto rows) {
            for (auto& p : rows.template components<position>()) p.x = next++;
        },
        position{}, to(child_of, bob));
    EXPECT_EQ(w.children(bob).size(), 4u);
    next = 0;
    for (const auto e : w.children(bob)) EXPECT_EQ(w.template get<position>(e).x, next++);
    w.destroy(root);
    EXPECT_EQ(w.template sources<likes>(bob).size(), 0u);
}

TYPED_TEST(link_arguments, clones_extend_the_links_of_their_prototype) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    const auto prototype = w.spawn(position{1}, to<likes>(a, likes{1}), to(child_of, a));
    for (const bool in_scope : {false, true}) {
        if (in_scope) w.defer();
        const auto one = w.clone(prototype, to<likes>(b, likes{2}), to(child_of, b));
        const auto many = w.clone_many(3, prototype, to<likes>(b, likes{3}), position{7},
                                       to<likes>(a, likes{4}), to(child_of, c));
        if (in_scope) w.commit();
        EXPECT_EQ(list_of(w.template targets<likes>(one)), this->ids(a, b));
        EXPECT_EQ(w.template link<likes>(one, a).strength, 1);
        EXPECT_EQ(w.parent(one), b);
        for (const auto e : many) {
            EXPECT_EQ(list_of(w.template targets<likes>(e)), this->ids(a, b));
            EXPECT_EQ(w.template link<likes>(e, a).strength, 4);
            EXPECT_EQ(w.template link<likes>(e, b).strength, 3);
            EXPECT_EQ(w.template get<position>(e).x, 7);
        }
        EXPECT_EQ(list_of(w.children(c)), many);
        w.destroy(many);
        w.destroy(one);
    }
    EXPECT_TRUE(w.children(c).empty());
    EXPECT_EQ(list_of(w.template sources<likes>(a)), this->ids(prototype));
}

TYPED_TEST(link_arguments, exact_ids_may_have_links) {
    auto& w = this->world_;
    const auto root = w.spawn();
    const auto wanted = basic_id<TypeParam>::pack(root.key() + 5, root.version(), root.world());
    EXPECT_EQ(w.spawn_at(wanted, position{2}, to(child_of, root), to<likes>(root)), wanted);
    EXPECT_EQ(list_of(w.children(root)), this->ids(wanted));
    EXPECT_TRUE(w.template related<likes>(wanted, root));
    EXPECT_EQ(code_of([&] { w.spawn_at(wanted, to(child_of, root)); }), errc::id_taken);
    EXPECT_EQ(w.children(root).size(), 1u);
}

TYPED_TEST(link_arguments, values_of_links_are_moved) {
    auto& w = this->world_;
    const auto a = w.spawn();
    const auto b = w.spawn(to<owns>(a, owns{std::make_unique<int>(6)}));
    EXPECT_EQ(*w.template link<owns>(b, a).deed, 6);
    auto kept = to<owns>(b, owns{std::make_unique<int>(8)});
    w.set(a, std::move(kept), position{1});
    EXPECT_EQ(*w.template link<owns>(a, b).deed, 8);
    EXPECT_EQ(kept.value.deed, nullptr);
    const auto again = to<likes>(a, likes{4});  // a link as an object can be used many times
    const auto c = w.spawn(again), d = w.spawn(again);
    EXPECT_EQ(list_of(w.template sources<likes>(a)), this->ids(c, d));
}

TYPED_TEST(link_arguments, a_call_that_fails_creates_nothing) {
    auto& w = this->world_;
    const auto a = w.spawn(), dead = w.spawn();
    w.destroy(dead);
    basic_world<TypeParam> other;
    const auto foreign = other.spawn();
    const auto null = basic_id<TypeParam>();
    const auto size = w.size();
    for (const auto& [bad, code] :
         {std::pair{dead, errc::dead_entity}, std::pair{null, errc::dead_entity},
          std::pair{foreign, errc::foreign_entity}}) {
        EXPECT_EQ(code_of([&] { w.spawn(position{}, to(child_of, bad)); }), code);
        EXPECT_EQ(code_of([&] { w.spawn_many(3, to<likes>(bad)); }), code);
        EXPECT_EQ(code_of([&] { w.set(a, position{}, to<likes>(bad)); }), code);
        EXPECT_EQ(code_of([&] { w.set(bad, to<likes>(a)); }), code);
        EXPECT_EQ(code_of([&] { w.clone(a, to(child_of, bad)); }), code);
        EXPECT_EQ(code_of([&] { w.clone_many(2, a, to(child_of, bad)); }), code);
    }
    EXPECT_EQ(code_of([&] { w.spawn(to<plain>(a)); }), errc::not_a_relation);
    EXPECT_EQ(code_of([&] { w.spawn_many(2, to<plain>(a)); }), errc::not_a_relation);
    EXPECT_EQ(code_of([&] { w.set(a, to(child_of, a)); }), errc::cycle);
    w.on_relate(child_of, [] { throw std::runtime_error("no"); });
    EXPECT_THROW(w.spawn(position{}, to<likes>(a), to(child_of, a)), std::runtime_error);
    EXPECT_THROW(w.spawn_many(4, position{}, to<likes>(a), to(child_of, a)), std::runtime_error);
    EXPECT_THROW(w.clone(a, to(child_of, a)), std::runtime_error);
    EXPECT_THROW(w.clone_many(2, a, to<likes>(a), to(child_of, a)), std::runtime_error);
    EXPECT_THROW(w.set(a, position{}, to(child_of, w.spawn())), std::runtime_error);
    EXPECT_EQ(w.size(), size + 1);
    EXPECT_TRUE(w.empty(a));
    EXPECT_TRUE(w.children(a).empty());
    EXPECT_TRUE(w.template sources<likes>(a).empty());
}

TYPED_TEST(link_arguments, an_undone_creation_leaves_the_links_of_others) {
    auto& w = this->world_;
    const auto a = w.spawn();
    const auto old = w.spawn(to<likes>(a, likes{1}), to(child_of, a), to<docked_at>(a));
    struct last {};
    auto veto = w.template on_insert<last>([](auto) { throw std::runtime_error("no"); });
    EXPECT_THROW(w.spawn(to<likes>(a), last{}), std::runtime_error);
    EXPECT_THROW(w.spawn_many(4, to<likes>(a), last{}), std::runtime_error);
    EXPECT_THROW(w.spawn(to(child_of, a), last{}), std::runtime_error);
    EXPECT_THROW(w.spawn_many(4, to(child_of, a), last{}), std::runtime_error);
    EXPECT_THROW(w.clone(old, last{}), std::runtime_error);
    EXPECT_THROW(w.clone_many(4, old, last{}), std::runtime_error);
    EXPECT_EQ(list_of(w.children(a)), this->ids(old));
    EXPECT_EQ(list_of(w.template sources<likes>(a)), this->ids(old));
    EXPECT_EQ(list_of(w.template sources<docked_at>(a)), this->ids(old));
    EXPECT_EQ(w.size(), 2u);
    veto.disconnect();
    const auto next = w.spawn_many(3, to<likes>(a), to(child_of, a), last{});
    EXPECT_EQ(w.children(a).size(), 4u);
    EXPECT_EQ(w.template sources<likes>(a).size(), 4u);
    w.destroy(a);
    EXPECT_EQ(w.size(), 0u);
}

}  // namespace
}  // namespace muster::test
