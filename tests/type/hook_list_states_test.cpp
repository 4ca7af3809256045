// hook_list: calls that find nothing to do, and lists that run inside of themselves.
#include <muster/type/hook_list.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace MUSTER_NAMESPACE::detail {
namespace {

using call = std::function<void()>;

struct hook_list_states : ::testing::Test {
    hook_list list;
    std::string log;

    std::uint64_t add(call what) {
        return list.add(hook_kind::insert, {boxed_value::holding(std::move(what)),
                                            [](void* function, std::uint64_t, void*) {
                                                (*static_cast<call*>(function))();
                                            }});
    }
    std::uint64_t logs(const std::string& name) {
        return add([this, name] { log += name; });
    }
    std::string run() {
        log.clear();
        list.run(hook_kind::insert, 1, nullptr);
        return log;
    }
};

TEST_F(hook_list_states, a_list_without_hooks_runs_none) {
    EXPECT_EQ(run(), "");
    list.refresh_kinds();
    EXPECT_EQ(list.kinds(), 0u);
    EXPECT_FALSE(list.abandon(1));
}

TEST_F(hook_list_states, an_unknown_hook_cannot_be_abandoned) {
    const std::uint64_t known = logs("a");
    EXPECT_FALSE(list.abandon(known + 1));
    EXPECT_FALSE(list.remove_abandoned());
    EXPECT_TRUE(list.abandon(known));
    EXPECT_TRUE(list.remove_abandoned());
    EXPECT_EQ(run(), "");
}

TEST_F(hook_list_states, a_hook_may_run_its_list_again) {
    int depth = 0;
    std::uint64_t gone = 0;
    add([&] {
        log += "(";
        if (depth++ == 0) {
            list.remove(gone);
            list.run(hook_kind::insert, 1, nullptr);
        }
        log += ")";
    });
    gone = logs("gone");
    logs("b");
    EXPECT_EQ(run(), "(()b)b");
    depth = 1;
    EXPECT_EQ(run(), "()b");
}

TEST_F(hook_list_states, hooks_removed_before_and_during_a_run_are_destroyed_once) {
    const std::uint64_t before = logs("before");
    std::uint64_t during = 0;
    add([&] { list.remove(during); });
    during = logs("during");
    for (const char* name : {"c", "d", "e", "f"}) logs(name);
    EXPECT_TRUE(list.remove(before));  // stays in the list until the removed ones are the majority
    EXPECT_EQ(run(), "cdef");
    EXPECT_EQ(run(), "cdef");
    EXPECT_FALSE(list.remove(before));
    EXPECT_FALSE(list.remove(during));
}

TEST_F(hook_list_states, pausing_an_observer_twice_changes_nothing) {
    change_log observer;
    list.subscribe(observer, insert_hooks);
    hook_list::pause(observer, true);
    hook_list::pause(observer, true);
    EXPECT_FALSE(list.has(insert_hooks));
    hook_list::pause(observer, false);
    hook_list::pause(observer, false);
    EXPECT_TRUE(list.has(insert_hooks));
    hook_list::end_last_subscription(observer);
    EXPECT_FALSE(list.has(insert_hooks));
}

TEST_F(hook_list_states, the_subscription_of_a_paused_observer_ends_without_a_count) {
    change_log observer;
    list.subscribe(observer, insert_hooks);
    hook_list::pause(observer, true);
    hook_list::end_last_subscription(observer);
    EXPECT_EQ(list.kinds(), 0u);
    EXPECT_TRUE(observer.subscriptions.empty());
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
