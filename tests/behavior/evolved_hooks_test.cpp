// Fragment hooks: the program of evolved's README and the cases of its tests, on a Muster world.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

template <class Layout>
class evolved_hooks : public testing::Test {};
TYPED_TEST_SUITE(evolved_hooks, behavior_layouts, layout_names);

/// A world, and a log of its hooks: "insert a 1".
template <class Layout>
struct logged_world {
    using id_type = basic_id<Layout>;
    template <class T>
    using of = basic_fragment<T, Layout>;

    std::vector<std::string> log;  // outlives the hooks
    basic_world<Layout> w;

    /// A fragment whose hooks write to the log.
    of<int> fragment(const std::string& name) {
        const of<int> made = w.template fragment<int>(name);
        const auto logger = [this, name](const char* what) {
            return [this, name, what](id_type e, int& value) {
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
    id_type tag(const std::string& name) {
        const id_type made = w.tag(name);
        const auto logger = [this, name](const char* what) {
            return [this, name, what](id_type, const void* value) {
                EXPECT_EQ(value, nullptr);
                log.push_back(detail::text(what, " ", name));
            };
        };
        w.define(made)
            .on_set(logger("set"))
            .on_insert(logger("insert"))
            .on_remove(logger("remove"));
        return made;
    }
    /// The entries since the last call.
    std::vector<std::string> take_log() { return std::exchange(log, {}); }
};
using story = std::vector<std::string>;

TYPED_TEST(evolved_hooks, on_set_runs_on_insertion_and_on_assignment) {
    std::string printed;
    basic_world<TypeParam> w;
    const auto health = w.template fragment<int>("health");
    w.define(health).on_set([&](basic_id<TypeParam>, int& component) {
        printed += detail::text("health set to ", std::to_string(component), "\n");
    });
    const auto player = w.spawn();
    w.set(player, health, 100);
    w.set(player, health, 200);
    EXPECT_EQ(printed, "health set to 100\nhealth set to 200\n");
}

TYPED_TEST(evolved_hooks, a_hook_of_a_plain_id_receives_the_address_of_the_value) {
    basic_world<TypeParam> w;
    const auto [player, health] = w.template ids<2>();
    const void* last = nullptr;
    basic_id<TypeParam> target;
    w.define(health).on_set([&](basic_id<TypeParam> e, void* value) { target = e, last = value; });
    w.set(player, health, 100);
    EXPECT_EQ(target, player);
    EXPECT_EQ(last, &w.template get<int>(player, health));
}

TYPED_TEST(evolved_hooks,
           insert_assign_and_remove_receive_the_value_and_set_follows_the_first_two) {
    logged_world<TypeParam> t;
    const auto f = t.fragment("f");
    const auto e = t.w.spawn();
    t.w.set(e, f, 21);
    EXPECT_EQ(t.take_log(), (story{"insert f 21", "set f 21"}));
    t.w.set(e, f, 42);
    EXPECT_EQ(t.take_log(), (story{"assign f 42", "set f 42"}));
    t.w.patch(e, f, [](int& value) { ++value; });
    EXPECT_EQ(t.take_log(), (story{"assign f 43", "set f 43"}));
    t.w.touch(e, f);
    EXPECT_EQ(t.take_log(), (story{"assign f 43", "set f 43"}));
    t.w.clear(e);
    EXPECT_EQ(t.take_log(), (story{"remove f 43"}));
    EXPECT_TRUE(t.w.add(e, f));
    EXPECT_EQ(t.take_log(), (story{"insert f 0", "set f 0"}));
    EXPECT_FALSE(t.w.add(e, f));
    EXPECT_EQ(t.take_log(), story{});
    t.w.remove(e, f);
    EXPECT_EQ(t.take_log(), (story{"remove f 0"}));
    t.w.set(e, f, 45);
    t.take_log();
    t.w.destroy(e);
    EXPECT_EQ(t.take_log(), (story{"remove f 45"}));
    t.w.destroy(e);
    t.w.remove(e, f);
    t.w.clear(e);
    EXPECT_EQ(t.take_log(), story{});
}

TYPED_TEST(evolved_hooks, removing_skips_missing_fragments_and_repetitions) {
    logged_world<TypeParam> t;
    const auto f1 = t.fragment("f1"), f2 = t.fragment("f2");
    const auto e = t.w.spawn(with(f1, 42));
    t.take_log();
    t.w.remove(e, f1, f2);
    EXPECT_EQ(t.take_log(), (story{"remove f1 42"}));
    t.w.set(e, with(f1, 42), with(f2, 43));
    EXPECT_EQ(t.take_log(), (story{"insert f1 42", "set f1 42", "insert f2 43", "set f2 43"}));
    t.w.remove(e, f1, f2, f2);
    EXPECT_EQ(t.take_log(), (story{"remove f1 42", "remove f2 43"}));
    t.w.set(e, with(f2, 45), with(f1, 44));
    t.take_log();
    t.w.clear(e);
    EXPECT_EQ(t.take_log(), (story{"remove f1 44", "remove f2 45"}));
}

TYPED_TEST(evolved_hooks, hooks_of_one_kind_run_oldest_first_and_can_be_paused_and_resumed) {
    logged_world<TypeParam> t;
    const auto f = t.w.template fragment<int>("f");
    const auto hook = [&](const char* what) {
        return t.w.on_set(f, [&t, what](basic_id<TypeParam>, int&) { t.log.push_back(what); });
    };
    hook("first");
    auto second = hook("second"), third = hook("third");
    const auto e = t.w.spawn(with(f, 1));
    EXPECT_EQ(t.take_log(), (story{"first", "second", "third"}));
    EXPECT_TRUE(second.pause());
    t.w.set(e, f, 2);
    EXPECT_EQ(t.take_log(), (story{"first", "third"}));
    EXPECT_TRUE(second.resume());
    EXPECT_TRUE(third.disconnect());
    t.w.set(e, f, 3);
    EXPECT_EQ(t.take_log(), (story{"first", "second"}));
    EXPECT_FALSE(third.resume());
}

TYPED_TEST(evolved_hooks, new_hooks_also_run_for_existing_entities) {
    logged_world<TypeParam> t;
    basic_world<TypeParam>& w = t.w;
    const auto [f1, f2, f3] = w.template ids<3>();
    const auto e1 = w.spawn(with(f1, 41)), e12 = w.spawn(with(f1, 41), with(f2, 42)),
               e3 = w.spawn(with(f3, 43));
    int assigned = 0;
    auto on_f1 = w.on_assign(f1, [&] { ++assigned; });
    auto on_f3 = w.on_assign(f3, [&] { ++assigned; });
    w.set(e1, f1, 1);
    EXPECT_EQ(assigned, 1);
    w.set(e12, f1, 1);
    w.set(e12, f2, 1);
    EXPECT_EQ(assigned, 2);
    w.set(e3, f3, 1);
    EXPECT_EQ(assigned, 3);
    on_f1.disconnect();
    w.set(e1, f1, 2);
    w.set(e12, f1, 2);
    EXPECT_EQ(assigned, 3);
    w.set(e3, f3, 2);
    EXPECT_EQ(assigned, 4);
    EXPECT_TRUE(on_f3.connected());
}

TYPED_TEST(evolved_hooks, the_hooks_of_a_tag_receive_no_value) {
    logged_world<TypeParam> t;
    const auto marked = t.tag("marked");
    const auto e = t.w.spawn();
    t.w.set(e, marked);
    EXPECT_EQ(t.take_log(), (story{"insert marked", "set marked"}));
    t.w.remove(e, marked);
    EXPECT_EQ(t.take_log(), (story{"remove marked"}));
    const auto other = t.w.spawn(with(marked), 5);
    EXPECT_EQ(t.take_log(), (story{"insert marked", "set marked"}));
    t.w.destroy(other);
    EXPECT_EQ(t.take_log(), (story{"remove marked"}));
}

// ---- spawns and clones -------------------------------------------------------------------------

TYPED_TEST(evolved_hooks, a_spawn_and_a_clone_insert_each_of_their_fragments) {
    logged_world<TypeParam> t;
    const auto f1 = t.fragment("f1"), f2 = t.fragment("f2");
    const auto e = t.w.spawn(with(f2, 2), with(f1, 1));
    EXPECT_EQ(t.take_log(), (story{"insert f1 1", "set f1 1", "insert f2 2", "set f2 2"}));
    t.w.clone(e, with(f2, 3));
    EXPECT_EQ(t.take_log(), (story{"insert f1 1", "set f1 1", "insert f2 3", "set f2 3"}));
    t.w.builder().set(f1, 7).spawn();
    EXPECT_EQ(t.take_log(), (story{"insert f1 7", "set f1 7"}));
}

TYPED_TEST(evolved_hooks, hooks_of_many_entities_run_one_entity_at_a_time) {
    logged_world<TypeParam> t;
    const auto f = t.fragment("f");
    const auto made = t.w.spawn_many(3, with(f, 1));
    EXPECT_EQ(t.take_log(),
              (story{"insert f 1", "set f 1", "insert f 1", "set f 1", "insert f 1", "set f 1"}));
    t.w.set(made[0], f, 2);
    t.take_log();
    t.w.clone_many(2, made[0]);
    EXPECT_EQ(t.take_log(), (story{"insert f 2", "set f 2", "insert f 2", "set f 2"}));
    EXPECT_EQ(t.w.clear_fragment(f), 5u);
    EXPECT_EQ(t.log.size(), 5u);
}

TYPED_TEST(evolved_hooks, an_insert_hook_sees_all_initial_components_of_the_entity) {
    basic_world<TypeParam> w;
    int sum = 0;
    w.template on_insert<int>([&](basic_id<TypeParam> e, int& value) {
        sum += value + static_cast<int>(w.template get<std::string>(e).size());
    });
    const auto e = w.spawn(1, std::string("12"));
    EXPECT_EQ(sum, 3);
    w.clone(e);
    EXPECT_EQ(sum, 6);
    w.spawn_many(2, 1, std::string("12"));
    EXPECT_EQ(sum, 12);
}

TYPED_TEST(evolved_hooks, needed_fragments_are_inserted_and_call_their_hooks) {
    logged_world<TypeParam> t;
    const auto f1 = t.fragment("f1"), f2 = t.fragment("f2");
    const auto f3 = t.tag("f3");
    t.w.define(f1).needs(f2, f3);
    t.w.define(f2).default_value(7);
    const story all{"insert f1 42", "set f1 42", "insert f2 7", "set f2 7", "insert f3", "set f3"};
    const auto spawned = t.w.spawn(with(f1, 42));
    EXPECT_EQ(t.take_log(), all);
    t.w.clone(spawned);
    EXPECT_EQ(t.take_log(), all);
    t.w.set(t.w.spawn(), f1, 42);
    EXPECT_EQ(t.take_log(), all);
    t.w.spawn_many(1, with(f1, 42));
    EXPECT_EQ(t.take_log(), all);
    t.w.remove(spawned, f2, f3);
    EXPECT_EQ(t.take_log(), (story{"remove f2 7", "remove f3"}));
    t.w.set(spawned, f1, 43);  // assigning adds no needed fragments
    EXPECT_EQ(t.take_log(), (story{"assign f1 43", "set f1 43"}));
    t.w.clone(spawned, with(f1, 42));  // cloning inserts
    EXPECT_EQ(t.take_log(), all);
}

TYPED_TEST(evolved_hooks, fragments_that_need_each_other_call_their_hooks_once) {
    logged_world<TypeParam> t;
    const auto f1 = t.fragment("f1"), f2 = t.fragment("f2"), f3 = t.fragment("f3");
    t.w.define(f1).needs(f2);
    t.w.define(f2).needs(f3);
    t.w.define(f3).needs(f1, f2, f3).default_value(42);
    t.w.set(t.w.spawn(), f2, 21);
    EXPECT_EQ(t.take_log(), (story{"insert f1 0", "set f1 0", "insert f2 21", "set f2 21",
                                   "insert f3 42", "set f3 42"}));
}

TYPED_TEST(evolved_hooks, a_clone_calls_no_hooks_of_unique_fragments) {
    logged_world<TypeParam> t;
    const auto f1 = t.fragment("f1"), passport = t.fragment("passport");
    t.w.define(passport).unique();
    const auto e = t.w.spawn(with(f1, 1), with(passport, 2));
    t.take_log();
    t.w.clone(e);
    EXPECT_EQ(t.take_log(), (story{"insert f1 1", "set f1 1"}));
}

TYPED_TEST(evolved_hooks, a_hook_receives_the_duplicate_of_its_entity) {
    basic_world<TypeParam> w;
    using shared = std::shared_ptr<int>;
    const auto f = w.template fragment<shared>("f");
    const auto original = std::make_shared<int>(5);
    std::vector<int*> seen;
    w.define(f)
        .default_value(original)
        .duplicate([](const shared& value) { return std::make_shared<int>(*value); })
        .on_insert([&](basic_id<TypeParam>, shared& value) { seen.push_back(value.get()); });
    const auto e = w.spawn();
    w.set(e, f);
    const auto copy = w.clone(e);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0], w.get(e, f).get());
    EXPECT_EQ(seen[1], w.get(copy, f).get());
    EXPECT_NE(seen[0], seen[1]);
    EXPECT_NE(seen[0], original.get());
}

// ---- hooks that change the world ---------------------------------------------------------------

TYPED_TEST(evolved_hooks, hooks_can_add_and_remove_another_fragment) {
    logged_world<TypeParam> t;
    basic_world<TypeParam>& w = t.w;
    const auto f1 = t.fragment("f1"), f2 = t.fragment("f2");
    w.on_set(f1, [&](basic_id<TypeParam> e, int& value) { w.set(e, f2, value * 2); });
    w.on_remove(f1, [&](basic_id<TypeParam> e, int&) {
        w.remove(e, f2);
        EXPECT_TRUE(w.has_all(e, f1, f2));
    });
    const auto e = w.spawn();
    w.set(e, f1, 21);
    EXPECT_EQ(w.get(e, f2), 42);
    EXPECT_EQ(t.take_log(), (story{"insert f1 21", "set f1 21", "insert f2 42", "set f2 42"}));
    w.set(e, f1, 51);
    EXPECT_EQ(w.get(e, f2), 102);
    EXPECT_EQ(t.take_log(), (story{"assign f1 51", "set f1 51", "assign f2 102", "set f2 102"}));
    w.remove(e, f1);
    EXPECT_TRUE(w.empty(e));
    EXPECT_EQ(t.take_log(), (story{"remove f1 51", "remove f2 102"}));
    w.set(e, f1, 1);
    t.take_log();
    w.clear(e);
    EXPECT_TRUE(w.empty(e));
    EXPECT_EQ(t.take_log(), (story{"remove f1 1", "remove f2 2"}));
    w.set(e, f1, 1);
    t.take_log();
    w.destroy(e);
    EXPECT_EQ(t.take_log(), (story{"remove f1 1", "remove f2 2"}));
    const auto spawned = w.spawn(with(f1, 3));
    EXPECT_EQ(w.get(spawned, f2), 6);
}

TYPED_TEST(evolved_hooks, a_hook_can_set_its_own_fragment_repeatedly) {
    logged_world<TypeParam> t;
    const auto f = t.fragment("f");
    t.w.on_set(f, [&](basic_id<TypeParam> e, int& value) {
        if (value < 3) t.w.set(e, f, value + 1);
    });
    const auto e = t.w.spawn(with(f, 1));
    EXPECT_EQ(t.w.get(e, f), 3);
    EXPECT_EQ(t.take_log(),
              (story{"insert f 1", "set f 1", "assign f 2", "set f 2", "assign f 3", "set f 3"}));
}

TYPED_TEST(evolved_hooks, a_hook_can_destroy_its_own_entity) {
    logged_world<TypeParam> t;
    basic_world<TypeParam>& w = t.w;
    const auto f = t.fragment("f");
    w.on_insert(f, [&](basic_id<TypeParam> e, int&) {
        EXPECT_TRUE(w.destroy(e));
        EXPECT_TRUE(w.alive(e));
    });
    w.on_remove(f,
                [&](basic_id<TypeParam> e, int&) { w.destroy(e); });  // is being destroyed already
    const auto old = w.spawn();
    w.set(old, f, 1);
    EXPECT_FALSE(w.alive(old));
    EXPECT_FALSE(w.alive(w.spawn(with(f, 2))));
    for (const auto e : w.spawn_many(2, with(f, 3))) EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.size(), 1u);  // the fragment
    EXPECT_EQ(std::ranges::count(t.log, "remove f 3"), 2);
    EXPECT_EQ(std::ranges::count(t.log, "insert f 3"), 2);
}

