// Batches with hooks, scopes and values that change the world at the wrong time.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"
#include "support/trouble.hpp"

namespace muster {
namespace {

using test::code_of;
using test::counted;
using test::over_aligned;
using ids = std::vector<entity>;

struct alpha {
    int value = 0;
};
struct beta {
    std::string text = "a text that needs memory of its own, even when it is new";
};
struct gamma {
    long value = 0;
};
struct bare {
    int value;
    explicit bare(int of) : value(of) {}
};

struct batch_hostile : testing::Test {
    world w;

    /// Expects that the entities have their values and that every record names the right row.
    void must_be_whole(const ids& all, int first) {
        for (std::size_t i = 0; i < all.size(); ++i)
            EXPECT_EQ(w.get<alpha>(all[i]).value, first + static_cast<int>(i));
        for (const entity e : w.entities())
            if (const auto [chunk, row] = w.locate(e); chunk) {
                EXPECT_EQ(chunk.entities()[row], e);
            }
    }
    ids spawn_numbered(std::size_t count) {
        ids made;
        for (std::size_t i = 0; i < count; ++i)
            made.push_back(w.spawn(alpha{static_cast<int>(i)}, beta{}));
        return made;
    }
};

// ---- hooks that reserve ------------------------------------------------------------------------

TEST_F(batch_hostile, a_hook_may_reserve_in_the_target_chunk) {
    const ids all = spawn_numbered(50);
    connection once = w.on_remove<beta>([&] { w.reserve<alpha>(1000); });
    EXPECT_EQ(w.query<beta>().remove<beta>(), 50u);
    once.disconnect();
    must_be_whole(all, 0);
    // The source chunk still has as much room as its capacity says.
    const ids more = w.spawn_many(900, alpha{7}, beta{});
    for (const entity e : more) EXPECT_EQ(w.get<beta>(e).text, beta{}.text);
    must_be_whole(all, 0);
}

TEST_F(batch_hostile, a_hook_may_reserve_in_the_source_chunk_and_then_throw) {
    const ids all = spawn_numbered(50);
    connection once = w.on_insert<gamma>([&] {
        w.reserve<alpha, beta>(1);
        throw std::runtime_error("no");
    });
    EXPECT_THROW((w.query<alpha, beta>().set(alpha{9}, gamma{9})), std::runtime_error);
    once.disconnect();
    must_be_whole(all, 0);
    for (const entity e : all) EXPECT_EQ(w.get<beta>(e).text, beta{}.text);
    (void)w.spawn_many(900, alpha{7}, beta{});
    (void)w.spawn_many(900, alpha{7}, beta{}, gamma{});
    must_be_whole(all, 0);
}

TEST_F(batch_hostile, a_hook_may_reserve_more_in_both_chunks_and_then_throw) {
    const ids all = spawn_numbered(50);
    connection once = w.on_insert<gamma>([&] {
        w.reserve<alpha, beta>(1000);
        w.reserve<alpha, beta, gamma>(2000);
        throw std::runtime_error("no");
    });
    EXPECT_THROW((w.query<alpha, beta>().set(alpha{9}, gamma{9})), std::runtime_error);
    once.pause();
    must_be_whole(all, 0);
    (void)w.spawn_many(1900, alpha{7}, beta{});
    (void)w.spawn_many(1900, alpha{7}, beta{}, gamma{});
    must_be_whole(all, 0);
    EXPECT_EQ((w.query<alpha, beta>().set(gamma{9})), 50u + 3800u);
    must_be_whole(all, 0);
}

// ---- chunks that trade their columns -----------------------------------------------------------

TEST_F(batch_hostile, entities_that_move_back_and_forth_keep_their_values) {
    const ids all = spawn_numbered(1000);
    for (int round = 0; round < 5; ++round) {
        EXPECT_EQ(w.query<alpha>().set(over_aligned{round}, gamma{round}), 1000u);
        for (const entity e : all) ASSERT_EQ(w.get<over_aligned>(e).value, round);
        EXPECT_EQ(w.query<gamma>().remove<gamma>(), 1000u);
        const entity late = w.spawn(alpha{-1}, beta{}, over_aligned{}, gamma{});
        EXPECT_EQ((w.query<alpha>().remove<over_aligned, gamma>()), 1001u);
        w.destroy(late);
        must_be_whole(all, 0);
        (void)w.spawn_many(static_cast<std::size_t>(round) * 400, alpha{-2}, beta{}, gamma{});
        w.query<alpha>().set(counted(round));
        w.query<gamma>().destroy();
        EXPECT_EQ(w.clear<counted>(), 1000u);
        must_be_whole(all, 0);
        if (round == 2) w.collect_garbage();
    }
    EXPECT_EQ(counted::count.living, 0);
    EXPECT_EQ(counted::count.misused, 0);
}

// ---- destroying many entities ------------------------------------------------------------------

TEST_F(batch_hostile, a_hook_may_use_a_dying_entity_as_a_fragment) {
    for (const bool among_fragments : {false, true}) {
        const entity e = w.spawn(alpha{});
        if (among_fragments) w.set(w.tag("a fragment in the same chunk"), alpha{});
        connection once = w.on_remove<alpha>([&](entity id) {
            if (id == e) w.define(id).default_value(3);
        });
        w.query<alpha>().destroy();
        once.disconnect();
        EXPECT_FALSE(w.alive(e));
        const entity probe = w.spawn();
        EXPECT_EQ(code_of([&] { w.set(probe, e, 4); }), errc::dead_fragment) << among_fragments;
        EXPECT_TRUE(w.empty(probe));
    }
}

TEST_F(batch_hostile, fragments_are_destroyed_after_other_entities_and_with_their_owners) {
    const entity mortal = w.tag("mortal");
    const entity plain = w.tag("plain");
    w.define(mortal).when_destroyed(destroy_owners);
    w.set(mortal, alpha{1});
    w.set(plain, alpha{2});
    const entity owner = w.spawn(with(mortal)), keeps = w.spawn(with(plain), gamma{});
    const entity self = w.spawn(alpha{3});
    auto removed = w.observer().removed<alpha>().removed(mortal, plain);
    EXPECT_EQ(w.query<alpha>().destroy(), 3u);
    EXPECT_FALSE(w.alive_any(mortal, plain, owner, self));
    EXPECT_TRUE(w.alive(keeps) && w.has<gamma>(keeps));
    EXPECT_EQ(removed.size(), 5u);
    EXPECT_EQ(w.size(), 1u);
}

TEST_F(batch_hostile, a_batch_does_not_destroy_world_owned_ids) {
    w.set_single(alpha{1});
    const entity e = w.spawn(alpha{2});
    EXPECT_EQ(w.query<alpha>().destroy(), 1u);
    EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.single<alpha>().value, 1);
    EXPECT_EQ(w.query<alpha>().destroy(), 0u);
    EXPECT_EQ(w.query<alpha>().clear(), 1u);
    EXPECT_FALSE(w.has_single<alpha>());
}

TEST_F(batch_hostile, destroying_a_batch_removes_the_names) {
    const ids all = w.spawn_many(3, alpha{});
    w.name(all[1], "one");
    w.query<alpha>().destroy();
    EXPECT_EQ(w.lookup("one"), entity{});
    const ids again = w.spawn_many(3, alpha{});
    for (const entity e : again) EXPECT_EQ(w.name(e), "");
}

// ---- fragments that are destroyed meanwhile ----------------------------------------------------

TEST_F(batch_hostile, a_batch_whose_fragment_is_destroyed_in_the_same_scope_is_dropped) {
    const auto f = w.fragment<std::string>("f");
    const entity e = w.spawn(alpha{});
    w.defer();
    w.destroy(f);
    w.query<alpha>().set(with(f, std::string(100, 'x')), gamma{1});
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::dead_fragment);
    EXPECT_FALSE(w.has<gamma>(e));
    const auto g = w.fragment<std::string>("g");
    w.set(e, g, "g");
    w.defer();
    w.destroy(g);
    w.query<alpha>().remove(g, w.component<beta>());
    EXPECT_TRUE(w.commit());
}

