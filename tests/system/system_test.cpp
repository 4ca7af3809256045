// Systems: which entities they visit, in which scope they run, and how failures are reported.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <new>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"

namespace muster {
namespace {

using test::code_of;
using test::sentence_of;

struct health {
    int points = 0;
};
struct frozen {};
struct friendly {};

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

// ---- handles -----------------------------------------------------------------------------------

TEST(system, is_found_by_its_name) {
    world w;
    const auto a = w.system("a");
    EXPECT_TRUE(a);
    EXPECT_EQ(a.name(), "a");
    EXPECT_EQ(w.find_system("a"), a);
    EXPECT_FALSE(w.find_system("b"));
    EXPECT_FALSE(w.find_system(""));
    EXPECT_EQ(w.find_system("b"), system_handle());
    EXPECT_EQ(w.find_system("b"), w.find_system("c"));
    EXPECT_NE(w.system("b"), a);
}

TEST(system, the_null_system_names_the_system_that_was_not_found) {
    world w;
    const auto missing = w.find_system("move");
    const std::string expected = "no system had the name \"move\" when find_system() looked for it";
    EXPECT_EQ(sentence_of([&] { missing.disable(); }), expected);
    EXPECT_EQ(code_of([&] { missing.disable(); }), errc::unknown_system);
    (void)w.find_system(std::string(1000, 'x'));
    EXPECT_EQ(sentence_of([&] { w.process(missing); }), expected);
    EXPECT_EQ(sentence_of([&] { (void)missing.name(); }), expected);
    EXPECT_EQ(sentence_of([&] { w.system().after(missing); }), expected);
    const auto move = w.system("move");
    EXPECT_FALSE(missing);
    EXPECT_NE(missing, move);
    EXPECT_EQ(w.find_system("move"), move);
}

TEST(system, errors_of_process_name_the_call_site) {
    world w;
    const auto here = [](std::source_location place = std::source_location::current()) {
        return "system_test.cpp:" + std::to_string(place.line() - 1) + ")";
    };
    w.system("a").execute([] {});
    const std::string name = "nobody";
    std::string message = sentence_of([&] { w.process("nobody"); });
    EXPECT_EQ(message, "no system has the name \"nobody\" (process at " + here());
    message = sentence_of([&] { w.process("a", name); });
    EXPECT_TRUE(contains(message, here())) << message;
    message = sentence_of([&] { w.process_with(std::string_view(name), 1); });
    EXPECT_TRUE(contains(message, "(process_with at " + here())) << message;
    message = sentence_of([&] { (void)w.system_order(name); });
    EXPECT_TRUE(contains(message, "(system_order at " + here())) << message;
    const entity dead = w.spawn();
    w.destroy(dead);
    message = sentence_of([&] { w.process(dead); });
    EXPECT_TRUE(contains(message, "(process at " + here())) << message;
    w.process();
    EXPECT_EQ(code_of([&] { w.process(std::string_view()); }), errc::unknown_system);
}

TEST(system, without_a_function_does_nothing) {
    world w;
    const auto a = w.system("a");
    w.process(a);
    EXPECT_EQ(w.depth(), 0u);
    int calls = 0;
    a.epilogue([&] { ++calls; });
    w.process(a);
    EXPECT_EQ(calls, 1);
}

TEST(system, a_removed_system_is_unknown) {
    world w;
    const auto a = w.system("a").each([](health&) {});
    const auto copy = a;
    const auto other = w.system("other");
    a.remove();
    EXPECT_FALSE(copy);
    const auto is_unknown = [](auto call) { return code_of(call) == errc::unknown_system; };
    EXPECT_TRUE(is_unknown([&] { w.process(copy); }));
    EXPECT_TRUE(is_unknown([&] { w.process_with(copy, 1); }));
    EXPECT_TRUE(is_unknown([&] { (void)copy.name(); }));
    EXPECT_TRUE(is_unknown([&] { copy.each([](health&) {}); }));
    EXPECT_TRUE(is_unknown([&] { copy.execute([] {}); }));
    EXPECT_TRUE(is_unknown([&] { copy.prologue([] {}); }));
    EXPECT_TRUE(is_unknown([&] { copy.epilogue([] {}); }));
    EXPECT_TRUE(is_unknown([&] { copy.with<frozen>(); }));
    EXPECT_TRUE(is_unknown([&] { copy.before("other"); }));
    EXPECT_TRUE(is_unknown([&] { copy.group(other); }));
    EXPECT_TRUE(is_unknown([&] { other.group(copy); }));
    EXPECT_TRUE(is_unknown([&] { other.after(copy); }));
    EXPECT_TRUE(is_unknown([&] { copy.disable(); }));
    EXPECT_TRUE(is_unknown([&] { (void)copy.is_enabled(); }));
    EXPECT_TRUE(is_unknown([&] { (void)copy.timings(); }));
    EXPECT_TRUE(is_unknown([&] { copy.reset_timings(); }));
    EXPECT_TRUE(is_unknown([&] { copy.remove(); }));
    EXPECT_TRUE(is_unknown([&] { (void)w.system_order(copy); }));
    EXPECT_FALSE(w.system("a") == copy);  // the name is free again, but the handle stays invalid
    EXPECT_FALSE(copy);
}

TEST(system, a_system_of_another_world_is_refused) {
    world w, elsewhere;
    int calls = 0;
    const auto theirs = elsewhere.system("theirs").execute([&] { ++calls; });
    const auto mine = w.system("mine");
    EXPECT_EQ(code_of([&] { w.process(theirs); }), errc::unknown_system);
    EXPECT_TRUE(contains(sentence_of([&] { w.process(theirs); }), "\"theirs\""));
    EXPECT_EQ(code_of([&] { mine.group(theirs); }), errc::unknown_system);
    EXPECT_EQ(code_of([&] { mine.before(theirs); }), errc::unknown_system);
    EXPECT_EQ(code_of([&] { (void)w.system_order(theirs); }), errc::unknown_system);
    EXPECT_EQ(code_of([&] { w.process(elsewhere.spawn()); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { mine.group(elsewhere.spawn()); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { w.process(id{}); }), errc::dead_entity);
    EXPECT_EQ(calls, 0);
    EXPECT_NE(mine, elsewhere.system("mine"));
    w.process_all();
}

TEST(system, survives_a_reset_of_the_world) {
    world w;
    int calls = 0;
    w.system("a").each([&](health&) { ++calls; });
    w.spawn(health{});
    w.reset();
    w.spawn(health{});
    w.process("a");
    EXPECT_EQ(calls, 1);
}

// ---- entities ----------------------------------------------------------------------------------

TEST(system, visits_the_entities_that_have_its_parameters) {
    world w;
    const entity a = w.spawn(health{1});
    const entity b = w.spawn(health{2}, std::string("b"));
    w.spawn(std::string("c"));
    std::vector<entity> seen;
    std::string texts;
    const auto s = w.system("s").each([&](entity e, health& h, const std::string* text) {
        seen.push_back(e);
        h.points *= 10;
        texts += text == nullptr ? "-" : *text;
    });
    w.process(s);
    EXPECT_EQ(seen, (std::vector{a, b}));
    EXPECT_EQ(texts, "-b");
    EXPECT_EQ(w.get<health>(a).points + w.get<health>(b).points, 30);
    w.spawn(health{3}, 'c');  // in a new chunk
    w.process(s);
    EXPECT_EQ(seen.size(), 5u);
}

TEST(system, accepts_additional_terms) {
    world w;
    const id tag = w.tag("tag");
    const auto power = w.fragment<int>("power");
    w.spawn(health{1});
    w.spawn(health{2}, frozen{});
    w.spawn(health{4}, friendly{});
    w.set(w.spawn(health{8}), tag);
    w.set(w.spawn(health{16}), power, 1);
    w.spawn(health{32}, prefab);
    int sum = 0;
    const auto add = [&](const health& h) { sum += h.points; };
    const auto ran = [&](const system_handle& s) {
        w.process(s);
        return std::exchange(sum, 0);
    };
    EXPECT_EQ(ran(w.system().each(add)), 31);
    EXPECT_EQ(ran(w.system().with<frozen>().each(add)), 2);
    EXPECT_EQ(ran(w.system().without<frozen, friendly>().each(add)), 25);
    EXPECT_EQ(ran(w.system().without(tag).without<frozen>().each(add)), 21);
    EXPECT_EQ(ran(w.system().any<frozen, friendly>().each(add)), 6);
    EXPECT_EQ(ran(w.system().any(tag, power).each(add)), 24);
    EXPECT_EQ(ran(w.system().with(prefab).each(add)), 32);
    int rows = 0;
    const auto count = [&](chunk_view v) { rows += static_cast<int>(v.size()); };
    w.process(w.system().any(tag, power).execute(count));
    EXPECT_EQ(rows, 2);
}

TEST(system, refuses_terms_after_its_function) {
    world w;
    const auto s = w.system("s").each([](health&) {});
    EXPECT_EQ(code_of([&] { s.with<frozen>(); }), errc::too_late);
    EXPECT_EQ(code_of([&] { s.without(prefab); }), errc::too_late);
    EXPECT_EQ(code_of([&] { s.any<frozen, friendly>(); }), errc::too_late);
    EXPECT_TRUE(contains(sentence_of([&] { s.with<frozen>(); }), "\"s\""));
}

TEST(system, can_share_a_query) {
    world w;
    const auto q = w.query<health, const std::string>().without<frozen>();
    const entity a = w.spawn(health{1}, std::string("a"));
    w.spawn(health{1}, std::string("f"), frozen{});
    std::string log;
    const auto one = w.system("one").query(q).each([&](entity e, health& h, const std::string& s) {
        log += s + (e == a ? "!" : "?");
        ++h.points;
    });
    const auto two = w.system("two").query(q).each(
        [&](auto& h, auto& s) { log += s + std::to_string(h.points); });
    const auto three = w.system("three").query(q).execute(
        [&](chunk_view v, int n) { log += std::to_string(v.components<health>()[0].points * n); });
    w.process(one, two);
    w.process_with(three, 4);
    EXPECT_EQ(log, "a!a28");
}

TEST(system, adds_terms_to_a_shared_query) {
    world w;
    w.spawn(health{1});
    w.spawn(health{2}, frozen{});
    const auto q = w.query<health>();
    int sum = 0;
    w.process(w.system().without<frozen>().query(q).each([&](health& h) { sum += h.points; }));
    EXPECT_EQ(sum, 1);
    w.process(w.system().with<frozen>().query(q).execute(
        [&](chunk_view v) { sum += 10 * v.components<health>()[0].points; }));
    EXPECT_EQ(sum, 21);
}

TEST(system, can_take_only_the_entity) {
    world w;
    const entity e = w.spawn(frozen{});
    w.spawn(health{});
    std::vector<entity> seen;
    w.process(w.system().with<frozen>().each([&](entity visited) { seen.push_back(visited); }));
    EXPECT_EQ(seen, (std::vector{e}));
}

TEST(system, execute_receives_each_nonempty_chunk) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const auto both = w.chunk<health, frozen>();
    w.spawn_many(3, health{1});
    w.spawn_many(2, health{2}, friendly{});
    std::vector<std::size_t> sizes;
    const auto s = w.system("s").with<health>().execute([&](chunk_view v) {
        EXPECT_EQ(v.entities().size(), v.size());
        sizes.push_back(v.size());
        for (health& h : v.components<health>()) h.points += 5;
    });
    w.process(s);
    EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 2}));
    w.spawn(health{0}, frozen{});
    EXPECT_EQ(both.size(), 1u);
    w.process(s);
    EXPECT_EQ(sizes.size(), 5u);
    int sum = 0;
    w.each([&](health& h) { sum += h.points; });
    EXPECT_EQ(sum, 3 * 11 + 2 * 12 + 5);
}

