// Systems and processing payloads: the programs of evolved's README and the cases of its tests, on
// a Muster world.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

// ---- the manual: systems -----------------------------------------------------------------------

TEST(evolved_systems, a_system_heals_the_entities_that_its_query_matches) {
    world w;
    const auto health = w.fragment<int>("health"), max_health = w.fragment<int>("max_health");
    const auto query = w.query().with(health, max_health);
    const auto system = w.system().query(query).execute([=](chunk_view chunk) {
        const auto health_components = chunk.components(health);
        const auto max_health_components = chunk.components(max_health);
        for (std::size_t i = 0; i < chunk.size(); ++i)
            health_components[i] = std::min(health_components[i] + 1, max_health_components[i]);
    });
    const entity hurt = w.spawn(with(health, 7), with(max_health, 10));
    const entity well = w.spawn(with(health, 10), with(max_health, 10));
    const entity other = w.spawn(with(health, 3));
    w.process(system);
    w.process(system);
    EXPECT_EQ(w.get(hurt, health), 9);
    EXPECT_EQ(w.get(well, health), 10);
    EXPECT_EQ(w.get(other, health), 3);
}

TEST(evolved_systems, a_system_can_have_a_query_of_its_own) {
    world w;
    const auto health = w.fragment<int>("health");
    const auto system = w.system().with(health).execute([=](chunk_view chunk) {
        for (int& component : chunk.components(health)) component = std::max(component - 1, 0);
    });
    const entity e = w.spawn(with(health, 1)), f = w.spawn(with(health, 5), 'f');
    w.process(system, system);
    EXPECT_EQ(w.get(e, health), 0);
    EXPECT_EQ(w.get(f, health), 3);
}

TEST(evolved_systems, a_group_of_systems_is_processed_in_one_call) {
    struct position {
        double x, y;
    };
    struct velocity {
        double x, y;
    };
    constexpr double gravity_x = 0, gravity_y = -9.81;
    world w;
    const auto physical_body_query = w.query<position, velocity>();
    const id physics_group = w.spawn();
    w.system().group(physics_group).query(physical_body_query).execute([=](chunk_view chunk) {
        for (velocity& v : chunk.components<velocity>()) {
            v.x += gravity_x;
            v.y += gravity_y;
        }
    });
    w.system().group(physics_group).query(physical_body_query).each([](position& p, velocity& v) {
        p.x += v.x;
        p.y += v.y;
    });
    const entity e = w.spawn(position{0, 0}, velocity{1, 9.81});
    w.process(physics_group);
    w.process(physics_group);
    EXPECT_EQ(w.get<position>(e).x, 2);
    EXPECT_EQ(w.get<position>(e).y, -9.81);
    w.process_all();  // skips groups that are named by an id
    EXPECT_EQ(w.get<position>(e).x, 2);
}

TEST(evolved_systems, prologue_and_epilogue_need_no_query) {
    world w;
    std::string printed;
    const auto system = w.system().prologue([&] { printed += "Prologue\n"; }).epilogue([&] {
        printed += "Epilogue\n";
    });
    w.process(system);
    EXPECT_EQ(printed, "Prologue\nEpilogue\n");
}

TEST(evolved_systems, prologue_and_epilogue_run_even_if_the_query_matches_nothing) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    std::string log;
    const auto system = w.system()
                            .with<int>()
                            .prologue([&] { log += "("; })
                            .execute([&](chunk_view) { log += "x"; })
                            .epilogue([&] { log += ")"; });
    w.process(system);
    w.spawn(1);
    w.spawn(1, 'c');
    w.process(system);
    EXPECT_EQ(log, "()(xx)");
}

TEST(evolved_systems, execution_is_deferred_and_prologue_and_epilogue_are_not) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const id mark = w.tag("mark");
    const auto made = w.spawn_many(2, 1);
    std::vector<std::size_t> counts;
    const auto system = w.system()
                            .with<int>()
                            .prologue([&] {
                                w.spawn(2, 'c');
                                counts.push_back(w.count<int>());
                            })
                            .execute([&](chunk_view chunk) {
                                for (const entity e : chunk.entities()) w.set(e, mark);
                                w.destroy(chunk.entities()[0]);
                                counts.push_back(w.count(mark) + 10 * w.count<int>());
                            })
                            .epilogue([&] {
                                counts.push_back(w.count(mark) + 10 * w.count<int>());
                                w.destroy(made[1]);
                                counts.push_back(w.count<int>());
                            });
    w.process(system);
    EXPECT_EQ(counts, (std::vector<std::size_t>{3, 30, 30, 11, 0}));
    EXPECT_EQ(w.depth(), 0u);
}

