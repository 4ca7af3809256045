// `touch` and `patch` in a parallel phase: hooks and observers are notified when the phase ends.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/errors.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace muster;
using muster::test::code_of;
using muster_tests::thread_executor;

namespace {

struct position {
    int x;
};
struct velocity {
    int x;
};
struct burning {
    int left;
};
struct marked {};

}  // namespace

template <>
struct muster::component_traits<burning> {
    static constexpr bool sparse = true;
};

namespace {

struct phase_touch : testing::Test {
    world w;
    thread_executor four{4};
    std::vector<entity> all;
    std::vector<std::string> log;

    phase_touch() {
        for (int i = 0; i < 100; ++i) all.push_back(w.spawn(position{i}));
        for (int i = 0; i < 100; ++i) all.push_back(w.spawn(position{100 + i}, velocity{0}));
        w.on_assign<position>([this](entity, position& p) { note("assign", p.x); });
        w.on_set<position>([this](entity, position& p) { note("set", p.x); });
    }
    void note(const char* what, int value) { log.push_back(what + std::to_string(value)); }
    /// What the hooks note for all rows of a loop.
    [[nodiscard]] static std::vector<std::string> notes(int first) {
        std::vector<std::string> made;
        for (int i = 0; i < 200; ++i)
            for (const char* what : {"assign", "set"})
                made.push_back(what + std::to_string(first + i));
        return made;
    }
};

TEST_F(phase_touch, hooks_see_touched_values_in_the_order_of_rows) {
    for (const std::size_t grain : {1u, 7u, 0u}) {
        log.clear();
        w.query<const position>().par_each(four, grain, [&](entity e, const position&) {
            w.touch<position>(e);
            EXPECT_TRUE(log.empty());
        });
        EXPECT_EQ(log, notes(0));
    }
}

TEST_F(phase_touch, hooks_see_patched_values_in_the_order_of_rows) {
    w.query<const position>().par_each(four, 3, [&](entity e, const position& shown) {
        const position& patched = w.patch<position>(e, [](position& p) { p.x += 1000; });
        EXPECT_EQ(&patched, &shown);  // immediate, as a write through a reference
        EXPECT_GE(shown.x, 1000);
    });
    EXPECT_EQ(log, notes(1000));
}

TEST_F(phase_touch, observers_collect_the_entities_in_the_order_of_rows) {
    auto seen = w.observer<position>();
    w.query<const position>().par_each(four, 1, [&](entity e, const position& p) {
        if (p.x % 2 == 0)
            w.touch<position>(e);
        else
            w.patch<position>(e, [](position&) {});
    });
    EXPECT_EQ(seen.take(), all);
}

TEST_F(phase_touch, any_entity_can_be_touched_and_is_shown_once) {
    w.query<const position>().par_each(four, 1, [&](const position& p) {
        w.touch<position>(all[static_cast<std::size_t>(199 - p.x)]);
        w.touch<position>(all[0]);
    });
    ASSERT_EQ(log.size(), 400u);
    EXPECT_EQ(log[0], "assign199");
    EXPECT_EQ(log[2], "assign0");
    EXPECT_EQ(log[398], "assign1");
}

TEST_F(phase_touch, a_touched_and_assigned_value_is_shown_once) {
    w.query<const position>().par_each(four, 1, [&](entity e, const position& p) {
        w.touch<position>(e);
        if (p.x == 50) w.set(e, position{-50});
    });
    ASSERT_EQ(log.size(), 400u);
    EXPECT_EQ(log[100], "assign-50");
    EXPECT_EQ(log[101], "set-50");
}

TEST_F(phase_touch, an_entity_that_died_or_lost_the_value_is_left_out) {
    auto seen = w.observer().changed<position>();
    w.query<const position>().par_each(four, 1, [&](entity e, const position& p) {
        w.patch<position>(e, [](position&) {});
        if (p.x == 10) w.destroy(all[20]);
        if (p.x == 30) w.remove<position>(all[5]);
        if (p.x == 40) w.clear(all[41]);
    });
    EXPECT_EQ(log.size(), 2u * 197);
    for (const int gone : {20, 5, 41})
        EXPECT_EQ(std::ranges::find(log, "assign" + std::to_string(gone)), log.end());
    EXPECT_EQ(seen.size(), 197u);
}

TEST_F(phase_touch, a_fragment_that_was_destroyed_is_left_out) {
    const fragment<int> health = w.fragment<int>("health");
    for (const entity e : all) w.set(e, health, 1);
    w.query<const position>().par_each(four, 1, [&](entity e, const position&) {
        w.destroy(health);
        w.touch(e, health);
        w.touch<position>(e);
    });
    EXPECT_FALSE(w.alive(health));
    EXPECT_EQ(log, notes(0));
}

TEST_F(phase_touch, if_the_phase_fails_no_one_is_notified_and_patched_values_stay) {
    auto seen = w.observer<position>();
    EXPECT_THROW(w.query<const position>().par_each(four, 1,
                                                    [&](entity e, const position& p) {
                                                        w.touch<position>(e);
                                                        if (p.x == 0) {
                                                            w.patch<position>(
                                                                e, [](position& q) { q.x = -1; });
                                                            throw std::runtime_error("failed");
                                                        }
                                                    }),
                 std::runtime_error);
    EXPECT_TRUE(log.empty());
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(w.get<position>(all[0]).x, -1);
}

TEST_F(phase_touch, a_function_that_throws_drops_its_note_only) {
    w.query<const position>().par_each(four, 1, [&](entity e, const position& p) {
        const int x = p.x;
        EXPECT_EQ(code_of([&] {
                      w.patch<position>(e, [&](position& q) {
                          q.x += 1000;
                          w.add<marked>(e);
                          if (x % 2 == 0) detail::raise(errc::limit, "even");
                      });
                  }).has_value(),
                  x % 2 == 0);
    });
    EXPECT_EQ(log.size(), 200u);
    EXPECT_EQ(log[0], "assign1001");
    EXPECT_EQ(w.get<position>(all[0]).x, 1000);
    EXPECT_EQ(w.query<marked>().count(), 200u);
}

TEST_F(phase_touch, a_value_that_was_not_there_before_the_phase_is_missing) {
    const fragment<int> health = w.fragment<int>("health");
    const entity dead = w.spawn();
    w.destroy(dead);
    w.query<const position>().with<velocity>().par_each(four, 1, [&](entity e, const position&) {
        const entity made = w.spawn(position{1});
        w.set(all[0], velocity{1});
        const auto refuses = [&](errc code, auto call) { EXPECT_EQ(code_of(call), code); };
        for (const entity without : {made, all[0]}) {
            refuses(errc::missing_component, [&] { w.touch<velocity>(without); });
            refuses(errc::missing_component, [&] { w.patch<velocity>(without, [](velocity&) {}); });
            refuses(errc::missing_component, [&] { w.touch(without, health); });
            refuses(errc::missing_component, [&] { w.patch(without, health, [](int&) {}); });
        }
        refuses(errc::missing_component, [&] { w.touch<burning>(e); });
        refuses(errc::dead_entity, [&] { w.touch<velocity>(dead); });
        refuses(errc::dead_entity, [&] { w.patch<velocity>(dead, [](velocity&) {}); });
        refuses(errc::type_mismatch, [&] { w.patch<double>(e, health.id(), [](double&) {}); });
        refuses(errc::dead_fragment, [&] { w.touch(e, dead); });
    });
    EXPECT_EQ(log, std::vector<std::string>(100, "set1"));  // of the new entities
}

TEST_F(phase_touch, works_by_fragment_and_for_sparse_values_and_tags) {
    const fragment<int> health = w.fragment<int>("health");
    for (const entity e : all) {
        w.set(e, health, 7);
        w.set(e, burning{8}, marked{});
    }
    int healths = 0;
    int burnings = 0;
    int marks = 0;
    w.on_assign(health, [&](entity, int& value) { healths += value; });
    w.on_assign<burning>([&](entity, burning& b) { burnings += b.left; });
    w.on_assign<marked>([&](entity) { ++marks; });
    w.query<const position>().par_each(four, 1, [&](entity e, const position& p) {
        if (p.x % 2 == 0) {
            w.touch(e, health);
            w.touch<burning>(e);
            w.touch(e, marked{});
        } else {
            w.patch(e, health, [](int& value) { value = 1; });
            w.patch<burning>(e, [](burning& b) { b.left = 2; });
            w.patch<marked>(e, [](marked&) {});
        }
    });
    EXPECT_EQ(healths, 100 * (7 + 1));
    EXPECT_EQ(burnings, 100 * (8 + 2));
    EXPECT_EQ(marks, 200);
}

TEST_F(phase_touch, systems_notify_in_their_order) {
    w.on_assign<velocity>([this](entity, velocity& v) { note("velocity", v.x); });
    const entity last = w.spawn(velocity{1});
    w.system("slow").each([this](entity e, velocity& v) {
        ++v.x;
        w.touch<velocity>(e);
    });
    w.system("move").each([this](entity e, position& p) {
        ++p.x;
        w.patch<position>(e, [](position&) {});
    });
    w.par_process_all(four);
    // As for all recorded changes: by entity in the order of first changes, then by fragment.
    ASSERT_EQ(log.size(), 101u + 400);
    EXPECT_EQ(log[0], "assign101");
    EXPECT_EQ(log[1], "set101");
    EXPECT_EQ(log[2], "velocity1");
    EXPECT_EQ(log[300], "velocity2");
    EXPECT_EQ(log[301], "assign1");
    EXPECT_EQ(log.back(), "set100");
    EXPECT_EQ(w.get<velocity>(last).x, 2);
}

TEST_F(phase_touch, in_a_scope_the_notes_wait_for_its_end) {
    const auto touch = [&](entity e, const position&) { w.touch<position>(e); };
    w.defer();
    w.query<const position>().par_each(four, 1, touch);
    EXPECT_TRUE(log.empty());
    w.commit();
    EXPECT_EQ(log, notes(0));
    log.clear();
    w.defer();
    w.query<const position>().par_each(four, 1, touch);
    w.cancel();
    EXPECT_TRUE(log.empty());
}

TEST_F(phase_touch, a_hook_that_throws_does_not_stop_the_others) {
    w.on_set<position>([](entity, position& p) {
        if (p.x == 1007) throw std::runtime_error("seven");
    });
    EXPECT_THROW(w.query<const position>().par_each(four, 1,
                                                    [&](entity e, const position&) {
                                                        w.patch<position>(
                                                            e, [](position& p) { p.x += 1000; });
                                                    }),
                 std::runtime_error);
    EXPECT_EQ(log, notes(1000));
    EXPECT_EQ(w.get<position>(all[7]).x, 1007);
}

}  // namespace