TYPED_TEST(evolved_hooks, a_remove_hook_can_destroy_further_entities_in_a_chain) {
    basic_world<TypeParam> w;
    using id_type = basic_id<TypeParam>;
    std::vector<id_type> order;
    w.template on_remove<id_type>([&](id_type e, id_type& next) {
        order.push_back(e);
        w.destroy(next);
    });
    const auto last = w.spawn();
    const auto middle = w.spawn(last);
    const auto first = w.spawn(middle);
    w.template emplace<id_type>(last, first);  // a cycle
    w.destroy(first);
    EXPECT_EQ(order, (std::vector{first, middle, last}));
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(evolved_hooks, a_value_set_by_a_remove_hook_is_added_after_the_removal) {
    basic_world<TypeParam> w;
    w.template on_remove<int>([&](basic_id<TypeParam> e, int& value) { w.set(e, value + 1); });
    const auto e = w.spawn(1);
    EXPECT_TRUE(w.template remove<int>(e));
    EXPECT_EQ(w.template get<int>(e), 2);
    w.destroy(e);
    EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.template count<int>(), 0u);
}

// ---- destroyed fragments -----------------------------------------------------------------------

TYPED_TEST(evolved_hooks, a_destroyed_fragment_is_removed_from_its_owners_and_from_itself) {
    for (const bool destroys_owners : {false, true}) {
        logged_world<TypeParam> t;
        const auto f1 = t.fragment("f1"), f2 = t.fragment("f2");
        if (destroys_owners) t.w.define(f1).when_destroyed(destroy_owners);
        t.w.set(f1, f1, 1);
        const auto owner = t.w.spawn(with(f1, 2), with(f2, 3));
        t.take_log();
        t.w.destroy(f1);
        EXPECT_FALSE(t.w.alive(f1));
        EXPECT_EQ(t.w.alive(owner), !destroys_owners);
        auto log = t.take_log();
        std::ranges::sort(log);
        story wanted{"remove f1 1", "remove f1 2"};
        if (destroys_owners) wanted.push_back("remove f2 3");
        EXPECT_EQ(log, wanted);
    }
}

