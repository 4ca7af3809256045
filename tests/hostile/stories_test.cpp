// Callbacks and handles at moments for which they were not made: in their own hooks, after a reset, after the end of
// their fragment, and in the wrong order.
#include <muster/muster.hpp>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct velocity {
    int x = 0;
};
struct note {
    std::string text;
};
struct mark {};
struct second_mark {};

std::string long_text(int number) {
    return "a text that needs memory of its own, number " + std::to_string(number);
}

// ---- handles over a reset and after the end of their fragment -----------------------------------

TEST(stories, a_query_works_after_a_reset) {
    world w;
    const entity tag = w.tag("tag");
    auto typed = w.query<position>();
    auto tagged = w.query<position>().with(tag);
    auto excluded = w.query<position>().without(tag);
    w.spawn_many(3, position{});
    EXPECT_EQ(typed.count(), 3u);
    w.reset();
    EXPECT_EQ(typed.count(), 0u);
    w.spawn_many(2, position{});
    EXPECT_EQ(typed.count(), 2u);
    EXPECT_EQ(tagged.count(), 0u);
    EXPECT_EQ(excluded.count(), 2u);
    const entity next = w.tag("tag");  // it may have the key of the old tag
    w.set(typed.first(), next);
    EXPECT_EQ(tagged.count(), 0u);
    EXPECT_EQ(excluded.count(), 2u);
}
TEST(stories, a_query_counts_an_id_that_becomes_a_fragment_later) {
    world w;
    const entity plain = w.spawn();
    auto q = w.query<position>().with(plain);
    auto without = w.query<position>().without(plain);
    const entity e = w.spawn(position{});
    EXPECT_EQ(q.count(), 0u);
    EXPECT_EQ(without.count(), 1u);
    w.set(e, plain);
    EXPECT_EQ(q.count(), 1u);
    EXPECT_EQ(without.count(), 0u);
    w.destroy(plain);
    EXPECT_EQ(q.count(), 0u);
    EXPECT_EQ(without.count(), 1u);
}
TEST(stories, a_query_may_be_built_while_a_hook_defines_fragments) {
    world w;
    w.on_insert<position>([&](entity e) {
        w.define<note>().needs<mark>();
        w.set(e, note{long_text(1)});
        EXPECT_EQ((w.query<position, note>().with<second_mark>().count()), 0u);
    });
    auto q = w.query<position>().with<note, mark>();
    w.spawn(position{});
    EXPECT_EQ(q.count(), 1u);
}
TEST(stories, a_builder_is_refused_after_its_fragment_and_works_without_it) {
    world w;
    const entity tag = w.tag();
    builder b = w.builder();
    b.set(position{1}).set(tag);
    w.reset();
    EXPECT_EQ(code_of([&] { b.spawn(); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { b.spawn_many(0); }), errc::dead_fragment);
    EXPECT_EQ(w.size(), 0u);
    EXPECT_TRUE(b.remove(tag));
    EXPECT_EQ(w.get<position>(b.spawn()).x, 1);
}
TEST(stories, a_definition_is_refused_after_its_fragment) {
    world w;
    const entity tag = w.tag();
    auto d = w.define(tag);
    auto typed = w.define<position>();
    w.destroy(tag);
    w.destroy(w.component<position>());
    EXPECT_EQ(code_of([&] { d.unique(); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { (void)d.is_unique(); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { d.needs<position>(); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { d.on_insert([] {}); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { typed.hidden(); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { typed.default_value(position{1}); }), errc::dead_fragment);
    EXPECT_EQ(w.get<position>(w.spawn(position{2})).x, 2);
}
TEST(stories, a_chunk_is_refused_after_its_fragment) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const entity tag = w.tag();
    const entity e = w.spawn(position{}, with(tag));
    const chunk c = w.locate(e).chunk;
    w.destroy(tag);
    EXPECT_EQ(code_of([&] { (void)c.size(); }), errc::dead_chunk);
    EXPECT_EQ(code_of([&] { (void)c.components<position>(); }), errc::dead_chunk);
    EXPECT_EQ(code_of([&] { (void)c.has(tag); }), errc::dead_chunk);
    EXPECT_TRUE(w.has<position>(e));
}
TEST(stories, a_chunk_handle_never_names_the_chunk_that_takes_its_place) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const chunk c = w.chunk<position>();
    w.collect_garbage();
    for (int i = 0; i < 10; ++i) w.chunk(w.tag());
    const chunk next = w.chunk<position>();
    EXPECT_NE(c, next);
    EXPECT_EQ(code_of([&] { (void)c.size(); }), errc::dead_chunk);
}
TEST(stories, an_observer_works_after_a_reset_and_after_its_fragment) {
    world w;
    const entity tag = w.tag();
    auto seen = w.observer<position>().added(tag).removed(tag);
    w.spawn(position{}, with(tag));
    w.reset();
    seen.clear();
    w.spawn(position{});
    EXPECT_EQ(seen.size(), 1u);
    seen.pause();
    seen.resume();
    seen.each([](position&) {});
    w.destroy(w.component<position>());
    w.spawn(position{});
    EXPECT_TRUE(seen.take().empty() || seen.empty());
}
TEST(stories, a_system_works_after_a_reset_and_after_its_fragment) {
    world w;
    const entity tag = w.tag();
    int calls = 0;
    const auto s = w.system("s").with(tag).each([&](position&) { ++calls; });
    w.spawn(position{}, with(tag));
    w.process(s);
    w.reset();
    w.spawn(position{});
    w.process(s);
    EXPECT_EQ(calls, 1);
    w.destroy(w.component<position>());
    w.spawn(position{});
    w.process_all();
    EXPECT_EQ(calls, 1);
}
TEST(stories, hooks_of_a_destroyed_type_do_not_come_back) {
    world w;
    int calls = 0;
    connection c = w.on_insert<position>([&] { ++calls; });
    w.destroy(w.component<position>());
    w.spawn(position{});
    EXPECT_EQ(calls, 0);
    EXPECT_FALSE(c.connected());
    EXPECT_FALSE(c.pause());
    EXPECT_FALSE(c.resume());
    EXPECT_FALSE(c.disconnect());
}
TEST(stories, a_connection_of_a_destroyed_fragment_is_not_that_of_the_next_one) {
    world w;
    const entity tag = w.tag();
    connection old = w.on_insert(tag, [] {});
    w.destroy(tag);
    int calls = 0;
    const entity next = w.tag();
    w.on_insert(next, [&] { ++calls; });
    EXPECT_FALSE(old.disconnect());
    EXPECT_FALSE(old.pause());
    w.set(w.spawn(), next);
    EXPECT_EQ(calls, 1);
}

TEST(stories, removed_values_that_were_moved_from_belong_to_no_world) {
    world w;
    auto notes = w.removed_values<note>(), others = w.removed_values<note>();
    w.destroy(w.spawn(note{long_text(1)}));
    notes = std::move(others);
    EXPECT_FALSE(others.connected());
    EXPECT_FALSE(others.pause());
    EXPECT_TRUE(others.empty());
    w.destroy(w.spawn(note{long_text(2)}));
    EXPECT_EQ(notes.size(), 2u);
    EXPECT_TRUE(others.empty());
    others = w.removed_values<note>();
    auto* const self = &notes;
    notes = std::move(*self);
    EXPECT_EQ(notes.size(), 2u);
    EXPECT_TRUE(notes.connected());
    notes = {};
    EXPECT_FALSE(notes.connected());
    EXPECT_TRUE(others.connected());
}
TEST(stories, removed_values_are_read_moved_and_destroyed_in_their_own_loop) {
    world w;
    w.spawn_many(5, note{long_text(1)});
    std::optional<removed_values<note>> lost(w.removed_values<note>());
    w.clear<note>();
    int calls = 0;
    for (auto [e, last] : *lost) {
        EXPECT_EQ(last.text, long_text(1));
        if (++calls == 2) {
            removed_values<note> moved = std::move(*lost);
            lost.reset();
            EXPECT_TRUE(moved.connected());
            w.set(e, note{std::move(last.text)});
        }
    }
    EXPECT_EQ(calls, 5);
    EXPECT_EQ(w.count<note>(), 1u);
}

// ---- hooks in their own hooks -------------------------------------------------------------------

TEST(stories, a_hook_disconnects_all_hooks_of_its_list) {
    world w;
    std::vector<connection> all;
    int calls = 0;
    for (int i = 0; i < 10; ++i)
        all.push_back(w.on_insert<position>([&, i] {
            ++calls;
            if (i == 4)
                for (connection& c : all) c.disconnect();
        }));
    w.spawn(position{});
    EXPECT_EQ(calls, 5);
    w.spawn(position{});
    EXPECT_EQ(calls, 5);
    for (const connection& c : all) EXPECT_FALSE(c.connected());
}
TEST(stories, a_hook_that_connects_a_hook_for_each_call_ends) {
    world w;
    int calls = 0;
    w.on_insert<position>([&] {
        ++calls;
        w.on_insert<position>([&] { ++calls; });
    });
    w.spawn(position{});
    EXPECT_EQ(calls, 1) << "the new hook sees later changes";
    w.spawn(position{});
    EXPECT_EQ(calls, 3);
}
TEST(stories, a_hook_destroys_the_fragment_whose_hook_it_is) {
    world w;
    int calls = 0;
    w.on_insert<position>([&] {
        ++calls;
        w.destroy(w.component<position>());
    });
    const entity e = w.spawn(position{1}, note{long_text(1)});
    EXPECT_EQ(calls, 1);
    EXPECT_FALSE(w.has<position>(e));
    EXPECT_EQ(w.get<note>(e).text, long_text(1));
    w.set(e, position{2});
    EXPECT_EQ(w.get<position>(e).x, 2);
    EXPECT_EQ(calls, 1);
}
TEST(stories, a_remove_hook_destroys_its_fragment_and_its_entity) {
    world w;
    w.on_remove<position>([&](entity e) {
        w.destroy(w.component<position>());
        w.destroy(e);
    });
    const auto all = w.spawn_many(5, position{}, note{long_text(1)});
    w.remove<position>(all[2]);
    EXPECT_EQ(w.count<position>(), 0u);
    EXPECT_FALSE(w.alive(all[2]));
    EXPECT_EQ(w.size(), 0u) << "each removal destroys its entity";
}
TEST(stories, a_destroy_hook_destroys_all_others) {
    world w;
    int calls = 0;
    w.on_destroy([&] {
        ++calls;
        for (const entity e : w.entities()) w.destroy(e);
    });
    const auto all = w.spawn_many(20, note{long_text(1)});
    w.destroy(all[7]);
    EXPECT_EQ(w.size(), 0u);
    EXPECT_EQ(calls, 20);
}
TEST(stories, a_destroy_hook_changes_its_entity_in_every_way) {
    world w;
    std::vector<std::optional<errc>> codes;
    w.on_destroy([&](entity e) {
        EXPECT_TRUE(w.alive(e));
        EXPECT_EQ(w.get<note>(e).text, long_text(1));
        w.set(e, position{});
        w.remove<note>(e);
        w.clear(e);
        w.name(e, "ghost");
        w.destroy(e);
        w.emplace<velocity>(e, 1).x = 2;
        codes.push_back(code_of([&] { w.clone(e); }));
        codes.push_back(code_of([&] { w.touch<position>(e); }));
    });
    const entity e = w.spawn(note{long_text(1)});
    codes.push_back(code_of([&] { w.destroy(e); }));
    EXPECT_FALSE(w.alive(e));
    EXPECT_TRUE(w.lookup("ghost").is_null());
    for (const entity left : w.entities()) EXPECT_TRUE(w.alive(left));
    w.on_destroy([] {});
}
TEST(stories, a_spawn_hook_destroys_the_new_entity) {
    world w;
    w.on_spawn([&](entity e) { w.destroy(e); });
    const entity e = w.spawn(position{});
    EXPECT_FALSE(w.alive(e));
    for (const entity one : w.spawn_many(5, position{})) EXPECT_FALSE(w.alive(one));
    for (const entity one : w.spawn_many(5)) EXPECT_FALSE(w.alive(one));
    EXPECT_FALSE(w.alive(w.spawn()));
    EXPECT_EQ(w.size(), 0u);
}
TEST(stories, a_spawn_hook_clones_the_new_entity) {
    world w;
    int left = 30;
    w.on_spawn([&](entity e) {
        if (left-- > 0) w.clone(e);
    });
    w.spawn(note{long_text(1)});
    EXPECT_EQ(w.size(), 31u);
    w.each([](const note& n) { EXPECT_EQ(n.text, long_text(1)); });
}
TEST(stories, a_chain_of_hooks_may_be_long) {
    world w;
    int left = 20'000;
    w.on_insert<position>([&](entity, position& p) {
        if (left-- > 0) w.spawn(position{p.x + 1});
    });
    w.spawn(position{});
    EXPECT_EQ(w.count<position>(), 20'001u);
}
TEST(stories, a_hook_that_assigns_its_own_value_a_thousand_times_ends) {
    world w;
    w.on_set<position>([&](entity e, position& p) {
        if (p.x < 1000) w.set(e, position{p.x + 1});
    });
    EXPECT_EQ(w.get<position>(w.spawn(position{})).x, 1000);
}
TEST(stories, a_batch_in_its_own_hook) {
    world w;
    w.spawn_many(4, position{});
    int batches = 0;
    w.on_set<position>([&] {
        if (batches++ < 5) w.query<position>().set(position{batches});
    });
    EXPECT_EQ(w.query<position>().set(position{100}), 4u);
    const int last = w.get<position>(w.query<position>().first()).x;
    w.each([&](const position& p) { EXPECT_EQ(p.x, last); });
}
TEST(stories, a_batch_that_destroys_in_the_hook_of_a_batch) {
    world w;
    w.spawn_many(10, position{}, note{long_text(1)});
    w.on_remove<note>([&] { w.query<position>().destroy(); });
    w.query<position>().remove<note>();
    EXPECT_EQ(w.size(), 0u);
}
TEST(stories, a_hook_resets_commits_and_cancels_in_vain) {
    world w;
    std::vector<std::optional<errc>> codes;
    w.on_insert<position>([&] {
        codes = {code_of([&] { w.reset(); }), code_of([&] { w.commit(); }),
                 code_of([&] { w.cancel(); }), code_of([&] { w.collect_garbage(); })};
    });
    w.spawn(position{});
    EXPECT_EQ(codes, (std::vector<std::optional<errc>>{errc::in_scope, errc::unbalanced_scope,
                                                       errc::unbalanced_scope, errc::in_scope}));
    EXPECT_EQ(w.count<position>(), 1u);
}
TEST(stories, many_hooks_and_connections) {
    world w;
    int calls = 0;
    std::vector<scoped_connection> all;
    for (int i = 0; i < 5000; ++i) all.emplace_back(w.on_insert<position>([&] { ++calls; }));
    w.spawn(position{});
    EXPECT_EQ(calls, 5000);
    for (std::size_t i = 0; i < all.size(); i += 2) all[i].pause();
    w.spawn(position{});
    EXPECT_EQ(calls, 7500);
    std::erase_if(all, [i = 0](const auto&) mutable { return i++ % 3 != 0; });
    calls = 0;
    w.spawn(position{});
    EXPECT_EQ(calls, 833);
    all.clear();
    w.spawn(position{});
    EXPECT_EQ(calls, 833);
}
TEST(stories, very_many_fragments) {
    world w;
    std::vector<entity> tags;
    for (int i = 0; i < 300; ++i) tags.push_back(w.tag());
    const entity e = w.spawn();
    w.defer();
    for (const entity tag : tags) w.set(e, tag);
    w.commit();
    EXPECT_TRUE(w.has(e, tags[150]));
    std::size_t count = 0;
    w.each_fragment(e, [&](id, void*) { ++count; });
    EXPECT_EQ(count, 300u);
    EXPECT_EQ(w.destroy(std::span<const entity>(tags)), 300u);
    EXPECT_TRUE(w.empty(e));
}

// ---- loops --------------------------------------------------------------------------------------

TEST(stories, a_loop_destroys_its_entity_and_uses_the_reference) {
    world w;
    const auto all = w.spawn_many(10, note{long_text(1)});
    w.each([&](entity e, note& n) {
        w.destroy(e);
        n.text += "!";  // valid until the loop ends
        EXPECT_EQ(&w.get<note>(e), &n);
        EXPECT_EQ(code_of([&] { w.patch<note>(e, [](note&) {}); }), errc::missing_component);
        EXPECT_EQ(w.emplace<note>(e, long_text(2)).text, long_text(2));
    });
    for (const entity e : all) EXPECT_FALSE(w.alive(e));
}
TEST(stories, a_loop_destroys_the_fragment_that_it_visits) {
    world w;
    const auto all = w.spawn_many(10, note{long_text(1)}, position{});
    int visits = 0;
    w.each([&](note& n) {
        ++visits;
        w.destroy(w.component<note>());
        EXPECT_EQ(n.text, long_text(1));
    });
    EXPECT_EQ(visits, 10);
    for (const entity e : all) EXPECT_FALSE(w.has<note>(e));
    w.set(all[0], note{long_text(2)});
    EXPECT_EQ(w.count<note>(), 1u);
}
TEST(stories, an_iterator_is_left_in_the_middle_and_its_query_is_gone) {
    world w;
    w.spawn_many(10, position{});
    {
        auto q = std::make_unique<query<position>>(w.query<position>());
        auto at = q->begin();
        q.reset();
        ++at;
        w.set(std::get<0>(*at), mark{});
        EXPECT_EQ(w.depth(), 1u);
    }
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(w.count<mark>(), 1u);
}
TEST(stories, loops_that_end_in_the_wrong_order) {
    world w;
    w.spawn_many(4, position{});
    auto q = w.query<position>();
    auto first = std::make_unique<decltype(q.begin())>(q.begin());
    auto second = std::make_unique<decltype(q.begin())>(q.begin());
    w.set(std::get<0>(**second), mark{});
    first.reset();
    EXPECT_EQ(w.depth(), 1u);
    w.set(std::get<0>(**second), velocity{});
    second.reset();
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(w.count<mark>(), 1u);
    EXPECT_EQ(w.count<velocity>(), 1u);
}
TEST(stories, scopes_that_end_in_the_wrong_order) {
    world w;
    const entity e = w.spawn();
    for (int pattern = 0; pattern < 8; ++pattern) {
        SCOPED_TRACE(pattern);
        std::vector<std::unique_ptr<deferred>> all;
        for (int i = 0; i < 3; ++i) {
            all.push_back(std::make_unique<deferred>(w));
            w.set(e, position{i});
        }
        for (int i = 0; i < 3; ++i) {  // oldest first
            const auto k = static_cast<std::size_t>(i);
            if ((pattern >> i & 1) != 0) all[k]->cancel();
            all[k].reset();
            EXPECT_EQ(w.depth(), 2u - k);
        }
        w.clear(e);
    }
    EXPECT_TRUE(w.empty(e));
}
TEST(stories, ten_thousand_nested_scopes_cancelled_in_reverse_order) {
    world w;
    const entity e = w.spawn(position{});
    std::vector<entity> made;
    for (int i = 0; i < 10'000; ++i) {
        w.defer();
        w.set(e, position{i});
        made.push_back(w.spawn(position{i}));
    }
    for (int i = 0; i < 10'000; ++i) w.cancel();
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(w.get<position>(e).x, 0);
    EXPECT_FALSE(std::ranges::any_of(made, [&](entity one) { return w.alive(one); }));
    EXPECT_EQ(code_of([&] { w.cancel(); }), errc::unbalanced_scope);
}
TEST(stories, every_second_of_many_scopes_is_cancelled) {
    world w;
    const entity e = w.spawn();
    for (int i = 0; i < 100; ++i) {
        w.defer();
        w.set(e, position{i});
        w.spawn(position{i});
    }
    for (int i = 99; i >= 0; --i) i % 2 == 0 ? w.commit() : w.cancel();
    EXPECT_EQ(w.get<position>(e).x, 0) << "each cancelled scope drops the scopes inside of it";
    EXPECT_EQ(w.count<position>(), 2u);
}
TEST(stories, each_fragment_removes_each_fragment) {
    world w;
    const entity e = w.spawn(position{}, velocity{}, note{long_text(1)}, mark{});
    std::size_t visits = 0;
    w.each_fragment(e, [&](id f, void*) {
        ++visits;
        w.remove(e, f);
        w.set(e, w.tag());
    });
    EXPECT_EQ(visits, 4u);
    EXPECT_FALSE((w.has_any<position, velocity, note, mark>(e)));
}
TEST(stories, patch_removes_destroys_and_patches_its_value) {
    world w;
    const entity e = w.spawn(note{long_text(1)});
    note& left = w.patch<note>(e, [&](note& n) {
        w.patch<note>(e, [&](note& same) {
            EXPECT_EQ(&same, &n);
            same.text = long_text(2);
        });
    });
    EXPECT_EQ(left.text, long_text(2));
    EXPECT_EQ(code_of([&] { w.patch<note>(e, [&](note&) { w.remove<note>(e); }); }),
              errc::missing_component);
    EXPECT_FALSE(w.has<note>(e));
    w.set(e, note{});
    EXPECT_EQ(code_of([&] { w.patch<note>(e, [&](note&) { w.destroy(e); }); }), errc::dead_entity);
    EXPECT_EQ(w.size(), 0u);
}
TEST(stories, patch_in_a_scope_closes_the_scope) {
    world w;
    const entity e = w.spawn(note{long_text(1)});
    w.defer();
    EXPECT_EQ(code_of([&] { w.patch<note>(e, [&](note&) { w.commit(); }); }),
              errc::unbalanced_scope);
    EXPECT_EQ(code_of([&] { w.patch<note>(e, [&](note&) { w.cancel(); }); }),
              errc::unbalanced_scope);
    EXPECT_EQ(w.depth(), 1u);
    w.cancel();
    EXPECT_EQ(w.get<note>(e).text, long_text(1));
}
TEST(stories, patch_in_a_scope_sets_removes_and_destroys_its_value) {
    world w;
    const entity e = w.spawn(note{long_text(1)});
    w.defer();
    w.patch<note>(e, [&](note& n) {
        w.set(e, note{long_text(3)});
        n.text = long_text(2);
        w.remove<note>(e);
        w.destroy(e);
    });
    w.cancel();
    EXPECT_EQ(w.get<note>(e).text, long_text(1));
    w.defer();
    note& pending = w.emplace<note>(e, long_text(4));
    w.patch<note>(e, [&](note& n) {
        EXPECT_EQ(&n, &pending);
        w.remove<note>(e);
    });
    w.commit();
    EXPECT_FALSE(w.has<note>(e));
}
TEST(stories, spawn_rows_destroys_its_rows) {
    world w;
    std::vector<entity> made;
    w.spawn_rows(
        5,
        [&](rows r) {
            made.assign(r.entities().begin(), r.entities().end());
            for (const entity e : made) w.destroy(e);
            w.spawn_rows(
                3, [](rows inner) { inner.components<note>()[0].text = long_text(2); }, note{});
            r.components<note>()[4].text = long_text(1);
        },
        note{});
    for (const entity e : made) EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.count<note>(), 3u);
}
TEST(stories, destroy_if_destroys_in_its_predicate) {
    world w;
    const auto all = w.spawn_many(10, note{long_text(1)});
    int calls = 0;
    EXPECT_EQ(w.destroy_if([&](entity e) {
        w.destroy(all[0]);
        if (++calls < 1000) w.spawn(note{long_text(2)});
        return e == all[0] || e == all[1];
    }), 2u);
    EXPECT_EQ(calls, 10) << "the predicate sees the world as it was before";
    EXPECT_EQ(w.count<note>(), 18u);
}

TEST(stories, hooks_of_a_reset_spawn_entities) {
    world w;
    w.spawn_many(10, note{long_text(1)});
    int calls = 0;
    w.on_destroy([&] {
        if (++calls < 1000) w.spawn(note{long_text(2)});
    });
    w.reset();
    EXPECT_LE(calls, 20);
    EXPECT_EQ(w.depth(), 0u);
    w.reset();
}
TEST(stories, hooks_of_a_removed_fragment_add_it_again) {
    world w;
    const auto all = w.spawn_many(10, note{long_text(1)});
    int calls = 0;
    w.on_remove<note>([&](entity e) {
        if (++calls < 1000) w.set(e, note{long_text(2)});
    });
    EXPECT_EQ(w.clear<note>(), 10u);
    EXPECT_EQ(calls, 10);
    EXPECT_EQ(w.count<note>(), 10u);
    w.query<note>().remove<note>();
    EXPECT_EQ(calls, 20);
    for (const entity e : all) EXPECT_EQ(w.get<note>(e).text, long_text(2));
    w.destroy(w.component<note>());
    EXPECT_EQ(calls, 30);
}
TEST(stories, loops_do_not_visit_what_they_spawn) {
    world w;
    w.spawn_many(10, position{}, note{});
    int calls = 0;
    const auto spawn = [&] {
        if (++calls < 1000) w.spawn(position{}, note{});
    };
    w.each([&](position&) { spawn(); });
    EXPECT_EQ(std::exchange(calls, 0), 10);
    for (auto [e, p] : w.query<position>()) {
        EXPECT_TRUE(w.alive(e) && p.x == 0);
        spawn();
    }
    EXPECT_EQ(std::exchange(calls, 0), 20);
    w.query<position>().each_chunk([&](chunk_view) { spawn(); });
    EXPECT_GE(std::exchange(calls, 0), muster::detail::sparse_by_default ? 0 : 1);
    auto seen = w.observer<position>();
    const std::size_t before = w.count<position>();
    w.each([&](entity e, position&) { w.touch<position>(e); });
    seen.each([&](position&) { spawn(); });
    EXPECT_EQ(static_cast<std::size_t>(std::exchange(calls, 0)), before);
    auto lost = w.removed_values<note>();
    w.clear<note>();
    const std::size_t count = lost.size();
    lost.each([&](entity e, note&) {
        spawn();
        w.set(e, note{});
        w.remove<note>(e);
    });
    EXPECT_EQ(static_cast<std::size_t>(calls), count);
}

// ---- exceptions out of every callback -----------------------------------------------------------

struct thrown {};

TEST(stories, exceptions_leave_callbacks_and_scopes_clean) {
    world w;
    const auto all = w.spawn_many(10, note{long_text(1)}, position{});
    auto seen = w.observer<position>();
    w.touch<position>(all[0]);
    const auto s = w.system("s");
    const auto boom = [&](auto&&...) {
        w.destroy(all[1]);
        w.spawn(note{});
        throw thrown{};
    };
    EXPECT_THROW(w.each([&](note&) { boom(); }), thrown);
    EXPECT_THROW(w.query<note>().each_chunk([&](chunk_view) { boom(); }), thrown);
    EXPECT_THROW(w.destroy_if([&](entity) -> bool {
        boom();
        return true;
    }), thrown);
    EXPECT_THROW((void)w.find_if<position>([&](const position&) -> bool { throw thrown{}; }), thrown);
    EXPECT_THROW(w.each_fragment(all[0], boom), thrown);
    EXPECT_THROW(w.patch<note>(all[0], [&](note&) { boom(); }), thrown);
    EXPECT_THROW(w.spawn_rows(3, [&](rows) { boom(); }, note{}), thrown);
    EXPECT_THROW(seen.each([&](position&) { boom(); }), thrown);
    EXPECT_EQ(seen.size(), 1u);
    s.execute([&] { boom(); });
    EXPECT_THROW(w.process(s), thrown);
    s.execute([] {});
    s.prologue([] { throw thrown{}; });
    EXPECT_THROW(w.process(s), thrown);
    s.prologue([] {}).epilogue([] { throw thrown{}; });
    EXPECT_THROW(w.process(s), thrown);
    s.remove();
    {
        const scoped_connection c = w.on_remove<note>(boom);
        EXPECT_THROW(w.remove<note>(all[0]), thrown);
        EXPECT_THROW(w.destroy(all[0]), thrown);
        EXPECT_THROW(w.clear(all[0]), thrown);
        EXPECT_THROW(w.clear<note>(), thrown);
        EXPECT_THROW(w.query<note>().destroy(), thrown);
        EXPECT_THROW(w.destroy(w.component<note>()), thrown);
        EXPECT_THROW(w.reset(), thrown);
    }
    EXPECT_EQ(w.size(), 10u);
    EXPECT_EQ(w.depth(), 0u);
    w.each([](const note& n) { EXPECT_EQ(n.text, long_text(1)); });
}

// ---- command buffers ----------------------------------------------------------------------------

TEST(stories, a_buffer_is_submitted_to_another_world) {
    world w, other;
    command_buffer b{w};
    const entity e = b.spawn(position{1});
    other.submit(b);  // it goes to the world of the buffer, or is refused; never to `other`
    EXPECT_EQ(other.size(), 0u);
    w.apply_submitted();
    w.submit(b);
    EXPECT_EQ(w.get<position>(e).x, 1);
    EXPECT_EQ(w.size(), 1u);
}
TEST(stories, a_buffer_is_submitted_by_its_own_hook) {
    world w;
    command_buffer b{w};
    int calls = 0;
    w.on_insert<position>([&] {
        if (++calls < 50) {
            b.spawn(position{});
            w.submit(b);
        }
    });
    b.spawn(position{});
    w.submit(b);
    EXPECT_EQ(calls, 50);
    EXPECT_EQ(w.count<position>(), 50u);
}
TEST(stories, a_buffer_is_destroyed_discarded_and_reused_in_the_hook_of_its_commands) {
    world w;
    std::optional<command_buffer> b(w);
    w.on_insert<position>([&] { b.reset(); });
    w.on_insert<velocity>([&] { b->discard(); });
    b->spawn(velocity{});
    b->spawn(note{long_text(1)});
    w.submit(*b);
    EXPECT_EQ(w.size(), 2u);
    b->spawn(position{});
    b->spawn(note{long_text(1)});
    w.submit(*b);
    EXPECT_EQ(w.size(), 4u);
    EXPECT_FALSE(b.has_value());
}
TEST(stories, a_buffer_records_before_a_reset_and_is_submitted_after_it) {
    world w;
    const entity old = w.spawn(position{});
    command_buffer b{w};
    const entity e = b.spawn(note{long_text(1)});
    b.set(old, note{long_text(2)});
    const entity tag = w.tag();
    b.set(e, tag);
    w.reset();
    EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(code_of([&] { w.submit(b); }), errc::dead_fragment);
    EXPECT_FALSE(w.alive(old));
    EXPECT_TRUE(b.empty());
    EXPECT_EQ(w.get<note>(e).text, long_text(1)) << "only the command that fails is dropped";
    EXPECT_EQ(w.size(), 1u);
}
TEST(stories, an_id_of_a_buffer_is_used_before_it_is_alive) {
    world w;
    command_buffer b{w};
    const entity e = b.spawn(position{1});
    EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(code_of([&] { w.set(e, position{}); }), errc::dead_entity);
    EXPECT_FALSE(w.destroy(e));
    EXPECT_EQ(code_of([&] { w.spawn_at(e); }), errc::id_taken);
    w.submit(b);
    EXPECT_EQ(w.get<position>(e).x, 1);
}

// ---- systems ------------------------------------------------------------------------------------

TEST(stories, a_system_removes_itself_and_others_while_it_runs) {
    world w;
    w.spawn_many(3, position{});
    int calls = 0;
    auto first = w.system("first"), second = w.system("second");
    first.each([&](position&) {
        ++calls;
        if (first) first.remove();
        if (second) second.remove();
    });
    second.each([&](position&) { calls += 100; });
    (void)code_of([&] { w.process_all(); });
    EXPECT_EQ(calls % 100, 3);
    EXPECT_FALSE(first);
    EXPECT_FALSE(second);
    w.process_all();
    EXPECT_EQ(calls % 100, 3);
}
TEST(stories, a_system_replaces_its_own_function_while_it_runs) {
    world w;
    w.spawn_many(3, position{});
    int calls = 0;
    auto s = w.system("s");
    const std::string kept = long_text(1);
    s.each([&, kept](position&) {
        s.execute([&] { calls += 100; });
        EXPECT_EQ(kept, long_text(1));
        ++calls;
    });
    w.process(s);
    EXPECT_EQ(calls, 3);
    w.process(s);
    EXPECT_EQ(calls, 103);
}
TEST(stories, a_system_adds_systems_while_it_runs) {
    world w;
    int calls = 0;
    w.system("first").execute([&] {
        for (int i = 0; i < 100; ++i) w.system().execute([&] { ++calls; });
    });
    w.process_all();
    EXPECT_TRUE(calls == 0 || calls == 100);
    calls = 0;
    w.find_system("first").remove();
    w.process_all();
    EXPECT_EQ(calls, 100);
}
TEST(stories, a_system_processes_itself) {
    world w;
    int depth = 0;
    auto s = w.system("s");
    s.execute([&] {
        if (++depth < 50) w.process(s);
    });
    w.process(s);
    EXPECT_EQ(depth, 50);
}
TEST(stories, groups_in_a_circle_are_refused) {
    world w;
    auto a = w.system("a"), b = w.system("b"), c = w.system("c");
    a.group(b);
    b.group(c);
    (void)code_of([&] { c.group(a); });
    (void)code_of([&] { a.group(a); });
    const auto code = code_of([&] { w.process(a); });
    EXPECT_TRUE(code == std::nullopt || code == errc::system_circle);
    (void)code_of([&] { w.process_all(); });
    a.remove();
    b.remove();
    c.remove();
    w.process_all();
}
TEST(stories, a_query_of_another_world_as_the_query_of_a_system) {
    world w, other;
    other.spawn(position{7});
    w.spawn(position{1});
    int sum = 0;
    const auto code = code_of([&] {
        w.system("s").query(other.query<position>()).each([&](position& p) { sum += p.x; });
        w.process_all();
    });
    EXPECT_TRUE(code.has_value() || sum == 7) << "it must not read one world as the other";
}

// ---- types that are known only at run time ------------------------------------------------------

TEST(stories, impossible_types_are_refused) {
    world w;
    const auto code = [&](const component_type& type) {
        return code_of([&] { (void)w.fragment(type, "odd"); });
    };
    EXPECT_EQ(code({.size = 4, .alignment = 0}), errc::bad_type);
    EXPECT_EQ(code({.size = 6, .alignment = 3}), errc::bad_type);
    EXPECT_EQ(code({.size = 6, .alignment = 4}), errc::bad_type);
    EXPECT_EQ(code({.size = ~std::size_t{0}, .alignment = 1}), errc::bad_type);
    EXPECT_FALSE(w.lookup("odd"));
    const id huge = w.fragment(component_type{.size = std::size_t{1} << 40}, "huge");
    const entity e = w.spawn();
    EXPECT_ANY_THROW(w.set(e, huge));
    EXPECT_TRUE(w.empty(e));
    EXPECT_EQ(w.size(), 2u);
    const id aligned = w.fragment(component_type{.size = 4096, .alignment = 4096}, "aligned");
    for (int i = 0; i < 10; ++i) w.set(w.spawn(position{i}), aligned);
    w.query().with(aligned).each([&](entity one) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(w.try_get_raw(one, aligned)) % 4096, 0u);
    });
}
TEST(stories, a_fragment_of_itself) {
    world w;
    const fragment<int> f = w.fragment<int>("f");
    w.set(f, f, 1);
    w.define(f).needs(f).when_destroyed(destroy_owners);
    const entity e = w.spawn(with(f, 2));
    EXPECT_EQ(w.clone(f).key() != f.id().key(), true);
    EXPECT_TRUE(w.destroy(f));
    EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.size(), 0u);
}
TEST(stories, fragments_that_own_each_other_and_need_each_other) {
    world w;
    std::vector<entity> all;
    for (int i = 0; i < 8; ++i) all.push_back(w.tag());
    for (const entity a : all)
        for (const entity b : all) {
            w.define(a).needs(b);
            w.set(a, b);
        }
    const entity e = w.spawn(with(all[0]));
    EXPECT_TRUE(w.has(e, all[7]));
    w.remove(e, all[3]);
    for (const entity a : all) {
        EXPECT_TRUE(w.destroy(a));
        EXPECT_FALSE(w.has(e, a));
    }
    EXPECT_TRUE(w.empty(e));
}
TEST(stories, world_owned_ids_are_used_as_entities) {
    world w;
    const id own = w.component<position>();
    w.set(own, velocity{3}, note{long_text(1)});
    w.name(own, "position");
    EXPECT_EQ(w.size(), 0u);
    EXPECT_EQ(w.count<velocity>(), 1u);
    w.query<velocity>().destroy();
    EXPECT_TRUE(w.alive(own));
    w.destroy_if([](entity) { return true; });
    EXPECT_TRUE(w.alive(own));
    const entity copy = w.clone(own);
    EXPECT_EQ(w.get<velocity>(copy).x, 3);
    EXPECT_TRUE(w.clear(own));
    w.reset();
    EXPECT_TRUE(w.alive(own));
    EXPECT_EQ(w.lookup("position"), own);
}
TEST(stories, a_comparison_that_contradicts_itself) {
    world w;
    w.define<position>().sparse();
    for (int i = 0; i < 500; ++i) w.spawn(position{i});
    int calls = 0;
    w.sort<position>([&](const position&, const position&) { return ++calls % 3 != 0; });
    w.sort<position>([](const position&, const position&) { return true; });
    EXPECT_EQ(w.count<position>(), 500u);
    std::vector<bool> there(500);
    w.each([&](const position& p) { there[static_cast<std::size_t>(p.x)] = true; });
    EXPECT_EQ(std::ranges::count(there, true), 500);
    EXPECT_THROW(w.sort<position>([](const position&, const position&) -> bool { throw thrown{}; }),
                 thrown);
    w.spawn(position{});
}

}  // namespace
}  // namespace muster::test
