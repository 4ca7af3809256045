// Scopes and hooks that are used in ways nobody should have to think of.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"

namespace muster {
namespace {

using test::code_of;

struct place {
    int x = 0;
};
struct other {
    int x = 0;
};
struct label {
    std::string text = std::string(40, 'x');
};
struct marked {};

TEST(scope_hostile, a_hook_that_opens_a_scope_and_throws_leaves_none) {
    world w;
    const entity x = w.spawn();
    w.on_insert<place>([&] {
        w.set(x, label{});
        w.defer();
        w.set(x, other{});
        throw 1;
    });
    EXPECT_THROW(w.spawn(place{}), int);
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_TRUE(w.empty(x));
    EXPECT_EQ(code_of([&] { w.cancel(); }), errc::unbalanced_scope);
}

TEST(scope_hostile, every_kind_of_hook_must_close_its_scopes) {
    world w;
    w.on_remove<place>([&] { w.defer(); });
    w.spawn(place{});
    const entity e = w.spawn(place{}, label{});
    EXPECT_EQ(code_of([&] { w.remove<place>(e); }), errc::unbalanced_scope);
    EXPECT_EQ(code_of([&] { w.destroy(e); }), errc::unbalanced_scope);
    EXPECT_EQ(code_of([&] { w.clear<place>(); }), errc::unbalanced_scope);
    EXPECT_EQ(code_of([&] { w.destroy(w.component<place>()); }), errc::unbalanced_scope);
    EXPECT_EQ(code_of([&] { w.reset(); }), errc::unbalanced_scope);
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(w.count<place>(), 2u);
}

TEST(scope_hostile, a_scope_object_that_leaves_a_hook_can_still_be_closed) {
    world w;
    std::unique_ptr<deferred> kept;
    w.on_insert<place>([&] { kept = std::make_unique<deferred>(w); });
    EXPECT_EQ(code_of([&] { w.spawn(place{}); }), errc::unbalanced_scope);
    EXPECT_EQ(w.depth(), 1u);
    kept->cancel();
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(w.size(), 0u);
}

/// Ends its connection with itself.
struct subscription {
    connection hook;
    explicit subscription(connection made) : hook(made) {}
    subscription(subscription&& one) noexcept : hook(std::exchange(one.hook, {})) {}
    subscription& operator=(subscription&&) = delete;
    ~subscription() {
        hook.cut();
        hook.restore();
        hook.remove();
    }
};

TEST(scope_hostile, a_component_may_end_a_hook_when_it_dies) {
    world w;
    int calls = 0;
    const auto make = [&] { return subscription(w.on_insert<place>([&] { ++calls; })); };
    const entity e = w.spawn(place{}, make());
    w.spawn(place{}, make());
    EXPECT_EQ(calls, 1 + 2);
    EXPECT_TRUE(w.remove<subscription>(e));
    w.destroy(w.component<subscription>());
    calls = 0;
    w.spawn(place{});
    EXPECT_EQ(calls, 0);
}

TEST(scope_hostile, a_hook_may_make_chunks_while_a_fragment_is_destroyed) {
    world w;
    const entity t = w.tag("t");
    int made = 0;
    w.on_remove(t, [&](entity) {
        for (int i = 0; i < 20; ++i) (void)w.chunk(w.tag(), w.tag());
        ++made;
    });
    for (int i = 0; i < 5; ++i) w.set(w.spawn(place{}), t);
    EXPECT_TRUE(w.destroy(t));
    EXPECT_EQ(made, 5);
}

TEST(scope_hostile, an_outer_scope_that_is_cancelled_inside_drops_all_at_the_end) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const entity e = w.spawn(place{1});
    {
        deferred outer{w};
        const auto f = w.fragment<int>("f");
        (void)w.chunk(w.component<place>(), f);
        w.set(e, label{});
        w.query<place>().each([&](place&) {
            w.set(e, other{});
            outer.cancel();
            w.set(e, f, 3);
        });
        EXPECT_FALSE(w.alive(f));
    }
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_FALSE((w.has_any<label, other>(e)));
    {
        deferred outer{w};
        w.set(e, label{});
        w.patch<label>(e, [&](label& one) {
            outer.cancel();
            one.text = "y";
        });
    }
    {
        deferred outer{w};
        w.spawn_rows(2, [&](rows) { outer.cancel(); }, label{});
    }
    EXPECT_EQ(w.size(), 1u);
    EXPECT_FALSE(w.has<label>(e));
}

TEST(scope_hostile, a_scope_that_outlives_its_loop_has_what_the_loop_changed) {
    world w;
    const entity e = w.spawn(place{});
    const auto loop = [&] {
        w.each([&](entity x, place&) {
            w.set(x, other{1});
            w.defer();
        });
    };
    loop();
    w.cancel();
    EXPECT_FALSE(w.has<other>(e));
    w.set(e, marked{});  // nothing is left to come
    EXPECT_FALSE(w.has<other>(e));
    loop();
    w.commit();
    EXPECT_TRUE(w.has<other>(e));
}

TEST(scope_hostile, what_define_settles_a_cancelled_scope_leaves_settled) {
    world w;
    const entity e = w.spawn();
    const auto [f, g] = w.ids<2>();
    w.defer();
    w.set(e, f, 1);
    w.define(f).default_value(7);
    w.cancel();
    EXPECT_EQ(code_of([&] { w.set(e, f, std::string("x")); }), errc::type_mismatch);
    w.define(g).hidden(false);
    w.defer();
    w.set(e, g, 2.5);  // the first value
    w.commit();
    EXPECT_EQ(w.get<double>(e, g), 2.5);
}

TEST(scope_hostile, a_hook_of_a_type_is_not_called_with_another) {
    world w;
    const entity f = w.spawn();
    const entity e = w.spawn();
    w.on_insert(fragment<std::string>(f), [](entity, std::string& s) { EXPECT_EQ(s, "text"); });
    EXPECT_EQ(code_of([&] { w.set(e, f, 5); }), errc::type_mismatch);
    w.set(e, f, std::string("text"));
    const auto number = w.fragment<double>();
    EXPECT_EQ(code_of([&] { w.on_set(fragment<int>(number.id()), [](entity, int&) {}); }),
              errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.on_insert(entity{}, [](entity) {}); }), errc::dead_fragment);
}