// ---- the manual: payloads ----------------------------------------------------------------------

TEST(evolved_systems, the_execute_callback_receives_the_payload) {
    struct position {
        float x, y;
    };
    struct velocity {
        float x, y;
    };
    world w;
    const auto physics_system =
        w.system().with<position, velocity>().execute([](chunk_view chunk, float delta_time) {
            const auto p = chunk.components<position>();
            const auto v = chunk.components<velocity>();
            for (std::size_t i = 0; i < chunk.size(); ++i) {
                p[i].x += v[i].x * delta_time;
                p[i].y += v[i].y * delta_time;
            }
        });
    const entity e = w.spawn(position{1, 2}, velocity{4, 8});
    const double delta_time = 0.25;
    w.process_with(physics_system, delta_time);
    EXPECT_EQ(w.get<position>(e).x, 2);
    EXPECT_EQ(w.get<position>(e).y, 4);
}

TEST(evolved_systems, every_callback_and_every_subsystem_receives_the_same_payload) {
    world w;
    w.spawn(1);
    std::vector<int> received;
    const id group = w.spawn();
    for (int i = 0; i < 2; ++i)
        w.system()
            .group(group)
            .with<int>()
            .prologue([&](int a, int b, int c) { received.push_back(a * 10000 + b * 100 + c); })
            .execute([&](chunk_view v, int a, int b, int c) {
                EXPECT_EQ(v.size(), 1u);
                received.push_back(a * 10000 + b * 100 + c);
            })
            .epilogue([&](int a, int b, int c) { received.push_back(a * 10000 + b * 100 + c); });
    w.process_with(group, 11, 22, 33);
    EXPECT_EQ(received, (std::vector<int>(6, 112233)));
}

// ---- process_with_tests ------------------------------------------------------------------------

TEST(evolved_systems, a_payload_value_may_be_an_empty_optional) {
    world w;
    const auto f = w.fragment<int>("f");
    const entity e = w.spawn(with(f, 42));
    using maybe = std::optional<int>;
    int calls = 0;
    const auto check = [&](maybe first, maybe second) {
        ++calls;
        EXPECT_EQ(first, std::nullopt);
        EXPECT_EQ(second, 42);
    };
    const auto s = w.system()
                       .with(f)
                       .prologue(check)
                       .execute([&](chunk_view v, maybe first, maybe second) {
                           EXPECT_EQ(v.entities()[0], e);
                           check(first, second);
                       })
                       .epilogue(check);
    w.process_with(s, maybe(), maybe(42));
    EXPECT_EQ(calls, 3);
}

TEST(evolved_systems, a_missing_payload_value_is_an_error_before_the_callback_runs) {
    world w;
    int calls = 0;
    const auto s = w.system().execute([&](int, int) { ++calls; });
    EXPECT_EQ(code_of([&] { w.process_with(s); }), errc::bad_payload);
    EXPECT_EQ(code_of([&] { w.process_with(s, 1); }), errc::bad_payload);
    EXPECT_EQ(calls, 0);
    w.process_with(s, 1, 2);
    EXPECT_EQ(calls, 1);
}

template <int... N>
int sum_with(world& w, const system_handle& s, int& sum, std::integer_sequence<int, N...>) {
    sum = 0;
    w.process_with(s, std::vector<int>{N...}, N...);
    return sum;
}

