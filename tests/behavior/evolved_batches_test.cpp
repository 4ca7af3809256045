// Batch operations as in evolved's README, tests and fuzzers, on a Muster world.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

using story = std::vector<std::string>;

/// A world, and a log of its hooks: "insert f1 60".
struct logged_world {
    story log;  // outlives the hooks
    world w;

    fragment<int> logged(const std::string& name) {
        const fragment<int> made = w.fragment<int>(name);
        const auto logger = [this, name](const char* what) {
            return [this, name, what](entity e, int& value) {
                EXPECT_TRUE(w.alive(e));
                EXPECT_EQ(w.try_get_raw(e, w.lookup(name)), &value);
                log.push_back(detail::text(what, " ", name, " ", std::to_string(value)));
            };
        };
        w.define(made)
            .on_set(logger("set"))
            .on_insert(logger("insert"))
            .on_assign(logger("assign"))
            .on_remove(logger("remove"));
        return made;
    }
    id logged_tag(const std::string& name) {
        const id made = w.tag(name);
        const auto logger = [this, name](const char* what) {
            return [this, name, what](entity) { log.push_back(detail::text(what, " ", name)); };
        };
        w.define(made)
            .on_set(logger("set"))
            .on_insert(logger("insert"))
            .on_assign(logger("assign"))
            .on_remove(logger("remove"));
        return made;
    }
    story take_log() { return std::exchange(log, {}); }
};

/// The five entities of most evolved tests, each with some of f1 to f4.
struct five {
    logged_world t;
    world& w = t.w;
    fragment<int> f1 = t.logged("f1"), f2 = t.logged("f2"), f3 = t.logged("f3"),
                  f4 = t.logged("f4");
    entity e1 = w.spawn(with(f1, 41));
    entity e2 = w.spawn(with(f1, 42), with(f2, 43));
    entity e3 = w.spawn(with(f1, 44), with(f2, 45), with(f3, 46));
    entity e4 = w.spawn(with(f1, 47), with(f2, 48), with(f3, 49), with(f4, 50));
    entity e5 = w.spawn(with(f2, 51), with(f3, 52), with(f4, 53));

    five() { t.take_log(); }
    story take_log() { return t.take_log(); }
    /// The value, or 0.
    int value(entity e, fragment<int> f) {
        const int* const found = w.try_get(e, f);
        return found == nullptr ? 0 : *found;
    }
    std::vector<int> values(fragment<int> f) {
        return {value(e1, f), value(e2, f), value(e3, f), value(e4, f), value(e5, f)};
    }
};
using numbers = std::vector<int>;

// ---- the manual --------------------------------------------------------------------------------

TEST(evolved_batches, destroy_destroys_all_marked_entities) {
    world w;
    const auto [destroying_mark, health] = w.ids<2>();
    const entity player = w.spawn(with(health, 100));
    const entity rat = w.spawn(with(health, 1), with(destroying_mark));
    const entity ghost = w.spawn(with(destroying_mark));
    EXPECT_EQ(w.query().with(destroying_mark).destroy(), 2u);
    EXPECT_TRUE(w.alive(player));
    EXPECT_FALSE(w.alive_any(rat, ghost));
    EXPECT_EQ(w.query().with(destroying_mark).destroy(), 0u);
    EXPECT_TRUE(w.alive_all(destroying_mark, health));
}

// ---- set ---------------------------------------------------------------------------------------

TEST(evolved_batches, set_assigns_to_matching_entities_only) {
    five t;
    EXPECT_EQ(t.w.query().with(t.f1, t.f2).set(t.f1, 60), 3u);
    EXPECT_EQ(t.values(t.f1), (numbers{41, 60, 60, 60, 0}));
    EXPECT_EQ(t.values(t.f3), (numbers{0, 0, 46, 49, 52}));
    EXPECT_EQ(t.take_log(), (story{"assign f1 60", "set f1 60", "assign f1 60", "set f1 60",
                                   "assign f1 60", "set f1 60"}));
    EXPECT_EQ(t.w.query().with(t.f1, t.f2, t.f3).set(t.f3, 70), 2u);
    EXPECT_EQ(t.values(t.f3), (numbers{0, 0, 70, 70, 52}));
    EXPECT_EQ(t.values(t.f1), (numbers{41, 60, 60, 60, 0}));
    EXPECT_EQ(t.take_log(), (story{"assign f3 70", "set f3 70", "assign f3 70", "set f3 70"}));
}

TEST(evolved_batches, set_inserts_a_missing_fragment_and_assigns_an_existing_one) {
    five t;
    EXPECT_EQ(t.w.query().with(t.f2).without(t.f1).set(t.f1, 60), 1u);
    EXPECT_EQ(t.values(t.f1), (numbers{41, 42, 44, 47, 60}));
    EXPECT_EQ(t.take_log(), (story{"insert f1 60", "set f1 60"}));
    EXPECT_EQ(t.w.query().with(t.f2).set(t.f4, 70), 4u);
    EXPECT_EQ(t.values(t.f4), (numbers{0, 70, 70, 70, 70}));
    story log = t.take_log();
    EXPECT_EQ(std::ranges::count(log, "insert f4 70"), 2);
    EXPECT_EQ(std::ranges::count(log, "assign f4 70"), 2);
    EXPECT_EQ(std::ranges::count(log, "set f4 70"), 4);
    EXPECT_EQ(log.size(), 8u);
}

TEST(evolved_batches, set_of_several_values_calls_hooks_per_entity_and_fragment) {
    logged_world t;
    const auto f1 = t.logged("f1"), f2 = t.logged("f2");
    const entity a = t.w.spawn(with(f2, 1));
    const entity b = t.w.spawn(with(f2, 2));
    t.take_log();
    EXPECT_EQ(t.w.query().with(f2).set(with(f2, 8), with(f1, 9)), 2u);
    const story each{"insert f1 9", "set f1 9", "assign f2 8", "set f2 8"};
    story both = each;
    both.insert(both.end(), each.begin(), each.end());
    EXPECT_EQ(t.take_log(), both);
    EXPECT_EQ(t.w.get(a, f1) + t.w.get(b, f2), 17);
}