TEST(scope_hostile, a_refused_value_settles_no_type) {
    world w;
    const entity f = w.spawn();
    const entity e = w.spawn();
    connection refuses = w.on_insert(f, [](entity) { throw 1; });
    EXPECT_THROW(w.set(e, f, 1), int);
    refuses.cut();
    w.collect_garbage();
    w.set(e, f, std::string("x"));
    EXPECT_EQ(w.get<std::string>(e, f), "x");
}

TEST(scope_hostile, functions_of_hooks_may_end_each_other) {
    world w;
    connection second;
    struct ender {
        connection* what;
        explicit ender(connection& one) : what(&one) {}
        ender(ender&& one) noexcept : what(std::exchange(one.what, nullptr)) {}
        ender& operator=(ender&&) = delete;
        ~ender() {
            if (what != nullptr) what->remove();
        }
        void operator()() const {}
    };
    connection first = w.on_insert<place>(ender(second));
    second = w.on_insert<place>([] {});
    first.remove();
    EXPECT_FALSE(second.is_connected());
    w.spawn(place{});
}

TEST(scope_hostile, a_fragment_dies_with_the_value_it_has_of_itself) {
    world w;
    w.defer();
    const entity f = w.spawn();
    w.destroy(f);
    w.set(f, f, std::string(40, 'x'));
    w.commit();
    EXPECT_FALSE(w.alive(f));
    const entity e = w.spawn(place{});
    w.defer();
    w.set(e, place{2});
    const entity g = w.ids<1>()[0];
    w.destroy(g);
    w.set(e, g);
    EXPECT_NO_THROW(w.commit());
    EXPECT_FALSE(w.alive(g));
    EXPECT_EQ(w.get<place>(e).x, 2);
}

TEST(scope_hostile, an_id_whose_birth_is_refused_is_taken_from_those_that_have_it) {
    world w;
    const entity e = w.spawn(place{});
    w.defer();
    w.set(e, place{2});
    const entity f = w.tag();
    w.set(e, f);
    w.on_spawn([] { throw 1; });
    EXPECT_THROW(w.commit(), int);
    EXPECT_FALSE(w.alive(f));
    EXPECT_FALSE(w.has(e, f));
    EXPECT_EQ(w.get<place>(e).x, 2);
}

TEST(scope_hostile, garbage_may_be_collected_between_scopes) {
    world w;
    const entity e = w.spawn(place{});
    w.defer();
    w.remove<place>(e);
    w.commit();
    w.collect_garbage();
    w.defer();
    w.set(e, marked{});
    w.commit();
    EXPECT_TRUE(w.has<marked>(e));
}

