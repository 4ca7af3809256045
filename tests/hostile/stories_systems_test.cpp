// Command buffers and systems that use themselves; fragments of odd types.
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

// ---- command buffers ----------------------------------------------------------------------------

TEST(stories_of_systems, a_buffer_is_submitted_to_another_world) {
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
TEST(stories_of_systems, a_buffer_is_submitted_by_its_own_hook) {
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
TEST(stories_of_systems, a_buffer_is_destroyed_discarded_and_reused_in_the_hook_of_its_commands) {
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
TEST(stories_of_systems, a_buffer_records_before_a_reset_and_is_submitted_after_it) {
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
TEST(stories_of_systems, an_id_of_a_buffer_is_used_before_it_is_alive) {
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

TEST(stories_of_systems, a_system_removes_itself_and_others_while_it_runs) {
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
TEST(stories_of_systems, a_system_replaces_its_own_function_while_it_runs) {
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
TEST(stories_of_systems, a_system_adds_systems_while_it_runs) {
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
TEST(stories_of_systems, a_system_processes_itself) {
    world w;
    int depth = 0;
    auto s = w.system("s");
    s.execute([&] {
        if (++depth < 50) w.process(s);
    });
    w.process(s);
    EXPECT_EQ(depth, 50);
}
TEST(stories_of_systems, groups_in_a_circle_are_refused) {
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
TEST(stories_of_systems, a_query_of_another_world_as_the_query_of_a_system) {
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

TEST(stories_of_systems, impossible_types_are_refused) {
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
TEST(stories_of_systems, a_fragment_of_itself) {
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
TEST(stories_of_systems, fragments_that_own_each_other_and_need_each_other) {
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
TEST(stories_of_systems, world_owned_ids_are_used_as_entities) {
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
TEST(stories_of_systems, a_comparison_that_contradicts_itself) {
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
}  // namespace muster::test::stories
