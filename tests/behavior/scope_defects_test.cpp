// Defects of older systems where hooks, command buffers and loops interact. Numbered like those of
// old_defects_test.cpp and world_defects_test.cpp.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"
#include "support/trouble.hpp"
#include "support/world_dump.hpp"

namespace muster::test {
namespace {

template <class Layout>
class scope_defects : public testing::Test {};
TYPED_TEST_SUITE(scope_defects, behavior_layouts, layout_names);

struct refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The observable state of a world with the components of these tests.
template <class Layout>
std::string picture_of(basic_world<Layout>& w) {
    return dump<Layout, int, std::string, fragile, lone>(w);
}

/// The message of the exception that `call` throws; "nothing" if it throws none.
template <class Call>
std::string thrown_by(Call call) {
    try {
        call();
    } catch (const std::exception& e) {
        return e.what();
    }
    return "nothing";
}

// ---- 9: remove hooks and the removed value -----------------------------------------------------

TYPED_TEST(scope_defects, a_remove_hook_sees_the_living_entity_and_its_value) {
    basic_world<TypeParam> w;
    int calls = 0;
    w.template on_remove<int>([&](basic_id<TypeParam> e, int& value) {
        ++calls;
        EXPECT_TRUE(w.alive(e));
        EXPECT_EQ(w.template try_get<int>(e), &value);
        EXPECT_EQ(w.template get<int>(e), 7);
        EXPECT_EQ(w.template get<std::string>(e), "beside it");
        EXPECT_EQ(w.template count<int>(), 1u);
    });
    const std::string text = "beside it";
    w.template remove<int>(w.spawn(7, text));
    w.clear(w.spawn(7, text));
    w.destroy(w.spawn(7, text));
    w.spawn(7, text);
    w.template clear<int>();
    const auto later = w.spawn(7, text);
    w.defer();
    w.destroy(later);
    w.commit();
    w.spawn(7, text);
    w.reset();
    EXPECT_EQ(calls, 6);
    w.spawn(7, text);
    w.destroy(w.template component<int>());
    EXPECT_EQ(calls, 7);
}

TYPED_TEST(scope_defects, an_entity_with_a_reused_key_inherits_no_components) {
    basic_world<TypeParam> w;
    w.template on_remove<int>(
        [&](basic_id<TypeParam> e, int&) { EXPECT_NO_THROW((void)w.template get<int>(e)); });
    const auto before = w.spawn(7);
    w.destroy(before);
    const auto after = w.spawn();
    EXPECT_EQ(after.key(), before.key());
    EXPECT_TRUE(w.empty(after));
    EXPECT_EQ(w.template try_get<int>(after), nullptr);
    EXPECT_EQ(w.template count<int>(), 0u);
}

// ---- 10: stale handles -------------------------------------------------------------------------

TYPED_TEST(scope_defects, a_stale_handle_calls_no_hook_and_changes_nothing) {
    basic_world<TypeParam> w;
    int calls = 0;
    const auto stale = w.spawn(1);
    w.destroy(stale);
    const auto living = w.spawn(2, std::string("mine"));
    ASSERT_EQ(living.key(), stale.key());
    w.template on_remove<int>([&] { ++calls; });
    w.template on_set<int>([&] { ++calls; });
    w.on_destroy([&] { ++calls; });
    const std::string before = picture_of(w);
    for (const bool in_scope : {false, true}) {
        if (in_scope) w.defer();
        EXPECT_FALSE(w.template remove<int>(stale));
        EXPECT_FALSE((w.template remove<int, std::string>(stale)));
        EXPECT_FALSE(w.remove(stale, w.template component<int>()));
        EXPECT_FALSE(w.clear(stale));
        EXPECT_FALSE(w.destroy(stale));
        EXPECT_EQ(code_of([&] { w.set(stale, 3); }), errc::dead_entity);
        EXPECT_EQ(code_of([&] { w.template add<int>(stale); }), errc::dead_entity);
        EXPECT_EQ(code_of([&] { w.template touch<int>(stale); }), errc::dead_entity);
        EXPECT_EQ(code_of([&] { w.template patch<int>(stale, [](int&) {}); }), errc::dead_entity);
        EXPECT_EQ(code_of([&] { w.clone(stale); }), errc::dead_entity);
        if (in_scope) w.commit();
        EXPECT_EQ(picture_of(w), before);
    }
    EXPECT_EQ(calls, 0);
}

// ---- 11: constructors that throw ---------------------------------------------------------------

TYPED_TEST(scope_defects, a_throwing_constructor_leaves_world_and_scope_consistent) {
    {
        basic_world<TypeParam> w;
        const auto a = w.spawn(fragile(1), 1), b = w.spawn(fragile(2), 2), c = w.spawn(fragile(3));
        const fragile value(9);
        const std::string before = picture_of(w);
        w.defer();
        w.set(a, 10);
        const auto breaks = [&](auto call) {
            copies.start(0);
            EXPECT_THROW(call(), broken);
            copies.stop();
        };
        breaks([&] { w.set(b, 20, value); });
        breaks([&] { w.template emplace<fragile>(b, 4); });
        breaks([&] { w.spawn(value, std::string("nobody")); });
        breaks([&] { w.clone(c); });
        breaks([&] { w.spawn_many(3, value); });
        breaks([&] { w.template patch<fragile>(b, [](fragile&) {}); });
        EXPECT_EQ(picture_of(w), before);
        w.commit();
        EXPECT_EQ(w.template get<int>(a), 10);
        EXPECT_EQ(w.template get<int>(b), 2);
        EXPECT_EQ(w.template get<fragile>(a).value, 1);
        EXPECT_EQ(w.template get<fragile>(b).value, 2);
        EXPECT_EQ(w.template get<fragile>(c).value, 3);
        EXPECT_EQ(w.size(), 3u);
    }
    EXPECT_EQ(fragile::count.living, 0);
    EXPECT_EQ(fragile::count.misused, 0);
}

TYPED_TEST(scope_defects,
           a_default_that_throws_at_the_commit_drops_the_changes_of_one_entity_only) {
    {
        basic_world<TypeParam> w;
        w.template define<int>().template needs<fragile>();
        const auto a = w.spawn(std::string("a")), b = w.spawn(std::string("b"));
        w.defer();
        w.set(a, 1, std::string("changed"));
        w.set(b, 2);
        const auto c = w.spawn(3);
        copies.start(1);  // the second default
        EXPECT_THROW(w.commit(), broken);
        copies.stop();
        EXPECT_TRUE(w.template has<fragile>(a));
        EXPECT_EQ(w.template get<std::string>(a), "changed");
        EXPECT_FALSE((w.template has_any<int, fragile>(b)));
        EXPECT_EQ(w.template get<std::string>(b), "b");
        EXPECT_EQ(w.template get<int>(c), 3);
        EXPECT_TRUE(w.template has<fragile>(c));
        EXPECT_EQ(w.depth(), 0u);
    }
    EXPECT_EQ(fragile::count.living, 0);
    EXPECT_EQ(fragile::count.misused, 0);
}

// ---- 12: recorded changes ----------------------------------------------------------------------

TYPED_TEST(scope_defects, an_id_spawned_in_a_scope_is_final_and_unique) {
    basic_world<TypeParam> w;
    std::set<basic_id<TypeParam>> all;
    for (const auto e : w.spawn_many(10, 0)) all.insert(e);
    w.destroy(*all.begin(), *std::next(all.begin(), 5));
    std::vector<basic_id<TypeParam>> links;
    w.defer();
    for (int i = 1; i <= 10; ++i) {
        links.push_back(w.spawn(i));
        all.insert(links.back());
        // A later entity can store the id of an earlier entity.
        links.push_back(w.spawn(links.back()));
        all.insert(links.back());
    }
    EXPECT_EQ(all.size(), 30u);
    w.commit();
    for (const auto e : w.spawn_many(10, 0)) all.insert(e);
    EXPECT_EQ(all.size(), 40u);
    for (std::size_t i = 0; i < links.size(); i += 2) {
        EXPECT_EQ(w.template get<int>(links[i]), static_cast<int>(i / 2) + 1);
        EXPECT_EQ(w.template get<basic_id<TypeParam>>(links[i + 1]), links[i]);
    }
}

TYPED_TEST(scope_defects, a_commit_that_fails_applies_the_rest_and_runs_nothing_twice) {
    basic_world<TypeParam> w;
    std::map<int, int> inserted;
    w.template on_insert<int>([&](basic_id<TypeParam>, int& value) {
        ++inserted[value];
        if (value % 2 == 0) throw refused("no " + std::to_string(value));
    });
    const auto all = w.spawn_many(5, std::string("there"));
    w.defer();
    for (int i = 0; i < 5; ++i) w.set(all[static_cast<std::size_t>(i)], i + 1);
    EXPECT_EQ(thrown_by([&] { w.commit(); }), "no 2");  // the first exception
    EXPECT_EQ(w.depth(), 0u);
    for (int i = 0; i < 5; ++i) {
        const auto e = all[static_cast<std::size_t>(i)];
        EXPECT_EQ(w.template has<int>(e), i % 2 == 0);
        EXPECT_EQ(inserted[i + 1], 1);
        EXPECT_EQ(w.template get<std::string>(e), "there");
    }
    w.defer();
    w.set(all[1], 7);
    EXPECT_TRUE(w.commit());
    EXPECT_EQ(w.template get<int>(all[1]), 7);
    EXPECT_EQ(inserted, (std::map<int, int>{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {7, 1}}));
}

TYPED_TEST(scope_defects, a_hook_can_record_while_a_commit_runs) {
    basic_world<TypeParam> w;
    const auto log = w.spawn(std::string()), other = w.spawn(100);
    w.template on_set<int>([&](basic_id<TypeParam> e, int& value) {
        if (e == other) return;
        w.set(log, std::to_string(value));
        w.set(other, value);
        if (value < 3) w.spawn(value + 1);
    });
    w.defer();
    const auto first = w.spawn(1);
    w.commit();
    EXPECT_EQ(w.template get<int>(first), 1);
    EXPECT_EQ(w.template count<int>(), 4u);
    EXPECT_EQ(w.template get<std::string>(log), "3");
    EXPECT_EQ(w.template get<int>(other), 3);
    EXPECT_EQ(w.depth(), 0u);
}

TYPED_TEST(scope_defects, move_only_values_can_be_recorded_committed_and_cancelled) {
    basic_world<TypeParam> w;
    const auto e = w.spawn();
    for (const bool commits : {false, true}) {
        w.defer();
        w.set(e, lone(1));
        w.set(e, lone(2));
        const auto made = w.spawn(lone(3), 5);
        *w.template emplace<lone>(made, 4).value += 10;
        EXPECT_EQ(w.template count<lone>(), 0u);
        commits ? w.commit() : w.cancel();
        EXPECT_EQ(w.alive(made), commits);
        EXPECT_EQ(w.template has<lone>(e), commits);
        if (commits) EXPECT_EQ(*w.template get<lone>(e).value, 2);
        if (commits) EXPECT_EQ(*w.template get<lone>(made).value, 14);
    }
}

// ---- 13: loops, and references -----------------------------------------------------------------

TYPED_TEST(scope_defects, a_loop_that_destroys_entities_visits_each_exactly_once) {
    basic_world<TypeParam> w;
    w.spawn_many(50, 1);
    w.spawn_many(50, 1, std::string("another chunk"));
    std::map<basic_id<TypeParam>, int> seen;
    w.each([&](basic_id<TypeParam> e, int&) {
        ++seen[e];
        if (e.key() % 2 == 0) w.destroy(e);
        if (e.key() % 3 == 0) w.template remove<int>(e);
        if (e.key() % 5 == 0) w.set(e, std::string("moved"));
    });
    EXPECT_EQ(seen.size(), 100u);
    for (const auto& [e, times] : seen) {
        EXPECT_EQ(times, 1) << e;
        EXPECT_EQ(w.alive(e), e.key() % 2 != 0) << e;
        EXPECT_EQ(w.template has<int>(e), e.key() % 2 != 0 && e.key() % 3 != 0) << e;
    }
    seen.clear();
    for (auto [e, value] : w.template query<int>()) {
        ++seen[e];
        w.destroy(e);
        w.spawn(value + 1);
    }
    for (const auto& [e, times] : seen) EXPECT_TRUE(times == 1 && !w.alive(e)) << e;
    EXPECT_EQ(w.template count<int>(), seen.size());
}

TYPED_TEST(scope_defects, every_iteration_of_a_loop_can_destroy_every_entity) {
    basic_world<TypeParam> w;
    const auto all = w.spawn_many(10, 1);
    int destroyed = 0, seen = 0;
    w.on_destroy([&] { ++destroyed; });
    w.each([&](basic_id<TypeParam>, int&) {
        ++seen;
        for (const auto e : all) EXPECT_TRUE(w.destroy(e));
    });
    EXPECT_EQ(seen, 10);
    EXPECT_EQ(destroyed, 10);
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(scope_defects, leaving_a_loop_early_applies_its_recorded_changes) {
    basic_world<TypeParam> w;
    const auto all = w.spawn_many(3, 1);
    for (auto [e, value] : w.template query<int>()) {
        w.destroy(e);
        if (e == all[1]) break;
    }
    EXPECT_FALSE(w.alive_any(all[0], all[1]));
    EXPECT_TRUE(w.alive(all[2]));
    EXPECT_EQ(w.depth(), 0u);
}

TYPED_TEST(scope_defects, an_exception_that_leaves_a_loop_drops_its_recorded_changes) {
    basic_world<TypeParam> w;
    w.spawn_many(3, 1);
    const std::string before = picture_of(w);
    const auto change_and_throw = [&](basic_id<TypeParam> e) {
        w.destroy(e);
        w.spawn(2);
        throw refused("enough");
    };
    EXPECT_THROW(w.each([&](basic_id<TypeParam> e, int&) { change_and_throw(e); }), refused);
    EXPECT_EQ(picture_of(w), before);
    const auto loop = [&] {
        for (auto [e, value] : w.template query<int>()) change_and_throw(e);
    };
    EXPECT_THROW(loop(), refused);
    EXPECT_THROW(w.template query<int>().each_chunk(
                     [&](auto rows) { change_and_throw(rows.entities()[0]); }),
                 refused);
    EXPECT_THROW(
        (void)w.destroy_if([&](basic_id<TypeParam> e) -> bool { change_and_throw(e), throw 1; }),
        refused);
    EXPECT_EQ(picture_of(w), before);
    EXPECT_EQ(w.depth(), 0u);
}

TYPED_TEST(scope_defects, a_returned_reference_is_valid_after_a_hook_moved_the_entity) {
    basic_world<TypeParam> w;
    w.spawn_many(100, 0, std::string("in the other chunk"));
    w.template on_set<int>([&](basic_id<TypeParam> e, int& value) {
        w.set(e, std::string("more"));
        if (value < 100) w.spawn_many(50, 1000 + value, std::string("more"));
    });
    const auto e = w.spawn();
    int& made = w.template emplace<int>(e, 5);
    EXPECT_EQ(&made, &w.template get<int>(e));
    EXPECT_EQ(made, 5);
    w.template remove<std::string>(e);
    int& patched = w.template patch<int>(e, [](int& value) { value = 6; });
    EXPECT_EQ(&patched, &w.template get<int>(e));
    EXPECT_EQ(patched, 6);
    const auto other = w.spawn();
    int& found = w.template get_or_emplace<int>(other, 7);
    EXPECT_EQ(&found, &w.template get<int>(other));
    EXPECT_EQ(found, 7);
}

TYPED_TEST(scope_defects, a_reference_to_a_pending_value_stays_valid_while_more_is_recorded) {
    basic_world<TypeParam> w;
    const auto e = w.spawn(std::string("patched"));
    w.defer();
    int& made = w.template emplace<int>(e, 1);
    std::string& patched = w.template patch<std::string>(e, [](std::string&) {});
    for (int i = 0; i < 1000; ++i) w.spawn(i, std::string("one more"));
    made = 2;
    patched += " and more";
    EXPECT_EQ(&w.template get<std::string>(e), &patched);
    w.commit();
    EXPECT_EQ(w.template get<int>(e), 2);
    EXPECT_EQ(w.template get<std::string>(e), "patched and more");
    EXPECT_EQ(w.template count<int>(), 1001u);
}

TYPED_TEST(scope_defects, a_reference_to_a_value_that_a_hook_removes_is_an_error) {
    basic_world<TypeParam> w;
    auto removing =
        w.template on_insert<int>([&](basic_id<TypeParam> e, int&) { w.template remove<int>(e); });
    const auto e = w.spawn();
    EXPECT_EQ(code_of([&] { (void)w.template emplace<int>(e, 5); }), errc::missing_component);
    EXPECT_TRUE(w.empty(e));
    removing.disconnect();
    w.template on_insert<int>([&](basic_id<TypeParam> added, int&) { w.destroy(added); });
    EXPECT_EQ(code_of([&] { (void)w.template emplace<int>(e, 5); }), errc::dead_entity);
    EXPECT_FALSE(w.alive(e));
}

// ---- 17: errors that can be handled ------------------------------------------------------------

TYPED_TEST(scope_defects, an_error_in_a_hook_leaves_the_world_as_it_was) {
    basic_world<TypeParam> w;
    const auto e = w.spawn(1, std::string("old")), other = w.spawn(std::string("other"));
    const auto fails = [&](basic_id<TypeParam> changed) {
        w.set(other, std::string("recorded by a hook that fails"));
        w.spawn(changed);
        throw std::bad_alloc();
    };
    w.template on_assign<std::string>(fails);
    w.template on_insert<lone>(fails);
    w.template on_remove<int>(fails);
    const std::string before = picture_of(w);
    const auto refuses = [&](auto call) {
        EXPECT_THROW(call(), std::bad_alloc);
        EXPECT_EQ(picture_of(w), before);
        EXPECT_EQ(w.depth(), 0u);
    };
    refuses([&] { w.set(e, std::string("new")); });
    refuses([&] { w.set(e, std::string("new"), 2, lone(3)); });
    refuses([&] { w.set(other, lone(3)); });
    refuses([&] { w.template emplace<lone>(other, 3); });
    refuses([&] { w.spawn(lone(3)); });
    refuses([&] { w.clone(other, lone(3)); });
    refuses([&] { w.template remove<int>(e); });
    refuses([&] { w.template remove<int, std::string>(e); });
    refuses([&] { w.clear(e); });
    refuses([&] { w.destroy(e); });
    refuses([&] { w.template clear<int>(); });
    refuses([&] { w.destroy(w.template component<int>()); });
}

TYPED_TEST(scope_defects, spawning_many_is_all_or_nothing_if_a_hook_throws) {
    basic_world<TypeParam> w;
    const auto prototype = w.spawn(7);
    int calls = 0;
    w.template on_insert<int>([&] {
        if (++calls % 3 == 0) throw refused("the third");
    });
    const std::string before = picture_of(w);
    EXPECT_THROW(w.spawn_many(5, 1), refused);
    EXPECT_EQ(picture_of(w), before);
    calls = 0;
    EXPECT_THROW(w.clone_many(5, prototype), refused);
    EXPECT_EQ(picture_of(w), before);
    calls = 0;
    EXPECT_THROW(w.spawn_rows(5, [](auto) {}, 1), refused);
    EXPECT_EQ(picture_of(w), before);
    calls = 0;
    EXPECT_THROW(w.spawn_columns(std::vector<int>(5)), refused);
    EXPECT_EQ(picture_of(w), before);
}

TYPED_TEST(scope_defects, an_error_in_duplicate_or_from_lack_of_keys_can_be_caught) {
    const std::uint64_t first = TypeParam::first_key;
    basic_world<TypeParam> w(world_options{.first_key = first, .last_key = first + 4});
    const auto f = w.template fragment<std::string>();
    bool breaks = false;
    w.define(f).duplicate([&](const std::string& from) {
        if (breaks) throw refused("cannot be copied now");
        return from;
    });
    const auto prototype = w.spawn(with(f, std::string("text")));
    w.on_insert(f, [&] { w.template ids<3>(); });  // two keys are left
    const std::string before = picture_of(w);
    EXPECT_EQ(code_of([&] { w.clone(prototype); }), errc::id_overflow);
    EXPECT_EQ(picture_of(w), before);
    breaks = true;
    for (const bool in_scope : {false, true}) {
        if (in_scope) w.defer();
        EXPECT_THROW(w.clone(prototype), refused);
        EXPECT_THROW(w.clone_many(2, prototype), refused);
        if (in_scope) EXPECT_TRUE(w.commit());
        EXPECT_EQ(picture_of(w), before);
    }
    EXPECT_EQ(w.get(prototype, f), "text");
}

TYPED_TEST(scope_defects, an_error_in_a_hook_at_the_commit_drops_all_changes_of_that_entity) {
    basic_world<TypeParam> w;
    w.template on_insert<lone>([&](basic_id<TypeParam>, lone& value) {
        if (*value.value < 0) throw refused("negative");
    });
    const auto bad = w.spawn(1), good = w.spawn(1);
    w.defer();
    w.set(bad, 2);
    w.set(bad, lone(-1), std::string("with it"));
    w.set(good, 2);
    const auto failed = w.spawn(lone(-2));
    const auto child = w.spawn(lone(5));
    EXPECT_EQ(thrown_by([&] { w.commit(); }), "negative");
    EXPECT_EQ(w.template get<int>(bad), 1);
    EXPECT_FALSE((w.template has_any<lone, std::string>(bad)));
    EXPECT_EQ(w.template get<int>(good), 2);
    EXPECT_FALSE(w.alive(failed));
    EXPECT_EQ(*w.template get<lone>(child).value, 5);
    EXPECT_EQ(w.size(), 3u);
}

TYPED_TEST(scope_defects, an_error_at_the_end_of_a_loop_or_a_block_reaches_the_caller) {
    basic_world<TypeParam> w;
    const auto all = w.spawn_many(3, 1);
    w.on_destroy([&](basic_id<TypeParam> e) {
        if (e == all[1]) throw refused("this one stays");
    });
    const auto loop = [&] {
        for (auto [e, value] : w.template query<int>()) w.destroy(e);
    };
    EXPECT_THROW(loop(), refused);
    EXPECT_EQ(w.size(), 1u);
    EXPECT_TRUE(w.alive(all[1]));
    EXPECT_EQ(w.template get<int>(all[1]), 1);
    const auto block = [&] {
        basic_deferred<TypeParam> scope{w};
        w.spawn(2);
        w.destroy(all[1]);
    };
    EXPECT_THROW(block(), refused);
    EXPECT_EQ(w.size(), 2u);
    EXPECT_EQ(w.depth(), 0u);
}

}  // namespace
}  // namespace muster::test