TEST(system, execute_without_a_chunk_parameter_is_called_once) {
    world w;
    int calls = 0;
    const auto s = w.system("s").with<health>().execute([&] { ++calls; });
    w.process(s);
    w.spawn_many(3, health{});
    w.process(s);
    EXPECT_EQ(calls, 2);
}

int free_calls = 0;
void free_function(health& h) {
    h.points += ++free_calls;
}

TEST(system, accepts_functions_and_move_only_callables) {
    world w;
    const entity e = w.spawn(health{});
    free_calls = 0;
    w.process(w.system("free").each(free_function));
    w.process(w.system("pointer").each(&free_function));
    EXPECT_EQ(w.get<health>(e).points, 3);
    w.process(w.system("owner").each(
        [owned = std::make_unique<int>(4)](health& h) { h.points = *owned; }));
    EXPECT_EQ(w.get<health>(e).points, 4);
}

TEST(system, keeps_the_state_of_its_function) {
    world w;
    w.spawn_many(2, health{});
    int last = 0;
    const auto in_execute = w.system("execute").execute([&last, n = 0]() mutable { last = ++n; });
    w.process(in_execute, in_execute);
    EXPECT_EQ(last, 2);
    const auto big = w.system("big").each(
        [n = 0, text = std::string("text")](health& h) mutable { h.points = ++n; });
    w.process(big, big);
    EXPECT_EQ(w.get<health>(w.query<health>().first()).points, 3);
    const auto small = w.system("small").each([n = 0](health& h) mutable { h.points = ++n; });
    w.process(small, small);
    EXPECT_EQ(w.get<health>(w.query<health>().first()).points, 3);
}

