// `to(...)` as an argument: of one entity, of many, of clones, in scopes.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
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
struct owns {
    std::unique_ptr<int> deed;
};
struct plain {};

template <class Layout>
struct link_arguments : id_lists<Layout> {
    using id_type = basic_id<Layout>;
    basic_world<Layout> world_;
    link_arguments() {
        world_.template define<likes>().relation();
        world_.template define<owns>().relation();
        world_.template define<docked_at>().relation().exclusive();
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
        if (bad == foreign && TypeParam::world_bits == 0) continue;
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

TYPED_TEST(link_arguments, no_hook_prevents_the_undoing_of_a_creation) {
    auto& w = this->world_;
    const auto a = w.spawn();
    int unrelated = 0;
    auto seen = w.template observer<>().template unrelated<likes>();
    w.template on_relate<likes>([count = 0]() mutable {
        if (++count == 2) throw std::runtime_error("no");
    });
    w.template on_unrelate<likes>([&] {
        ++unrelated;
        throw std::runtime_error("no");
    });
    EXPECT_THROW(w.spawn_many(2, position{}, to<likes>(a)), std::runtime_error);
    EXPECT_EQ(w.size(), 1u);
    EXPECT_EQ(unrelated, 0);  // they were never related
    EXPECT_TRUE(seen.empty());
    EXPECT_TRUE(w.template sources<likes>(a).empty());
}

// ---- builders ----------------------------------------------------------------------------------

TYPED_TEST(link_arguments, a_builder_carries_its_links) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    const auto owes = w.template relation<std::string>("owes");
    auto recipe = w.builder();
    recipe.set(position{3}).set(to(child_of, a)).set(to<likes>(b, likes{1})).set(to<likes>(c));
    recipe.set(to(owes, b, "a text that is longer than a small string"));
    EXPECT_EQ(recipe.size(), 5u);
    const auto one = recipe.spawn();
    const auto many = recipe.spawn_many(3);
    EXPECT_EQ(w.children(a).size(), 4u);
    EXPECT_EQ(list_of(w.template targets<likes>(one)), this->ids(b, c));
    for (const auto e : many)
        EXPECT_EQ(w.link(owes, e, b), "a text that is longer than a small string");
    recipe.set(to<likes>(b, likes{2})).set(to(child_of, c));  // replaces the value, and the parent
    const auto next = recipe.spawn();
    EXPECT_EQ(w.template link<likes>(next, b).strength, 2);
    EXPECT_EQ(w.template targets<likes>(next).size(), 2u);
    EXPECT_EQ(w.parent(next), c);
    EXPECT_TRUE(recipe.template remove<likes>());
    EXPECT_FALSE(recipe.template remove<likes>());
    EXPECT_TRUE(recipe.remove(owes));
    const auto last = recipe.clone(one);
    EXPECT_EQ(list_of(w.template targets<likes>(last)), this->ids(b, c));
    EXPECT_EQ(w.parent(last), c);
    recipe.set(to<likes>(a, likes{9}));
    const auto clones = recipe.clone_many(2, one);
    for (const auto e : clones) {
        EXPECT_EQ(list_of(w.template targets<likes>(e)), this->ids(b, c, a));
        EXPECT_EQ(w.template link<likes>(e, b).strength, 1);
    }
    w.defer();
    const auto later = recipe.spawn();
    w.commit();
    EXPECT_EQ(list_of(w.template targets<likes>(later)), this->ids(a));
    recipe.clear();
    EXPECT_EQ(recipe.size(), 0u);
    EXPECT_TRUE(w.empty(recipe.spawn()));
}

TYPED_TEST(link_arguments, a_builder_notices_that_its_target_is_dead) {
    auto& w = this->world_;
    const auto a = w.spawn();
    auto recipe = w.builder();
    recipe.set(position{}).set(to<likes>(a));
    (void)recipe.spawn();
    w.destroy(a);
    const auto stranger = w.spawn();
    EXPECT_EQ(stranger.key(), a.key());
    EXPECT_EQ(code_of([&] { recipe.spawn(); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { recipe.spawn_many(3); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { recipe.clone(w.spawn()); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { recipe.spawn(); }), errc::dead_entity);
    EXPECT_FALSE(w.template has<likes>(stranger));
    EXPECT_EQ(code_of([&] {
                  recipe.clear();
                  recipe.set(to<plain>(stranger)).spawn();
              }),
              errc::not_a_relation);
}

// ---- command buffers ---------------------------------------------------------------------------

TYPED_TEST(link_arguments, a_command_buffer_links_what_it_spawns) {
    auto& w = this->world_;
    const auto bob = w.spawn();
    const auto owes = w.template relation<int>("owes");
    basic_command_buffer<TypeParam> b{w};
    const auto ship = b.spawn(position{1});
    const auto gun = b.spawn(position{2}, to(child_of, ship), to<likes>(bob, likes{3}),
                             to<likes>(ship, likes{4}));
    b.relate(owes, bob, gun, 5);
    b.template relate<likes>(bob, ship, likes{6});
    b.template relate<docked_at>(ship, bob);
    b.set(bob, position{7}, to<likes>(gun, likes{8}));
    b.template relate<child_of>(bob, gun);
    w.submit(b);
    w.apply_submitted();
    EXPECT_EQ(w.parent(gun), ship);
    EXPECT_EQ(w.parent(bob), gun);
    EXPECT_EQ(list_of(w.template targets<likes>(gun)), this->ids(bob, ship));
    EXPECT_EQ(list_of(w.template targets<likes>(bob)), this->ids(ship, gun));
    EXPECT_EQ(w.template link<likes>(bob, gun).strength, 8);
    EXPECT_EQ(w.link(owes, bob, gun), 5);
    EXPECT_EQ(w.template target<docked_at>(ship), bob);
    b.template unrelate<likes>(bob, ship);
    b.template unrelate<likes>(gun);
    b.unrelate(owes, bob, gun);
    b.unrelate(child_of, bob);
    b.template unrelate<docked_at>(ship, gun);  // it is docked elsewhere
    w.submit(b);
    w.apply_submitted();
    EXPECT_EQ(list_of(w.template targets<likes>(bob)), this->ids(gun));
    EXPECT_TRUE(w.template targets<likes>(gun).empty());
    EXPECT_FALSE(w.related(owes, bob, gun));
    EXPECT_FALSE(w.parent(bob));
    EXPECT_EQ(w.template target<docked_at>(ship), bob);
}

TYPED_TEST(link_arguments,
           the_policy_decides_about_a_target_that_dies_before_the_buffer_is_applied) {
    auto& w = this->world_;
    struct follows {};
    struct held_by {};
    w.template define<follows>().relation().exclusive().when_target_destroyed(destroy_sources);
    w.template define<held_by>().relation().exclusive().when_target_destroyed(refuse);
    const auto target = w.spawn(), a = w.spawn(), c = w.spawn(position{1}), d = w.spawn();
    basic_command_buffer<TypeParam> b{w};
    const auto e = b.spawn(position{2}, to<likes>(target));
    const auto f = b.spawn(position{3}, to(child_of, target));
    b.template relate<likes>(a, target);
    b.set(c, position{4}, to<follows>(target));
    b.set(d, position{5}, to<held_by>(target));
    w.destroy(target);
    EXPECT_EQ(code_of([&] { w.submit(b); }), errc::dead_entity);  // of `held_by`
    EXPECT_TRUE(w.alive_all(a, d, e));
    EXPECT_EQ(w.template get<position>(e).x, 2);
    EXPECT_FALSE(w.template has<likes>(e) || w.template has<likes>(a));
    EXPECT_FALSE(w.alive(f) || w.alive(c));
    EXPECT_FALSE(w.template has<position>(d));  // all changes of the entity, or none
}

TYPED_TEST(link_arguments, a_command_buffer_refuses_impossible_links_at_once) {
    auto& w = this->world_;
    const auto a = w.spawn();
    basic_world<TypeParam> other;
    const auto foreign = other.spawn();
    const auto null = basic_id<TypeParam>();
    basic_command_buffer<TypeParam> b{w};
    if constexpr (TypeParam::world_bits != 0) {
        EXPECT_EQ(code_of([&] { b.template relate<likes>(a, foreign); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] { b.template relate<likes>(foreign, a); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] { b.set(a, position{}, to(child_of, foreign)); }),
                  errc::foreign_entity);
        EXPECT_EQ(code_of([&] { b.template unrelate<likes>(a, foreign); }), errc::foreign_entity);
    }
    EXPECT_EQ(code_of([&] { b.template relate<likes>(a, null); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { b.spawn(position{}, to(child_of, null)); }), errc::dead_entity);
    EXPECT_EQ(b.pending(), 0u);
    b.template unrelate<likes>(a, null);
    b.set(a, position{1}, to<plain>(a));  // only the world knows that
    b.set(a, position{2});
    EXPECT_EQ(code_of([&] { w.submit(b); }), errc::not_a_relation);
    EXPECT_EQ(w.template get<position>(a).x, 2);
    EXPECT_FALSE(w.template has<plain>(a));
    const auto owes = w.template relation<int>("owes");
    const basic_relation<std::string, TypeParam> wrong(owes.id());
    b.relate(wrong, a, a, "a text that is longer than a small string");
    EXPECT_EQ(code_of([&] { w.submit(b); }), errc::type_mismatch);
    b.relate(owes, a, a, 3);
    w.destroy(owes);
    EXPECT_EQ(code_of([&] { w.submit(b); }), errc::dead_fragment);
    EXPECT_TRUE(w.alive(a));
}

TYPED_TEST(link_arguments, the_first_link_of_a_world_may_come_from_a_buffer) {
    basic_world<TypeParam> w;
    basic_command_buffer<TypeParam> b{w};
    const auto root = b.spawn(), child = b.spawn(to(child_of, root));
    w.submit(b);
    w.apply_submitted();
    EXPECT_EQ(w.parent(child), root);
    w.destroy(root);
    EXPECT_FALSE(w.alive(child));
}

TYPED_TEST(link_arguments, values_of_recorded_links_end_once) {
    auto& w = this->world_;
    const auto a = w.spawn(), c = w.spawn();
    const auto shared = std::make_shared<int>(1);
    struct holds {
        std::shared_ptr<int> what;
    };
    w.template define<holds>().relation();
    basic_command_buffer<TypeParam> b{w};
    b.template relate<holds>(a, c, holds{shared});
    b.spawn(to<holds>(c, holds{shared}), to<holds>(a, holds{shared}));
    EXPECT_EQ(shared.use_count(), 4);
    b.discard();
    EXPECT_EQ(shared.use_count(), 1);
    b.template relate<holds>(a, c, holds{shared});
    b.template relate<holds>(a, c, holds{shared});  // replaces the value
    b.template relate<owns>(a, c, owns{std::make_unique<int>(4)});
    w.submit(b);
    w.apply_submitted();
    EXPECT_EQ(shared.use_count(), 2);
    EXPECT_EQ(*w.template link<owns>(a, c).deed, 4);
    w.destroy(c);
    EXPECT_EQ(shared.use_count(), 1);
}

}  // namespace
}  // namespace muster::test
