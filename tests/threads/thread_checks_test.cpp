// What a build that watches threads finds. Compiled with MUSTER_THREAD_CHECKS=1, with the library's
// sources; a build without it does not look.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
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

/// What another thread is told.
template <class Call>
std::string told_elsewhere(Call call, errc expected) {
    std::string said;
    std::thread([&] {
        try {
            call();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const error& caught) {
            EXPECT_EQ(caught.code(), expected) << caught.what();
            said = caught.what();
        }
    }).join();
    return said;
}
bool contains(const std::string& all, const std::string& part) {
    return all.find(part) != std::string::npos;
}

TEST(thread_checks, a_second_writer_is_told_and_both_are_named) {
    world w;
    const entity e = w.spawn(position{});
    w.query<position>().each([&](position&) {
        const auto told = [&](auto call) { return told_elsewhere(call, errc::second_writer); };
        const std::string said = told([&] { w.set(e, velocity{}); });
        EXPECT_TRUE(contains(said, "set on one thread")) << said;
        EXPECT_TRUE(contains(said, "a loop, or another scope")) << said;
        told([&] { (void)w.spawn(position{}); });
        told([&] { (void)w.spawn(); });
        told([&] { w.destroy(e); });
        told([&] { w.remove<position>(e); });
        told([&] { w.clear(e); });
        told([&] { (void)w.clone(e); });
        told([&] { (void)w.spawn_many(3, position{}); });
        told([&] { w.defer(); });
        told([&] { w.query<position>().each([](position&) {}); });
        told([&] { w.query<position>().destroy(); });
        told([&] { w.name(e, "name"); });
        told([&] { w.reset(); });
        EXPECT_TRUE(w.alive(e));
    });
    EXPECT_EQ(w.size(), 1u);
}

TEST(thread_checks, a_hook_that_another_thread_interrupts_is_protected_too) {
    world w;
    w.on_insert<position>([&](entity e, position&) {
        told_elsewhere([&] { w.set(e, velocity{}); }, errc::second_writer);
    });
    const entity e = w.spawn(position{});
    EXPECT_FALSE(w.has<velocity>(e));
}

TEST(thread_checks, threads_may_change_a_world_one_after_the_other) {
    world w;
    const entity e = w.spawn(position{});
    std::thread([&] { w.set(e, velocity{}); }).join();
    std::thread([&] {
        w.query<position>().each([&](entity it, position&) { w.destroy(it); });
    }).join();
    EXPECT_EQ(w.size(), 0u);
}

TEST(thread_checks, reading_and_recording_beside_a_writer_is_allowed) {
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

TEST(thread_checks, a_system_that_touches_what_it_did_not_declare_is_told_and_both_are_named) {
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

TEST(thread_checks, so_is_one_that_loops_over_it) {
    world w;
    w.spawn(position{}, velocity{}, health{});
    thread_executor two(2);
    w.system("move").each([](position& p) { ++p.x; });
    const auto all = w.query<const position>();
    w.system("peek").each([&](const health&) { all.each([](const position&) {}); });
    EXPECT_THROW(w.par_process_all(two), error);
}

TEST(thread_checks, so_is_one_that_takes_it_from_a_chunk_or_by_try_get) {
    world w;
    const entity e = w.spawn(position{}, velocity{}, health{});
    w.set_single(position{});
    thread_executor two(2);
    w.system("move").each([](position& p) { ++p.x; });
    const auto peek = w.system("peek").query(w.query<const health>());
    const auto fails = [&] {
        try {
            w.par_process_all(two);
            return false;
        } catch (const error& caught) {
            return caught.code() == errc::undeclared_access;
        }
    };
    peek.execute([](chunk_view v) { (void)v.components<position>(); });
    EXPECT_TRUE(fails());
    peek.execute([&](chunk_view) { (void)(w.try_get<health, position>(e)); });
    EXPECT_TRUE(fails());
    const auto known = w.component<position>();
    peek.execute([&](chunk_view) { (void)w.get(e, known); });
    EXPECT_TRUE(fails());
    peek.execute([&](chunk_view) { (void)w.single<position>(); });
    EXPECT_TRUE(fails());
    peek.execute([](chunk_view v) { (void)v.components<const health>(); });
    EXPECT_FALSE(fails());
}

TEST(thread_checks, what_is_declared_or_only_read_is_allowed) {
    world w;
    const entity e = w.spawn(position{}, velocity{}, health{});
    thread_executor two(2);
    w.system("look").each([](const position&) {});
    w.system("other").each([&](const health&) {
        (void)std::as_const(w).get<position>(e);
        (void)std::as_const(w).get<velocity>(e);
        (void)w.get<health>(e);
    });
    w.system("say").reads<velocity>().each(
        [&](const health&) { (void)std::as_const(w).get<velocity>(e); });
    w.par_process_all(two);
}

}  // namespace