// ---- scopes ------------------------------------------------------------------------------------

TEST(system, prologue_and_epilogue_change_the_world_at_once_and_each_is_deferred) {
    world w;
    std::string log;
    const auto s = w.system("s")
                       .prologue([&] {
                           EXPECT_EQ(w.depth(), 0u);
                           w.spawn(health{1});
                           log += std::to_string(w.count<health>());
                       })
                       .each([&](entity e, health&) {
                           EXPECT_GT(w.depth(), 0u);
                           w.spawn(health{2});
                           w.destroy(e);
                           log += std::to_string(w.count<health>());
                       })
                       .epilogue([&] {
                           EXPECT_EQ(w.depth(), 0u);
                           log += std::to_string(w.count<health>());
                           w.query<health>().destroy();
                           log += std::to_string(w.count<health>());
                       });
    w.spawn(health{0});
    w.process(s);
    EXPECT_EQ(log, "22220");
}

TEST(system, defers_its_changes_until_all_entities_were_visited) {
    world w;
    w.spawn_many(3, health{1});
    int seen = 0;
    w.process(w.system("each").each([&](entity e, health&) {
        ++seen;
        w.query<health>().remove<health>();
        w.set(e, 'c');
    }));
    EXPECT_EQ(seen, 3);
    EXPECT_EQ(w.count<health>(), 0u);
    EXPECT_EQ(w.count<char>(), 3u);
    const auto once = w.system("once").execute([&] {
        EXPECT_EQ(w.depth(), 1u);
        w.query<char>().destroy();
        EXPECT_EQ(w.count<char>(), 3u);
        EXPECT_EQ(code_of([&] { w.commit(); }), errc::unbalanced_scope);
        EXPECT_EQ(code_of([&] { w.collect_garbage(); }), errc::in_scope);
    });
    w.process(once);
    EXPECT_EQ(w.count<char>(), 0u);
}

