// Observers: which changes they log, for every call that makes changes, and how they are read.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster {
namespace {

using test::code_of;
using ids = std::vector<entity>;

struct plain {
    int number = 0;
};
struct heavy {
    std::string text;
    explicit heavy(int number = 0)
        : text("a text that needs memory of its own, " + std::to_string(number)) {}
};
struct sign {};
struct other {
    int number = 0;
};
struct third {
    int number = 0;
};
struct owner {};  // needs the observed component

template <class T>
T make(int number) {
    if constexpr (std::is_empty_v<T>)
        return T{};
    else
        return T{number};
}

struct report {
    ids added, changed, removed;
    friend bool operator==(const report&, const report&) = default;
    friend std::ostream& operator<<(std::ostream& out, const report& value) {
        for (const auto& [mark, all] :
             {std::pair("+", &value.added), {"=", &value.changed}, {"-", &value.removed}})
            for (const entity e : *all) out << mark << e << " ";
        return out;
    }
};

template <class Observer>
ids read(Observer& observer) {
    ids seen;
    observer.each([&](entity e) { seen.push_back(e); });
    return seen;
}

/// Runs with a trivially relocatable component, a nontrivial component and a tag.
template <class T>
class observed : public testing::Test {
public:
    world home;
    entity bare = home.spawn(other{1}), has = home.spawn(make<T>(1), other{2});
    muster::observer<> added = home.observer().added<T>();
    muster::observer<> changed = home.observer().changed<T>();
    muster::observer<> removed = home.observer().removed<T>();