TEST_F(batch_hostile, a_batch_applies_to_the_next_fragment_of_its_type) {
    const entity e = w.spawn(alpha{1}), has = w.spawn(alpha{2}, beta{});
    w.defer();
    w.destroy(w.component<beta>());
    w.query<alpha>().set(beta{"new"});
    w.commit();
    EXPECT_EQ(w.get<beta>(e).text, "new");
    EXPECT_EQ(w.get<beta>(has).text, "new");
    w.defer();
    w.destroy(w.component<alpha>());
    w.query<alpha>().destroy();  // no entity has the fragment by then
    w.commit();
    EXPECT_TRUE(w.alive_all(e, has));
}

TEST_F(batch_hostile, a_batch_whose_query_names_a_destroyed_fragment_matches_nothing) {
    const auto f = w.fragment<int>("f");
    w.spawn(with(f, 1), alpha{});
    const auto q = w.query<alpha>().with(f);
    w.defer();
    q.set(gamma{1});
    w.destroy(f);
    w.commit();
    EXPECT_EQ(w.count<gamma>(), 1u);
    EXPECT_EQ(q.destroy(), 0u);
    EXPECT_EQ(w.count<gamma>(), 1u);
}

// ---- scopes ------------------------------------------------------------------------------------

TEST_F(batch_hostile, a_deferred_batch_keeps_its_place_in_the_recorded_order) {
    const entity e = w.spawn(alpha{1});
    w.defer();
    w.set(e, gamma{1});
    const entity made = w.spawn(alpha{2});
    w.query<alpha>().set(gamma{5}, beta{"b"});
    w.patch<gamma>(e, [](gamma& g) { g.value += 1; });  // does not see the batch
    w.query<gamma>().without<beta>().destroy();
    const entity late = w.spawn(alpha{3});
    EXPECT_EQ(w.query<alpha>().clear(), 1u);
    w.set(made, alpha{7});
    w.commit();
    EXPECT_TRUE(w.empty(e) && w.empty(late));
    EXPECT_EQ(w.get<alpha>(made).value, 7);
    EXPECT_FALSE(w.has<gamma>(made));
    w.set(e, gamma{1}, alpha{});
    w.defer();
    w.query<alpha>().set(gamma{5});
    w.patch<gamma>(e, [](gamma& g) { g.value += 1; });
    EXPECT_EQ(w.get<gamma>(e).value, 2);  // the batch overwrites it later
    w.commit();
    EXPECT_EQ(w.get<gamma>(e).value, 5);
    w.defer();
    w.query<alpha>().remove<gamma>();
    w.patch<gamma>(e, [](gamma& g) { g.value += 1; });
    w.commit();
    EXPECT_FALSE(w.has<gamma>(e));
}