TEST(system, sees_the_changes_of_earlier_members_of_its_group) {
    world w;
    const auto g = w.system("g").execute([&] { w.spawn(health{1}); });
    std::size_t found = 0;
    w.system("a").group(g).execute([&] {
        EXPECT_EQ(w.count<health>(), 1u);
        w.spawn(health{2});
    });
    w.system("b").group(g).execute([&] { found = w.count<health>(); });
    w.process(g);
    EXPECT_EQ(found, 2u);
}

TEST(system, processed_in_a_scope_leaves_its_changes_to_the_scope) {
    world w;
    const entity e = w.spawn(health{1});
    const auto s = w.system("s")
                       .prologue([&] {
                           w.spawn(frozen{});
                           EXPECT_EQ(w.count<frozen>(), 0u);
                       })
                       .each([&](entity visited, health& h) {
                           ++h.points;
                           w.destroy(visited);
                       });
    w.defer();
    w.process(s);
    EXPECT_EQ(w.depth(), 1u);
    EXPECT_TRUE(w.alive(e));
    EXPECT_EQ(w.get<health>(e).points, 2);  // a write through a reference is not deferred
    w.process(s);
    w.cancel();
    EXPECT_TRUE(w.alive(e));
    EXPECT_EQ(w.get<health>(e).points, 3);
    EXPECT_EQ(w.count<frozen>(), 0u);
    w.defer();
    w.process(s);
    w.commit();
    EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.count<frozen>(), 1u);
}

TEST(system, can_be_processed_in_a_loop_and_in_a_hook) {
    world w;
    int calls = 0;
    const auto s = w.system("s").each([&](entity e, health&) {
        ++calls;
        w.set(e, frozen{});
    });
    w.spawn_many(2, health{1});
    w.query<health>().each([&](health&) {
        w.process(s);
        EXPECT_EQ(w.count<frozen>(), 0u);
    });
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(w.count<frozen>(), 2u);
    w.on_insert<std::string>([&] { w.process("s"); });
    w.spawn(std::string("x"), health{2});
    EXPECT_EQ(calls, 7);
    EXPECT_EQ(w.count<frozen>(), 3u);
}

