// Compiled with -fno-exceptions -fno-rtti: errors call the handler, then the program aborts.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace muster {
namespace {

static_assert(MUSTER_EXCEPTIONS == 0);

TEST(no_exceptions_death_test, the_default_handler_prints_the_message_and_aborts) {
    EXPECT_DEATH((void)basic_id<layouts::compact>::pack(1 << 20, 0),
                 "muster: key 1048576 does not fit in 20 bits: the largest is 1048575 "
                 "\\(id_out_of_range\\)");
}

TEST(no_exceptions_death_test, the_handler_receives_code_and_message) {
    EXPECT_EXIT(
        {
            set_error_handler([](const error_info& what) {
                std::fprintf(stderr, "%s: %s", to_string(what.code), what.message);
                std::_Exit(3);
            });
            id_pool<> pool{{.last_key = 0}};
            pool.create();
            pool.create();
        },
        testing::ExitedWithCode(3), "id_overflow: no key is left for 1 more id");
}

TEST(no_exceptions_death_test, a_handler_that_returns_does_not_resume_the_call) {
    EXPECT_DEATH(
        {
            set_error_handler([](const error_info&) { std::fprintf(stderr, "seen"); });
            id_pool<> pool;
            pool.create_at(id{});
        },
        "seen");
}

TEST(no_exceptions_death_test, world_numbers_use_the_handler_too) {
    const world_number mine = world_number::take<layouts::bound>(77);
    EXPECT_DEATH((void)world_number::take<layouts::bound>(77), "number_taken");
}

std::jmp_buf escape;

TEST(no_exceptions, a_handler_may_jump_out_and_the_program_continues) {
    const world_number mine = world_number::take<layouts::bound>(78);
    set_error_handler([](const error_info&) { std::longjmp(escape, 1); });
    if (setjmp(escape) == 0) {
        (void)world_number::take<layouts::bound>(78);
        FAIL();
    }
    set_error_handler(nullptr);
    EXPECT_EQ(world_number::take<layouts::bound>(79).value(),
              79u);  // the failed call holds no lock
}

TEST(no_exceptions_death_test, out_of_memory_uses_the_handler_too) {
    EXPECT_DEATH(detail::raise_out_of_memory(), "out_of_memory");
}

TEST(no_exceptions_death_test, the_world_calls_the_handler) {
    world w{world_options{.number = 80, .provenance = true}};
    const entity e = w.spawn(1, std::string("x"));
    w.destroy(e);
    EXPECT_DEATH((void)w.get<int>(e),
                 "entity E:80-0\\[0\\] is dead: destroyed at no_exceptions_test.cpp:[0-9]+");
    EXPECT_DEATH(w.set(e, 2), "dead_entity");
    EXPECT_DEATH((void)w.get<int>(w.spawn()), "missing_component");
    EXPECT_DEATH(w.spawn_at(entity{}), "id_out_of_range");
}

TEST(no_exceptions, the_world_works_without_exceptions) {
    world w;
    const entity e = w.spawn(1, std::string("x"));
    w.set(e, 2, 'c');
    w.remove<int>(e);
    EXPECT_EQ(w.get<std::string>(w.clone(e)), "x");
    EXPECT_EQ(w.spawn_many(10, std::string("y")).size(), 10u);
    EXPECT_EQ(w.count<std::string>(), 12u);
}

TEST(no_exceptions, id_pools_work_without_exceptions) {
    id_pool<> pool;
    const id e = pool.create();
    EXPECT_TRUE(pool.destroy(e));
    EXPECT_FALSE(pool.alive(e));
    EXPECT_EQ(to_string(pool.create()), "E:1-0[1]");
}

}  // namespace
}  // namespace muster
