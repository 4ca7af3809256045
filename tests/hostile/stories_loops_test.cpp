// Loops and scopes that lose what they visit, that end in the wrong order, and that are left by exceptions.
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

// ---- loops --------------------------------------------------------------------------------------

TEST(stories_of_loops, a_loop_destroys_its_entity_and_uses_the_reference) {
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
TEST(stories_of_loops, a_loop_destroys_the_fragment_that_it_visits) {
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
TEST(stories_of_loops, an_iterator_is_left_in_the_middle_and_its_query_is_gone) {
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
TEST(stories_of_loops, loops_that_end_in_the_wrong_order) {
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
TEST(stories_of_loops, scopes_that_end_in_the_wrong_order) {
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
TEST(stories_of_loops, ten_thousand_nested_scopes_cancelled_in_reverse_order) {
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
TEST(stories_of_loops, every_second_of_many_scopes_is_cancelled) {
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
TEST(stories_of_loops, each_fragment_removes_each_fragment) {
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
TEST(stories_of_loops, patch_removes_destroys_and_patches_its_value) {
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
TEST(stories_of_loops, patch_in_a_scope_closes_the_scope) {
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
TEST(stories_of_loops, patch_in_a_scope_sets_removes_and_destroys_its_value) {
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
TEST(stories_of_loops, spawn_rows_destroys_its_rows) {
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
TEST(stories_of_loops, destroy_if_destroys_in_its_predicate) {
    world w;
    const auto all = w.spawn_many(10, note{long_text(1)});
    int calls = 0;
    EXPECT_EQ(w.destroy_if([&](entity e) {
        w.destroy(all[0]);
        if (++calls < 1000) w.spawn(note{long_text(2)});
        return e == all[0] || e == all[1];
    }),
              2u);
    EXPECT_EQ(calls, 10) << "the predicate sees the world as it was before";
    EXPECT_EQ(w.count<note>(), 18u);
}

TEST(stories_of_loops, hooks_of_a_reset_spawn_entities) {
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
TEST(stories_of_loops, hooks_of_a_removed_fragment_add_it_again) {
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
TEST(stories_of_loops, loops_do_not_visit_what_they_spawn) {
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

TEST(stories_of_loops, exceptions_leave_callbacks_and_scopes_clean) {
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
    }),
                 thrown);
    EXPECT_THROW((void)w.find_if<position>([&](const position&) -> bool { throw thrown{}; }),
                 thrown);
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

}  // namespace
}  // namespace muster::test::stories
