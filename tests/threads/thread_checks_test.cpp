// The errors that only builds with MUSTER_THREAD_CHECKS=1 detect. This program and its library are built so.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/errors.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>

using namespace muster;
using muster_tests::thread_executor;

namespace {

struct position {
    int x, y;
};
struct velocity {
    int x, y;
};
struct health {
    int left;
};

/// Runs the call on another thread and returns the message of its error.
template <class Call>
std::string message_on_another_thread(Call call, errc expected) {
    std::string message;
    std::thread([&] {
        try {
            call();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const error& caught) {
            EXPECT_EQ(caught.code(), expected) << caught.what();
            message = caught.what();
        }
    }).join();
    return message;
}
bool contains(const std::string& all, const std::string& part) {
    return all.find(part) != std::string::npos;
}

TEST(thread_checks, a_second_writer_throws_and_the_message_names_both_calls) {
    world w;
    const entity e = w.spawn(position{});
    int calls = 0;
    w.query<position>().each([&](position&) {
        const auto refused = [&](auto call) {
            ++calls;
            return message_on_another_thread(call, errc::second_writer);
        };
        const std::string message = refused([&] { w.set(e, velocity{}); });
        EXPECT_TRUE(contains(message, "set on one thread")) << message;
        EXPECT_TRUE(contains(message, "a loop or another scope")) << message;
        refused([&] { (void)w.spawn(position{}); });
        refused([&] { (void)w.spawn(); });
        refused([&] { w.destroy(e); });
        refused([&] { w.remove<position>(e); });
        refused([&] { w.clear(e); });
        refused([&] { (void)w.clone(e); });
        refused([&] { (void)w.spawn_many(3, position{}); });
        refused([&] { w.defer(); });
        refused([&] { w.query<position>().each([](position&) {}); });
        refused([&] { w.query<position>().destroy(); });
        refused([&] { w.name(e, "name"); });
        refused([&] { w.reset(); });
        EXPECT_TRUE(w.alive(e));
    });
    EXPECT_EQ(calls, 13);
    EXPECT_EQ(w.size(), 1u);
}

TEST(thread_checks, changes_of_another_thread_during_a_hook_throw) {
    world w;
    int calls = 0;
    w.on_insert<position>([&](entity e, position&) {
        ++calls;
        message_on_another_thread([&] { w.set(e, velocity{}); }, errc::second_writer);
    });
    const entity e = w.spawn(position{});
    EXPECT_EQ(calls, 1);
    EXPECT_FALSE(w.has<velocity>(e));
}

TEST(thread_checks, threads_may_change_a_world_in_sequence) {
    world w;
    const entity e = w.spawn(position{});
    std::thread([&] { w.set(e, velocity{}); }).join();
    std::thread([&] {
        w.query<position>().each([&](entity it, position&) { w.destroy(it); });
    }).join();
    EXPECT_EQ(w.size(), 0u);
}

TEST(thread_checks, another_thread_may_read_and_record_during_a_loop) {
    world w;
    const entity e = w.spawn(position{4, 4});
    w.query<const position>().each([&](const position&) {
        std::thread([&] {
            EXPECT_EQ(std::as_const(w).get<position>(e).x, 4);
            command_buffer b{w};
            b.set(e, velocity{});
            w.submit(b);
        }).join();
    });
    EXPECT_TRUE(w.has<velocity>(e));
}

TEST(thread_checks, an_undeclared_access_throws_and_the_message_names_both_systems) {
    world w;
    const entity e = w.spawn(position{}, velocity{}, health{});
    thread_executor two(2);
    w.system("move").each([](position& p) { ++p.x; });
    w.system("peek").each([&](const health&) { (void)w.get<position>(e); });
    try {
        w.par_process_all(two);
        FAIL();
    } catch (const error& caught) {
        EXPECT_EQ(caught.code(), errc::undeclared_access);
        for (const char* part : {"\"move\"", "\"peek\"", "position"})
            EXPECT_TRUE(contains(caught.what(), part)) << caught.what();
    }
}

TEST(thread_checks, an_undeclared_loop_throws) {
    world w;
    w.spawn(position{}, velocity{}, health{});
    thread_executor two(2);
    w.system("move").each([](position& p) { ++p.x; });
    const auto all = w.query<const position>();
    w.system("peek").each([&](const health&) { all.each([](const position&) {}); });
    EXPECT_EQ(test::code_of([&] { w.par_process_all(two); }), errc::undeclared_access);
}

TEST(thread_checks, undeclared_access_by_chunk_by_try_get_or_to_a_singleton_throws) {
    world w;
    const entity e = w.spawn(position{}, velocity{}, health{});
    w.set_single(position{});
    thread_executor two(2);
    w.system("move").each([](position& p) { ++p.x; });
    const auto peek = w.system("peek").query(w.query<const health>());
    int calls = 0;
    const auto run = [&] { return test::code_of([&] { w.par_process_all(two); }); };
    peek.execute([](chunk_view v) { (void)v.components<position>(); });
    EXPECT_EQ(run(), errc::undeclared_access);
    peek.execute([&](chunk_view) { (void)(w.try_get<health, position>(e)); });
    EXPECT_EQ(run(), errc::undeclared_access);
    const auto known = w.component<position>();
    peek.execute([&](chunk_view) { (void)w.get(e, known); });
    EXPECT_EQ(run(), errc::undeclared_access);
    peek.execute([&](chunk_view) { (void)w.single<position>(); });
    EXPECT_EQ(run(), errc::undeclared_access);
    peek.execute([&](chunk_view v) {
        ++calls;
        (void)v.components<const health>();
    });
    EXPECT_EQ(run(), std::nullopt);
    EXPECT_EQ(calls, 1);
}

TEST(thread_checks, a_const_singleton_is_only_read) {
    world w;
    w.spawn(position{}, health{});
    w.set_single(velocity{});
    thread_executor two(2);
    w.system("move").reads<velocity>().each([](position& p) { ++p.x; });
    const auto peek = w.system("peek").query(w.query<const health>());
    const auto run = [&] { return test::code_of([&] { w.par_process_all(two); }); };
    peek.execute([&](chunk_view) { (void)w.single<velocity>(); });
    EXPECT_EQ(run(), errc::undeclared_access);
    int calls = 0;
    peek.execute([&](chunk_view) { calls += 1 + w.single<const velocity>().x; });
    w.par_process_all(two);
    EXPECT_EQ(calls, 1);
}

TEST(thread_checks, an_undeclared_patch_throws_and_writes_nothing) {
    world w;
    const entity e = w.spawn(position{}, velocity{}, health{});
    const auto known = w.component<position>();
    int notes = 0;
    w.on_assign<position>([&](entity, position&) { ++notes; });
    thread_executor two(2);
    w.system("look").each([](const position&) {});
    const auto bump = w.system("bump").query(w.query<const health>());
    const auto run = [&] { return test::code_of([&] { w.par_process_all(two); }); };
    bump.each([&](const health&) { w.patch<position>(e, [](position& p) { p.x = 1; }); });
    EXPECT_EQ(run(), errc::undeclared_access);
    bump.each([&](const health&) { w.patch(e, known, [](position& p) { p.x = 1; }); });
    EXPECT_EQ(run(), errc::undeclared_access);
    EXPECT_EQ(w.get<position>(e).x, 0);
    EXPECT_EQ(notes, 0);
    bump.each([&](const health&) { w.touch<position>(e); });  // accesses no value
    EXPECT_EQ(run(), std::nullopt);
    EXPECT_EQ(notes, 1);
}

TEST(thread_checks, declared_accesses_and_concurrent_reads_are_allowed) {
    for (const bool is_declared : {true, false}) {
        world w;
        const entity e = w.spawn(position{}, velocity{}, health{});
        thread_executor two(2);
        std::atomic<int> look = 0, other = 0, brake = 0, say = 0;
        w.system("look").each([&](const position&) { ++look; });
        w.system("other").each([&](const health&) {
            (void)std::as_const(w).get<position>(e);
            (void)w.get<health>(e);
            ++other;
        });
        w.system("brake").each([&](velocity& v) { v.x = ++brake; });
        auto reader = w.system("say");
        if (is_declared) reader.reads<velocity>();
        reader.each([&](const health&) {
            (void)std::as_const(w).get<velocity>(e);
            ++say;
        });
        if (is_declared) {
            EXPECT_NO_THROW(w.par_process_all(two));
            for (const auto* calls : {&look, &other, &brake, &say}) EXPECT_EQ(*calls, 1);
        } else {
            EXPECT_EQ(test::code_of([&] { w.par_process_all(two); }), errc::undeclared_access);
            EXPECT_EQ(say, 0);
        }
    }
}

}  // namespace