TEST(system, cannot_be_processed_while_a_component_is_copied) {
    struct processing {
        world* w = nullptr;
        processing() = default;
        explicit processing(world& home) : w(&home) {}
        processing(const processing& other) : w(other.w) {
            if (w != nullptr) w->process("s");
        }
        processing(processing&&) noexcept = default;
        processing& operator=(const processing&) = default;
        processing& operator=(processing&&) noexcept = default;
    };
    world w;
    int calls = 0;
    w.system("s").execute([&] { ++calls; });
    const entity e = w.spawn(processing(w));
    EXPECT_EQ(code_of([&] { w.clone(e); }), errc::in_scope);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(w.size(), 1u);
}

// ---- failure -----------------------------------------------------------------------------------

TEST(system, a_muster_error_keeps_its_code_and_names_the_system) {
    world w;
    const entity dead = w.spawn();
    w.destroy(dead);
    const auto s = w.system("reader").execute([&] { (void)w.get<health>(dead); });
    try {
        w.process(s);
        FAIL();
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::dead_entity);
        EXPECT_TRUE(std::string_view(e.what()).starts_with("system \"reader\": entity "))
            << e.what();
    }
}

TEST(system, another_exception_is_nested_in_system_failed) {
    world w;
    w.system("bad").execute([] { throw std::out_of_range("far out"); });
    try {
        w.process("bad");
        FAIL();
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::system_failed);
        EXPECT_TRUE(contains(e.what(), "\"bad\"")) << e.what();
        EXPECT_TRUE(contains(e.what(), "far out")) << e.what();
        EXPECT_THROW(std::rethrow_if_nested(e), std::out_of_range);
    }
}

TEST(system, bad_alloc_and_other_thrown_types_pass_unchanged) {
    world w;
    w.system("number").execute([] { throw 42; });
    w.system("memory").execute([] { throw std::bad_alloc(); });
    int caught = 0;
    try {
        w.process("number");
    } catch (int number) {
        caught = number;
    }
    EXPECT_EQ(caught, 42);
    EXPECT_THROW(w.process("memory"), std::bad_alloc);
    try {
        w.process("memory");
    } catch (const std::exception& e) {
        EXPECT_EQ(dynamic_cast<const error*>(&e), nullptr);
    }
    EXPECT_EQ(w.depth(), 0u);
}

TEST(system, errors_name_nested_systems_but_not_groups) {
    world w;
    w.system("inner").execute([] { throw std::runtime_error("deep"); });
    w.system("outer").execute([&] { w.process("inner"); });
    std::string message = sentence_of([&] { w.process("outer"); });
    EXPECT_TRUE(message.starts_with("system \"outer\": system \"inner\"")) << message;
    EXPECT_EQ(code_of([&] { w.process("outer"); }), errc::system_failed);
    const auto g = w.system("group");
    w.find_system("inner").group(g);
    message = sentence_of([&] { w.process(g); });
    EXPECT_TRUE(message.starts_with("system \"inner\"")) << message;
    EXPECT_FALSE(contains(message, "group"));
}

TEST(system, is_named_for_errors_in_its_prologue_epilogue_and_hooks) {
    world w;
    w.system("p").prologue([] { throw std::runtime_error("x"); });
    w.system("e").epilogue([] { throw std::runtime_error("x"); });
    w.system("h").execute([&] { w.spawn(health{}); });
    w.on_insert<health>([] { throw std::runtime_error("x"); });
    for (const char* name : {"p", "e", "h"}) {
        EXPECT_EQ(code_of([&] { w.process(name); }), errc::system_failed);
        EXPECT_TRUE(
            contains(sentence_of([&] { w.process(name); }), "system \"" + std::string(name)));
    }
    EXPECT_EQ(w.size(), 0u);
}