TEST(evolved_batches, a_hook_sees_the_final_state_of_all_entities_of_the_chunk) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const auto [f0, e1, e2] = w.ids<3>();
    const auto f1 = w.fragment<int>("f1");
    int assigned = 0, inserted = 0, removed = 0;
    const auto count = [&, first = e1, second = e2](int& counter) {
        return [&, first, second](entity e, int& value) {
            ++counter;
            EXPECT_TRUE(e == first || e == second);
            EXPECT_EQ(w.get(first, f1), value);
            EXPECT_EQ(w.get(second, f1), value);
        };
    };
    w.define(f1).on_assign(count(assigned)).on_insert(count(inserted)).on_remove(count(removed));
    const auto q0 = w.query().with(f0);
    const auto are = [&](int a, int i, int r) {
        return assigned == a && inserted == i && removed == r;
    };
    w.set(e1, f0);
    w.set(e2, f0);
    q0.set(f1, 41);
    EXPECT_TRUE(are(0, 2, 0));
    q0.set(f1, 51);
    EXPECT_TRUE(are(2, 2, 0));
    q0.remove(f1);
    EXPECT_TRUE(are(2, 2, 2));
    q0.set(f1, 51);
    EXPECT_TRUE(are(2, 4, 2));
    q0.clear();
    EXPECT_TRUE(are(2, 4, 4));
    EXPECT_TRUE(w.alive_all(e1, e2));
    w.set(e1, f0);
    w.set(e2, f0);
    q0.set(f1, 51);
    EXPECT_TRUE(are(2, 6, 4));
    q0.destroy();
    EXPECT_TRUE(are(2, 6, 6));
    EXPECT_FALSE(w.alive_any(e1, e2));
}

TEST(evolved_batches, set_without_a_value_sets_the_default) {
    world w;
    const auto f1 = w.fragment<int>("f1"), f2 = w.fragment<int>("f2");
    w.define(f2).default_value(42);
    const entity a = w.spawn(with(f1, 11)), b = w.spawn(with(f1, 12));
    const entity c = w.spawn(with(f1, 11), with(f2, 22));
    EXPECT_EQ(w.query().with(f1).without(f2).set(f2), 2u);
    EXPECT_EQ(w.get(a, f2) + w.get(b, f2), 84);
    EXPECT_EQ(w.get(c, f2), 22);
    EXPECT_EQ(w.query().with(f1).set(f2), 3u);
    EXPECT_EQ(w.get(c, f2), 42);
    EXPECT_EQ(w.query().with(f2).set(f1), 3u);  // no default is defined: T{}
    EXPECT_EQ(w.get(a, f1) + w.get(b, f1) + w.get(c, f1), 0);
    struct no_default {
        explicit no_default(int) {}
        int value = 0;
    };
    const auto f3 = w.fragment<no_default>("f3");
    EXPECT_EQ(code_of([&] { w.query().with(f1).set(f3); }), errc::no_default);
    EXPECT_EQ(code_of([&] { w.query().with(f1).add(f3); }), errc::no_default);
    EXPECT_EQ(w.count(f3), 0u);
}

TEST(evolved_batches, add_inserts_missing_defaults_and_keeps_existing_values) {
    logged_world t;
    const auto f1 = t.logged("f1"), f2 = t.logged("f2");
    t.w.define(f2).default_value(42);
    t.w.spawn(with(f1, 1));
    const entity has_it = t.w.spawn(with(f1, 2), with(f2, 3));
    t.take_log();
    EXPECT_EQ(t.w.query().with(f1).add(f2), 1u);
    EXPECT_EQ(t.take_log(), (story{"insert f2 42", "set f2 42"}));
    EXPECT_EQ(t.w.get(has_it, f2), 3);
    EXPECT_EQ(t.w.query().with(f1).add(f2), 0u);
    EXPECT_EQ(t.take_log(), story{});
}

TEST(evolved_batches, defaults_are_duplicated_per_entity_and_passed_values_are_copied) {
    world w;
    using shared = std::shared_ptr<int>;
    const auto f = w.fragment<shared>("f");
    const auto original = std::make_shared<int>(11);
    w.define(f).default_value(original).duplicate(
        [](const shared& value) { return std::make_shared<int>(*value); });
    const id t1 = w.tag("t1");
    const entity e1 = w.spawn(with(t1)), e2 = w.spawn(with(t1));
    const auto q = w.query().with(t1);
    for (int round = 0; round < 2; ++round) {  // inserted, then assigned
        EXPECT_EQ(q.set(f), 2u);
        EXPECT_EQ(*w.get(e1, f) + *w.get(e2, f), 22);
        EXPECT_NE(w.get(e1, f), w.get(e2, f));
        EXPECT_NE(w.get(e1, f), original);
        const auto passed = std::make_shared<int>(12);
        EXPECT_EQ(q.set(f, passed), 2u);
        EXPECT_EQ(w.get(e1, f), passed);
        EXPECT_EQ(w.get(e2, f), passed);
        EXPECT_EQ(passed.use_count(), 3);
    }
}

TEST(evolved_batches, a_plain_id_takes_the_type_of_the_value_or_becomes_a_tag) {
    world w;
    const auto [number, mark] = w.ids<2>();
    const entity e = w.spawn('c');
    EXPECT_EQ(w.query<char>().set(number, 5), 1u);
    EXPECT_EQ(w.get<int>(e, number), 5);
    EXPECT_EQ(code_of([&, f = number] { w.query<char>().set(f, std::string("five")); }),
              errc::type_mismatch);
    EXPECT_EQ(w.get<int>(e, number), 5);
    EXPECT_EQ(w.query<char>().set(mark), 1u);
    EXPECT_TRUE(w.has(e, mark));
    EXPECT_EQ(w.try_get_raw(e, mark), nullptr);
}

TEST(evolved_batches, set_accepts_a_value_stored_in_the_world) {
    world w;
    const entity first = w.spawn(std::string("a value that is too long for its object"), 'c');
    w.spawn(std::string("b"));
    EXPECT_EQ(w.query<std::string>().set(w.get<std::string>(first)), 2u);
    EXPECT_EQ(w.query<std::string>().set(w.get<std::string>(first), 1.5), 2u);
    w.each([&](const std::string& s, const double& d) {
        EXPECT_EQ(s, "a value that is too long for its object");
        EXPECT_EQ(d, 1.5);
    });
    EXPECT_EQ(w.count<double>(), 2u);
}

// ---- remove, clear, destroy --------------------------------------------------------------------

TEST(evolved_batches, remove_removes_several_fragments_in_one_move_and_ignores_repetitions) {
    five t;
    EXPECT_EQ(t.w.query().with(t.f1, t.f2).remove(t.f2, t.f3, t.f3), 3u);
    EXPECT_EQ(t.values(t.f1), (numbers{41, 42, 44, 47, 0}));
    EXPECT_EQ(t.values(t.f2), (numbers{0, 0, 0, 0, 51}));
    EXPECT_EQ(t.values(t.f3), (numbers{0, 0, 0, 0, 52}));
    EXPECT_EQ(t.values(t.f4), (numbers{0, 0, 0, 50, 53}));
    EXPECT_EQ(t.take_log(), (story{"remove f2 43", "remove f2 45", "remove f3 46", "remove f2 48",
                                   "remove f3 49"}));
    EXPECT_EQ(t.w.query().with(t.f1).remove(t.f2), 0u);
    EXPECT_EQ(t.take_log(), story{});
    EXPECT_EQ(t.w.locate(t.e3).chunk, t.w.locate(t.e1).chunk);
}