TEST(scope_hostile, what_waits_is_seen_across_barriers) {
    world w;
    const entity e = w.spawn(place{1});
    w.spawn(other{});
    w.defer();
    w.set(e, place{5});
    w.clear<other>();
    w.patch<place>(e, [](place& p) { ++p.x; });
    const entity c = w.clone(e);
    w.commit();
    EXPECT_EQ(w.get<place>(e).x, 6);
    EXPECT_EQ(w.get<place>(c).x, 6);
    w.defer();
    w.clear<place>();
    const entity d = w.clone(e, label{});
    w.commit();
    EXPECT_FALSE(w.has<place>(d));
    EXPECT_TRUE(w.has<label>(d));
}

TEST(scope_hostile, a_patch_is_of_what_will_be_there) {
    world w;
    const entity e = w.spawn();
    const auto more = [](place& p) { ++p.x; };
    w.defer();
    w.set(e, place{5});
    w.add<place>(e);
    w.patch<place>(e, more);
    w.commit();
    EXPECT_EQ(w.get<place>(e).x, 6);
    w.defer();
    w.remove<place>(e);
    w.add<place>(e);
    w.patch<place>(e, more);
    w.commit();
    EXPECT_EQ(w.get<place>(e).x, 1);
    w.defer();
    w.set(e, place{7});
    w.defer();
    w.patch<place>(e, more);
    w.cancel();
    w.commit();
    EXPECT_EQ(w.get<place>(e).x, 7);
}

TEST(scope_hostile, one_that_is_named_twice_is_counted_once) {
    world w;
    w.on_destroy([] {});
    const entity e = w.spawn();
    EXPECT_EQ(w.destroy(e, e), 1u);
    w.defer();
    const entity f = w.spawn();
    EXPECT_EQ(w.destroy(f, f), 1u);
    w.commit();
}

TEST(scope_hostile, a_tag_that_a_hook_destroys_at_once_is_none) {
    world w;
    w.on_spawn([&](entity e) { w.destroy(e); });
    EXPECT_EQ(code_of([&] { (void)w.tag("t"); }), errc::dead_entity);
    EXPECT_EQ(w.size(), 0u);
}

TEST(scope_hostile, many_without_components_come_all_or_not_at_all) {
    world w;
    int births = 0;
    w.on_spawn([&] {
        if (++births == 2) throw 1;
    });
    std::vector<entity> out(3);
    EXPECT_THROW(w.spawn_into(out), int);
    EXPECT_EQ(out, std::vector<entity>(3));
    EXPECT_EQ(w.size(), 0u);
    births = 0;
    EXPECT_THROW(w.ids<2>(), int);
    EXPECT_EQ(w.size(), 0u);
}

TEST(scope_hostile, hooks_of_what_a_copied_fragment_needs_are_told) {
    world w;
    const auto f = w.fragment<place>("f");
    int told = 0;
    w.define(f).needs<marked>();
    w.on_insert<marked>([&] { ++told; });
    const entity e = w.spawn(place{3});
    EXPECT_EQ(w.copy_fragment(w.component<place>(), f), 1u);
    EXPECT_EQ(told, 1);
    EXPECT_EQ(w.get(e, f).x, 3);
}

/// Asks the world for something when it dies.
struct curious {
    world* home;
    explicit curious(world& w) : home(&w) {}
    curious(curious&& one) noexcept : home(std::exchange(one.home, nullptr)) {}
    curious& operator=(curious&&) = delete;
    ~curious() {
        if (home == nullptr) return;
        home->query<place>().each([](place&) {});
        (void)home->chunk<place, other, label>();
    }
};

TEST(scope_hostile, a_destructor_may_ask_a_world_that_ends_or_is_reset) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    (void)w.component<other>();
    (void)w.component<label>();
    for (int i = 0; i < 3; ++i) w.spawn(curious(w), place{});
    w.reset();
    for (int i = 0; i < 3; ++i) w.spawn(curious(w), place{});
}

TEST(scope_hostile, an_iterator_does_not_need_its_query) {
    world w;
    w.spawn(place{1});
    w.spawn(place{2}, label{});
    int sum = 0;
    {
        auto at = w.query<place>().begin();
        for (auto moved = std::move(at); !(moved == decltype(w.query<place>().end()){}); ++moved)
            sum += std::get<1>(*moved).x;
    }
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(w.depth(), 0u);
}

TEST(scope_hostile, loops_may_read_a_query_that_grows) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    for (int i = 0; i < 3; ++i) w.spawn(place{i});
    auto q = w.query<place>();
    int seen = 0;
    q.each([&](place&) {
        ++seen;
        for (int i = 0; i < 10; ++i) (void)w.chunk(w.component<place>(), w.tag());
        w.define<other>().hidden(seen % 2 == 0);
        EXPECT_EQ(q.count(), 3u);
        q.each([&](place&) { ++seen; });
    });
    EXPECT_EQ(seen, 3 + 9);
}

}  // namespace
}  // namespace muster
