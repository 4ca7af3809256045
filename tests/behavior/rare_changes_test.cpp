// Changes in rare circumstances: entities that a hook destroys while a batch runs, fragments that are destroyed while
// changes of them are recorded, defaults that do not exist, and buffers submitted by a call that fails.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/thread_executor.hpp"

namespace muster {
namespace {

using muster_tests::thread_executor;
using test::code_of;

struct place {
    int x = 0;
};
struct speed {
    int x = 0;
};
struct heat {
    int degrees = 0;
};
struct without_default {
    int value;
    explicit without_default(int from) : value(from) {}
};
struct label {
    std::string text;
    explicit label(int from)
        : text("a text that needs memory of its own " + std::to_string(from)) {}
};

std::vector<entity> spawn_heaps(world& w, int count) {
    std::vector<entity> made;
    for (int i = 0; i < count; ++i) made.push_back(w.spawn(place{i}, heat{i}));
    return made;
}

TEST(rare_changes, a_batch_skips_entities_that_hooks_have_destroyed_meanwhile) {
    for (const bool is_destroyed : {false, true}) {
        world w;
        w.define<heat>().sparse();
        const std::vector<entity> all = spawn_heaps(w, 6);
        connection hook = is_destroyed ? w.on_remove<heat>([&](entity e) {
            if (e == all[0]) w.destroy(all[3]);
        })
                                       : w.on_assign<heat>([&](entity e) {
                                             if (e == all[0]) w.destroy(all[3]);
                                         });
        const auto q = w.query<heat>();
        if (is_destroyed) {
            q.destroy();
            EXPECT_EQ(w.size(), 0u);
        } else {
            q.set(heat{50});
            EXPECT_EQ(w.size(), 5u);
            EXPECT_EQ(w.get<heat>(all[5]).degrees, 50);
        }
        EXPECT_FALSE(w.alive(all[3]));
        EXPECT_TRUE(hook.connected());
    }
}

TEST(rare_changes, a_batch_removes_fragments_that_are_named_by_a_list) {
    world w;
    const std::vector<entity> all = spawn_heaps(w, 3);
    const entity a = w.tag("a"), b = w.tag("b");
    for (const entity e : all) w.add(e, a);
    w.add(all[1], b);
    EXPECT_EQ(w.query<place>().remove(std::vector<entity>{a, b}), 3u);
    EXPECT_FALSE(w.has(all[1], a));
    EXPECT_FALSE(w.has(all[1], b));
    EXPECT_EQ(w.query<place>().remove(std::vector<entity>{}), 0u);
}

TEST(rare_changes, values_are_kept_only_of_the_fragments_that_are_observed) {
    world w;
    removed_values<place> gone = w.removed_values<place>();
    int calls = 0;
    connection hook = w.on_remove<heat>([&] { ++calls; });
    std::vector<entity> all = spawn_heaps(w, 4);
    w.remove<place, heat>(all[0]);
    w.query<place>().remove<place, heat>();
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(gone.size(), 4u);
    EXPECT_TRUE(hook.connected());
}

TEST(rare_changes, a_hook_of_a_dying_entity_may_make_it_a_fragment) {
    world w;
    const entity other = w.spawn();
    const entity f = w.fragment<int>("f");
    w.define(f).when_destroyed(destroy_owners);
    const entity e = w.spawn(place{1});
    w.set(e, f, 1);
    connection hook = w.on_remove<place>([&](entity dying) { w.add(other, dying); });
    EXPECT_EQ(code_of([&] { w.destroy(f); }), errc::dead_fragment);  // the change of `other`
    EXPECT_FALSE(w.alive(e));
    EXPECT_FALSE(w.alive(f));
    EXPECT_TRUE(w.alive(other));
    EXPECT_TRUE(w.empty(other));
    EXPECT_TRUE(hook.connected());
}

TEST(rare_changes, adding_by_id_needs_a_default) {
    world w;
    const auto f = w.fragment<without_default>("f");
    const entity has = w.spawn(), lacks = w.spawn();
    w.set(has, f, without_default(3));
    const std::vector<entity> both{f.id()};
    EXPECT_FALSE(w.add(has, f.id()));
    EXPECT_EQ(code_of([&] { w.add(lacks, f.id()); }), errc::no_default);
    w.defer();
    EXPECT_FALSE(w.add(has, f.id()));
    EXPECT_EQ(code_of([&] { w.add(lacks, f.id()); }), errc::no_default);
    w.commit();
    EXPECT_EQ(w.get<without_default>(has, f.id()).value, 3);
    EXPECT_FALSE(w.has(lacks, f.id()));
}

TEST(rare_changes, adding_by_id_in_a_phase_needs_a_default) {
    world w;
    const auto f = w.fragment<without_default>("f");
    const auto number = w.fragment<int>("number");
    w.set(w.spawn(), f, without_default(3));
    w.set(w.spawn(), number, 3);
    const entity e = w.spawn(place{1});
    thread_executor threads(2);
    w.query<place>().par_each(threads, 1, [&](entity at, place&) {
        EXPECT_EQ(code_of([&] { w.add(at, f.id()); }), errc::no_default);
        w.add(at, number.id());
    });
    EXPECT_FALSE(w.has(e, f.id()));
    EXPECT_EQ(w.get(e, number), 0);
}

TEST(rare_changes, a_buffer_submitted_by_a_call_that_fails_is_applied) {
    world w;
    const entity e = w.spawn();
    command_buffer buffer{w};
    buffer.set(e, speed{5});
    connection hook = w.on_insert<place>([&] {
        w.submit(buffer);
        throw std::domain_error("refused");
    });
    EXPECT_THROW(w.set(e, place{1}), std::domain_error);
    EXPECT_FALSE(w.has<place>(e));
    hook.disconnect();
    w.spawn();
    ASSERT_TRUE(w.has<speed>(e));
    EXPECT_EQ(w.get<speed>(e).x, 5);
}

TEST(rare_changes, a_recorded_batch_of_a_destroyed_fragment_changes_nothing) {
    world w;
    const std::vector<entity> all = spawn_heaps(w, 3);
    const auto f = w.fragment<int>("f");
    w.set(all[0], f, 1);
    w.defer();
    w.query<place>().set(f, 7);
    w.clear(f.id());
    w.destroy(f);
    w.query<place>().set(speed{2});
    w.commit();
    EXPECT_FALSE(w.alive(f));
    for (const entity e : all) {
        EXPECT_TRUE(w.has<speed>(e));
        EXPECT_EQ(w.get<place>(e).x, w.get<heat>(e).degrees);
    }
}

TEST(rare_changes, a_cancelled_scope_restores_patches_of_fragments_that_were_destroyed) {
    world w;
    const auto f = w.fragment<int>("f");
    const entity e = w.spawn(place{1});
    w.set(e, f, 1);
    w.defer();
    w.patch(e, f, [](int& value) { value = 2; });
    w.patch<place>(e, [](place& p) { p.x = 2; });
    w.remove<place>(e);
    w.cancel();
    EXPECT_EQ(w.get<place>(e).x, 1);
    EXPECT_EQ(w.get(e, f), 1);
}

TEST(rare_changes, removing_bytes_that_a_hook_observes_moves_the_entity) {
    world w;
    std::vector<entity> seen;
    connection hook = w.on_remove<speed>([&](entity e, speed& value) {
        seen.push_back(e);
        value.x = 0;
    });
    observer<> watching = w.observer<>().removed<speed>();
    std::vector<entity> all;
    for (int i = 0; i < 4; ++i) all.push_back(w.spawn(place{i}, speed{i}));
    for (int i = 0; i < 3; ++i) all.push_back(w.spawn(speed{i}));
    for (const entity e : all) EXPECT_TRUE(w.remove<speed>(e));
    EXPECT_EQ(seen, all);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(w.get<place>(all[static_cast<std::size_t>(i)]).x, i);
    EXPECT_TRUE(w.empty(all[6]));
    EXPECT_FALSE(w.remove<speed>(all[0]));
    EXPECT_TRUE(hook.connected());
}

TEST(rare_changes, what_a_world_lacks_is_named) {
    world w;
    const world& seen = w;
    EXPECT_EQ(code_of([&] { (void)w.single<place>(); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { (void)seen.single<place>(); }), errc::missing_component);
    const entity dead = w.spawn();
    w.destroy(dead);
    EXPECT_EQ(code_of([&] { w.each_fragment(dead, [](entity, void*) {}); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { seen.each_fragment(dead, [](entity, const void*) {}); }),
              errc::dead_entity);
}

TEST(rare_changes, a_clone_in_a_scope_follows_what_is_recorded_of_its_prototype) {
    world w;
    const auto f = w.fragment<int>("f");
    const entity e = w.spawn(place{1}, label(1));
    w.set(e, f, 1);
    w.defer();
    w.set(e, place{2}, speed{3});
    w.remove<label>(e);
    w.clear(f.id());
    const entity like = w.clone(e);
    const entity last = w.clone(e);
    w.clear(e);
    const entity bare = w.clone(e);
    w.commit();
    EXPECT_EQ(w.get<place>(like).x, 2);
    EXPECT_EQ(w.get<speed>(last).x, 3);
    EXPECT_FALSE(w.has<label>(like));
    EXPECT_TRUE(w.empty(bare));
    EXPECT_TRUE(w.empty(e));
}

}  // namespace
}  // namespace muster
