// Unusual and wrong uses of parallel phases.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace muster;
using muster_tests::thread_executor;

namespace {

struct position {
    int x, y;
};
struct velocity {
    int x, y;
};
struct owned {
    std::unique_ptr<int> value;
};
struct marked {};
struct pinned {
    std::mutex guard;
};
struct unused {
    int value;
};

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
template <class Call>
std::string message_of(Call call) {
    try {
        call();
    } catch (const error& caught) {
        return caught.what();
    }
    return "nothing";
}
bool contains(const std::string& all, const std::string& part) {
    return all.find(part) != std::string::npos;
}

struct phase : testing::Test {
    world w;
    thread_executor two{2};

    void fill(int count) {
        for (int i = 0; i < count; ++i) w.spawn(position{i, 0});
    }
    /// Calls it once in a phase, with an entity that existed before and an entity spawned in the phase.
    void in_phase(const std::function<void(entity, entity)>& call) {
        const entity e = w.spawn(position{1, 1}, velocity{2, 2});
        std::atomic<int> calls = 0;
        w.query<const position>().with<velocity>().par_each(two, 1,
                                                            [&](entity it, const position&) {
                                                                if (it != e) return;
                                                                ++calls;
                                                                call(e, w.spawn());
                                                            });
        EXPECT_EQ(calls, 1);
        if (w.alive(e)) w.destroy(e);
    }
    void expect_refused(const std::function<void(entity)>& call) {
        in_phase([&](entity e, entity made) {
            EXPECT_EQ(code_of([&] { call(e); }), errc::in_scope);
            EXPECT_EQ(code_of([&] { call(made); }), errc::in_scope);
        });
    }
};

TEST_F(phase, a_hook_may_start_a_phase_while_the_changes_of_another_are_applied) {
    fill(100);
    int calls = 0;
    w.on_insert<owned>([&](entity, owned& o) {
        ASSERT_NE(o.value, nullptr);
        if (*o.value != 50) return;
        ++calls;
        w.query<position>().par_each(two, 3, [&](entity e, position& p) {
            p.y = 1;
            w.set(e, velocity{p.x, 0});
        });
    });
    w.query<const position>().par_each(two, 3, [&](entity e, const position& p) {
        w.set(e, owned{std::make_unique<int>(p.x)});
        w.spawn(marked{}, velocity{-1, 0});
    });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(w.size(), 200u);
    EXPECT_EQ(w.query<marked>().count(), 100u);
    w.query<const position, const owned, const velocity>().each(
        [](const position& p, const owned& o, const velocity& v) {
            EXPECT_EQ(p.x, *o.value);
            EXPECT_EQ(p.x, v.x);
            EXPECT_EQ(p.y, 1);
        });
    EXPECT_EQ((w.query<position, owned, velocity>().count()), 100u);
}

TEST_F(phase, calls_that_cannot_be_recorded_are_refused) {
    const auto health = w.fragment<int>();
    w.component<velocity>();
    w.component<marked>();
    auto known = w.system("known").each([](const velocity&) {});
    expect_refused([&](entity e) { w.name(e, "name"); });
    expect_refused([&](entity) { (void)w.ids<2>(); });
    expect_refused([&](entity) { (void)w.tag("tag"); });
    expect_refused([&](entity) { (void)w.fragment<int>(); });
    expect_refused([&](entity) { (void)(w.chunk<velocity, marked>()); });
    expect_refused([&](entity) { (void)w.chunk(health); });
    expect_refused([&](entity) { (void)w.component<unused>(); });
    expect_refused([&](entity) { w.define<velocity>().unique(); });
    expect_refused([&](entity e) { w.get_or_emplace<marked>(e); });
    expect_refused([&](entity e) { (void)w.clone(e); });
    expect_refused([&](entity) { w.spawn_at(entity::pack(77'777, 0, w.number())); });
    expect_refused([&](entity) { w.spawn_rows(3, [](rows) {}, position{}); });
    expect_refused([&](entity) { w.destroy_if([](entity) { return true; }); });
    expect_refused([&](entity) { w.reserve(100'000); });
    expect_refused([&](entity) { w.on_insert<velocity>([](entity, velocity&) {}); });
    expect_refused([&](entity) { w.system("new"); });
    expect_refused([&](entity) { known.each([](velocity&) {}); });
    expect_refused([&](entity) { known.with<marked>(); });
    expect_refused([&](entity) { known.reads<position>(); });
    expect_refused([&](entity) { known.prologue([] {}); });
    expect_refused([&](entity) { known.before("other"); });
    expect_refused([&](entity) { known.disable(); });
    expect_refused([&](entity) { known.remove(); });
    expect_refused([&](entity) { w.process(known); });
    expect_refused([&](entity) { w.par_process(two, known); });
    expect_refused([&](entity) { w.recycle_tombstones(); });
    expect_refused([&](entity) { w.commit(); });
    expect_refused([&](entity) { w.cancel(); });
    expect_refused([&](entity) { w.query<position>().set(velocity{}); });
    EXPECT_TRUE(known.is_enabled());
    EXPECT_FALSE(w.find_system("new"));
}

TEST_F(phase, reading_calls_are_allowed) {
    in_phase([&](entity e, entity made) {
        EXPECT_EQ(w.locate(e).row, 0u);
        EXPECT_TRUE(w.locate(made).chunk.empty());
        EXPECT_TRUE(w.empty(made));
        EXPECT_FALSE(w.empty(e));
        EXPECT_FALSE(w.query<const velocity>().matches(made));
        EXPECT_TRUE(w.query<const velocity>().matches(e));
        EXPECT_FALSE(w.query<const velocity>().explain(made).empty());
        int seen = 0;
        w.each_fragment(e, [&](id, void*) { ++seen; });
        w.each_fragment(made, [&](id, void*) { ++seen; });
        EXPECT_EQ(seen, 2);
        EXPECT_EQ(code_of([&] { (void)w.get<velocity>(made); }), errc::missing_component);
    });
}

TEST_F(phase, an_invalid_fragment_is_refused_at_once) {
    world other;
    const fragment<int> health = w.fragment<int>("health");
    const entity dead = w.ids<1>()[0];
    w.destroy(dead);
    const entity foreign = other.tag("foreign");
    in_phase([&](entity e, entity made) {
        const std::string message = message_of([&] { w.set(e, health.id(), 2.5); });
        EXPECT_TRUE(contains(message, "health") && contains(message, "phase_hostile_test"))
            << message;
        EXPECT_EQ(code_of([&] { w.set(e, health.id(), 2.5); }), errc::type_mismatch);
        EXPECT_EQ(code_of([&] { w.set(e, dead, 1); }), errc::dead_fragment);
        EXPECT_EQ(code_of([&] { w.set(e, dead); }), errc::dead_fragment);
        EXPECT_EQ(code_of([&] { w.set(e, entity{}, 1); }), errc::dead_fragment);
        EXPECT_EQ(code_of([&] { w.set(e, entity{}); }), errc::dead_fragment);
        EXPECT_EQ(code_of([&] { w.add(e, dead); }), errc::dead_fragment);
        EXPECT_EQ(code_of([&] { w.set(e, foreign, 1); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] { w.remove(e, foreign); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] { w.spawn(with(health.id(), 2.5)); }), errc::type_mismatch);
        w.set(e, made, 4);  // an id spawned in the phase can be a fragment
    });
    EXPECT_EQ(w.query().with(health).count(), 0u);
}

TEST_F(phase, a_type_that_cannot_move_is_refused) {
    w.component<pinned>();
    in_phase([&](entity e, entity made) {
        EXPECT_EQ(code_of([&] { w.emplace<pinned>(e); }), errc::not_movable);
        EXPECT_EQ(code_of([&] { w.emplace<pinned>(made); }), errc::not_movable);
    });
}

TEST_F(phase, dead_ids_stay_dead_while_their_keys_are_reused) {
    fill(64);
    std::vector<entity> dead;
    for (int i = 0; i < 64; ++i) dead.push_back(w.spawn());
    for (const entity e : dead) w.destroy(e);
    std::atomic<int> calls = 0;
    w.query<const position>().par_each(two, 1, [&](const position& p) {
        ++calls;
        w.spawn();
        const entity e = dead[static_cast<std::size_t>(p.x)];
        EXPECT_EQ(code_of([&] { w.set(e, velocity{}); }), errc::dead_entity);
        EXPECT_EQ(code_of([&] { (void)w.get<velocity>(e); }), errc::dead_entity);
        EXPECT_FALSE(w.destroy(e));
    });
    EXPECT_EQ(calls, 64);
    EXPECT_EQ(w.size(), 128u);
}

TEST_F(phase, several_threads_may_destroy_and_change_one_entity) {
    fill(200);
    const entity target = w.spawn(velocity{});
    int destroyed = 0;
    w.on_destroy([&](entity e) { destroyed += e == target ? 1 : 0; });
    w.query<const position>().par_each(two, 1, [&](const position& p) {
        if (p.x % 3 == 0)
            EXPECT_TRUE(w.destroy(target));
        else
            w.set(target, owned{std::make_unique<int>(p.x)});
    });
    EXPECT_EQ(destroyed, 1);
    EXPECT_FALSE(w.alive(target));
}

TEST_F(phase, a_copy_that_throws_records_nothing_of_its_call) {
    struct bomb {
        bool is_live;
        explicit bomb(bool live) : is_live(live) {}
        bomb(const bomb& other) : is_live(other.is_live) {
            if (is_live) throw std::runtime_error("copied");
        }
        bomb(bomb&&) noexcept = default;
    };
    fill(50);
    const bomb live(true);
    const bomb duds(false);
    std::atomic<int> caught = 0;
    w.query<const position>().par_each(two, 1, [&](entity e, const position& p) {
        try {
            w.spawn(velocity{}, p.x % 2 == 0 ? live : duds);
        } catch (const std::runtime_error&) {
            ++caught;
        }
        try {
            w.set(e, velocity{}, p.x % 2 == 0 ? duds : live);
        } catch (const std::runtime_error&) {
            ++caught;
        }
    });
    EXPECT_EQ(caught, 50);
    EXPECT_EQ(w.size(), 75u);
    EXPECT_EQ((w.query<velocity, bomb>().count()), 50u);
    EXPECT_EQ(w.query<velocity>().count(), 50u);
}

TEST_F(phase, a_hook_that_throws_at_the_end_does_not_stop_the_other_changes) {
    fill(40);
    w.on_insert<velocity>([](entity, velocity& v) {
        if (v.x == 7) throw std::runtime_error("seven");
    });
    const auto callback = [&](entity e, const position& p) { w.set(e, velocity{p.x, 0}); };
    EXPECT_THROW(w.query<const position>().par_each(two, 1, callback), std::runtime_error);
    EXPECT_EQ(w.query<velocity>().count(), 39u);
    w.spawn(velocity{});  // the phase has ended
}

TEST_F(phase, the_grain_may_be_any_number) {
    fill(100);
    thread_executor four(4);
    for (const std::size_t grain :
         {std::size_t{1}, std::size_t{99}, std::size_t{100}, std::size_t{1} << 63, ~std::size_t{0}})
        for (int i = 0; i < 20; ++i) {
            std::atomic<int> seen = 0;
            w.query<const position>().par_each(four, grain, [&](const position&) { ++seen; });
            ASSERT_EQ(seen, 100) << grain;
        }
}

/// Calls the parts in sequence, the last first, on one thread that is not the caller's.
class backwards_executor final : public executor {
public:
    [[nodiscard]] unsigned concurrency() const noexcept override { return 7; }
    void run(unsigned count, const task& work) override {
        std::thread([&] {
            for (unsigned i = count; i != 0; --i) work(i - 1);
        }).join();
    }
};
class failing_executor final : public executor {
public:
    explicit failing_executor(bool calls_some) : calls_some_(calls_some) {}
    [[nodiscard]] unsigned concurrency() const noexcept override { return 2; }
    void run(unsigned, const task& work) override {
        if (calls_some_) work(1);
        throw std::runtime_error("no threads");
    }

private:
    bool calls_some_;
};

TEST_F(phase, an_executor_may_call_the_parts_in_any_order_on_any_thread) {
    fill(300);
    std::vector<int> order;
    w.on_insert<velocity>([&](entity, velocity& v) { order.push_back(v.x); });
    backwards_executor one;
    w.query<const position>().par_each(
        one, 7, [&](entity e, const position& p) { w.set(e, velocity{p.x, 0}); });
    ASSERT_EQ(order.size(), 300u);
    for (int i = 0; i < 300; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(phase, an_exception_of_the_executor_is_rethrown_and_drops_all_changes) {
    fill(10);
    for (const bool calls_some : {false, true}) {
        failing_executor none(calls_some);
        int calls = 0;
        const auto callback = [&](entity e, const position&) {
            ++calls;
            w.spawn(velocity{});
            w.destroy(e);
        };
        EXPECT_THROW(w.query<const position>().par_each(none, 1, callback), std::runtime_error);
        EXPECT_EQ(calls, calls_some ? 10 : 0);
        EXPECT_EQ(w.size(), 10u);
        EXPECT_EQ(w.query<velocity>().count(), 0u);
    }
}

TEST_F(phase, no_id_is_issued_twice_when_versions_run_out) {
    // A small range, so that each key reaches its last version.
    basic_world<layouts::compact> small(world_options{.first_key = 0, .last_key = 15});
    small.spawn(position{0, 0});
    small.spawn(position{1, 0});
    std::mutex guard;
    std::vector<basic_id<layouts::compact>> all;
    int overflows = 0;
    for (int round = 0; round < 12'000 && overflows == 0; ++round) {
        try {
            small.query<const position>().par_each(two, 1, [&](const position&) {
                for (int i = 0; i < 4; ++i) {
                    const auto made = small.spawn(velocity{});
                    const std::lock_guard lock(guard);
                    all.push_back(made);
                }
            });
        } catch (const error& caught) {
            EXPECT_EQ(caught.code(), errc::id_overflow);
            ++overflows;
        }
        small.query<velocity>().destroy();
    }
    EXPECT_EQ(overflows, 1);  // in the end all keys are retired
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
    EXPECT_EQ(small.size(), 2u);
}

TEST_F(phase, the_message_of_an_overflow_is_correct) {
    world small(world_options{.first_key = 1, .last_key = 20});
    for (int i = 0; i < 10; ++i) small.spawn(position{i, 0});
    const std::string message = message_of([&] {
        small.query<const position>().par_each(two, 1, [&](const position&) {
            small.spawn();
            small.spawn();
        });
    });
    EXPECT_TRUE(contains(message, "1 to 20") && !contains(message, "10 of them free")) << message;
}

TEST_F(phase, command_buffers_can_reserve_ids_during_a_phase) {
    world small(world_options{.first_key = 1, .last_key = 3000});
    for (world* value : {&w, &small}) {
        for (int i = 0; i < 10; ++i) value->spawn(position{i, 0});
        for (int round = 1; round <= 20; ++round) {  // each needs more ids than the one before
            command_buffer b{*value};
            const int count = value == &small ? 1 + round : 100 * round;
            value->query<const position>().par_each(two, 1, [&](const position& p) {
                for (int i = 0; p.x == 3 && i < count; ++i) b.spawn(velocity{});
            });
            value->submit(b);
        }
    }
    EXPECT_EQ(w.query<velocity>().count(), 21'000u);
    EXPECT_EQ(small.query<velocity>().count(), 230u);
}

TEST_F(phase, applying_submitted_buffers_in_a_phase_does_nothing) {
    fill(2);
    backwards_executor other;  // calls on another thread
    std::atomic<int> calls = 0;
    w.query<const position>().par_each(other, 1, [&](const position&) {
        w.apply_submitted();
        ++calls;
    });
    EXPECT_EQ(calls, 2);
    command_buffer b{w};
    const entity e = b.spawn(velocity{});
    w.submit(b);
    EXPECT_TRUE(w.alive(e));  // this thread is still the world's thread
}

TEST_F(phase, other_threads_may_record_submit_and_discard_buffers_during_a_phase) {
    fill(32);
    std::atomic<bool> is_over = false;
    std::vector<std::thread> others;
    for (int t = 0; t < 3; ++t)
        others.emplace_back([&] {
            command_buffer b{w};
            for (int i = 0; i < 2000 && !is_over;
                 ++i) {  // a phase does not empty the submission queue
                const entity e = b.spawn(velocity{i, 0}, owned{std::make_unique<int>(i)});
                b.set(e, marked{});
                if (i % 5 == 4)
                    b.discard();
                else
                    w.submit(b);
                if (i % 20 == 0) std::this_thread::yield();
            }
            is_over.wait(false);
            b.spawn(velocity{-1, 0}, owned{std::make_unique<int>(-1)});
            w.submit(b);
        });
    for (int round = 0; round < 40; ++round) {
        w.query<position>().par_each(two, 4, [&](entity e, position& p) {
            ++p.y;
            const entity made = w.spawn(velocity{1, 1});
            if (p.x % 2 == 0) w.destroy(made);
            command_buffer b{w};
            b.set(e, velocity{2, 2});
            if (p.x % 3 == 0) w.submit(b);
        });
        w.query<velocity>().without<position>().destroy();
    }
    is_over = true;
    is_over.notify_all();
    for (std::thread& other : others) other.join();
    w.apply_submitted();
    int last_values = 0;
    w.query<const velocity, const owned>().each([&](const velocity& v, const owned& o) {
        EXPECT_EQ(v.x, *o.value);
        last_values += v.x == -1 ? 1 : 0;
    });
    EXPECT_EQ(last_values, 3);
    w.query<velocity>().without<position>().destroy();
    EXPECT_EQ(w.size(), 32u);
    int complete = 0;
    w.query<const position>().each([&](const position& p) { complete += p.y == 40 ? 1 : 0; });
    EXPECT_EQ(complete, 32);
}

TEST_F(phase, a_phase_concerns_only_its_world_and_its_threads) {
    world other;
    fill(20);
    w.query<const position>().par_each(two, 1, [&](entity e, const position& p) {
        if (p.x != 5) return;
        other.spawn(velocity{});  // only this thread uses it
        EXPECT_EQ(code_of([&] { other.set(e, velocity{}); }), errc::foreign_entity);
        std::thread([&] {
            EXPECT_EQ(code_of([&] { w.spawn(); }), errc::in_scope);
            EXPECT_EQ(code_of([&] { w.destroy(e); }), errc::in_scope);
            command_buffer b{w};
            b.spawn(velocity{});
            w.submit(b);
        }).join();
    });
    EXPECT_EQ(other.size(), 1u);
    EXPECT_EQ(w.query<velocity>().count(), 1u);
}

}  // namespace
