// Loops on several threads. Compiled for two layouts; see support/parallel_layout.hpp.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/parallel_layout.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace muster;
using muster_tests::thread_executor;

namespace {

using muster_tests::parallel::entity;
using muster_tests::parallel::fragment;
using muster_tests::parallel::ids_name_their_world;
using muster_tests::parallel::world;

struct position {
    int x, y;
};
struct velocity {
    int x, y;
};
struct marked {};
struct owned {
    std::unique_ptr<int> value;
};
struct burning {
    int left;
};
struct unseen {
    int value;
};

}  // namespace

template <>
struct muster::component_traits<burning> {
    static constexpr bool sparse = true;
};

namespace {

template <class Call>
errc code_of(Call call) {
    try {
        call();
    } catch (const error& caught) {
        return caught.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return errc::limit;
}

/// The number of threads, and of rows that a thread takes at once.
struct ways : testing::TestWithParam<std::pair<unsigned, std::size_t>> {
    thread_executor threads{GetParam().first};
    std::size_t grain = GetParam().second;
    world w;
};
INSTANTIATE_TEST_SUITE_P(all, ways,
                         testing::Values(std::pair{1u, 0u}, std::pair{2u, 1u}, std::pair{4u, 7u},
                                         std::pair{3u, 100u}, std::pair{4u, 0u}),
                         [](const auto& tested) {
                             return std::to_string(tested.param.first) + "_threads_by_" +
                                    std::to_string(tested.param.second);
                         });

TEST_P(ways, each_row_is_visited_once) {
    std::vector<entity> all;
    for (int i = 0; i < 3000; ++i) {
        all.push_back(w.spawn(position{0, 0}));
        if (i % 3 == 0) w.set(all.back(), velocity{1, 1});
        if (i % 7 == 0) w.set(all.back(), marked{});
    }
    w.query<position>().par_each(threads, grain, [](position& p) { ++p.x; });
    w.query<position, const velocity*>().par_each(threads, grain,
                                                  [](position& p, const velocity* v) {
                                                      if (v != nullptr) p.y += v->y;
                                                  });
    for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(w.get<position>(all[i]).x, 1);
        ASSERT_EQ(w.get<position>(all[i]).y, i % 3 == 0 ? 1 : 0);
    }
}

TEST_P(ways, the_callback_receives_the_entity_of_its_components) {
    std::vector<entity> all;
    for (int i = 0; i < 1000; ++i) all.push_back(w.spawn(position{i, 0}));
    std::atomic<int> right = 0;
    w.query<position>().par_each(threads, grain, [&](entity e, position& p) {
        if (all[static_cast<std::size_t>(p.x)] == e) ++right;
    });
    EXPECT_EQ(right, 1000);
}

TEST_P(ways, empty_worlds_and_empty_chunks_call_nothing) {
    const auto never = [](position&) { FAIL(); };
    w.query<position>().par_each(threads, grain, never);
    w.destroy(w.spawn(position{}));
    w.query<position>().par_each(threads, grain, never);
    w.spawn(position{});
    std::atomic<int> calls = 0;
    w.query<position>().par_each(threads, grain, [&](position&) { ++calls; });
    EXPECT_EQ(calls, 1);
}

TEST_P(ways, changes_are_applied_at_the_end_in_the_order_of_the_rows) {
    for (int i = 0; i < 500; ++i) w.spawn(position{i, 0});
    std::vector<int> order;
    w.on_insert<velocity>([&](entity, velocity& v) { order.push_back(v.x); });
    std::atomic<int> early = 0;
    w.query<position>().par_each(threads, grain, [&](entity e, position& p) {
        w.set(e, velocity{p.x, 0});
        if (w.has<velocity>(e)) ++early;
    });
    EXPECT_EQ(early, 0);
    ASSERT_EQ(order.size(), 500u);
    EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_P(ways, a_spawned_entity_is_alive_at_once_and_has_its_components_at_the_end) {
    for (int i = 0; i < 500; ++i) w.spawn(position{i, 0});
    for (int i = 0; i < 100; ++i) w.destroy(w.spawn());  // free keys
    for (const entity e : w.spawn_many(50)) w.destroy(e);
    std::mutex guard;
    std::vector<entity> made;
    w.query<const position>().par_each(threads, grain, [&](const position& p) {
        const entity e = w.spawn(velocity{p.x, 1}, marked{});
        EXPECT_TRUE(w.alive(e));
        EXPECT_FALSE(w.has<velocity>(e));
        EXPECT_EQ(w.try_get<velocity>(e), nullptr);
        w.set(e, burning{p.x});
        const std::lock_guard lock(guard);
        made.push_back(e);
    });
    EXPECT_EQ(w.size(), 1000u);
    EXPECT_EQ(std::set(made.begin(), made.end()).size(), 500u);
    for (const entity e : made) {
        ASSERT_TRUE(w.alive(e));
        ASSERT_TRUE((w.has_all<velocity, marked, burning>(e)));
        EXPECT_EQ(w.get<velocity>(e).x, w.get<burning>(e).left);
    }
}

TEST_P(ways, other_threads_see_that_a_spawned_entity_is_alive) {
    for (int i = 0; i < 300; ++i) w.spawn(position{i, 0});
    for (const entity e : w.spawn_many(20)) w.destroy(e);
    std::array<std::atomic<std::uint64_t>, 300> made{};
    std::atomic<int> checked = 0;
    std::atomic<int> wrong = 0;
    w.query<const position>().par_each(threads, grain, [&](const position& p) {
        made[static_cast<std::size_t>(p.x)].store(w.spawn().value());
        for (const auto& item : made) {
            const std::uint64_t value = item.load();
            if (value == 0) continue;  // not spawned yet
            ++checked;
            if (!w.alive(entity::from_value(value))) ++wrong;
        }
    });
    EXPECT_EQ(wrong, 0);
    // The row that is last to store its id sees all of them, the one before at least 299, and so on.
    EXPECT_GE(checked, 300 * 301 / 2);
}

TEST_P(ways, a_destroyed_entity_stays_alive_until_the_end) {
    std::vector<entity> all;
    for (int i = 0; i < 400; ++i) all.push_back(w.spawn(position{i, 0}));
    std::atomic<int> dead = 0;
    w.query<const position>().par_each(threads, grain, [&](entity e, const position&) {
        EXPECT_TRUE(w.destroy(e));
        for (const entity other : all)
            if (!w.alive(other)) ++dead;
    });
    EXPECT_EQ(dead, 0);
    EXPECT_EQ(w.size(), 0u);
}

TEST_P(ways, all_kinds_of_changes_can_be_recorded) {
    const fragment<int> health = w.fragment<int>();
    const entity tag = w.ids<1>()[0];
    std::vector<entity> all;
    for (int i = 0; i < 200; ++i) all.push_back(w.spawn(position{i, 0}, velocity{i, i}));
    w.define<unseen>().default_value(unseen{5});
    w.query<const position>().par_each(threads, grain, [&](entity e, const position& p) {
        switch (p.x % 8) {
        case 0: EXPECT_TRUE(w.remove<velocity>(e)); break;
        case 1: EXPECT_TRUE(w.add<unseen>(e)); break;
        case 2: w.set(e, health, p.x); break;
        case 3: w.set(e, tag); break;
        case 4: EXPECT_TRUE(w.clear(e)); break;
        case 5:
            w.emplace<owned>(e, std::make_unique<int>(1)).value = std::make_unique<int>(p.x);
            break;
        case 6: EXPECT_FALSE((w.remove<marked>(e))); break;
        default: EXPECT_FALSE((w.add<velocity>(e))); break;
        }
    });
    for (int i = 0; i < 200; ++i) {
        const entity e = all[static_cast<std::size_t>(i)];
        ASSERT_TRUE(w.alive(e));
        EXPECT_EQ(w.has<velocity>(e), i % 8 != 0 && i % 8 != 4);
        EXPECT_EQ(w.has<unseen>(e), i % 8 == 1);
        if (i % 8 == 1) EXPECT_EQ(w.get<unseen>(e).value, 5);
        EXPECT_EQ(w.has(e, health), i % 8 == 2);
        if (i % 8 == 2) EXPECT_EQ(w.get(e, health), i);
        EXPECT_EQ(w.has(e, tag), i % 8 == 3);
        EXPECT_EQ(w.empty(e), i % 8 == 4);
        EXPECT_EQ(w.has<owned>(e), i % 8 == 5);
        if (i % 8 == 5) EXPECT_EQ(*w.get<owned>(e).value, i);
    }
}

TEST_P(ways, sparse_components_can_be_looped_over_and_set) {
    for (int i = 0; i < 300; ++i) {
        const entity e = w.spawn(position{i, 0});
        if (i % 2 == 0) w.set(e, burning{i});
    }
    std::atomic<int> seen = 0;
    w.query<const position, burning>().par_each(threads, grain,
                                                [&](entity e, const position& p, burning& b) {
                                                    EXPECT_EQ(p.x, b.left);
                                                    ++seen;
                                                    if (--b.left % 4 != 1) w.remove<burning>(e);
                                                });
    EXPECT_EQ(seen, 150);
    w.query<const position>().without<burning>().par_each(
        threads, grain, [&](entity e, const position& p) { w.set(e, burning{p.x}); });
    EXPECT_EQ(w.query<burning>().count(), 300u);
}

TEST_P(ways, other_queries_can_be_used_inside) {
    for (int i = 0; i < 60; ++i) w.spawn(position{i, 0}, velocity{1, 0});
    const auto known = w.query<const velocity>();
    EXPECT_EQ(known.count(), 60u);
    const auto first_used_inside = w.query<const velocity>().without<marked>();
    std::atomic<int> sum = 0;
    w.query<const position>().par_each(threads, grain, [&](const position&) {
        known.each([&](const velocity& v) { sum += v.x; });
        first_used_inside.each([&](const velocity& v) { sum += v.x; });
        w.query<const velocity>().each([&](const velocity& v) { sum += v.x; });
        for (auto [e, v] : known) sum += v.x;
        sum += static_cast<int>(known.count());
        known.par_each(threads, grain, [&](const velocity& v) { sum += v.x; });
    });
    EXPECT_EQ(sum, 60 * 60 * 6);
}

TEST_P(ways, an_exception_leaves_the_world_unchanged) {
    for (int i = 0; i < 1000; ++i) w.spawn(position{i, 0}, owned{std::make_unique<int>(i)});
    std::mutex guard;
    std::vector<entity> made;
    const auto callback = [&](entity e, const position& p) {
        w.destroy(e);
        const entity spawned = w.spawn(position{1, 1}, owned{std::make_unique<int>(2)});
        {
            const std::lock_guard lock(guard);
            made.push_back(spawned);
        }
        if (p.x == 700) throw std::runtime_error("seven hundred");
    };
    try {
        w.query<const position>().par_each(threads, grain, callback);
        FAIL();
    } catch (const std::runtime_error& caught) {
        EXPECT_STREQ(caught.what(), "seven hundred");
    }
    EXPECT_EQ(w.size(), 1000u);
    for (const entity e : made) EXPECT_FALSE(w.alive(e));
    int count = 0;
    w.query<const position, const owned>().each([&](const position& p, const owned& o) {
        EXPECT_EQ(p.x, *o.value);
        ++count;
    });
    EXPECT_EQ(count, 1000);
    w.spawn(position{});  // the phase has ended
    EXPECT_EQ(w.size(), 1001u);
}

TEST_P(ways, an_exception_stops_the_other_threads_and_one_is_rethrown) {
    for (int i = 0; i < 1000; ++i) w.spawn(position{i, 0});
    std::atomic<int> calls = 0;
    const auto callback = [&](const position&) {
        ++calls;
        throw 5;
    };
    EXPECT_THROW(w.query<const position>().par_each(threads, grain, callback), int);
    EXPECT_LE(calls, static_cast<int>(GetParam().first));
}

TEST_P(ways, in_a_scope_changes_are_deferred_until_it_closes) {
    const entity first = w.spawn(position{0, 0});
    for (int i = 1; i < 200; ++i) w.spawn(position{i, 0});
    w.defer();
    w.set(first, velocity{7, 7});
    w.query<const position>().par_each(threads, grain, [&](entity e, const position& p) {
        w.set(e, owned{std::make_unique<int>(p.x)});
        w.set(e, burning{p.x});
        w.spawn(marked{});
    });
    EXPECT_EQ(w.query<owned>().count(), 0u);
    w.commit();
    EXPECT_EQ(w.query<marked>().count(), 200u);
    int seen = 0;
    w.query<const position, const owned, const burning>().each(
        [&](const position& p, const owned& o, const burning& b) {
            ++seen;
            EXPECT_EQ(p.x, *o.value);
            EXPECT_EQ(p.x, b.left);
        });
    EXPECT_EQ(seen, 200);
    EXPECT_EQ(w.get<velocity>(first).x, 7);
    EXPECT_EQ(w.query<owned>().count(), 200u);
    w.defer();
    w.query<const position>().par_each(threads, grain,
                                       [&](entity e, const position&) { w.destroy(e); });
    w.cancel();
    EXPECT_EQ(w.query<position>().count(), 200u);
}

TEST(par_each, two_threads_process_rows_at_the_same_time) {
    world w;
    w.spawn(position{});
    w.spawn(position{});
    std::mutex guard;
    std::condition_variable arrived;
    std::vector<std::thread::id> callers;
    bool is_late = false;
    thread_executor two(2);
    w.query<const position>().par_each(two, 1, [&](const position&) {
        std::unique_lock lock(guard);
        callers.push_back(std::this_thread::get_id());
        arrived.notify_all();
        const auto both_are_here = [&] { return callers.size() == 2; };
        if (!arrived.wait_for(lock, std::chrono::seconds(5), both_are_here)) is_late = true;
    });
    EXPECT_FALSE(is_late) << "a row waited for the other";
    ASSERT_EQ(callers.size(), 2u);
    EXPECT_NE(callers[0], callers[1]);
}

TEST(par_each, calls_that_a_phase_does_not_permit_throw_in_scope) {
    world w;
    w.spawn(position{1, 1});
    thread_executor two(2);
    std::atomic<int> calls = 0;
    const auto refuses = [&](auto call) {
        w.query<const position>().par_each(two, 1, [&](entity e, const position&) {
            ++calls;
            EXPECT_EQ(code_of([&] { call(e); }), errc::in_scope);
        });
    };
    refuses([&](entity e) { (void)w.clone(e); });
    refuses([&](entity) { (void)w.spawn_many(3, position{}); });
    refuses([&](entity) { w.reset(); });
    refuses([&](entity) { w.collect_garbage(); });
    refuses([&](entity) { w.query<position>().destroy(); });
    refuses([&](entity) { w.define<position>().unique(); });
    refuses([&](entity) { (void)w.query<owned>(); });  // the first use of a type
    refuses([&](entity) { w.defer(); });
    EXPECT_EQ(calls, 8);
    EXPECT_EQ(w.size(), 1u);
    EXPECT_EQ(w.depth(), 0u);
}

TEST(par_each, dead_and_foreign_ids_are_refused) {
    world w;
    world other;
    const entity dead = w.spawn();
    w.destroy(dead);
    const entity foreign = other.spawn();
    w.spawn(position{});
    thread_executor two(2);
    std::atomic<int> calls = 0;
    w.query<const position>().par_each(two, 1, [&](entity, const position&) {
        ++calls;
        EXPECT_EQ(code_of([&] { w.set(dead, velocity{}); }), errc::dead_entity);
        EXPECT_EQ(code_of([&] { w.set(entity{}, velocity{}); }), errc::dead_entity);
        EXPECT_FALSE(w.destroy(dead));
        EXPECT_FALSE(w.remove<velocity>(dead));
        EXPECT_FALSE(w.clear(dead));
        EXPECT_FALSE(w.alive(dead));
        if constexpr (ids_name_their_world) {
            EXPECT_EQ(code_of([&] { w.set(foreign, velocity{}); }), errc::foreign_entity);
            EXPECT_EQ(code_of([&] { w.destroy(foreign); }), errc::foreign_entity);
        }
    });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(w.size(), 1u);
    EXPECT_TRUE(other.alive(foreign));
}

TEST(par_each, a_thread_outside_of_the_phase_may_not_change_the_world) {
    world w;
    w.spawn(position{});
    thread_executor two(2);
    std::atomic<int> calls = 0;
    w.query<const position>().par_each(two, 1, [&](entity e, const position&) {
        std::thread([&] {
            ++calls;
            EXPECT_EQ(code_of([&] { w.set(e, velocity{}); }), errc::in_scope);
            EXPECT_TRUE(w.alive(e));
        }).join();
    });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(w.query<velocity>().count(), 0u);
}

TEST(par_each, a_type_that_cannot_move_can_be_added) {
    struct pinned {
        std::mutex guard;
    };
    world w;
    const entity e = w.spawn(position{});
    thread_executor two(2);
    w.query<const position>().par_each(two, 1,
                                       [&](entity it, const position&) { w.add<pinned>(it); });
    EXPECT_TRUE(w.has<pinned>(e));
}

TEST(par_each, two_worlds_can_be_in_phases_at_once) {
    world a;
    world b;
    for (int i = 0; i < 50; ++i) a.spawn(position{i, 0});
    b.spawn(position{});
    thread_executor two(2);
    thread_executor one(1);
    a.query<const position>().par_each(one, 1, [&](const position&) {
        b.query<const position>().par_each(two, 1, [&](const position&) { b.spawn(velocity{}); });
    });
    EXPECT_EQ(b.query<velocity>().count(), 50u);
}

TEST(par_each, spawning_throws_when_the_ids_run_out) {
    world w(world_options{.first_key = 1, .last_key = 20});
    for (int i = 0; i < 10; ++i) w.spawn(position{i, 0});
    thread_executor two(2);
    const auto spawn = [&](const position&) {
        w.spawn();
        w.spawn();
    };
    EXPECT_EQ(code_of([&] { w.query<const position>().par_each(two, 1, spawn); }),
              errc::id_overflow);
    EXPECT_EQ(w.size(), 10u);
    w.spawn_many(10);
    EXPECT_EQ(w.size(), 20u);
}

}  // namespace
