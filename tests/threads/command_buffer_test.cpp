// Changes that the user's threads record in command buffers and submit.
#include <muster/muster.hpp>

#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace muster;

namespace {

struct position {
    int x, y;
};
struct velocity {
    int x, y;
};
struct tag {};
struct owned {
    std::unique_ptr<int> value;
};
struct pinned {
    std::mutex guard;
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

TEST(command_buffer, submitting_applies_the_recorded_changes) {
    world w;
    const entity known = w.spawn(position{1, 1});
    const entity doomed = w.spawn(position{2, 2});
    command_buffer b{w};
    const entity made = b.spawn(position{3, 3}, owned{std::make_unique<int>(4)});
    b.set(made, velocity{5, 5});
    b.set(known, velocity{6, 6}, tag{});
    b.remove<position>(known);
    b.destroy(doomed);
    EXPECT_EQ(b.pending(), 3u + 1 + 2 + 1 + 1);
    EXPECT_FALSE(w.alive(made));
    EXPECT_TRUE(w.alive(doomed));
    EXPECT_EQ(w.size(), 2u);

    w.submit(b);

    EXPECT_EQ(b.pending(), 0u);
    EXPECT_TRUE(b.empty());
    EXPECT_TRUE(w.alive(made));
    EXPECT_EQ(w.get<position>(made).x, 3);
    EXPECT_EQ(*w.get<owned>(made).value, 4);
    EXPECT_EQ(w.get<velocity>(made).x, 5);
    EXPECT_EQ(w.get<velocity>(known).x, 6);
    EXPECT_TRUE(w.has<tag>(known));
    EXPECT_FALSE(w.has<position>(known));
    EXPECT_FALSE(w.alive(doomed));
    EXPECT_EQ(w.size(), 2u);
}

TEST(command_buffer, keys_of_its_entities_are_reused) {
    world w;
    command_buffer b{w};
    std::uint64_t highest = 0;
    for (int i = 0; i < 10'000; ++i) {
        const entity e = b.spawn(position{i, i});
        highest = std::max(highest, e.key());
        w.submit(b);
        ASSERT_TRUE(w.destroy(e));
    }
    EXPECT_LT(highest, 1000u);
    highest = 0;
    for (int i = 0; i < 10'000; ++i) {  // the spare ids of destroyed buffers are reused, too
        command_buffer once{w};
        const entity e = once.spawn(position{i, i});
        highest = std::max(highest, e.key());
        w.submit(once);
        ASSERT_TRUE(w.destroy(e));
    }
    EXPECT_LT(highest, 1000u);
}

TEST(command_buffer, discarded_ids_are_never_alive) {
    world w;
    command_buffer b{w};
    std::vector<entity> shown;
    for (int i = 0; i < 200; ++i) shown.push_back(b.spawn(owned{std::make_unique<int>(i)}));
    b.discard();
    EXPECT_EQ(b.pending(), 0u);
    w.submit(b);
    w.apply_submitted();
    std::set<entity> made;
    for (int i = 0; i < 1000; ++i) made.insert(w.spawn());
    for (const entity e : shown) {
        EXPECT_FALSE(w.alive(e));
        EXPECT_FALSE(made.contains(e));
    }
    EXPECT_EQ(w.size(), 1000u);
}

TEST(command_buffer, its_destructor_discards_the_changes) {
    world w;
    entity shown;
    const entity known = w.spawn(position{1, 1});
    {
        command_buffer b{w};
        shown = b.spawn(position{});
        b.destroy(known);
    }
    w.apply_submitted();
    EXPECT_TRUE(w.alive(known));
    EXPECT_FALSE(w.alive(shown));
    EXPECT_EQ(w.size(), 1u);
}

TEST(command_buffer, a_submission_in_a_scope_is_deferred) {
    world w;
    command_buffer b{w};
    const entity e = b.spawn(position{1, 2});
    w.defer();
    w.submit(b);
    EXPECT_TRUE(b.empty());
    EXPECT_FALSE(w.alive(e));
    w.commit();
    EXPECT_TRUE(w.alive(e));
    b.destroy(e);
    w.query<position>().each([&](position&) {
        w.submit(b);
        EXPECT_TRUE(w.alive(e));
    });
    EXPECT_FALSE(w.alive(e));
}

TEST(command_buffer, cancelling_a_scope_keeps_submitted_buffers) {
    world w;
    command_buffer b{w};
    const entity e = b.spawn(position{1, 2});
    w.defer();
    w.submit(b);
    w.cancel();
    w.apply_submitted();
    EXPECT_TRUE(w.alive(e));
}

TEST(command_buffer, commands_for_an_entity_that_died_meanwhile_are_dropped) {
    world w;
    const entity dead = w.spawn(position{});
    const entity living = w.spawn(position{});
    command_buffer b{w};
    b.set(dead, velocity{1, 1});
    b.set(living, velocity{2, 2});
    b.remove<position>(dead);
    b.destroy(dead);
    const entity made = b.spawn(velocity{3, 3});
    b.add<tag>(dead);
    w.destroy(dead);
    w.submit(b);
    EXPECT_EQ(w.get<velocity>(living).x, 2);
    EXPECT_EQ(w.get<velocity>(made).x, 3);
    EXPECT_EQ(w.size(), 2u);
    EXPECT_EQ(w.query<tag>().count(), 0u);
}

TEST(command_buffer, a_type_that_cannot_move_can_be_added) {
    world w;
    const entity e = w.spawn();
    command_buffer b{w};
    b.add<pinned>(e);
    w.submit(b);
    EXPECT_TRUE(w.has<pinned>(e));
}

TEST(command_buffer, all_kinds_of_fragments_can_be_recorded) {
    world w;
    const fragment<int> health = w.fragment<int>();
    const auto [plain_tag, values, dead] = w.ids<3>();
    const entity e = w.spawn();
    command_buffer b{w};
    b.set(e, health, 7);
    b.set(e, plain_tag);
    b.set(e, values, 2.5);
    const entity made = b.spawn(with(health, 9), tag{});
    b.add(e, disabled);
    w.submit(b);
    EXPECT_EQ(w.get(e, health), 7);
    EXPECT_TRUE(w.has(e, plain_tag));
    EXPECT_EQ(w.get<double>(e, values), 2.5);
    EXPECT_EQ(w.get(made, health), 9);
    EXPECT_TRUE(w.has(e, disabled));
    b.remove(e, health);
    b.remove(e, disabled);
    w.destroy(dead);
    b.set(e, dead, 1);
    b.clear(made);
    EXPECT_EQ(code_of([&] { w.submit(b); }), errc::dead_fragment);
    EXPECT_FALSE(w.has(e, health));
    EXPECT_FALSE(w.has(e, disabled));
    EXPECT_TRUE(w.empty(made));
    EXPECT_TRUE(w.alive(made));
}

TEST(command_buffer, foreign_and_null_ids_are_refused_at_once) {
    world w;
    world other;
    const entity foreign = other.spawn();
    command_buffer b{w};
    EXPECT_EQ(code_of([&] { b.set(foreign, position{}); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { b.destroy(foreign); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { b.remove<position>(entity{}); }), errc::dead_entity);
    EXPECT_EQ(b.pending(), 0u);
    // A forged id names no entity when the buffer is applied.
    b.set(entity::pack(12345, 3, w.number()), position{});
    w.submit(b);
    EXPECT_EQ(w.size(), 0u);
}

TEST(command_buffer, an_id_that_it_reserved_cannot_be_created_otherwise) {
    world w;
    command_buffer b{w};
    const entity mine = b.spawn(position{1, 1});
    EXPECT_EQ(code_of([&] { w.spawn_at(mine); }), errc::id_taken);
    w.submit(b);
    EXPECT_EQ(w.get<position>(mine).x, 1);
}

TEST(command_buffer, an_id_that_was_created_before_is_not_reserved) {
    world w;
    for (std::uint64_t key = 50; key < 300; key += 3) w.spawn_at(entity::pack(key, 0, w.number()));
    const std::size_t before = w.size();
    command_buffer b{w};
    std::set<entity> all;
    for (int i = 0; i < 500; ++i) {
        const entity e = b.spawn();
        EXPECT_FALSE(w.alive(e));
        all.insert(e);
    }
    w.submit(b);
    EXPECT_EQ(w.size(), before + 500);
    for (const entity e : all) EXPECT_TRUE(w.alive(e));
    while (w.size() < 2000) EXPECT_TRUE(all.insert(w.spawn()).second);
}

TEST(command_buffer, spawning_throws_when_the_ids_run_out) {
    world w(world_options{.first_key = 1, .last_key = 10});
    command_buffer b{w};
    for (int i = 0; i < 10; ++i) b.spawn();
    EXPECT_EQ(code_of([&] { b.spawn(); }), errc::id_overflow);
    EXPECT_EQ(code_of([&] { w.spawn(); }), errc::id_overflow);
    w.submit(b);
    EXPECT_EQ(w.size(), 10u);
    w.reset();
    EXPECT_EQ(w.size(), 0u);
}

TEST(command_buffer, collecting_garbage_returns_spare_ids) {
    world w(world_options{.first_key = 1, .last_key = 10});
    {
        command_buffer b{w};
        b.spawn();
        w.submit(b);
    }
    w.collect_garbage();
    while (w.size() < 10) w.spawn();
    EXPECT_EQ(w.size(), 10u);
}

template <class Call>
std::string message_of(Call call) {
    try {
        call();
    } catch (const error& caught) {
        return caught.what();
    }
    return "nothing was thrown";
}
std::size_t fill(world& w) {
    return static_cast<std::size_t>(code_of([&] {
                                        for (;;) w.spawn();
                                    }) == errc::id_overflow
                                        ? w.size()
                                        : 0);
}

TEST(command_buffer, keys_of_ended_buffers_return_before_the_keys_run_out) {
    const auto idle = [](world&, command_buffer& b) { b.spawn(), b.discard(); };
    const auto recorded = [](world&, command_buffer& b) {
        for (int i = 0; i < 100; ++i) b.spawn(position{i, i});
    };
    const auto submitted = [](world& w, command_buffer& b) {
        for (int i = 0; i < 100; ++i) b.spawn(position{i, i});
        w.submit(b);
    };
    const auto mixed = [](world& w, command_buffer& b) {
        for (int i = 0; i < 100; ++i) b.spawn(position{i, i});
        w.submit(b);
        for (int i = 0; i < 100; ++i) b.spawn(position{i, i});
    };
    void (*const all[])(world&, command_buffer&) = {idle, recorded, submitted, mixed};
    for (const auto use : all) {
        world w(world_options{.last_key = 1023});
        {
            command_buffer other{w};
            other.spawn();
            command_buffer b{w};
            use(w, b);
        }
        EXPECT_EQ(fill(w), 1024u);
        const std::string message = message_of([&] { w.spawn(); });
        EXPECT_NE(message.find("1024 keys, 0 of them free"), std::string::npos) << message;
        EXPECT_EQ(message.find("reserved"), std::string::npos) << message;
    }
}

TEST(command_buffer, keys_of_ended_buffers_return_in_a_scope_and_for_many_entities) {
    for (const bool is_deferred : {false, true}) {
        world w(world_options{.last_key = 1023});
        {
            command_buffer b{w};
            for (int i = 0; i < 100; ++i) b.spawn(position{i, i});
        }
        if (is_deferred) w.defer();
        EXPECT_EQ(w.spawn_many(1024, position{}).size(), 1024u);
        if (is_deferred) w.commit();
        EXPECT_EQ(w.count<position>(), 1024u);
        EXPECT_EQ(code_of([&] { w.spawn_many(1); }), errc::id_overflow);
    }
}

TEST(command_buffer, keys_of_ended_buffers_return_for_exact_ids_and_new_fragments) {
    world w(world_options{.last_key = 1023});
    entity wanted;
    {
        command_buffer b{w};
        wanted = b.spawn();
        b.spawn();
    }
    EXPECT_EQ(code_of([&] { w.spawn_at(wanted); }), errc::id_stale);  // it was handed out
    EXPECT_EQ(w.spawn_at(entity::pack(wanted.key() + 2, 0, w.number())).key(), wanted.key() + 2);
    using small_world = basic_world<layouts::compact>;
    small_world full;
    const auto all = full.spawn_many((1 << 20) - 64);
    {
        basic_command_buffer<layouts::compact> b{full};
        full.destroy(all[0]);
        full.apply_submitted();
        while (full.size() < (1 << 20) - 66) full.spawn();
        EXPECT_EQ(code_of([&] {
                      for (;;) b.spawn();
                  }),
                  errc::id_overflow);
        EXPECT_EQ(code_of([&] {
                      for (;;) full.spawn();
                  }),
                  errc::id_overflow);
        EXPECT_EQ(code_of([&] { full.set(all[1], velocity{}); }), errc::id_overflow);
    }
    full.set(all[1], velocity{});
    EXPECT_TRUE(full.has<velocity>(all[1]));
}

TEST(command_buffer, the_message_of_an_overflow_counts_the_keys_that_a_buffer_holds) {
    world w(world_options{.last_key = 1023});
    command_buffer b{w};
    b.spawn();
    const std::size_t alive = fill(w);
    const std::string message = message_of([&] { w.spawn(); });
    EXPECT_NE(message.find(", " + std::to_string(1024 - alive) + " reserved for command buffers"),
              std::string::npos)
        << message;
    w.submit(b);
    {
        const command_buffer ended = std::move(b);
    }
    EXPECT_EQ(fill(w), 1024u);
}

TEST(command_buffer, applying_reserves_a_key_even_if_few_are_free) {
    world w(world_options{.last_key = 63});
    const std::vector<entity> all = w.spawn_many(64);
    command_buffer b{w};
    EXPECT_EQ(code_of([&] { b.spawn(); }), errc::id_overflow);
    w.destroy(all[5]);
    w.apply_submitted();
    const entity made = b.spawn();
    w.submit(b);
    EXPECT_TRUE(w.alive(made));
}

TEST(command_buffer, it_does_not_reserve_all_keys) {
    world small(world_options{.first_key = 1, .last_key = 100});
    command_buffer few{small};
    few.spawn();
    small.spawn_many(80);
    EXPECT_EQ(small.size(), 80u);

    // The ids that are kept for the next buffer are not all ids.
    world w(world_options{.first_key = 1, .last_key = 1000});
    command_buffer b{w};
    for (int i = 0; i < 500; ++i) b.spawn(position{i, 0});
    w.submit(b);
    w.spawn_many(400);
    EXPECT_EQ(w.size(), 900u);
}

TEST(command_buffer, a_large_world_and_one_that_was_full_have_ids_for_it) {
    using small_world = basic_world<layouts::compact>;
    using small_buffer = basic_command_buffer<layouts::compact>;
    small_world large;
    large.spawn_many(600'000);
    small_buffer b{large};
    for (int i = 0; i < 1000; ++i) b.spawn();
    large.submit(b);
    EXPECT_EQ(large.size(), 601'000u);

    small_world full(world_options{.first_key = 0, .last_key = 9999});
    const auto all = full.spawn_many(10'000, position{});
    small_buffer c{full};
    EXPECT_EQ(code_of([&] { c.spawn(); }), errc::id_overflow);
    full.query<position>().destroy();
    full.apply_submitted();  // only the world's thread can hand out free keys
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 500; ++i) c.spawn(position{});
        full.submit(c);
    }
    EXPECT_EQ(full.size(), 2500u);
    for (const auto e : all) EXPECT_FALSE(full.alive(e));
}

TEST(command_buffer, many_spawned_and_destroyed_entities_do_not_use_up_the_keys) {
    world w(world_options{.first_key = 1, .last_key = 5000});
    command_buffer b{w};
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 500; ++i) b.spawn(position{i, round});
        w.submit(b);
        EXPECT_EQ(w.query<position>().destroy(), 500u);
    }
    EXPECT_EQ(w.size(), 0u);
}

TEST(command_buffer, only_the_world_s_thread_applies_a_submission_at_once) {
    // A new thread may have the address of an old one.
    for (int i = 0; i < 20; ++i) {
        std::unique_ptr<world> w;
        std::thread([&] { w = std::make_unique<world>(); }).join();
        std::thread([&] {
            command_buffer b{*w};
            const entity e = b.spawn(position{});
            w->submit(b);
            EXPECT_FALSE(w->alive(e));
        }).join();
        w->apply_submitted();
        EXPECT_EQ(w->size(), 1u);
    }
}

TEST(command_buffer, invalid_fragments_are_refused_at_once_or_when_applied_with_the_call_site) {
    world w;
    world other;
    const entity e = w.spawn();
    const entity foreign = other.tag("foreign");
    const fragment<int> health = w.fragment<int>("health");
    command_buffer b{w};
    EXPECT_EQ(code_of([&] { b.set(e, foreign, 1); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { b.set(e, foreign); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { b.remove(e, foreign); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { b.spawn(with(foreign, 1)); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { b.add(e, entity{}); }), errc::dead_fragment);
    EXPECT_EQ(b.pending(), 0u);
    b.set(e, health.id(), 2.5);
    try {
        w.submit(b);
        FAIL();
    } catch (const error& caught) {
        EXPECT_EQ(caught.code(), errc::type_mismatch);
        EXPECT_NE(std::string(caught.what()).find("command_buffer_test"), std::string::npos)
            << caught.what();
    }
}

TEST(command_buffer, reset_keeps_submitted_buffers) {
    world w;
    const entity old = w.spawn(position{1, 1});
    command_buffer b{w};
    const entity made = b.spawn(position{3, 3});
    b.set(old, velocity{});
    w.defer();
    w.submit(b);
    w.cancel();
    w.reset();
    w.apply_submitted();
    EXPECT_TRUE(w.alive(made));
    EXPECT_FALSE(w.alive(old));
    w.reset();
    EXPECT_FALSE(w.alive(made));
    for (int i = 0; i < 1000; ++i) EXPECT_NE(w.spawn(), made);
}

TEST(command_buffer, a_copy_that_throws_records_nothing) {
    struct bomb {
        bomb() = default;
        bomb(const bomb&) { throw std::runtime_error("copied"); }
        bomb(bomb&&) noexcept = default;
    };
    world w;
    const entity e = w.spawn();
    const bomb live;
    command_buffer b{w};
    EXPECT_THROW(b.spawn(position{}, live), std::runtime_error);
    EXPECT_THROW(b.set(e, position{}, live), std::runtime_error);
    EXPECT_EQ(b.pending(), 0u);
    w.submit(b);
    EXPECT_EQ(w.size(), 1u);
    EXPECT_TRUE(w.empty(e));
}

TEST(command_buffer, sparse_components_tags_and_pinned_components_can_be_recorded) {
    struct sparse_one {
        std::unique_ptr<int> value;
    };
    world w;
    w.define<sparse_one>().sparse();
    const entity e = w.spawn(position{});
    command_buffer b{w};
    b.set(e, sparse_one{std::make_unique<int>(1)}, tag{});
    b.set(e, sparse_one{std::make_unique<int>(2)});
    const entity made = b.spawn(sparse_one{std::make_unique<int>(3)}, tag{});
    b.add<pinned>(made);
    b.set(made, sparse_one{std::make_unique<int>(4)});
    b.remove<tag>(made);
    w.submit(b);
    EXPECT_EQ(*w.get<sparse_one>(e).value, 2);
    EXPECT_EQ(*w.get<sparse_one>(made).value, 4);
    EXPECT_TRUE(w.has<pinned>(made));
    EXPECT_FALSE(w.has<tag>(made));
    b.remove<sparse_one>(e);
    b.destroy(made);
    w.submit(b);
    EXPECT_FALSE(w.has<sparse_one>(e));
    EXPECT_EQ(w.query<sparse_one>().count(), 0u);
}

TEST(command_buffer, a_moved_buffer_continues_recording) {
    world w;
    command_buffer a{w};
    const entity e = a.spawn(position{1, 1});
    command_buffer b{std::move(a)};
    b.set(e, velocity{2, 2});
    w.submit(b);
    EXPECT_TRUE((w.has_all<position, velocity>(e)));
}

TEST(command_buffer, values_that_are_never_applied_are_destroyed_with_the_world) {
    auto counter = std::make_shared<int>(0);
    struct counted {
        std::shared_ptr<int> held;
    };
    {
        world w;
        command_buffer b{w};
        b.spawn(counted{counter});
        w.defer();
        w.submit(b);
        b.spawn(counted{counter});
        EXPECT_EQ(counter.use_count(), 3);
    }
    EXPECT_EQ(counter.use_count(), 1);
}

TEST(command_buffer, threads_record_while_the_world_changes) {
    world w;
    std::atomic<int> submitted = 0;
    std::vector<std::thread> others;
    for (int t = 0; t < 3; ++t)
        others.emplace_back([&, t] {
            command_buffer b{w};
            entity last;
            for (int i = 0; i < 300; ++i) {
                const entity e = b.spawn(position{t, i}, owned{std::make_unique<int>(i)});
                b.set(e, velocity{i, i});
                if (last) b.destroy(last);
                last = e;
                if (i % 10 == 9) w.submit(b);
                if (i % 50 == 49) {
                    b.spawn(position{});
                    b.discard();
                }
            }
            w.submit(b);
            ++submitted;
        });
    while (submitted < 3) {
        const entity e = w.spawn(position{9, 9});
        w.query<position>().each([&](entity, position& p) { p.y += 0; });
        w.destroy(e);
    }
    for (std::thread& other : others) other.join();
    w.apply_submitted();
    EXPECT_EQ(w.size(), 3u);
    int rows = 0;
    w.query<const position, const velocity, const owned>().each(
        [&](const position& p, const velocity& v, const owned& o) {
            ++rows;
            EXPECT_EQ(p.y, 299);
            EXPECT_EQ(v.x, 299);
            EXPECT_EQ(*o.value, 299);
        });
    EXPECT_EQ(rows, 3);
}

TEST(command_buffer, buffers_are_applied_in_the_order_of_submission) {
    world w;
    const entity e = w.spawn(position{0, 0});
    command_buffer a{w};
    command_buffer b{w};
    a.set(e, position{1, 0});
    b.set(e, position{2, 0});
    w.defer();
    w.submit(b);
    w.submit(a);
    w.commit();
    EXPECT_EQ(w.get<position>(e).x, 1);
}

TEST(command_buffer,
     a_submission_of_another_thread_is_deferred_until_the_world_s_thread_processes) {
    world w;
    entity e;
    std::thread([&] {
        command_buffer b{w};
        e = b.spawn(position{4, 4});
        w.submit(b);
        EXPECT_FALSE(w.alive(e));
    }).join();
    w.system("look").each([](position&) {});
    w.process_all();
    EXPECT_TRUE(w.alive(e));
}

}  // namespace
