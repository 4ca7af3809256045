// Unusual and wrong uses of scopes and hooks.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"
#include "support/numbered.hpp"
#include "support/trouble.hpp"

namespace muster {
namespace {

using test::code_of;
using test::counted;

struct place {
    int x = 0;
};
struct other {
    int x = 0;
};
struct label {
    std::string text = test::numbered("a text that needs memory of its own, ", 0);
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

/// Two chunks with rows, `source` and `target`, and a hook that changes traits and hooks, so that the world
/// drops its edges, and then throws.
struct scope_hostile_move : testing::Test {
    world w;
    std::vector<entity> source;
    std::vector<entity> target;
    int thrown = 0;
    int later_calls = 0;

    scope_hostile_move() {
        counted::count.misused = 0;
        for (int i = 0; i < 4; ++i) {
            source.push_back(w.spawn(place{i}, counted(10 + i), label{}));
            target.push_back(w.spawn(place{20 + i}, counted(30 + i), label{}, other{40 + i}));
        }
    }
    ~scope_hostile_move() override { EXPECT_EQ(counted::count.misused, 0); }

    auto breaks() {
        return [this] {
            ++thrown;
            w.define<other>().needs<marked>();
            w.define<marked>().hidden(false);
            const auto later = [this] { ++later_calls; };
            w.on_insert<other>(later);
            w.on_remove<other>(later);
            (void)w.component<unsigned>();
            throw std::runtime_error("after the edges were dropped");
        };
    }
    void expect_unchanged() {
        EXPECT_EQ(counted::count.living, 8);
        for (int i = 0; i < 4; ++i) {
            const entity from = source[static_cast<std::size_t>(i)];
            const entity to = target[static_cast<std::size_t>(i)];
            EXPECT_EQ(w.get<place>(from).x, i);
            EXPECT_EQ(w.get<counted>(from).value, 10 + i);
            EXPECT_EQ(w.get<label>(from).text, label{}.text);
            EXPECT_FALSE((w.has_any<other, marked>(from)));
            EXPECT_EQ(w.get<place>(to).x, 20 + i);
            EXPECT_EQ(w.get<counted>(to).value, 30 + i);
            EXPECT_EQ(w.get<other>(to).x, 40 + i);
            EXPECT_FALSE(w.has<marked>(to));
            for (const entity e : {from, to})
                if (const auto [chunk, row] = w.locate(e); chunk) {
                    EXPECT_EQ(chunk.entities()[row], e);
                }
        }
    }
    /// Makes the change, which the hook refuses, and makes it again without the hook.
    template <class Change>
    void expect_undone(connection hook, int calls, Change change) {
        EXPECT_THROW(change(), std::runtime_error);
        EXPECT_EQ(thrown, calls);
        EXPECT_EQ(later_calls, 0);
        expect_unchanged();
        EXPECT_TRUE(hook.disconnect());
        EXPECT_NO_THROW(change());
        EXPECT_GT(later_calls, 0);  // the hooks that it connected stay
    }
};

TEST_F(scope_hostile_move, is_undone_if_a_hook_defines_and_connects_and_then_throws) {
    expect_undone(w.on_insert<other>(breaks()), 1, [&] { w.set(source[1], other{7}); });
    EXPECT_EQ(w.get<other>(source[1]).x, 7);
    EXPECT_TRUE(w.has<marked>(source[1]));
}

TEST_F(scope_hostile_move, is_undone_if_a_hook_of_a_removal_defines_and_connects_and_then_throws) {
    expect_undone(w.on_remove<other>(breaks()), 1, [&] { w.remove<other>(target[1]); });
    EXPECT_FALSE(w.has<other>(target[1]));
    EXPECT_EQ(w.get<counted>(target[1]).value, 31);
}

TEST_F(scope_hostile_move, is_undone_in_a_scope_in_which_values_are_assigned_too) {
    expect_undone(w.on_insert<other>(breaks()), 1, [&] {
        w.defer();
        w.set(source[1], counted(99));
        w.remove<label>(source[1]);
        w.set(source[1], other{7});
        w.commit();
    });
    EXPECT_EQ(w.get<counted>(source[1]).value, 99);
    EXPECT_FALSE(w.has<label>(source[1]));
    EXPECT_TRUE((w.has_all<other, marked>(source[1])));
}

TEST_F(scope_hostile_move, of_a_whole_chunk_is_undone) {
    MUSTER_ABOUT_CHUNKS();
    int calls = 0;
    // The last row throws: the hook has been called for the others.
    connection hook = w.on_insert<other>([&, last = breaks()] {
        if (++calls == 4) last();
    });
    expect_undone(hook, 1, [&] { w.query<place>().without<other>().set(other{7}, counted(99)); });
    EXPECT_EQ(calls, 4);
    for (const entity e : source) {
        EXPECT_EQ(w.get<other>(e).x, 7);
        EXPECT_EQ(w.get<counted>(e).value, 99);
        EXPECT_TRUE(w.has<marked>(e));
    }
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

TEST(scope_hostile, a_scope_object_that_outlives_its_hook_can_still_be_closed) {
    world w;
    std::unique_ptr<deferred> kept;
    w.on_insert<place>([&] { kept = std::make_unique<deferred>(w); });
    EXPECT_EQ(code_of([&] { w.spawn(place{}); }), errc::unbalanced_scope);
    EXPECT_EQ(w.depth(), 1u);
    kept->cancel();
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(w.size(), 0u);
}

/// Disconnects its hook when it is destroyed.
struct subscription {
    connection hook;
    explicit subscription(connection made) : hook(made) {}
    subscription(subscription&& value) noexcept : hook(std::exchange(value.hook, {})) {}
    subscription& operator=(subscription&&) = delete;
    ~subscription() {
        hook.pause();
        hook.resume();
        hook.disconnect();
    }
};

TEST(scope_hostile, the_destructor_of_a_component_may_disconnect_a_hook) {
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

TEST(scope_hostile, a_hook_may_create_chunks_while_a_fragment_is_destroyed) {
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

TEST(scope_hostile, cancelling_an_outer_scope_inside_a_loop_drops_its_changes_when_the_loop_ends) {
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
        const auto patch = [&] {
            w.patch<label>(e, [&](label& value) {
                outer.cancel();
                value.text = "y";
            });
        };
        EXPECT_EQ(code_of(patch), errc::missing_component);  // no value is left to return
    }
    {
        deferred outer{w};
        w.spawn_rows(2, [&](rows) { outer.cancel(); }, label{});
    }
    EXPECT_EQ(w.size(), 1u);
    EXPECT_FALSE(w.has<label>(e));
}

TEST(scope_hostile, a_scope_that_outlives_its_loop_owns_the_changes_of_the_loop) {
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
    w.set(e, marked{});  // applies no cancelled change
    EXPECT_FALSE(w.has<other>(e));
    loop();
    w.commit();
    EXPECT_TRUE(w.has<other>(e));
}

TEST(scope_hostile, a_type_that_define_fixes_stays_fixed_after_the_scope_is_cancelled) {
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

TEST(scope_hostile, a_hook_of_a_type_rejects_values_of_another_type) {
    world w;
    const entity f = w.spawn();
    const entity e = w.spawn();
    int calls = 0;
    w.on_insert(fragment<std::string>(f), [&](entity, std::string& s) {
        ++calls;
        EXPECT_EQ(s, "text");
    });
    EXPECT_EQ(code_of([&] { w.set(e, f, 5); }), errc::type_mismatch);
    EXPECT_EQ(calls, 0);
    w.set(e, f, std::string("text"));
    EXPECT_EQ(calls, 1);
    const auto number = w.fragment<double>();
    EXPECT_EQ(code_of([&] { w.on_set(fragment<int>(number.id()), [](entity, int&) {}); }),
              errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.on_insert(entity{}, [](entity) {}); }), errc::dead_fragment);
}

TEST(scope_hostile, a_value_that_a_hook_refuses_does_not_fix_the_type) {
    world w;
    const entity f = w.spawn();
    const entity e = w.spawn();
    connection refuses = w.on_insert(f, [](entity) { throw 1; });
    EXPECT_THROW(w.set(e, f, 1), int);
    refuses.pause();
    w.collect_garbage();
    w.set(e, f, std::string("x"));
    EXPECT_EQ(w.get<std::string>(e, f), "x");
}

TEST(scope_hostile, destroying_the_function_of_a_hook_may_disconnect_another_hook) {
    world w;
    connection second;
    struct ender {
        connection* what;
        explicit ender(connection& one) : what(&one) {}
        ender(ender&& value) noexcept : what(std::exchange(value.what, nullptr)) {}
        ender& operator=(ender&&) = delete;
        ~ender() {
            if (what != nullptr) what->disconnect();
        }
        void operator()() const {}
    };
    connection first = w.on_insert<place>(ender(second));
    second = w.on_insert<place>([] {});
    first.disconnect();
    EXPECT_FALSE(second.connected());
    w.spawn(place{});
}

TEST(scope_hostile, a_fragment_that_has_a_pending_value_of_itself_can_be_destroyed) {
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

TEST(scope_hostile, a_fragment_whose_creation_is_refused_is_not_added_to_its_entities) {
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

TEST(scope_hostile, patch_and_clone_see_pending_values_across_barriers) {
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

TEST(scope_hostile, a_deferred_patch_changes_the_pending_value) {
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

TEST(scope_hostile, destroying_an_entity_twice_in_one_call_counts_it_once) {
    world w;
    w.on_destroy([] {});
    const entity e = w.spawn();
    EXPECT_EQ(w.destroy(e, e), 1u);
    w.defer();
    const entity f = w.spawn();
    EXPECT_EQ(w.destroy(f, f), 1u);
    w.commit();
}

TEST(scope_hostile, creating_a_tag_that_a_hook_destroys_at_once_throws) {
    world w;
    w.on_spawn([&](entity e) { w.destroy(e); });
    EXPECT_EQ(code_of([&] { (void)w.tag("t"); }), errc::dead_entity);
    EXPECT_EQ(w.size(), 0u);
}

TEST(scope_hostile, spawning_many_entities_without_components_is_all_or_nothing) {
    world w;
    int spawned = 0;
    w.on_spawn([&] {
        if (++spawned == 2) throw 1;
    });
    std::vector<entity> out(3);
    EXPECT_THROW(w.spawn_into(out), int);
    EXPECT_EQ(out, std::vector<entity>(3));
    EXPECT_EQ(w.size(), 0u);
    spawned = 0;
    EXPECT_THROW(w.ids<2>(), int);
    EXPECT_EQ(w.size(), 0u);
}

TEST(scope_hostile, copying_a_fragment_calls_the_hooks_of_the_fragments_that_it_needs) {
    world w;
    const auto f = w.fragment<place>("f");
    int calls = 0;
    w.define(f).needs<marked>();
    w.on_insert<marked>([&] { ++calls; });
    const entity e = w.spawn(place{3});
    EXPECT_EQ(w.copy_fragment(w.component<place>(), f), 1u);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(w.get(e, f).x, 3);
}

/// Queries its world when it is destroyed.
struct curious {
    struct report {
        int destructors = 0;
        int living = 0;  // entities
        int rows = 0;
    };
    world* home;
    report* found;
    curious(world& w, report& out) : home(&w), found(&out) {}
    curious(curious&& value) noexcept
        : home(std::exchange(value.home, nullptr)), found(value.found) {}
    curious& operator=(curious&&) = delete;
    ~curious() {
        if (home == nullptr) return;
        ++found->destructors;
        for ([[maybe_unused]] const entity e : home->entities()) ++found->living;
        found->living += static_cast<int>(home->size() + home->count<place>());
        home->query<place>().each([this](place&) { ++found->rows; });
        (void)home->chunk<place, other, label>();
    }
};

TEST(scope_hostile, destructors_may_query_a_world_that_is_reset_or_destroyed) {
    MUSTER_ABOUT_CHUNKS();
    curious::report found;
    {
        world w;
        (void)w.component<other>();
        (void)w.component<label>();
        for (int i = 0; i < 3; ++i) w.spawn(curious(w, found), place{});
        w.spawn(place{}, other{});  // in a chunk that is emptied after the first
        EXPECT_EQ(found.destructors, 0);
        w.reset();
        EXPECT_EQ(found.destructors, 3);
        EXPECT_EQ(found.living, 0);
        EXPECT_EQ(found.rows, 0);
        for (int i = 0; i < 3; ++i) w.spawn(curious(w, found), place{});
        w.spawn(place{}, other{});  // in a chunk that is emptied after the first
        EXPECT_EQ(found.destructors, 3);
    }
    EXPECT_EQ(found.destructors, 6);
    EXPECT_EQ(found.living, 0);
    EXPECT_EQ(found.rows, 0);
}

TEST(scope_hostile, an_iterator_may_outlive_its_query) {
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

TEST(scope_hostile, a_loop_may_read_its_query_while_the_query_gains_chunks) {
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
