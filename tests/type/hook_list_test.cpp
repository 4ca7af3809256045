#include <muster/type/hook_list.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
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

TEST_F(hook_lists, keep_the_order_of_the_rest_when_many_are_removed) {
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < 100; ++i) numbers.push_back(add(std::to_string(i) + " "));
    const auto token = std::make_shared<int>(1);
    numbers.push_back(list.add(hook_kind::insert, hook_of([token](std::uint64_t, void*) {})));
    EXPECT_TRUE(list.remove(numbers.back()));
    EXPECT_EQ(token.use_count(), 1);  // destroyed at once
    std::string rest;
    for (std::size_t i = 0; i < 100; ++i) {
        if (i % 7 == 3)
            rest += std::to_string(i) + " ";
        else
            EXPECT_TRUE(list.remove(numbers[i]));
        EXPECT_FALSE(i % 7 != 3 && list.is_connected(numbers[i]));
    }
    EXPECT_EQ(run(), rest);
    EXPECT_TRUE(list.connect(numbers[3], false));
    EXPECT_EQ(run(), rest.substr(2));
    EXPECT_EQ(list.kinds(), to_bits(hook_kind::insert));
    for (std::size_t i = 3; i < 100; i += 7) EXPECT_TRUE(list.remove(numbers[i]));
    EXPECT_EQ(list.kinds(), 0u);
    EXPECT_EQ(run(), "");
}

TEST_F(hook_lists, are_counted_while_they_have_hooks_or_observers) {
    std::size_t count = 0;
    change_log observer;
    {
        hook_list counted;
        counted.be_counted_in(count);
        const auto number = counted.add(hook_kind::set, hook_of([](std::uint64_t, void*) {}));
        EXPECT_EQ(count, 1u);
        counted.subscribe(observer, insert_hooks);
        counted.connect(number, false);
        EXPECT_EQ(count, 1u);
        hook_list::pause(observer, true);
        EXPECT_EQ(count, 0u);
        EXPECT_FALSE(counted.has(insert_hooks));
        hook_list::pause(observer, false);
        EXPECT_EQ(count, 1u);
        EXPECT_TRUE(counted.has(insert_hooks));
    }
    EXPECT_EQ(count, 0u);
    EXPECT_TRUE(observer.subscriptions.empty());
}

TEST_F(hook_lists, end_the_subscriptions_of_one_of_many_observers) {
    hook_list other;
    std::vector<std::unique_ptr<change_log>> all;
    for (int i = 0; i < 10; ++i) {
        all.push_back(std::make_unique<change_log>());
        list.subscribe(*all.back(), to_bits(hook_kind::insert));
        other.subscribe(*all.back(), to_bits(hook_kind::assign));
        list.subscribe(*all.back(), to_bits(hook_kind::remove));  // a second time
    }
    const auto count = [&](hook_list& from, hook_kind kind) {
        std::size_t noted = 0;
        from.prepare(kind, 1);
        from.note(kind, 1);
        for (const auto& seen : all) noted += seen == nullptr ? 0 : seen->size();
        for (const auto& seen : all)
            if (seen != nullptr) seen->clear();
        return noted;
    };
    EXPECT_EQ(count(list, hook_kind::insert), 10u);
    for (const std::size_t gone : {3u, 9u, 0u, 5u}) {
        while (!all[gone]->subscriptions.empty()) hook_list::end_last_subscription(*all[gone]);
        all[gone] = nullptr;
    }
    EXPECT_EQ(count(list, hook_kind::insert), 6u);
    EXPECT_EQ(count(list, hook_kind::remove), 6u);
    EXPECT_EQ(count(other, hook_kind::assign), 6u);
    EXPECT_EQ(count(other, hook_kind::insert), 0u);
    for (auto& seen : all)
        while (seen != nullptr && !seen->subscriptions.empty())
            hook_list::end_last_subscription(*seen);
    EXPECT_EQ(list.kinds(), 0u);
    EXPECT_EQ(other.kinds(), 0u);
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
}  // namespace MUSTER_NAMESPACE::detail