TEST(evolved_batches, removing_a_plain_or_dead_id_does_nothing) {
    world w;
    const auto f = w.fragment<int>("f");
    const entity e = w.spawn(with(f, 1));
    const id plain = w.spawn();
    const id dead = w.tag("dead");
    w.destroy(dead);
    EXPECT_EQ(w.query().with(f).remove(plain, dead), 0u);
    EXPECT_EQ(w.query().with(f).remove(std::span<const id>{}), 0u);
    EXPECT_EQ(w.get(e, f), 1);
    world other;
    const id foreign = other.tag("foreign");
    EXPECT_EQ(code_of([&] { w.query().with(f).remove(foreign); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { w.query().with(f).set(foreign); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { w.query().with(f).set(dead); }), errc::dead_fragment);
}

TEST(evolved_batches, clear_removes_all_components_and_keeps_the_entities_alive) {
    five t;
    EXPECT_EQ(t.w.query().with(t.f1, t.f2).clear(), 3u);
    EXPECT_TRUE(t.w.alive_all(t.e1, t.e2, t.e3, t.e4, t.e5));
    EXPECT_TRUE(t.w.empty(t.e2) && t.w.empty(t.e3) && t.w.empty(t.e4));
    EXPECT_FALSE(t.w.empty(t.e1) || t.w.empty(t.e5));
    const story removals{"remove f1 42", "remove f2 43", "remove f1 44",
                         "remove f2 45", "remove f3 46", "remove f1 47",
                         "remove f2 48", "remove f3 49", "remove f4 50"};
    EXPECT_EQ(t.take_log(), removals);
    t.w.set(t.e3, t.f1, 5);  // the entity accepts fragments again
    EXPECT_EQ(t.values(t.f1), (numbers{41, 0, 5, 0, 0}));
}

TEST(evolved_batches, destroy_calls_remove_and_destroy_hooks) {
    five t;
    std::vector<entity> destroyed;
    t.w.on_destroy([&](entity e) {
        EXPECT_TRUE(t.w.alive(e));
        destroyed.push_back(e);
    });
    EXPECT_EQ(t.w.query().with(t.f1, t.f2).destroy(), 3u);
    EXPECT_EQ(destroyed, (std::vector{t.e2, t.e3, t.e4}));
    EXPECT_FALSE(t.w.alive_any(t.e2, t.e3, t.e4));
    EXPECT_TRUE(t.w.alive_all(t.e1, t.e5));
    EXPECT_EQ(t.values(t.f1), (numbers{41, 0, 0, 0, 0}));
    EXPECT_EQ(t.values(t.f3), (numbers{0, 0, 0, 0, 52}));
    const story removals{"remove f1 42", "remove f2 43", "remove f1 44",
                         "remove f2 45", "remove f3 46", "remove f1 47",
                         "remove f2 48", "remove f3 49", "remove f4 50"};
    EXPECT_EQ(t.take_log(), removals);
}

TEST(evolved_batches, repeated_batches_may_find_no_matching_entity) {
    for (const bool in_scope : {false, true}) {
        world w;
        const auto [f1, f2] = w.ids<2>();
        const auto q1 = w.query().with(f1), q2 = w.query().with(f2);
        const entity e1 = w.spawn(with(f1, 1)), e2 = w.spawn(with(f2, 2));
        if (in_scope) w.defer();
        q1.clear();
        q2.clear();
        q1.clear();
        EXPECT_EQ(w.empty(e1), !in_scope);
        if (in_scope) w.commit();
        EXPECT_TRUE(w.alive_all(e1, e2));
        EXPECT_TRUE(w.empty(e1) && w.empty(e2));
        w.set(e1, f1, 1);
        w.set(e2, f2, 2);
        if (in_scope) w.defer();
        q2.destroy();
        q1.destroy();
        q2.destroy();
        EXPECT_EQ(w.alive(e1), in_scope);
        if (in_scope) w.commit();
        EXPECT_FALSE(w.alive_any(e1, e2));
    }
}

TEST(evolved_batches, destroyed_keys_are_reused_with_the_next_version) {
    world w;
    const auto made = w.spawn_many(5, 1);
    w.name(made[2], "named");
    EXPECT_EQ(w.query<int>().destroy(), 5u);
    EXPECT_EQ(w.lookup("named"), id{});
    std::set<std::uint64_t> keys;
    for (const entity e : w.spawn_many(5, 1)) {
        EXPECT_EQ(e.version(), made[0].version() + 1);
        keys.insert(e.key());
        EXPECT_TRUE(w.name(e).empty());
    }
    EXPECT_EQ(keys.size(), 5u);
    EXPECT_EQ(*keys.rbegin(), made[4].key());
}

// ---- tags and chunks ---------------------------------------------------------------------------

TEST(evolved_batches, adding_and_removing_tags_keeps_values) {
    MUSTER_ABOUT_CHUNKS();
    logged_world t;
    const id f1 = t.logged_tag("f1"), f2 = t.logged_tag("f2");
    const auto f3 = t.logged("f3");
    const entity a = t.w.spawn(with(f1), with(f2)), b = t.w.spawn(with(f1));
    const entity c = t.w.spawn(with(f1), with(f2), with(f3, 43));
    t.take_log();
    EXPECT_EQ(t.w.query().with(f1, f2).without(f3).set(f3, 50), 1u);
    EXPECT_EQ(t.take_log(), (story{"insert f3 50", "set f3 50"}));
    const chunk all = t.w.chunk(f1, f2, f3);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all.entities()[0], c);
    EXPECT_EQ(all.entities()[1], a);
    EXPECT_EQ(all.components(f3)[0], 43);
    EXPECT_EQ(all.components(f3)[1], 50);
    EXPECT_EQ(t.w.query().with(f1).without(f2).set(f2), 1u);
    EXPECT_EQ(t.take_log(), (story{"insert f2", "set f2"}));
    EXPECT_EQ(t.w.query().with(f1, f2).remove(f1), 3u);
    EXPECT_EQ(t.take_log(), (story{"remove f1", "remove f1", "remove f1"}));
    EXPECT_EQ(t.w.chunk(f2).entities()[0], b);
    EXPECT_EQ(t.w.get(a, f3), 50);
    EXPECT_EQ(t.w.query().with(f2).clear(), 3u);
    EXPECT_TRUE(t.w.empty(a) && t.w.empty(b) && t.w.empty(c));
    EXPECT_EQ(t.take_log(),
              (story{"remove f2", "remove f2", "remove f3 43", "remove f2", "remove f3 50"}));
}

TEST(evolved_batches, moved_rows_keep_their_order_and_follow_the_existing_rows) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const auto f1 = w.fragment<int>("f1"), f2 = w.fragment<int>("f2");
    const auto q1 = w.query().with(f1);
    const auto row = [&](const chunk& c, std::size_t i) {
        return std::tuple(c.entities()[i], c.components(f1)[i], c.components(f2)[i]);
    };
    const entity a = w.spawn(with(f1, 1)), b = w.spawn(with(f1, 11));
    q1.set(f2, 2);
    const chunk both = w.chunk(f1, f2);
    EXPECT_EQ(w.chunk(f1).size(), 0u);
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(row(both, 0), std::tuple(a, 1, 2));
    EXPECT_EQ(row(both, 1), std::tuple(b, 11, 2));
    const entity c = w.spawn(with(f1, 111)), d = w.spawn(with(f1, 1111));
    q1.without(f2).set(f2, 22);
    ASSERT_EQ(both.size(), 4u);
    EXPECT_EQ(row(both, 0), std::tuple(a, 1, 2));
    EXPECT_EQ(row(both, 2), std::tuple(c, 111, 22));
    EXPECT_EQ(row(both, 3), std::tuple(d, 1111, 22));
    EXPECT_EQ(w.locate(d).row, 3u);
    const entity e = w.spawn(with(f2, 5));
    q1.remove(f1);
    const chunk last = w.chunk(f2);
    ASSERT_EQ(last.size(), 5u);
    EXPECT_EQ(last.entities()[0], e);
    EXPECT_EQ(last.entities()[1], a);
    EXPECT_EQ(last.entities()[4], d);
    EXPECT_EQ(last.components(f2)[4], 22);
    EXPECT_EQ(w.locate(a).row, 1u);
}

