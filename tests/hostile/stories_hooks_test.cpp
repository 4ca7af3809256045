// Hooks that change, end or extend what calls them.
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

// ---- hooks in their own hooks -------------------------------------------------------------------

TEST(stories_of_hooks, a_hook_disconnects_all_hooks_of_its_list) {
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
TEST(stories_of_hooks, a_hook_that_connects_a_hook_for_each_call_ends) {
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
TEST(stories_of_hooks, a_hook_destroys_the_fragment_whose_hook_it_is) {
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
TEST(stories_of_hooks, a_remove_hook_destroys_its_fragment_and_its_entity) {
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
TEST(stories_of_hooks, a_destroy_hook_destroys_all_others) {
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
TEST(stories_of_hooks, a_destroy_hook_changes_its_entity_in_every_way) {
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
TEST(stories_of_hooks, a_spawn_hook_destroys_the_new_entity) {
    world w;
    w.on_spawn([&](entity e) { w.destroy(e); });
    const entity e = w.spawn(position{});
    EXPECT_FALSE(w.alive(e));
    for (const entity one : w.spawn_many(5, position{})) EXPECT_FALSE(w.alive(one));
    for (const entity one : w.spawn_many(5)) EXPECT_FALSE(w.alive(one));
    EXPECT_FALSE(w.alive(w.spawn()));
    EXPECT_EQ(w.size(), 0u);
}
TEST(stories_of_hooks, a_spawn_hook_clones_the_new_entity) {
    world w;
    int left = 30;
    w.on_spawn([&](entity e) {
        if (left-- > 0) w.clone(e);
    });
    w.spawn(note{long_text(1)});
    EXPECT_EQ(w.size(), 31u);
    w.each([](const note& n) { EXPECT_EQ(n.text, long_text(1)); });
}
TEST(stories_of_hooks, a_chain_of_hooks_may_be_long) {
    world w;
    int left = 20'000;
    w.on_insert<position>([&](entity, position& p) {
        if (left-- > 0) w.spawn(position{p.x + 1});
    });
    w.spawn(position{});
    EXPECT_EQ(w.count<position>(), 20'001u);
}
TEST(stories_of_hooks, a_hook_that_assigns_its_own_value_a_thousand_times_ends) {
    world w;
    w.on_set<position>([&](entity e, position& p) {
        if (p.x < 1000) w.set(e, position{p.x + 1});
    });
    EXPECT_EQ(w.get<position>(w.spawn(position{})).x, 1000);
}
TEST(stories_of_hooks, a_batch_in_its_own_hook) {
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
TEST(stories_of_hooks, a_batch_that_destroys_in_the_hook_of_a_batch) {
    world w;
    w.spawn_many(10, position{}, note{long_text(1)});
    w.on_remove<note>([&] { w.query<position>().destroy(); });
    w.query<position>().remove<note>();
    EXPECT_EQ(w.size(), 0u);
}
TEST(stories_of_hooks, a_hook_resets_commits_and_cancels_in_vain) {
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
TEST(stories_of_hooks, many_hooks_and_connections) {
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
TEST(stories_of_hooks, very_many_fragments) {
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

}  // namespace
}  // namespace muster::test::stories
