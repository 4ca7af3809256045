#include <muster/type/hook_list.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace muster::detail {
namespace {

using call = std::function<void(std::uint64_t, void*)>;

hook_function hook_of(call what) {
    return {boxed_value::holding(std::move(what)), [](void* function, std::uint64_t e, void* at) {
                (*static_cast<call*>(function))(e, at);
            }};
}

struct hook_lists : ::testing::Test {
    hook_list list;
    std::string log;

    std::uint64_t add(const std::string& name, hook_kind kind = hook_kind::insert) {
        return list.add(kind, hook_of([this, name](std::uint64_t, void*) { log += name; }));
    }
    std::string run(hook_kind kind = hook_kind::insert) {
        log.clear();
        list.run(kind, 1, nullptr);
        return log;
    }
};

TEST_F(hook_lists, run_by_kind_in_the_order_of_connection) {
    add("a");
    add("r", hook_kind::remove);
    add("b");
    EXPECT_EQ(run(), "ab");
    EXPECT_EQ(run(hook_kind::remove), "r");
    EXPECT_EQ(run(hook_kind::assign), "");
}

TEST_F(hook_lists, pass_the_entity_and_the_value_to_the_hook) {
    int value = 3;
    list.add(hook_kind::set, hook_of([&](std::uint64_t e, void* at) {
                 EXPECT_EQ(e, 77u);
                 EXPECT_EQ(at, &value);
                 ++value;
             }));
    list.run(hook_kind::set, 77, &value);
    EXPECT_EQ(value, 4);
}

TEST_F(hook_lists, report_the_kinds_of_connected_hooks) {
    EXPECT_EQ(list.kinds(), 0u);
    const auto a = add("a");
    const auto r = add("r", hook_kind::remove);
    EXPECT_TRUE(list.has(insert_hooks));
    EXPECT_FALSE(list.has(assign_hooks));
    EXPECT_TRUE(list.connect(a, false));
    EXPECT_EQ(list.kinds(), remove_hooks);
    EXPECT_TRUE(list.connect(a, true));
    EXPECT_TRUE(list.remove(r));
    EXPECT_EQ(list.kinds(), to_bits(hook_kind::insert));
}

TEST_F(hook_lists, reconnect_a_hook_at_its_old_position) {
    const auto a = add("a");
    add("b");
    EXPECT_TRUE(list.connect(a, false));
    EXPECT_FALSE(list.connect(a, false));
    EXPECT_FALSE(list.is_connected(a));
    EXPECT_EQ(run(), "b");
    EXPECT_TRUE(list.connect(a, true));
    EXPECT_FALSE(list.connect(a, true));
    EXPECT_EQ(run(), "ab");
    EXPECT_FALSE(list.connect(99, true));
    EXPECT_FALSE(list.connect(0, false));
}

TEST_F(hook_lists, let_a_hook_disconnect_itself_and_the_next_hook) {
    std::uint64_t self = 0;
    std::uint64_t next = 0;
    self = list.add(hook_kind::insert, hook_of([&](std::uint64_t, void*) {
                        log += "x";
                        list.connect(self, false);
                        list.connect(next, false);
                    }));
    next = add("y");
    add("z");
    EXPECT_EQ(run(), "xz");
    EXPECT_EQ(run(), "z");
}

TEST_F(hook_lists, do_not_call_hooks_that_a_running_hook_adds) {
    bool is_first = true;
    list.add(hook_kind::insert, hook_of([&](std::uint64_t, void*) {
                 log += "x";
                 if (std::exchange(is_first, false))
                     for (int i = 0; i < 100; ++i) add("+");
             }));
    EXPECT_EQ(run(), "x");
    EXPECT_EQ(run(), "x" + std::string(100, '+'));
}

TEST_F(hook_lists, destroy_a_removed_function_once_it_does_not_run) {
    const auto token = std::make_shared<int>(1);
    std::uint64_t self = 0;
    self = list.add(hook_kind::insert, hook_of([&, token](std::uint64_t, void*) {
                        EXPECT_TRUE(list.remove(self));
                        EXPECT_FALSE(list.remove(self));
                        EXPECT_EQ(token.use_count(), 2);  // the running function still exists
                    }));
    EXPECT_EQ(token.use_count(), 2);
    run();
    EXPECT_EQ(token.use_count(), 1);
    EXPECT_FALSE(list.connect(self, true));
    EXPECT_EQ(add("a"), self + 1);  // numbers are not reused
}

TEST_F(hook_lists, stop_at_a_hook_that_throws_and_stay_usable) {
    add("a");
    const auto bad = list.add(hook_kind::insert, hook_of([](std::uint64_t, void*) { throw 5; }));
    add("b");
    EXPECT_THROW(run(), int);
    EXPECT_EQ(log, "a");
    EXPECT_TRUE(list.remove(bad));
    EXPECT_EQ(run(), "ab");
}

}  // namespace
}  // namespace muster::detail