TEST_F(batch_hostile, a_batch_is_dropped_with_its_cancelled_scope) {
    const entity e = w.spawn(alpha{1});
    w.defer();
    w.query<alpha>().set(counted(1));
    w.defer();
    w.query<alpha>().set(counted(2), beta{});
    w.query<alpha>().destroy();
    w.cancel();
    w.query<alpha>().add<gamma>();
    w.commit();
    EXPECT_EQ(w.get<counted>(e).value, 1);
    EXPECT_TRUE(w.has<gamma>(e) && !w.has<beta>(e));
    w.clear<counted>();
    EXPECT_EQ(counted::count.living, 0);
}

TEST_F(batch_hostile, a_batch_in_a_loop_or_a_hook_is_deferred) {
    const ids all = spawn_numbered(10);
    const auto q = w.query<alpha>();
    int rounds = 0, sets = 0, removals = 0;
    q.each([&](entity e, alpha& a) {
        ++rounds;
        if (a.value % 5 == 0) {
            ++sets;
            EXPECT_EQ(q.set(gamma{a.value}), 10u);
        }
        if (a.value == 9) {
            ++removals;
            EXPECT_EQ(q.remove<beta>(), 10u);
        }
        EXPECT_TRUE(w.has<beta>(e));
        EXPECT_FALSE(w.has<gamma>(e));
    });
    EXPECT_EQ(rounds, 10);
    EXPECT_EQ(sets, 2);
    EXPECT_EQ(removals, 1);
    EXPECT_EQ(w.count<beta>(), 0u);
    for (const entity e : all) EXPECT_EQ(w.get<gamma>(e).value, 5);
    int calls = 0, destructions = 0;
    w.on_remove<gamma>([&](entity e) {
        ++calls;
        if (e != all[3]) return;
        ++destructions;
        EXPECT_EQ(q.destroy(), 10u);
        EXPECT_EQ(w.size(), 10u);
    });
    EXPECT_EQ(q.remove<gamma>(), 10u);
    EXPECT_EQ(calls, 10);
    EXPECT_EQ(destructions, 1);
    EXPECT_EQ(w.size(), 0u);
}

TEST_F(batch_hostile, a_hook_that_leaves_a_scope_open_undoes_the_batch) {
    const ids all = spawn_numbered(3);
    connection once = w.on_insert<gamma>([&] {
        w.defer();
        w.query<alpha>().destroy();
    });
    EXPECT_EQ(code_of([&] { w.query<alpha>().add<gamma>(); }), errc::unbalanced_scope);
    once.disconnect();
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(w.count<gamma>(), 0u);
    must_be_whole(all, 0);
}

TEST_F(batch_hostile, hooks_may_connect_and_disconnect_hooks_during_a_batch) {
    MUSTER_ABOUT_CHUNKS();
    const ids all = spawn_numbered(10);
    int calls = 0;
    connection self = w.on_insert<gamma>([&] {
        ++calls;
        self.disconnect();
        w.on_set<gamma>([&] { ++calls; });
        w.define<alpha>().needs<over_aligned>();
        (void)w.chunk<alpha, gamma>();
        (void)w.component<bare>();
    });
    w.query<alpha>().add<gamma>();
    EXPECT_EQ(calls, 11);
    must_be_whole(all, 0);
    w.query<gamma>().remove<gamma>();
    must_be_whole(all, 0);
}