    report seen() { return {added.take(), changed.take(), removed.take()}; }
};
using components = testing::Types<plain, heavy, sign>;
TYPED_TEST_SUITE(observed, components);

// ---- every call that makes a change ------------------------------------------------------------

TYPED_TEST(observed, by_calls_that_create_entities) {
    auto& w = this->home;
    const auto t = make<TypeParam>(3);
    const entity a = w.spawn(t), b = w.spawn(other{}, t);
    EXPECT_EQ(this->seen(), (report{{a, b}, {}, {}}));
    const entity c = w.clone(a), d = w.clone(this->bare, t);
    (void)w.clone(this->bare);
    EXPECT_EQ(this->seen(), (report{{c, d}, {}, {}}));
    ids all = w.spawn_many(3, t);
    const ids clones = w.clone_many(2, a, third{});
    all.insert(all.end(), clones.begin(), clones.end());
    const std::vector<TypeParam> column(2, t);
    for (const entity e : w.spawn_columns(column)) all.push_back(e);
    w.spawn_rows(
        2,
        [&](const auto& rows) {
            all.insert(all.end(), rows.entities().begin(), rows.entities().end());
        },
        t, third{});
    all.push_back(w.builder().set(t).spawn());
    EXPECT_EQ(this->seen(), (report{all, {}, {}}));
    w.destroy(a);
    (void)this->seen();
    const entity again = w.spawn_at(entity::pack(77, 3, w.number()), t);
    EXPECT_EQ(this->seen(), (report{{again}, {}, {}}));
}

TYPED_TEST(observed, by_calls_that_insert_and_assign) {
    auto& w = this->home;
    const auto t = make<TypeParam>(4);
    w.set(this->bare, t);
    EXPECT_EQ(this->seen(), (report{{this->bare}, {}, {}}));
    w.set(this->bare, t);
    w.set(this->has, t, third{});
    EXPECT_EQ(this->seen(), (report{{}, {this->bare, this->has}, {}}));
    (void)w.template emplace<TypeParam>(this->bare);
    EXPECT_EQ(this->seen(), (report{{}, {this->bare}, {}}));
    w.template patch<TypeParam>(this->has, [](TypeParam&) {});
    EXPECT_EQ(this->seen(), (report{{}, {this->has}, {}}));
    w.template touch<TypeParam>(this->has);
    EXPECT_EQ(this->seen(), (report{{}, {this->has}, {}}));
    EXPECT_FALSE(w.template add<TypeParam>(this->has));
    (void)w.template get_or_emplace<TypeParam>(this->has);
    (void)w.template get<TypeParam>(this->has);
    w.set(this->has, other{9});
    EXPECT_EQ(this->seen(), report{});
    const entity c = w.spawn(), d = w.spawn();
    EXPECT_TRUE(w.template add<TypeParam>(c));
    (void)w.template get_or_emplace<TypeParam>(d);
    EXPECT_EQ(this->seen(), (report{{c, d}, {}, {}}));
    const entity f = w.template component<TypeParam>();
    w.set_raw(c, f, &t);
    w.touch(d, f);
    EXPECT_EQ(this->seen(), (report{{}, {c, d}, {}}));
}

TYPED_TEST(observed, by_calls_that_remove_and_destroy) {
    auto& w = this->home;
    const auto t = make<TypeParam>(5);
    const ids all = w.spawn_many(6, t, third{});
    (void)this->seen();
    EXPECT_TRUE(w.template remove<TypeParam>(all[0]));
    EXPECT_FALSE(w.template remove<TypeParam>(all[0]));
    w.template remove<TypeParam, third>(all[1]);
    w.clear(all[2]);
    w.destroy(all[3]);
    w.destroy(all[4], this->bare);
    EXPECT_EQ(w.destroy_if([&](entity e) { return e == all[5]; }), 1u);
    EXPECT_EQ(this->seen(), (report{{}, {}, all}));
    EXPECT_EQ(w.template clear<TypeParam>(), 1u);
    EXPECT_EQ(this->seen(), (report{{}, {}, {this->has}}));
    const ids more = w.spawn_many(3, t);
    w.spawn(third{});
    (void)this->seen();
    w.reset();
    report last = this->seen();
    EXPECT_TRUE(std::ranges::is_permutation(last.removed, more));  // in key order
    last.removed.clear();
    EXPECT_EQ(last, report{});
    const entity anew = w.spawn(t);
    EXPECT_EQ(this->seen(), (report{{anew}, {}, {}}));
}

TYPED_TEST(observed, by_batches) {
    MUSTER_ABOUT_CHUNKS();
    auto& w = this->home;
    const auto t = make<TypeParam>(6);
    const auto q = w.template query<other>();
    q.set(t);
    EXPECT_EQ(this->seen(), (report{{this->bare}, {this->has}, {}}));
    q.template remove<TypeParam>();
    EXPECT_EQ(this->seen(), (report{{}, {}, {this->has, this->bare}}));
    const entity late = w.spawn(other{}, t);
    (void)this->seen();
    q.template add<TypeParam>();
    EXPECT_EQ(this->seen(), (report{{this->has, this->bare}, {}, {}}));
    w.template query<other>().template without<third>().clear();
    EXPECT_EQ(this->seen(), (report{{}, {}, {late, this->has, this->bare}}));
    q.template add<TypeParam>();
    w.template query<TypeParam>().destroy();
    EXPECT_EQ(this->seen(), report{});
    const ids all = w.spawn_many(3, t);
    w.template query<TypeParam>().destroy();
    EXPECT_EQ(this->seen(), (report{all, {}, all}));
}

TYPED_TEST(observed, by_copying_a_fragment) {
    auto& w = this->home;
    const auto f = w.template fragment<TypeParam>("a source");
    const entity t = w.template component<TypeParam>();
    const entity a = w.spawn(with(f, make<TypeParam>(7)));
    const entity b = w.spawn(with(f, make<TypeParam>(8)), make<TypeParam>(0));
    (void)this->seen();
    w.copy_fragment(f, t);
    EXPECT_EQ(this->seen(), (report{{a}, {b}, {}}));
    w.defer();
    w.copy_fragment(f, t);
    EXPECT_EQ(this->seen(), report{});
    w.commit();
    EXPECT_EQ(this->seen().changed.size(), 2u);
}

TYPED_TEST(observed, when_another_fragment_needs_it) {
    auto& w = this->home;
    w.template define<owner>().template needs<TypeParam>();
    const entity a = w.spawn(owner{});
    const ids more = w.spawn_many(2, owner{});
    w.set(this->bare, owner{});
    w.set(this->has, owner{});
    EXPECT_EQ(this->seen(), (report{{a, more[0], more[1], this->bare}, {}, {}}));
    const entity c = w.spawn(third{});
    w.template query<third>().set(owner{});
    EXPECT_EQ(this->seen(), (report{{c}, {}, {}}));
}

TYPED_TEST(observed, until_its_fragment_is_destroyed) {
    auto& w = this->home;
    const entity alone = w.spawn(make<TypeParam>(1));
    (void)this->seen();
    w.destroy(w.template component<TypeParam>());
    const report last = this->seen();
    EXPECT_EQ(last.removed, (ids{this->has, alone}));
    w.set(this->bare, make<TypeParam>(2));
    w.destroy(this->bare);
    EXPECT_EQ(this->seen(), report{});
    EXPECT_TRUE(this->added.connected());
}

TYPED_TEST(observed, when_owners_are_destroyed_with_another_fragment) {
    auto& w = this->home;
    const entity tag = w.tag("mortal");
    w.define(tag).when_destroyed(destroy_owners);
    const entity a = w.spawn(make<TypeParam>(1), with(tag));
    const entity b = w.spawn(with(tag));
    (void)this->seen();
    w.destroy(tag);
    EXPECT_FALSE(w.alive_any(a, b));
    EXPECT_EQ(this->seen(), (report{{}, {}, {a}}));
}

// ---- scopes ------------------------------------------------------------------------------------

TYPED_TEST(observed, by_the_net_effect_of_a_scope) {
    auto& w = this->home;
    const auto t = make<TypeParam>(1);
    const ids all = w.spawn_many(4, t);
    (void)this->seen();
    w.defer();
    w.set(this->bare, t);
    w.template remove<TypeParam>(this->bare);  // no net effect
    w.template remove<TypeParam>(this->has);
    w.set(this->has, t);  // net effect: assigned
    const entity spawned = w.spawn(t), short_lived = w.spawn(t);
    w.destroy(short_lived);
    w.set(all[0], t);
    w.set(all[0], t);
    w.template remove<TypeParam>(all[0]);
    w.set(all[1], t);
    w.destroy(all[1]);
    w.clear(all[2]);
    w.template touch<TypeParam>(all[3]);
    w.destroy(this->bare);
    EXPECT_EQ(this->seen(), report{});
    w.commit();
    EXPECT_EQ(this->seen(), (report{{spawned}, {this->has, all[3]}, {all[0], all[1], all[2]}}));
}

TYPED_TEST(observed, by_no_change_of_a_cancelled_scope) {
    auto& w = this->home;
    w.defer();
    w.set(this->bare, make<TypeParam>(1));
    w.spawn(make<TypeParam>(2));
    w.destroy(this->has);
    w.template query<other>().set(make<TypeParam>(1));
    w.cancel();
    try {
        w.each([&](entity e, other&) {
            w.destroy(e);
            throw 1;
        });
    } catch (int) {
    }
    EXPECT_EQ(this->seen(), report{});
}

// ---- hooks -------------------------------------------------------------------------------------

TYPED_TEST(observed, by_no_change_that_a_hook_refuses) {
    auto& w = this->home;
    const auto t = make<TypeParam>(1);
    const auto refuse = [] { throw std::runtime_error("no"); };
    const auto refused = [&](auto call) {
        EXPECT_THROW(call(), std::runtime_error);
        EXPECT_EQ(this->seen(), report{});
    };
    connection no = w.template on_insert<TypeParam>(refuse);
    refused([&] { w.spawn(t); });
    refused([&] { w.spawn_many(2, t); });
    refused([&] { w.spawn_rows(2, [](const auto&) {}, t); });
    refused([&] { w.set(this->bare, t); });
    refused([&] { w.clone(this->has); });
    refused([&] { w.template query<other>().template without<TypeParam>().set(t); });
    no.disconnect();
    no = w.template on_set<TypeParam>(refuse);
    refused([&] { w.set(this->has, t); });
    refused([&] { w.template touch<TypeParam>(this->has); });
    refused([&] { w.template query<other>().set(t); });
    no.disconnect();
    no = w.template on_remove<TypeParam>(refuse);
    refused([&] { w.template remove<TypeParam>(this->has); });
    refused([&] { w.clear(this->has); });
    refused([&] { w.destroy(this->has); });
    refused([&] { w.template clear<TypeParam>(); });
    refused([&] { w.reset(); });
    EXPECT_FALSE(w.alive(this->bare));  // reset() destroys the entities that no hook refuses
    refused([&] { w.template query<other>().destroy(); });
    refused([&] { w.template query<other>().clear(); });
    refused([&] { w.destroy(w.template component<TypeParam>()); });
    no.disconnect();
    no = w.on_destroy(refuse);
    refused([&] { w.destroy(this->has); });
    EXPECT_TRUE(w.template has<TypeParam>(this->has));
}

TYPED_TEST(observed, by_changes_that_hooks_make) {
    auto& w = this->home;
    w.template on_insert<third>([&](entity e) { w.set(e, make<TypeParam>(1)); });
    w.template on_remove<third>([&](entity e) { w.template remove<TypeParam>(e); });
    w.set(this->bare, third{});
    w.template remove<third>(this->bare);
    EXPECT_EQ(this->seen(), (report{{this->bare}, {}, {this->bare}}));
}

// ---- observers with the behaviour of ECR -------------------------------------------------------

struct observer_test : testing::Test {
    world w;
};

TEST_F(observer_test, shows_entities_with_all_its_types_and_no_excluded_type) {
    auto one = w.observer<plain>();
    auto all = w.observer<plain, heavy, other>();
    auto without = w.observer<plain>().without<other>();
    const entity a = w.spawn(plain{1}), b = w.spawn(heavy(2)), c = w.spawn(other{3});
    const entity abc = w.spawn();
    w.set(abc, plain{4});
    w.set(abc, heavy(5));
    w.set(abc, other{6});
    EXPECT_EQ(one.size(), 2u);
    EXPECT_EQ(all.size(), 4u);
    EXPECT_EQ(without.size(), 2u);
    EXPECT_EQ(read(one), (ids{a, abc}));
    int runs = 0;
    for (auto [e, p, h, o] : all) {
        ++runs;
        EXPECT_EQ(e, abc);
        EXPECT_EQ(std::tuple(p.number, h.text, o.number), std::tuple(4, heavy(5).text, 6));
    }
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(read(without), (ids{a}));
    EXPECT_TRUE(one.empty() && all.empty() && without.empty());
    EXPECT_TRUE(w.alive_all(b, c));
}

TEST_F(observer_test, shows_current_values_of_entities_changed_since_the_last_reading) {
    const ids all = w.spawn_many(5, plain{0});
    auto o = w.observer<plain>();
    EXPECT_TRUE(o.empty());  // existing values do not count as changed
    for (const entity e : {all[3], all[1], all[3], all[4]})
        w.patch<plain>(e, [](plain& p) { p.number += 1; });
    w.get<plain>(all[1]).number = 70;
    w.remove<plain>(all[4]);
    std::vector<std::pair<entity, int>> seen;
    o.each([&](entity e, const plain& p) { seen.emplace_back(e, p.number); });
    EXPECT_EQ(seen, (std::vector<std::pair<entity, int>>{{all[3], 2}, {all[1], 70}}));
    w.set(all[0], plain{5});
    o.clear();
    EXPECT_EQ(o.size(), 0u);
    w.set(all[2], plain{6});
    EXPECT_EQ(read(o), ids{all[2]});
}

TEST_F(observer_test, logs_nothing_while_paused_and_keeps_its_entities) {
    auto o = w.observer<plain>();
    const entity a = w.spawn(plain{});
    EXPECT_TRUE(o.connected());
    EXPECT_FALSE(o.resume());
    EXPECT_TRUE(o.pause());
    EXPECT_FALSE(o.pause());
    EXPECT_FALSE(o.connected());
    auto still = w.observer().added<plain>();
    const entity b = w.spawn(plain{});
    EXPECT_EQ(o.size(), 1u);
    EXPECT_EQ(still.take(), ids{b});
    w.destroy(a);
    EXPECT_EQ(read(o), ids{});
    EXPECT_TRUE(o.resume());
    const entity c = w.spawn(plain{});
    EXPECT_EQ(o.take(), ids{c});
    EXPECT_EQ(still.take(), ids{c});
}

TEST_F(observer_test, logs_no_removal_or_batch_while_paused) {
    auto o = w.observer<plain>().removed<plain>();
    EXPECT_TRUE(o.pause());
    const entity e = w.spawn(plain{});
    w.set(e, plain{1});
    w.remove<plain>(e);
    w.query<plain>().destroy();
    o.resume();
    EXPECT_TRUE(o.empty());
}

// ---- shown entities ----------------------------------------------------------------------------

TEST_F(observer_test, shows_destroyed_entities_only_without_terms) {
    auto gone = w.observer().removed<plain>();
    auto still = w.observer().removed<plain>().with<other>();
    const entity a = w.spawn(plain{}, other{}), b = w.spawn(plain{}, other{});
    w.remove<plain>(a);
    w.destroy(b);
    EXPECT_EQ(read(gone), (ids{a, b}));
    EXPECT_EQ(read(still), ids{a});
}

TEST_F(observer_test, a_reused_key_is_another_entity) {
    auto o = w.observer<plain>().removed<plain>();
    auto all = w.observer().added<plain>().removed<plain>();
    ids made;
    for (int i = 0; i < 3; ++i) {
        made.push_back(w.spawn(plain{i}));
        w.destroy(made.back());
    }
    made.push_back(w.spawn(plain{9}));
    EXPECT_EQ(made[0].key(), made[3].key());
    EXPECT_EQ(all.take(), made);
    int number = 0;
    o.each([&](entity e, plain& p) { number += p.number + (e == made[3] ? 0 : 100); });
    EXPECT_EQ(number, 9);
}

TEST_F(observer_test, shows_hidden_entities_only_without_terms_or_if_named) {
    auto o = w.observer<plain>();
    auto asks = w.observer<plain>().with<disabled_t>();
    auto free = w.observer().added<plain>();
    const entity seen = w.spawn(plain{}), hidden = w.spawn(plain{}, disabled);
    EXPECT_EQ(o.size(), 2u);
    EXPECT_EQ(read(o), ids{seen});
    EXPECT_EQ(read(asks), ids{hidden});
    EXPECT_EQ(read(free), (ids{seen, hidden}));
}

TEST_F(observer_test, accepts_optional_and_const_components) {
    auto o = w.observer<const plain, other*>();
    const entity a = w.spawn(plain{1}), b = w.spawn(plain{2}, other{3}), c = w.spawn(other{4});
    std::string seen;
    o.each([&](entity e, const plain& p, other* more) {
        seen += std::to_string(p.number) + (more == nullptr ? "-" : std::to_string(more->number));
        EXPECT_EQ(e, p.number == 1 ? a : b);
    });
    EXPECT_EQ(seen, "1-23");
    w.set(b, other{5});
    w.set(c, plain{6});
    seen.clear();
    o.each([&](const plain& p, const other* more) {
        seen += std::to_string(p.number) + std::to_string(more->number);
    });
    EXPECT_EQ(seen, "2564");
}

TEST_F(observer_test, observes_fragments_and_tags_by_id) {
    const entity tag = w.tag("tag");
    const fragment<int> speed = w.fragment<int>("speed");
    const entity open = w.spawn();
    auto o = w.observer().added(tag, open).changed(speed).removed(tag).without(speed);
    const entity a = w.spawn(with(speed, 1)), b = w.spawn(with(tag)), c = w.spawn(plain{});
    EXPECT_EQ(o.take(), ids{b});
    w.set(a, speed, 2);
    w.set(c, open, 2.5);
    w.remove(b, tag);
    w.set(b, plain{});
    EXPECT_EQ(o.size(), 3u);
    EXPECT_EQ(read(o), (ids{c, b}));
    w.destroy(speed);
    EXPECT_TRUE(o.empty());
    EXPECT_EQ(code_of([&] { (void)w.observer().added(speed); }), errc::dead_fragment);
}

TEST_F(observer_test, logs_a_singleton_under_the_id_of_its_type) {
    auto o = w.observer().added<plain>().changed<plain>().removed<plain>();
    w.set_single(plain{1});
    EXPECT_EQ(o.take(), ids{w.component<plain>()});
    w.set_single(plain{2});
    EXPECT_EQ(o.take(), ids{w.component<plain>()});
}

// ---- reading -----------------------------------------------------------------------------------

TEST_F(observer_test, changes_during_a_reading_belong_to_the_next_reading) {
    auto o = w.observer<plain>();
    const ids all = w.spawn_many(3, plain{});
    entity spawned;
    ids seen;
    o.each([&](entity e, plain&) {
        seen.push_back(e);
        if (e != all[1]) return;
        w.set(e, plain{1});
        w.set(all[0], plain{2});
        w.remove<plain>(all[2]);  // deferred until the reading ends
        spawned = w.spawn(plain{3});
        EXPECT_EQ(w.depth(), 1u);
        EXPECT_EQ(w.get<plain>(e).number, 0);
    });
    EXPECT_EQ(seen, all);
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(read(o), (ids{all[1], all[0], spawned}));
}

TEST_F(observer_test, keeps_unread_entities_when_a_reading_ends_early) {
    auto o = w.observer<plain>();
    const ids all = w.spawn_many(5, plain{});
    for (auto [e, p] : o) {
        if (e != all[1]) continue;
        w.set(all[0], plain{1});
        w.set(all[4], plain{1});
        break;
    }
    EXPECT_EQ(w.get<plain>(all[4]).number, 1);
    EXPECT_EQ(o.size(), 4u);
    EXPECT_EQ(read(o), (ids{all[2], all[3], all[4], all[0]}));
}

TEST_F(observer_test, keeps_the_entity_whose_callback_throws) {
    auto o = w.observer<plain>();
    const ids all = w.spawn_many(4, plain{});
    const auto fail = [&](entity e) {
        w.destroy(e);
        if (e == all[1]) throw std::runtime_error("stop");
    };
    EXPECT_THROW(o.each(fail), std::runtime_error);
    EXPECT_EQ(w.size(), 4u);  // the recorded changes are discarded
    EXPECT_EQ(o.size(), 3u);
    EXPECT_EQ(read(o), (ids{all[1], all[2], all[3]}));
    w.set(all[2], plain{});
    EXPECT_THROW(
        {
            for (auto row : o)
                throw std::runtime_error(std::get<1>(row).number == 0 ? "stop" : "?");
        },
        std::runtime_error);
    EXPECT_EQ(read(o), ids{all[2]});
}

TEST_F(observer_test, a_failed_commit_at_the_end_of_a_reading_throws) {
    auto o = w.observer<plain>();
    const ids all = w.spawn_many(3, plain{});
    w.on_assign<plain>([&](entity e) {
        if (e == all[1]) throw std::runtime_error("no");
    });
    EXPECT_THROW(o.each([&](entity e, plain&) { w.set(e, plain{1}); }), std::runtime_error);
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(read(o), (ids{all[0], all[2]}));
}

TEST_F(observer_test, readings_can_be_nested) {
    auto o = w.observer<plain>();
    const ids all = w.spawn_many(3, plain{});
    ids inner;
    for (auto [e, p] : o) {
        if (e == all[0]) inner = read(o);
        EXPECT_EQ(inner, ids{});
        for (auto [again, q] : o) ADD_FAILURE() << again;
        if (e == all[1]) break;
    }
    EXPECT_EQ(o.take(), ids{all[2]});
    w.set(all[0], plain{});
    w.set(all[1], plain{});
    const auto outer_fails = [&](entity e) {
        EXPECT_EQ(o.take(), ids{});
        if (e == all[1]) throw 1;
    };
    EXPECT_THROW(o.each(outer_fails), int);
    EXPECT_EQ(o.take(), ids{all[1]});
}

TEST_F(observer_test, a_reading_in_a_hook_omits_the_change_that_called_it) {
    auto o = w.observer<plain>();
    const entity a = w.spawn(plain{1});
    ids seen;
    w.on_insert<plain>([&] { seen = read(o); });
    const ids more = w.spawn_many(100, plain{2});
    EXPECT_EQ(seen, ids{});
    EXPECT_EQ(read(o), more);
    w.set(a, plain{3});
    const entity b = w.spawn(plain{4});
    EXPECT_EQ(seen, ids{a});
    EXPECT_EQ(read(o), ids{b});
}

TEST_F(observer_test, a_reading_continues_when_the_observer_is_cleared_or_paused) {
    auto o = w.observer<plain>();
    const ids all = w.spawn_many(3, plain{});
    ids seen;
    for (auto [e, p] : o) {
        seen.push_back(e);
        o.clear();
        o.pause();
        w.set(e, plain{1});
    }
    EXPECT_EQ(seen, all);
    EXPECT_TRUE(o.empty());
    o.resume();
    w.set(all[0], plain{2});
    EXPECT_EQ(o.take(), ids{all[0]});
}

// ---- lifetime ----------------------------------------------------------------------------------

TEST_F(observer_test, logs_nothing_after_its_destruction) {
    std::optional o(w.observer<plain>());
    auto still = w.observer<plain>();
    o.reset();
    const entity e = w.spawn(plain{});
    EXPECT_EQ(still.take(), ids{e});
}

TEST_F(observer_test, moving_transfers_its_log_and_its_terms) {
    auto o = w.observer<plain>().without<other>();
    const entity a = w.spawn(plain{});
    auto moved = std::move(o);
    const entity b = w.spawn(plain{}), c = w.spawn(plain{}, other{});
    EXPECT_EQ(moved.size(), 3u);
    EXPECT_EQ(read(moved), (ids{a, b}));
    o = w.observer<plain>();
    moved = std::move(o);
    w.set(c, plain{});
    EXPECT_EQ(read(moved), ids{c});
    std::vector<muster::observer<>> many;
    for (int i = 0; i < 20; ++i) many.push_back(w.observer().added<plain>());
    const entity d = w.spawn(plain{});
    for (auto& observer : many) EXPECT_EQ(observer.take(), ids{d});
}

TEST_F(observer_test, may_be_created_and_destroyed_in_a_hook) {
    std::optional<muster::observer<>> made, ends(w.observer().added<plain>());
    auto before = w.observer().added<plain>();
    auto after = w.observer().removed<plain>();
    connection once = w.on_insert<plain>([&] {
        ends.reset();
        if (!made) made.emplace(w.observer().added<plain>().removed<plain>());
    });
    const ids all = w.spawn_many(2, plain{});
    EXPECT_EQ(before.take(), all);
    once.disconnect();
    (void)made->take();
    w.on_remove<plain>([&] { made.reset(); });
    w.query<plain>().destroy();
    EXPECT_EQ(after.take(), all);
    EXPECT_FALSE(made);
}

TEST_F(observer_test, may_be_destroyed_while_another_observer_is_read) {
    auto o = w.observer<plain>();
    std::optional second(w.observer<plain>());
    w.spawn_many(3, plain{});
    o.each([&](entity e, plain&) {
        second.reset();
        w.set(e, plain{1});
    });
    EXPECT_EQ(o.size(), 3u);
}

struct with_observer {
    muster::observer<> own;
};
TEST_F(observer_test, may_be_a_component) {
    auto still = w.observer().removed<with_observer>();
    const entity a = w.spawn(with_observer{w.observer().added<plain>()}, plain{});
    w.spawn(with_observer{w.observer().removed<plain>().removed<with_observer>()});
    const entity b = w.spawn(plain{});
    w.set(a, other{});
    EXPECT_EQ(w.get<with_observer>(a).own.take(), (ids{a, b}));
    w.destroy(a);
    EXPECT_EQ(still.take(), ids{a});
    w.spawn(with_observer{w.observer().added<with_observer>()});
    w.query<with_observer>().set(plain{});
    w.clear<with_observer>();
    EXPECT_EQ(still.size(), 2u);
    w.spawn(with_observer{w.observer().added<with_observer>()});
}

TEST_F(observer_test, cannot_be_created_while_component_code_runs) {
    struct nosy {
        world* home;
        errc* found;
        nosy(world& value, errc& code) : home(&value), found(&code) {}
        nosy(const nosy& from) : home(from.home), found(from.found) {
            const auto code = code_of([&] { (void)home->observer<plain>(); });
            if (code) *found = *code;
        }
        nosy(nosy&&) noexcept = default;
        nosy& operator=(nosy&&) noexcept = default;
    };
    w.component<plain>();
    errc found{};
    w.spawn_many(1, nosy(w, found));
    EXPECT_EQ(found, errc::in_scope);
    w.spawn(plain{});  // no observer logs it, and no memory leaks
}

TEST(observer_of_a_world_that_ended, is_empty_and_its_functions_can_be_called) {
    auto w = std::make_unique<world>();
    auto o = w->observer<plain>().removed<plain>();
    w->spawn(plain{});
    w.reset();
    EXPECT_TRUE(o.empty());
    EXPECT_FALSE(o.connected() || o.pause() || o.resume());
    o.clear();
    EXPECT_EQ(o.take(), ids{});
    auto moved = std::move(o);
    EXPECT_EQ(moved.size(), 0u);
}

TEST(observer_of_a_world_that_ended, shows_nothing) {
    auto w = std::make_unique<world>();
    auto o = w->observer<plain>();
    w->spawn(plain{});
    EXPECT_EQ(o.size(), 1u);
    w.reset();
    EXPECT_EQ(o.size(), 0u);
    o.each([](entity e) { ADD_FAILURE() << e; });
    for (auto [e, p] : o) ADD_FAILURE() << e;
}

TEST_F(observer_test, may_be_destroyed_in_its_own_reading) {
    std::optional o(w.observer<plain>());
    const ids all = w.spawn_many(3, plain{});
    ids seen;
    for (auto [e, p] : *o) {
        seen.push_back(e);
        o.reset();
        w.set(e, plain{1});
        break;
    }
    EXPECT_EQ(seen, ids{all[0]});
    EXPECT_EQ(w.get<plain>(all[0]).number, 1);
}

TEST_F(observer_test, registers_new_types_in_the_order_of_its_list) {
    struct first {};
    struct second {};
    const auto o = w.observer<>().added<first, second>();
    EXPECT_GT(w.component<first>().id().key(), w.component<second>().id().key());
}

TEST_F(observer_test, may_be_moved_in_its_own_reading) {
    auto o = w.observer<plain>();
    const ids all = w.spawn_many(3, plain{});
    std::optional<decltype(o)> now;
    for (auto [e, p] : o) {
        EXPECT_EQ(e, all[0]);
        EXPECT_EQ(p.number, 0);
        now.emplace(std::move(o));
        break;
    }
    EXPECT_EQ(now->take(), (ids{all[1], all[2]}));
}

}  // namespace
}  // namespace muster