TYPED_TEST(evolved_hooks, a_remove_hook_can_destroy_another_fragment) {
    MUSTER_ABOUT_CHUNKS();
    logged_world<TypeParam> t;
    const auto f1 = t.fragment("f1"), f2 = t.fragment("f2");
    t.w.on_remove(f1, [&] { t.w.destroy(f2); });
    const auto e = t.w.spawn(with(f1, 1), with(f2, 2), 5);
    t.take_log();
    t.w.remove(e, f1);
    EXPECT_EQ(t.take_log(), (story{"remove f1 1", "remove f2 2"}));
    EXPECT_FALSE(t.w.alive(f2));
    EXPECT_EQ(t.w.locate(e).chunk, t.w.template chunk<int>());
}

// ---- hooks and scopes --------------------------------------------------------------------------

TYPED_TEST(evolved_hooks, hooks_run_at_the_commit_with_the_net_effect_of_the_scope) {
    logged_world<TypeParam> t;
    const auto f1 = t.fragment("f1"), f2 = t.fragment("f2");
    const auto e = t.w.spawn(with(f1, 1));
    t.take_log();
    t.w.defer();
    t.w.set(e, f2, 1);
    t.w.set(e, f2, 2);
    t.w.remove(e, f1);
    t.w.set(e, f1, 3);
    const auto made = t.w.spawn(with(f2, 4));
    t.w.set(made, f2, 5);
    const auto brief = t.w.spawn(with(f1, 6));
    t.w.destroy(brief);
    EXPECT_EQ(t.take_log(), story{});
    t.w.commit();
    EXPECT_EQ(t.take_log(), (story{"assign f1 3", "set f1 3", "insert f2 2", "set f2 2",
                                   "insert f2 5", "set f2 5"}));
}