// ---- values ------------------------------------------------------------------------------------

TEST_F(batch_hostile, the_values_of_a_batch_may_lie_in_the_world) {
    const ids all = spawn_numbered(100);
    w.get<beta>(all[7]).text = "of the seventh";
    w.query<alpha>().set(w.get<beta>(all[7]));
    w.query<alpha>().set(w.get<beta>(all[99]), w.get<alpha>(all[42]), gamma{});
    for (const entity e : all) {
        EXPECT_EQ(w.get<beta>(e).text, "of the seventh");
        EXPECT_EQ(w.get<alpha>(e).value, 42);
    }
}

TEST_F(batch_hostile, destructors_may_query_the_world_during_a_batch) {
    struct looks {
        world* home;
        std::shared_ptr<int> wrong;
        std::shared_ptr<int> looked;
        entity owner;
        bool must_have = false;
        looks(world& value, std::shared_ptr<int> errors, std::shared_ptr<int> calls)
            : home(&value), wrong(std::move(errors)), looked(std::move(calls)) {}
        looks(looks&&) noexcept = default;
        looks& operator=(looks&&) noexcept = default;
        looks(const looks&) = default;
        ~looks() {
            if (wrong == nullptr || !owner) return;
            ++*looked;
            const looks* const mine = home->try_get<looks>(owner);
            *wrong += must_have != (mine != nullptr) || mine == this ? 1 : 0;
            *wrong += code_of([&] { home->destroy(owner); }) != errc::in_scope ? 1 : 0;
            *wrong += code_of([&] { home->query<looks>().destroy(); }) != errc::in_scope ? 1 : 0;
            *wrong += code_of([&] { home->query<looks>().remove<looks>(); }) != errc::in_scope;
            *wrong += home->count<alpha>() != 5 ? 1 : 0;
        }
    };
    const auto wrong = std::make_shared<int>(0);
    const auto looked = std::make_shared<int>(0);
    const auto fresh = [&] { return looks(w, wrong, looked); };
    const ids all = w.spawn_many(5, alpha{}, fresh());
    const auto mark = [&](bool must_have) {
        for (const entity e : all) {
            w.get<looks>(e).owner = e;
            w.get<looks>(e).must_have = must_have;
        }
    };
    mark(true);
    w.query<alpha>().set(fresh());
    EXPECT_EQ(*wrong, 0) << "assigned";
    EXPECT_EQ(std::exchange(*looked, 0), 5) << "assigned";
    mark(true);
    w.query<alpha>().set(fresh(), gamma{});
    EXPECT_EQ(*wrong, 0) << "assigned while others are added";
    EXPECT_EQ(std::exchange(*looked, 0), 5) << "assigned while others are added";
    mark(false);
    w.query<alpha>().remove<looks>();
    EXPECT_EQ(*wrong, 0) << "removed";
    EXPECT_EQ(std::exchange(*looked, 0), 5) << "removed";
    w.query<alpha>().set(fresh());
    mark(false);
    w.clear<looks>();
    EXPECT_EQ(*wrong, 0) << "cleared";
    EXPECT_EQ(std::exchange(*looked, 0), 5) << "cleared";
}

TEST_F(batch_hostile, an_invalid_batch_is_refused_before_it_changes_anything) {
    const ids all = spawn_numbered(2);
    const entity f = w.fragment<int>("f"), dead = w.tag("dead");
    w.destroy(dead);
    world other;
    const entity foreign = other.tag("foreign");
    const auto q = w.query<alpha>();
    EXPECT_EQ(code_of([&] { q.set(with(f, 1), with(f, 2)); }), errc::given_twice);
    EXPECT_EQ(code_of([&] { q.add(f, f); }), errc::given_twice);
    EXPECT_EQ(code_of([&] { q.add<bare>(); }), errc::no_default);
    EXPECT_EQ(code_of([&] { q.set(dead); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { q.add(f, dead); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { q.remove(foreign); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { q.set(foreign); }), errc::foreign_entity);
    EXPECT_EQ(q.remove(dead, dead), 0u);
    EXPECT_EQ(q.remove(entity{}), 0u);
    w.define<gamma>().needs<bare>();
    EXPECT_EQ(code_of([&] { q.set(gamma{}); }), errc::no_default);
    EXPECT_EQ(code_of([&] { q.set(gamma{}, bare(1)); }), std::nullopt);
    EXPECT_EQ(w.count<bare>(), 2u);
    must_be_whole(all, 0);
}

}  // namespace
}  // namespace muster