TEST(system, a_throwing_system_changes_nothing_and_earlier_changes_stay) {
    world w;
    const auto made = w.spawn_many(3, health{1});
    std::string log;
    const auto g = w.system("g").prologue([&] { log += "p"; }).epilogue([&] { log += "e"; });
    w.system("good").group(g).execute([&] { w.spawn(frozen{}); });
    w.system("bad")
        .group(g)
        .prologue([&] { w.spawn(friendly{}); })
        .each([&](entity e, health&) {
            w.destroy(e);
            w.spawn(frozen{});
            w.query<health>().set('c');
            if (e == made[1]) throw std::runtime_error("stop");
        })
        .epilogue([&] { log += "never"; });
    w.system("behind").group(g).execute([&] { log += "never"; });
    EXPECT_EQ(code_of([&] { w.process(g); }), errc::system_failed);
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(log, "p");
    EXPECT_TRUE(w.alive_all(made[0], made[1], made[2]));
    EXPECT_EQ(w.count<frozen>(), 1u);
    EXPECT_EQ(w.count<friendly>(), 1u);
    EXPECT_EQ(w.count<char>(), 0u);
    EXPECT_EQ(w.size(), 5u);
}

TEST(system, a_throwing_system_in_a_scope_discards_only_its_own_changes) {
    world w;
    w.system("once").execute([&] {
        w.spawn(frozen{});
        throw std::runtime_error("stop");
    });
    w.system("chunks").with<health>().execute([&](chunk_view) {
        w.spawn(frozen{});
        throw std::runtime_error("stop");
    });
    w.spawn(health{});
    w.defer();
    w.spawn(friendly{});
    EXPECT_EQ(code_of([&] { w.process("once"); }), errc::system_failed);
    EXPECT_EQ(code_of([&] { w.process("chunks"); }), errc::system_failed);
    EXPECT_EQ(w.depth(), 1u);
    w.spawn(friendly{});
    w.commit();
    EXPECT_EQ(w.count<friendly>(), 2u);
    EXPECT_EQ(w.count<frozen>(), 0u);
}

// ---- provenance --------------------------------------------------------------------------------

class blame : public ::testing::Test {
public:
    world w{world_options{.provenance = true}};
    /// Returns the error message for a destroyed entity.
    std::string message_about(entity e) {
        EXPECT_FALSE(w.alive(e));
        return sentence_of([&] { w.set(e, 'c'); });
    }
    bool is_by(entity e, std::string_view name) {
        const std::string message = message_about(e);
        return contains(message, "system_test.cpp:") &&
               contains(message, " by system \"" + std::string(name) + "\"");
    }
    bool is_by_no_system(entity e) {
        const std::string message = message_about(e);
        return contains(message, "system_test.cpp:") && !contains(message, "by system");
    }
    system_handle reap(std::string_view name) {
        return w.system(name).each([this](entity e, health& h) {
            if (h.points <= 0) w.destroy(e);
        });
    }
};

TEST_F(blame, falls_on_the_system_that_destroyed_an_entity) {
    const entity e = w.spawn(health{0}), f = w.spawn(health{0}), g = w.spawn(health{0});
    w.destroy(f);
    w.process(reap("reap"));
    w.destroy(g);
    EXPECT_TRUE(is_by(e, "reap"));
    EXPECT_TRUE(is_by_no_system(f));
    const entity after = w.spawn(health{0});
    w.destroy(after);
    EXPECT_TRUE(is_by_no_system(after));
}

TEST_F(blame, falls_on_prologues_and_epilogues_too) {
    const entity e = w.spawn(), f = w.spawn();
    w.process(w.system("s").prologue([&] { w.destroy(e); }).epilogue([&] { w.destroy(f); }));
    EXPECT_TRUE(is_by(e, "s"));
    EXPECT_TRUE(is_by(f, "s"));
}

TEST_F(blame, falls_on_the_recording_system_when_an_outer_scope_applies_it) {
    const entity e = w.spawn(health{0}), mine = w.spawn(health{1});
    const entity theirs = w.spawn(frozen{});
    reap("reap");
    w.system("thaw").execute([&] { w.query<frozen>().destroy(); });
    w.defer();
    w.destroy(mine);
    w.process("reap", "thaw");
    w.commit();
    EXPECT_TRUE(is_by(e, "reap"));
    EXPECT_TRUE(is_by(theirs, "thaw"));
    EXPECT_TRUE(is_by_no_system(mine));
}