TEST(evolved_batches, swapped_columns_keep_their_values_and_capacity) {
    world w;
    const std::string word = "a word that is too long for its object ";
    for (int round = 0; round < 3; ++round) {
        std::vector<entity> made;
        for (int i = 0; i < 50; ++i)
            made.push_back(w.spawn(std::to_string(i) + word, static_cast<double>(i)));
        const auto q = w.query<std::string>();
        EXPECT_EQ(q.set(round), 50u);  // to an empty chunk
        for (int i = 0; i < 20; ++i)
            made.push_back(w.spawn(std::to_string(50 + i) + word, 50.0 + i));
        EXPECT_EQ(q.without<int>().set(round + 10), 20u);  // to a chunk with rows
        EXPECT_EQ(w.query<std::string>().remove<double>(), 70u);
        for (int i = 0; i < 70; ++i) {
            const auto e = made[static_cast<std::size_t>(i)];
            EXPECT_EQ(w.get<std::string>(e), std::to_string(i) + word);
            EXPECT_EQ(w.get<int>(e), i < 50 ? round : round + 10);
            EXPECT_FALSE(w.has<double>(e));
        }
        if (round == 1) w.collect_garbage();
        w.spawn(word, 1.0);  // the source chunk has room again
        EXPECT_EQ(q.destroy(), 71u);
        EXPECT_EQ(w.size(), 0u);
    }
}

TEST(evolved_batches, move_only_components_move_with_their_entities) {
    world w;
    using owned = std::unique_ptr<int>;
    const entity a = w.spawn(std::make_unique<int>(1), 'a');
    const entity b = w.spawn(std::make_unique<int>(2), 'b');
    const int* const where = w.get<owned>(a).get();
    const auto q = w.query<owned>();
    EXPECT_EQ(q.set(1.5), 2u);
    const entity c = w.spawn(std::make_unique<int>(3), 'c');
    EXPECT_EQ(q.set(2.5f), 3u);
    EXPECT_EQ(q.remove<char>(), 3u);
    EXPECT_EQ(w.get<owned>(a).get(), where);
    EXPECT_EQ(*w.get<owned>(b) + *w.get<owned>(c), 5);
    w.on_insert<std::string>([] { throw std::runtime_error("no"); });
    EXPECT_THROW(q.set(std::string("s")), std::runtime_error);
    EXPECT_EQ(w.get<owned>(a).get(), where);
    EXPECT_EQ(*w.get<owned>(b) + *w.get<owned>(c), 5);
    EXPECT_EQ(q.add<owned>(), 0u);
    EXPECT_EQ(w.query<float>().remove<owned>(), 3u);
    EXPECT_EQ(q.count(), 0u);
}

// ---- traits of fragments -----------------------------------------------------------------------

TEST(evolved_batches, a_new_fragment_adds_the_fragments_it_needs) {
    logged_world t;
    world& w = t.w;
    const auto f0 = w.tag("f0");
    const auto f1 = t.logged("f1"), f2 = t.logged("f2"), f3 = t.logged("f3");
    w.define(f1).needs(f2);
    w.define(f2).default_value(42).needs(f3);
    w.define(f3).needs(f1, f2).default_value(43);
    const entity e1 = w.spawn(with(f0));
    const entity e2 = w.spawn(with(f0));
    w.set(e2, f2, 21);
    w.remove(e2, f3, f1);
    t.take_log();
    const auto q0 = w.query().with(f0);
    EXPECT_EQ(q0.set(f1, 1), 2u);
    EXPECT_EQ(w.get(e1, f2), 42);
    EXPECT_EQ(w.get(e2, f2), 21);
    EXPECT_EQ(w.get(e1, f3), 43);
    EXPECT_EQ(t.take_log(), (story{"insert f1 1", "set f1 1", "insert f2 42", "set f2 42",
                                   "insert f3 43", "set f3 43", "insert f1 1", "set f1 1"}));
    EXPECT_FALSE(w.has(e2, f3));  // f2, which needs f3, is not new
    EXPECT_EQ(q0.remove(f2), 2u);
    t.take_log();
    EXPECT_EQ(q0.set(f1, 2), 2u);  // assigning adds no needed fragments
    EXPECT_EQ(t.take_log(), (story{"assign f1 2", "set f1 2", "assign f1 2", "set f1 2"}));
    EXPECT_FALSE(w.has(e1, f2));
}

TEST(evolved_batches, needed_defaults_are_duplicated_per_entity) {
    world w;
    using shared = std::shared_ptr<int>;
    const auto f5 = w.fragment<shared>("f5"), f6 = w.fragment<shared>("f6");
    const auto f7 = w.fragment<shared>("f7");
    const auto original = std::make_shared<int>(14);
    w.define(f5).needs(f6, f7);
    w.define(f6).default_value(original).duplicate(
        [](const shared& value) { return std::make_shared<int>(*value); });
    w.define(f7).default_value(original);
    const auto made = w.spawn_many(2, 1);
    EXPECT_EQ(w.query<int>().set(f5, std::make_shared<int>(30)), 2u);
    for (const entity e : made) {
        EXPECT_EQ(*w.get(e, f6), 14);
        EXPECT_NE(w.get(e, f6), original);
        EXPECT_EQ(w.get(e, f7), original);
    }
    EXPECT_NE(w.get(made[0], f6), w.get(made[1], f6));
}