TYPED_TEST(evolved_hooks, a_fragment_added_and_removed_in_one_scope_calls_no_hooks) {
    logged_world<TypeParam> t;
    const auto f1 = t.fragment("f1"), f2 = t.fragment("f2");
    const auto e = t.w.spawn(with(f1, 1));
    t.take_log();
    t.w.defer();
    t.w.set(e, f2, 1);
    t.w.remove(e, f2);
    t.w.set(e, f1, 2);
    t.w.clear(e);
    t.w.commit();
    EXPECT_EQ(t.take_log(), (story{"remove f1 1"}));
}

TYPED_TEST(evolved_hooks, a_cancelled_scope_calls_no_hooks) {
    logged_world<TypeParam> t;
    const auto f = t.fragment("f");
    const auto e = t.w.spawn(with(f, 1));
    t.take_log();
    t.w.defer();
    t.w.set(e, f, 2);
    t.w.spawn(with(f, 3));
    t.w.destroy(e);
    t.w.cancel();
    EXPECT_EQ(t.take_log(), story{});
    EXPECT_EQ(t.w.get(e, f), 1);
}

TYPED_TEST(evolved_hooks, a_hook_runs_in_a_scope_that_it_cannot_close) {
    basic_world<TypeParam> w;
    int calls = 0;
    w.template on_insert<int>([&](basic_id<TypeParam> e) {
        ++calls;
        EXPECT_GT(w.depth(), 0u);
        EXPECT_EQ(code_of([&] { w.commit(); }), errc::unbalanced_scope);
        EXPECT_EQ(code_of([&] { w.cancel(); }), errc::unbalanced_scope);
        EXPECT_FALSE(w.defer());
        w.set(e, std::string("cancelled"));
        EXPECT_FALSE(w.cancel());
        EXPECT_FALSE(w.defer());
        w.set(e, 'c');
        EXPECT_FALSE(w.commit());
    });
    const auto e = w.spawn(1);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(w.template get<char>(e), 'c');
    EXPECT_FALSE(w.template has<std::string>(e));
}

}  // namespace
}  // namespace muster::test