TEST_F(blame, falls_on_a_system_for_its_batches) {
    const auto made = w.spawn_many(3, health{0});
    const auto marked = w.spawn_many(2, frozen{});
    w.process(w.system("batch").execute([&] { w.query<health>().destroy(); }));
    w.process(w.system("before").prologue([&] { w.query<frozen>().destroy(); }));
    for (const entity e : made) EXPECT_TRUE(is_by(e, "batch"));
    for (const entity e : marked) EXPECT_TRUE(is_by(e, "before"));
    const auto mine = w.spawn_many(2, health{0});
    w.query<health>().destroy();
    EXPECT_TRUE(is_by_no_system(mine[1]));
}

TEST_F(blame, falls_on_a_system_for_entities_that_its_hooks_destroy) {
    struct owner {
        entity of;
    };
    w.on_remove<owner>([&](entity, owner& o) { w.destroy(o.of); });
    w.on_insert<friendly>([&](entity e) { w.destroy(e); });
    const entity a = w.spawn(), b = w.spawn(), c = w.spawn(), d = w.spawn(health{1});
    w.spawn(owner{a}, health{0});
    reap("reap");
    w.process("reap");
    EXPECT_TRUE(is_by(a, "reap"));
    w.process(w.system("set").each([&](entity e, health&) { w.set(e, friendly{}); }));
    EXPECT_TRUE(is_by(d, "set"));
    w.spawn(owner{b}, health{0});
    w.defer();
    w.process("reap");
    w.commit();
    EXPECT_TRUE(is_by(b, "reap"));
    w.destroy(w.spawn(owner{c}));
    EXPECT_TRUE(is_by_no_system(c));
}

TEST_F(blame, falls_on_a_system_for_the_owners_of_a_fragment_it_destroyed) {
    const id f = w.tag("f");
    w.define(f).when_destroyed(destroy_owners);
    const entity e = w.spawn(with(f));
    w.process(w.system("s").execute([&] { w.destroy(f); }));
    EXPECT_TRUE(is_by(e, "s"));
    EXPECT_TRUE(is_by(f, "s"));
}

TEST_F(blame, falls_on_the_innermost_system_and_ends_with_it) {
    const entity e = w.spawn(health{0}), f = w.spawn(), g = w.spawn();
    reap("inner");
    w.process(w.system("outer").execute([&] {
        w.process("inner");
        w.destroy(f);
    }));
    EXPECT_TRUE(is_by(e, "inner"));
    EXPECT_TRUE(is_by(f, "outer"));
    w.system("bad").execute([] { throw std::runtime_error("x"); });
    EXPECT_EQ(code_of([&] { w.process("bad"); }), errc::system_failed);
    w.destroy(g);
    EXPECT_TRUE(is_by_no_system(g));
}

TEST_F(blame, stays_recorded_after_the_system_is_removed) {
    const entity e = w.spawn(health{0});
    const auto s = reap("a system whose name is too long for its object");
    w.process(s);
    s.remove();
    EXPECT_TRUE(is_by(e, "a system whose name is too long for its object"));
}

// ---- the null system ---------------------------------------------------------------------------

TEST(null_system, is_unknown_to_every_call) {
    world w;
    const system_handle none;
    const auto other = w.system("other");
    EXPECT_FALSE(none);
    const auto is_unknown = [](auto call) { return code_of(call) == errc::unknown_system; };
    EXPECT_TRUE(is_unknown([&] { w.process(none); }));
    EXPECT_TRUE(is_unknown([&] { (void)none.name(); }));
    EXPECT_TRUE(is_unknown([&] { other.group(none); }));
    EXPECT_TRUE(is_unknown([&] { other.after(none); }));
    EXPECT_TRUE(is_unknown([&] { none.disable(); }));
    EXPECT_TRUE(is_unknown([&] { (void)none.timings(); }));
    EXPECT_TRUE(is_unknown([&] { none.with<frozen>(); }));
    EXPECT_TRUE(is_unknown([&] { none.prologue([] {}); }));
    EXPECT_TRUE(is_unknown([&] { none.remove(); }));
    EXPECT_TRUE(is_unknown([&] { none.before("other"); }));
    EXPECT_TRUE(is_unknown([&] { none.group("other"); }));
    EXPECT_TRUE(is_unknown([&] { none.query(w.query<health>()).each([](health&) {}); }));
    EXPECT_TRUE(is_unknown([&] { none.execute([] {}); }));
    EXPECT_TRUE(is_unknown([&] { none.each([](health&) {}); }));
}

}  // namespace
}  // namespace muster