TEST(evolved_batches, batches_skip_hidden_entities_unless_the_query_names_the_hiding_fragment) {
    world w;
    const entity plain = w.spawn(1), model = w.spawn(2, prefab), off = w.spawn(3, disabled);
    const auto q = w.query<int>();
    EXPECT_EQ(q.set(9), 1u);
    EXPECT_EQ(q.with(prefab).set(8), 1u);
    EXPECT_EQ(w.get<int>(plain) * 100 + w.get<int>(model) * 10 + w.get<int>(off), 983);
    EXPECT_EQ(q.set(disabled), 1u);
    EXPECT_EQ(q.count(), 0u);
    EXPECT_EQ(q.with(disabled).remove(disabled), 2u);
    EXPECT_EQ(q.count(), 2u);
    EXPECT_EQ(q.destroy(), 2u);
    EXPECT_TRUE(w.alive(model));
    const entity copy = w.clone(model, 7);
    EXPECT_EQ(q.clear(), 1u);  // a clone is not a prefab
    EXPECT_TRUE(w.empty(copy));
    EXPECT_FALSE(w.empty(model));
}

TEST(evolved_batches, a_batch_can_add_a_unique_fragment) {
    world w;
    const auto passport = w.fragment<int>("passport");
    w.define(passport).unique();
    const entity a = w.spawn('a'), b = w.spawn('b');
    EXPECT_EQ(w.query<char>().set(passport, 7), 2u);
    EXPECT_EQ(w.get(a, passport) + w.get(b, passport), 14);
    EXPECT_FALSE(w.has(w.clone(a), passport));
}

TEST(evolved_batches, destroying_fragments_applies_their_destruction_policies) {
    MUSTER_ABOUT_CHUNKS();
    for (const bool in_scope : {false, true}) {
        logged_world t;
        world& w = t.w;
        const auto f1 = t.logged("f1"), f2 = t.logged("f2"), f3 = t.logged("f3"),
                   f4 = t.logged("f4");
        const id ft = w.tag("ft");
        for (const auto f : {f1, f2, f3}) w.set(f, ft);
        w.define(f3).when_destroyed(destroy_owners);
        const entity e14 = w.spawn(with(f1, 1), with(f4, 2));
        const entity e24 = w.spawn(with(f2, 3), with(f4, 4));
        const entity e234 = w.spawn(with(f2, 5), with(f3, 6), with(f4, 7));
        const entity e124 = w.spawn(with(f1, 8), with(f2, 6), with(f4, 9));
        t.take_log();
        if (in_scope) w.defer();
        EXPECT_EQ(w.query().with(ft).destroy(), 3u);
        EXPECT_EQ(w.alive_any(f1, f2, f3), in_scope);
        if (in_scope) w.commit();
        EXPECT_FALSE(w.alive_any(f1, f2, f3, e234));
        EXPECT_TRUE(w.alive_all(e14, e24, e124));
        const chunk rest = w.chunk(f4);
        EXPECT_EQ(rest.size(), 3u);
        for (const entity e : {e14, e24, e124}) EXPECT_EQ(w.locate(e).chunk, rest);
        EXPECT_EQ(w.get(e14, f4) + w.get(e24, f4) + w.get(e124, f4), 15);
        story log = t.take_log();
        std::ranges::sort(log);
        EXPECT_EQ(log, (story{"remove f1 1", "remove f1 8", "remove f2 3", "remove f2 5",
                              "remove f2 6", "remove f3 6", "remove f4 7"}));
    }
}

TEST(evolved_batches, a_batch_can_add_components_to_fragments) {
    world w;
    const id serializable = w.tag("serializable");
    const auto f1 = w.fragment<int>("f1"), f2 = w.fragment<int>("f2");
    w.set(f1, serializable);
    w.set(f2, serializable);
    EXPECT_EQ(w.query().with(serializable).set(std::string("v1")), 2u);
    EXPECT_EQ(w.get<std::string>(f1) + w.get<std::string>(f2), "v1v1");
    w.set(w.spawn(), f1, 5);  // still a fragment
    EXPECT_EQ(w.count(f1), 1u);
    EXPECT_EQ(w.query().with(serializable).clear(), 2u);
    EXPECT_TRUE(w.alive_all(f1, f2));
    EXPECT_EQ(w.count(f1), 1u);
}

TEST(evolved_batches, batches_change_singletons_but_do_not_destroy_the_fragments_of_types) {
    world w;
    struct gravity {
        double strength = 0;
    };
    w.set_single(gravity{9.81});
    const entity e = w.spawn(gravity{1});
    const auto q = w.query<gravity>();
    EXPECT_EQ(q.set(gravity{2}), 2u);
    EXPECT_EQ(w.single<gravity>().strength, 2);
    EXPECT_EQ(q.set(5), 2u);
    EXPECT_EQ(w.get<int>(w.component<gravity>()), 5);
    EXPECT_EQ(q.destroy(), 1u);
    EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.single<gravity>().strength, 2);
    EXPECT_EQ(q.clear(), 1u);
    EXPECT_FALSE(w.has_single<gravity>());
    const auto [own] = w.ids<1>();  // an id of the user, not of a type
    w.set(own, own, 10);
    EXPECT_EQ(w.query().with(own).destroy(), 1u);
    EXPECT_FALSE(w.alive(own));
}

// ---- scopes ------------------------------------------------------------------------------------

TEST(evolved_batches, batches_in_a_scope_take_effect_at_the_commit) {
    world w;
    const auto [f1, f2] = w.ids<2>();
    const entity e = w.spawn(with(f1, 41));
    const auto q = w.query().with(f1);
    const auto in_scope = [&](auto&& call) {
        w.defer();
        call();
        w.commit();
    };
    in_scope([&, f = f1, g = f2] {
        EXPECT_EQ(q.set(f, 42), 1u);
        EXPECT_EQ(q.set(g, 43), 1u);
        EXPECT_EQ(w.get<int>(e, f), 41);
        EXPECT_FALSE(w.has(e, g));
    });
    EXPECT_EQ(w.get<int>(e, f1) * 100 + w.get<int>(e, f2), 4243);
    in_scope([&, f = f1, g = f2] {
        EXPECT_EQ(w.query().with(f).without(g).set(g, 50), 0u);
        EXPECT_EQ(q.remove(g), 1u);
        EXPECT_TRUE(w.has(e, g));
    });
    EXPECT_FALSE(w.has(e, f2));
    in_scope([&] {
        EXPECT_EQ(q.clear(), 1u);
        EXPECT_FALSE(w.empty(e));
    });
    EXPECT_TRUE(w.empty(e) && w.alive(e));
    w.set(e, f1, 1);
    in_scope([&] {
        EXPECT_EQ(q.destroy(), 1u);
        EXPECT_TRUE(w.alive(e));
    });
    EXPECT_FALSE(w.alive(e));
}

TEST(evolved_batches, a_deferred_batch_changes_the_entities_that_match_when_it_is_applied) {
    world w;
    const entity stays = w.spawn(1), stripped = w.spawn(2), destroyed = w.spawn(3);
    w.defer();
    const entity spawned = w.spawn(4);
    w.remove<int>(stripped);
    w.destroy(destroyed);
    EXPECT_EQ(w.query<int>().set(9, 'b'), 3u);  // counted before the scope
    const entity late = w.spawn(5);
    w.set(stripped, 6);
    w.set(stays, 7);
    w.commit();
    EXPECT_FALSE(w.alive(destroyed));
    EXPECT_EQ(w.get<int>(spawned), 9);
    EXPECT_TRUE(w.has<char>(spawned) && w.has<char>(stays));
    EXPECT_EQ(w.get<int>(stays), 7);
    EXPECT_EQ(w.get<int>(stripped), 6);
    EXPECT_EQ(w.get<int>(late), 5);
    EXPECT_FALSE(w.has<char>(late) || w.has<char>(stripped));
}

