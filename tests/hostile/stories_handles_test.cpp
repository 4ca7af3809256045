// Handles after a reset, and after the end of their fragment.
#include "stories.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace muster::test::stories {
namespace {

// ---- handles over a reset and after the end of their fragment -----------------------------------

TEST(stories_of_handles, a_query_works_after_a_reset) {
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
TEST(stories_of_handles, a_query_counts_an_id_that_becomes_a_fragment_later) {
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
TEST(stories_of_handles, a_query_may_be_built_while_a_hook_defines_fragments) {
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
TEST(stories_of_handles, a_builder_is_refused_after_its_fragment_and_works_without_it) {
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
TEST(stories_of_handles, a_definition_is_refused_after_its_fragment) {
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
TEST(stories_of_handles, a_chunk_is_refused_after_its_fragment) {
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
TEST(stories_of_handles, a_chunk_handle_never_names_the_chunk_that_takes_its_place) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const chunk c = w.chunk<position>();
    w.collect_garbage();
    for (int i = 0; i < 10; ++i) w.chunk(w.tag());
    const chunk next = w.chunk<position>();
    EXPECT_NE(c, next);
    EXPECT_EQ(code_of([&] { (void)c.size(); }), errc::dead_chunk);
}
TEST(stories_of_handles, an_observer_works_after_a_reset_and_after_its_fragment) {
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
TEST(stories_of_handles, a_system_works_after_a_reset_and_after_its_fragment) {
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
TEST(stories_of_handles, hooks_of_a_destroyed_type_do_not_come_back) {
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
TEST(stories_of_handles, a_connection_of_a_destroyed_fragment_is_not_that_of_the_next_one) {
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

TEST(stories_of_handles, removed_values_that_were_moved_from_belong_to_no_world) {
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
TEST(stories_of_handles, removed_values_are_read_moved_and_destroyed_in_their_own_loop) {
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

}  // namespace
}  // namespace muster::test::stories