TEST(evolved_systems, payloads_of_many_values_are_passed_in_order) {
    world w;
    w.spawn(1);
    int sum = 0;
    const auto add = [&](const std::vector<int>& all) {
        sum = std::accumulate(all.begin(), all.end(), sum);
    };
    const auto s = w.system()
                       .with<int>()
                       .prologue([&](std::vector<int> all) { add(all); })
                       .execute([&](chunk_view, std::vector<int> all) { add(all); })
                       .epilogue([&](std::vector<int> all) { add(all); });
    EXPECT_EQ(sum_with(w, s, sum, std::make_integer_sequence<int, 0>()), 0);
    EXPECT_EQ(sum_with(w, s, sum, std::make_integer_sequence<int, 8>()), 3 * 28);
    EXPECT_EQ(sum_with(w, s, sum, std::make_integer_sequence<int, 51>()), 3 * 1275);
    int last = 0;
    const auto t =
        w.system().execute([&](int, int, int, int, int, int, int, int, int, int n) { last = n; });
    w.process_with(t, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    EXPECT_EQ(last, 10);
}

// ---- system_as_query_tests ---------------------------------------------------------------------

TEST(evolved_systems, a_shared_query_and_equal_terms_match_the_same_chunks) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const auto f1 = w.fragment<int>("f1"), f2 = w.fragment<int>("f2"), f3 = w.fragment<int>("f3");
    const auto q1e3 = w.query().with(f1).without(f3), q2e3 = w.query().with(f2).without(f3);
    const entity e1 = w.spawn(with(f1, 1));
    const entity e12 = w.spawn(with(f1, 11), with(f2, 12));
    const entity e2 = w.spawn(with(f2, 2));
    const entity e23 = w.spawn(with(f2, 23), with(f3, 3));
    EXPECT_EQ(w.chunk(f2, f3).entities()[0], e23);

    std::vector<entity> seen;
    const auto see = [&](chunk_view v) {
        EXPECT_EQ(v.size(), 1u);
        seen.push_back(v.entities()[0]);
    };
    const auto found = [&](const system_handle& s) {
        seen.clear();
        w.process(s);
        return std::set<entity>(seen.begin(), seen.end());
    };
    EXPECT_EQ(found(w.system().query(q1e3).execute(see)), (std::set{e1, e12}));
    EXPECT_EQ(found(w.system().query(q2e3).execute(see)), (std::set{e12, e2}));
    EXPECT_EQ(found(w.system().with(f1).without(f3).execute(see)), (std::set{e1, e12}));
    EXPECT_EQ(found(w.system().with(f2).without(f3).execute(see)), (std::set{e12, e2}));
    EXPECT_EQ(found(w.system().any(f1, f3).execute(see)), (std::set{e1, e12, e23}));
}

TEST(evolved_systems, a_system_without_terms_matches_every_visible_entity) {
    world w;
    w.spawn(1);
    w.spawn('c');
    w.spawn();
    w.spawn(1.5, prefab);
    std::size_t rows = 0;
    w.process(w.system().execute([&](chunk_view v) { rows += v.size(); }));
    EXPECT_EQ(rows, w.query().count());
    EXPECT_EQ(rows, 2u);
}

// ---- main_tests --------------------------------------------------------------------------------

TEST(evolved_systems, a_system_can_be_the_group_of_another) {
    world w;
    std::string order;
    const auto s1 = w.system("s1").prologue([&] { order += '1'; });
    const auto s2 = w.system("s2").prologue([&] { order += '2'; });
    s2.group(s1);
    w.process(s1);
    EXPECT_EQ(std::exchange(order, {}), "12");
    const auto s3 = w.system("s3").prologue([&] { order += '3'; });
    s2.group(s3);
    w.process(s1);
    EXPECT_EQ(order, "1");
    w.process(s3);
    EXPECT_EQ(order, "132");
}

TEST(evolved_systems, systems_run_in_argument_order_and_once_per_argument) {
    world w;
    std::string order;
    const auto a = w.system().execute([&] { order += 'a'; });
    const auto b = w.system().execute([&] { order += 'b'; });
    w.process(b, a, b);
    EXPECT_EQ(order, "bab");
    w.process();
    EXPECT_EQ(order, "bab");
}

TEST(evolved_systems, groups_run_between_prologue_and_epilogue_unless_disabled) {
    world w;
    std::string order;
    const auto outer = w.system("outer")
                           .prologue([&] { order += '<'; })
                           .execute([&] { order += 'o'; })
                           .epilogue([&] { order += '>'; });
    const auto inner = w.system("inner").group(outer).prologue([&] { order += '['; }).epilogue([&] {
        order += ']';
    });
    w.system().group(inner).execute([&] { order += '1'; });
    const auto second = w.system().group(inner).execute([&] { order += '2'; });
    w.process(outer);
    EXPECT_EQ(std::exchange(order, {}), "<o[12]>");
    second.disable();
    w.process(outer);
    EXPECT_EQ(std::exchange(order, {}), "<o[1]>");
    inner.disable();
    w.process(outer);
    EXPECT_EQ(order, "<o>");
}

TEST(evolved_systems, an_error_in_a_callback_can_be_handled) {
    world w;
    const entity e = w.spawn(1);
    bool fails = true;
    const auto s = w.system("s").each([&](entity visited, int&) {
        w.destroy(visited);
        if (fails) throw std::runtime_error("handled");
    });
    EXPECT_EQ(code_of([&] { w.process(s); }), errc::system_failed);
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_TRUE(w.alive(e));
    fails = false;
    w.process(s);
    EXPECT_FALSE(w.alive(e));
}

}  // namespace
}  // namespace muster::test