TEST(evolved_batches, batches_and_single_changes_keep_their_order) {
    logged_world t;
    const auto f1 = t.logged("f1"), f2 = t.logged("f2");
    const entity e = t.w.spawn(with(f1, 1));
    t.take_log();
    t.w.defer();
    t.w.set(e, f1, 2);
    t.w.set(e, f1, 3);
    t.w.query().with(f1).set(f1, 4);  // a barrier: changes do not merge across it
    t.w.set(e, f1, 5);
    t.w.query().with(f1).set(f2, 6);
    t.w.query().with(f2).remove(f1);
    t.w.query().with(f1).destroy();
    t.w.commit();
    EXPECT_EQ(t.take_log(),
              (story{"assign f1 3", "set f1 3", "assign f1 4", "set f1 4", "assign f1 5",
                     "set f1 5", "insert f2 6", "set f2 6", "remove f1 5"}));
    EXPECT_TRUE(t.w.alive(e));
}

TEST(evolved_batches, a_cancelled_scope_drops_its_batches_and_the_values_they_hold) {
    world w;
    const auto counted = std::make_shared<int>(1);
    const auto [open] = w.ids<1>();
    const entity e = w.spawn(1);
    const auto q = w.query<int>();
    w.defer();
    q.set(2);
    w.defer();
    q.set(counted);
    q.set(open, 5);
    q.add<char>();
    q.remove<int>();
    q.clear();
    q.destroy();
    EXPECT_EQ(counted.use_count(), 2);
    w.cancel();
    EXPECT_EQ(counted.use_count(), 1);
    w.commit();
    EXPECT_TRUE(w.alive(e));
    EXPECT_EQ(w.get<int>(e), 2);
    EXPECT_FALSE((w.has_any<char, std::shared_ptr<int>>(e)));
    EXPECT_EQ(w.size(), 2u);
    w.set(e, open, std::string("free"));  // cancelling leaves the id untyped
    EXPECT_EQ(w.get<std::string>(e, open), "free");
}

TEST(evolved_batches, a_batch_in_a_loop_is_applied_at_its_end) {
    world w;
    w.spawn_many(3, 1);
    int seen = 0;
    w.query<int>().each([&](int&) {
        ++seen;
        EXPECT_EQ(w.query<int>().destroy(), 3u);
    });
    EXPECT_EQ(seen, 3);
    EXPECT_EQ(w.size(), 0u);
    w.spawn_many(3, 1);
    EXPECT_THROW(w.query<int>().each([&](int&) {
        w.query<int>().destroy();
        throw std::runtime_error("stop");
    }),
                 std::runtime_error);
    EXPECT_EQ(w.size(), 3u);
}

TEST(evolved_batches, a_batch_in_a_hook_is_applied_after_the_change_that_called_the_hook) {
    world w;
    const auto made = w.spawn_many(2, 1);
    int calls = 0;
    w.on_insert<char>([&](entity, char&) {
        ++calls;
        EXPECT_EQ(w.query<int>().set(calls), 2u);
        EXPECT_EQ(w.get<int>(made[0]) + w.get<int>(made[1]), 2);
    });
    EXPECT_EQ(w.query<int>().set('c'), 2u);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(w.get<int>(made[0]) + w.get<int>(made[1]), 4);
    w.on_remove<char>([&] { w.query<int>().destroy(); });
    EXPECT_EQ(w.query<int>().remove<char>(), 2u);
    EXPECT_FALSE(w.alive_any(made[0], made[1]));
}

TEST(evolved_batches, destroying_a_fragment_in_the_scope_affects_only_its_own_batches) {
    world w;
    const auto f = w.fragment<std::string>("f");
    const entity e = w.spawn(1);
    w.defer();
    w.query<int>().set(f, "lost, and too long for its object anyway");
    w.query<int>().remove(f);
    w.destroy(f);
    w.query<int>().set('c');
    w.commit();
    EXPECT_FALSE(w.alive(f));
    EXPECT_EQ(w.get<char>(e), 'c');
    const auto g = w.fragment<std::string>("g");
    w.defer();
    w.destroy(g);
    EXPECT_EQ(w.query<int>().remove(g), 0u);
    w.query<int>().set(g, "lost, and too long for its object anyway");
    w.query<int>().set('d');
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::dead_fragment);
    EXPECT_EQ(w.get<char>(e), 'd');
    EXPECT_EQ(w.depth(), 0u);
}

// ---- failure -----------------------------------------------------------------------------------

TEST(evolved_batches, a_value_passed_twice_is_an_error) {
    world w;
    const auto f = w.fragment<int>("f");
    const entity e = w.spawn('c');
    EXPECT_EQ(code_of([&] { w.query<char>().set(with(f, 1), with(f, 2)); }), errc::given_twice);
    EXPECT_TRUE((w.has_none<int>(e)));
    EXPECT_FALSE(w.has(e, f));
}

/// Its copy constructor throws when `left` is 0.
struct copied {
    static inline int left = -1;  // copies until the first failure; -1: no limit
    std::string text;
    explicit copied(std::string s) : text(std::move(s)) {}
    copied(const copied& other) : text(other.text) {
        if (left == 0) throw std::runtime_error("no more copies");
        if (left > 0) --left;
    }
    copied(copied&&) noexcept = default;
    copied& operator=(const copied&) = default;
    copied& operator=(copied&&) noexcept = default;
};

TEST(evolved_batches, a_failed_copy_leaves_its_chunk_unchanged) {
    MUSTER_ABOUT_CHUNKS();
    for (const bool is_there : {false, true}) {
        world w;
        const auto made = w.spawn_many(3, 1);
        if (is_there) w.query<int>().set(copied("old, and too long for its object"));
        for (int left = 0; left < 4; ++left) {
            copied::left = left;
            EXPECT_THROW(w.query<int>().set(2, copied("new")), std::runtime_error);
            copied::left = -1;
            for (const entity e : made) {
                EXPECT_EQ(w.get<int>(e), 1);
                EXPECT_EQ(w.has<copied>(e), is_there);
                if (is_there) {
                    EXPECT_EQ(w.get<copied>(e).text, "old, and too long for its object");
                }
            }
        }
        EXPECT_EQ(w.query<int>().set(2, copied("new")), 3u);
        EXPECT_EQ(w.get<copied>(made[2]).text, "new");
    }
}

TEST(evolved_batches, a_throwing_hook_leaves_its_chunk_unchanged_and_the_others_proceed) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const auto plain = w.spawn_many(2, 1, std::string("plain, and too long for its object"));
    const auto marked = w.spawn_many(2, 1, std::string("marked, and too long for its object"), 'm');
    const auto twice = w.spawn_many(2, 1, std::string("twice, and too long for its object"), 2.5);
    int calls = 0;
    auto hook = w.on_insert<float>([&](entity e, float&) {
        ++calls;
        w.set(e, 100);  // dropped when the hook throws
        if (e == marked[1] || e == twice[0]) throw std::runtime_error(w.has<char>(e) ? "1" : "2");
    });
    std::string message;
    try {
        w.query<int>().set(1.5f, std::string("new"));
    } catch (const std::runtime_error& e) {
        message = e.what();
    }
    EXPECT_EQ(message, "1");
    EXPECT_EQ(calls, 5);
    for (const entity e : plain) {
        EXPECT_EQ(w.get<float>(e), 1.5f);
        EXPECT_EQ(w.get<std::string>(e), "new");
        EXPECT_EQ(w.get<int>(e), 100);
    }
    for (const entity e : {marked[0], marked[1], twice[0], twice[1]}) {
        EXPECT_FALSE(w.has<float>(e));
        EXPECT_EQ(w.get<int>(e), 1);
    }
    EXPECT_EQ(w.get<std::string>(marked[0]), "marked, and too long for its object");
    EXPECT_EQ(w.get<std::string>(twice[1]), "twice, and too long for its object");
    EXPECT_EQ(w.locate(marked[1]).row, 1u);
    EXPECT_EQ(w.locate(twice[0]).row, 0u);
    hook.pause();
    EXPECT_EQ(w.query<int>().set(2.5f), 6u);
    EXPECT_EQ(w.depth(), 0u);
}

TEST(evolved_batches, a_hook_that_throws_on_assignment_restores_the_old_values) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const auto made = w.spawn_many(3, std::string("old, and too long for its object"));
    w.on_set<std::string>([&](entity e, std::string&) {
        if (e == made[2]) throw std::runtime_error("no");
    });
    EXPECT_THROW(w.query<std::string>().set(std::string("new, and too long for it, too")),
                 std::runtime_error);
    for (const entity e : made)
        EXPECT_EQ(w.get<std::string>(e), "old, and too long for its object");
}

TEST(evolved_batches, a_throwing_remove_hook_leaves_its_chunk_unchanged) {
    MUSTER_ABOUT_CHUNKS();
    world w{world_options{.provenance = true}};
    const auto a = w.spawn_many(2, 1, 'a');
    const auto b = w.spawn_many(2, 1);
    std::vector<entity> log;
    auto veto = w.on_remove<int>([&](entity e, int&) {
        log.push_back(e);
        if (e == a[1]) throw std::runtime_error("kept");
    });
    const auto q = w.query<int>();
    EXPECT_THROW(q.remove<int>(), std::runtime_error);
    EXPECT_EQ(log, (std::vector{a[0], a[1], b[0], b[1]}));
    EXPECT_TRUE(w.has<int>(a[0]) && w.has<int>(a[1]));
    EXPECT_TRUE(w.empty(b[0]) && w.empty(b[1]));
    EXPECT_THROW(q.clear(), std::runtime_error);
    EXPECT_TRUE(w.has<char>(a[0]) && w.has<char>(a[1]));
    w.set(b[0], 1);
    EXPECT_THROW(q.destroy(), std::runtime_error);
    EXPECT_TRUE(w.alive_all(a[0], a[1], b[1]));
    EXPECT_FALSE(w.alive(b[0]));
    EXPECT_EQ(w.get<int>(a[0]), 1);
    veto.pause();
    const std::string call_site = "evolved_batches_test.cpp:" + std::to_string(__LINE__ + 1);
    w.destroy(a[0]);
    EXPECT_NE(sentence_of([&] { w.set(a[0], 1); }).find(call_site), std::string::npos);
    EXPECT_EQ(q.destroy(), 1u);
}

TEST(evolved_batches, a_throwing_destroy_hook_keeps_its_chunk_alive) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const auto made = w.spawn_many(2, 1);
    const entity other = w.spawn(1, 'c');
    auto veto = w.on_destroy([&](entity e) {
        if (e == made[1]) throw std::runtime_error("kept");
    });
    EXPECT_THROW(w.query<int>().destroy(), std::runtime_error);
    EXPECT_TRUE(w.alive_all(made[0], made[1]));
    EXPECT_FALSE(w.alive(other));
    veto.pause();
    EXPECT_EQ(w.query<int>().destroy(), 2u);
}

TEST(evolved_batches, a_hook_may_reserve_rows_in_both_chunks_before_it_throws) {
    const std::string old = "old, and too long for its object";
    for (const int where : {0, 1, 2, 3}) {
        world w;
        const auto made = w.spawn_many(3, old, 1);
        auto hook = w.on_insert<double>([&] {
            if (where == 0 || where == 3) w.reserve<std::string, int, double>(1000);
            if (where == 1 || where == 3) w.reserve<std::string, int>(1000);
            if (where == 2) w.reserve<std::string, int>(7);
            throw std::runtime_error("no");
        });
        EXPECT_THROW(w.query<int>().set(std::string("new"), 2.5), std::runtime_error);
        for (const entity e : made) EXPECT_EQ(w.get<std::string>(e), old);
        hook.pause();
        w.spawn_many(900, old, 1);  // overflows a column shorter than its chunk's capacity
        EXPECT_EQ(w.query<int>().set(std::string("new"), 2.5), 903u);
        w.spawn_many(900, old, 1);
        w.spawn_many(900, old, 1, 3.5);
        EXPECT_EQ(w.count<std::string>(), 2703u);
        EXPECT_EQ(w.get<std::string>(made[2]), "new");
    }
}

TEST(evolved_batches, destroy_records_its_call_site) {
    world w{world_options{.provenance = true}};
    const auto made = w.spawn_many(2, 1);
    w.name(made[1], "named");
    const std::string call_site = "evolved_batches_test.cpp:" + std::to_string(__LINE__ + 1);
    w.query<int>().destroy();
    for (const entity e : made)
        EXPECT_NE(sentence_of([&] { w.set(e, 1); }).find(call_site), std::string::npos);
    EXPECT_NE(sentence_of([&] { w.set(made[1], 1); }).find("\"named\""), std::string::npos);
}

// ---- the fuzzers -------------------------------------------------------------------------------

TEST(evolved_batches, destroying_entities_that_are_fragments_of_each_other_agrees_with_the_model) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        const auto up_to = [&](std::size_t n) { return random() % n; };
        world w;
        std::vector<id> all(1 + up_to(10));
        for (id& e : all) e = w.spawn();
        std::vector<bool> destroys_owners(all.size());
        std::vector<std::set<std::size_t>> has(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (std::size_t n = up_to(all.size() + 1) + 1; n-- != 0;) {
                const std::size_t f = up_to(all.size());
                w.set(all[i], all[f]);
                has[i].insert(f);
            }
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
            destroys_owners[i] = up_to(5) == 0;
            if (destroys_owners[i]) w.define(all[i]).when_destroyed(destroy_owners);
        }
        std::vector<id> wanted;
        std::set<std::size_t> terms;
        for (std::size_t n = 1 + up_to(3); n-- != 0;) {
            const std::size_t f = up_to(all.size());
            if (terms.insert(f).second) wanted.push_back(all[f]);
        }
        // The model destroys matching entities. Each destroyed fragment is removed from its owners,
        // or destroys them.
        std::vector<bool> dead(all.size());
        std::vector<std::size_t> dying;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (std::ranges::includes(has[i], terms)) dying.push_back(i);
        const std::size_t matched = dying.size();
        while (!dying.empty()) {
            const std::size_t f = dying.back();
            dying.pop_back();
            if (dead[f]) continue;
            dead[f] = true;
            for (std::size_t i = 0; i < all.size(); ++i)
                if (destroys_owners[f] && has[i].contains(f)) dying.push_back(i);
        }
        const bool in_scope = up_to(2) == 0;
        if (in_scope) w.defer();
        EXPECT_EQ(w.query().with(std::span<const id>(wanted)).destroy(), matched) << seed;
        if (in_scope) w.commit();
        std::size_t living = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(w.alive(all[i]), !dead[i]) << seed << ": " << i;
            if (!dead[i]) ++living;
            for (std::size_t f = 0; f < all.size() && !dead[i]; ++f)
                EXPECT_EQ(w.has(all[i], all[f]), has[i].contains(f) && !dead[f])
                    << seed << ": " << i << " " << f;
        }
        EXPECT_EQ(w.size(), living) << seed;
        if (up_to(2) == 0) w.collect_garbage();
        EXPECT_EQ(w.destroy(std::span<const id>(all)) != 0, living != 0) << seed;
        EXPECT_EQ(w.size(), 0u) << seed;
    }
}

/// Two worlds with equivalent operations: `many` uses batches, `single` changes one entity at a
/// time.
struct twins {
    static constexpr std::size_t kinds = 5;
    logged_world many, single;
    std::vector<fragment<int>> fm, fs;
    std::vector<entity> em, es;
    std::mt19937 random;

    explicit twins(unsigned seed) : random(seed) {
        for (std::size_t i = 0; i < kinds; ++i) {
            const std::string name = detail::text("f", i);
            fm.push_back(many.logged(name));
            fs.push_back(single.logged(name));
        }
        for (std::size_t i = 0; i < kinds; ++i) {
            const int start = static_cast<int>(i) + 10;
            many.w.define(fm[i]).default_value(start).hidden(i == 4 && up_to(3) == 0);
            single.w.define(fs[i]).default_value(start).hidden(many.w.define(fm[i]).is_hidden());
            if (up_to(3) != 0) continue;
            const std::size_t needed = up_to(kinds);
            many.w.define(fm[i]).needs(fm[needed]);
            single.w.define(fs[i]).needs(fs[needed]);
        }
        for (int i = 0; i < 12; ++i) {
            em.push_back(many.w.spawn(std::to_string(i) + ": a text too long for its object"));
            es.push_back(single.w.spawn(std::to_string(i) + ": a text too long for its object"));
            for (std::size_t f = 0; f < kinds; ++f) {
                if (up_to(3) != 0) continue;
                many.w.set(em.back(), fm[f], i);
                single.w.set(es.back(), fs[f], i);
            }
        }
        many.take_log();
        single.take_log();
    }
    std::size_t up_to(std::size_t n) { return random() % n; }

    /// Makes a batch call in `many` and the equivalent single calls in `single`.
    void step() {
        const std::size_t wanted = up_to(kinds), refused = up_to(kinds);
        auto qm = many.w.query().with(fm[wanted]);
        auto qs = single.w.query().with(fs[wanted]);
        if (refused != wanted && up_to(2) == 0) {
            qm = qm.without(fm[refused]);
            qs = qs.without(fs[refused]);
        }
        std::vector<entity> found;
        for (const auto& [e] : qs) found.push_back(e);
        const std::size_t a = up_to(kinds), b = (a + 1 + up_to(kinds - 1)) % kinds;
        const int value = static_cast<int>(up_to(1000));
        const std::size_t call = up_to(8);
        switch (call) {
        case 0:
        case 1: qm.set(fm[a], value); break;
        case 2: qm.set(with(fm[a], value), with(fm[b], value + 1)); break;
        case 3: qm.set(fm[a]); break;
        case 4: qm.add(fm[a]); break;
        case 5: qm.remove(fm[a], fm[b]); break;
        case 6: qm.clear(); break;
        default: qm.destroy();
        }
        for (const entity e : found) {
            switch (call) {
            case 0:
            case 1: single.w.set(e, fs[a], value); break;
            case 2: single.w.set(e, with(fs[a], value), with(fs[b], value + 1)); break;
            case 3: single.w.set(e, fs[a]); break;
            case 4: single.w.add(e, fs[a]); break;
            case 5: single.w.remove(e, fs[a], fs[b]); break;
            case 6: single.w.clear(e); break;
            default: single.w.destroy(e);
            }
        }
    }
    void compare() {
        story a = many.take_log(), b = single.take_log();
        std::ranges::sort(a);
        std::ranges::sort(b);
        EXPECT_EQ(a, b);
        for (std::size_t i = 0; i < em.size(); ++i) {
            ASSERT_EQ(many.w.alive(em[i]), single.w.alive(es[i]));
            for (std::size_t f = 0; f < kinds; ++f) {
                const int* const x = many.w.try_get(em[i], fm[f]);
                const int* const y = single.w.try_get(es[i], fs[f]);
                ASSERT_EQ(x == nullptr, y == nullptr);
                if (x != nullptr) {
                    EXPECT_EQ(*x, *y);
                }
            }
            const std::string* const x = many.w.try_get<std::string>(em[i]);
            ASSERT_EQ(x == nullptr, !single.w.has<std::string>(es[i]));
            if (x != nullptr) {
                EXPECT_EQ(*x, single.w.get<std::string>(es[i]));
            }
        }
        EXPECT_EQ(many.w.size(), single.w.size());
    }
};

TEST(evolved_batches, a_batch_has_the_effect_of_the_single_calls) {
    for (unsigned seed = 0; seed < 150 && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        twins t(seed);
        for (int i = 0; i < 12; ++i) {
            t.step();
            t.compare();
        }
    }
}

TEST(evolved_batches, batches_of_one_scope_have_the_effect_of_consecutive_single_calls) {
    for (unsigned seed = 0; seed < 150 && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        twins t(seed);
        for (int i = 0; i < 4; ++i) {
            t.many.w.defer();
            for (int k = 0; k < 4; ++k) t.step();
            t.many.w.commit();
            t.compare();
        }
    }
}

}  // namespace
}  // namespace muster::test
