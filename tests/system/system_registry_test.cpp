#include <muster/system/system_registry.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

/// A function whose destructor calls `ended`.
system_function function_with(std::function<void()> ended) {
    struct caller {
        std::function<void()> ended;
        explicit caller(std::function<void()> given) : ended(std::move(given)) {}
        caller(caller&& other) noexcept : ended(std::exchange(other.ended, nullptr)) {}
        ~caller() {
            if (ended) ended();
        }
    };
    return {boxed_value::holding(caller(std::move(ended)))};
}

TEST(system_registry, finds_systems_by_number_and_name) {
    system_registry systems;
    system_data& a = systems.add("a");
    system_data& unnamed = systems.add({});
    EXPECT_EQ(systems.find("a"), &a);
    EXPECT_EQ(systems.find(a.number), &a);
    EXPECT_EQ(systems.find("#2"), &unnamed);
    EXPECT_EQ(systems.find("b"), nullptr);
    EXPECT_EQ(systems.find(std::uint64_t{3}), nullptr);
}

TEST(system_registry, a_number_that_is_taken_as_a_name_gets_a_mark) {
    system_registry systems;
    systems.add("#2");
    EXPECT_EQ(systems.add({}).name, "#2'");
}

TEST(system_registry, a_group_of_an_id_is_found_only_by_the_id) {
    system_registry systems;
    system_data& group = systems.add_group(77, "goblins");
    EXPECT_EQ(systems.find_group(77), &group);
    EXPECT_EQ(systems.find_group(78), nullptr);
    EXPECT_EQ(systems.find("goblins"), nullptr);
    EXPECT_EQ(systems.find("#1"), nullptr);
    EXPECT_EQ(systems.find(group.number), &group);
    systems.remove(group);
    EXPECT_EQ(systems.find_group(77), nullptr);
}

TEST(system_registry, a_name_keeps_its_address_when_its_system_is_removed) {
    system_registry systems;
    const char* const address = systems.keep_name("a").data();
    EXPECT_EQ(systems.add("a").name.data(), address);
    systems.remove(*systems.find("a"));
    EXPECT_EQ(systems.find("a"), nullptr);
    systems.destroy_removed();
    EXPECT_EQ(systems.add("a").name.data(), address);
}

TEST(system_registry, destroys_removed_systems_by_number_even_if_their_destructors_remove_more) {
    system_registry systems;
    std::vector<int> ended;
    for (int i = 1; i <= 4; ++i)
        systems.add(std::to_string(i)).body = function_with([&, i] {
            ended.push_back(i);
            if (i == 2) systems.remove(*systems.find("1"));
        });
    systems.remove(*systems.find("4"));
    systems.remove(*systems.find("2"));
    EXPECT_TRUE(systems.has_removed());
    EXPECT_TRUE(ended.empty());
    systems.destroy_removed();
    EXPECT_EQ(ended, (std::vector{2, 1, 4}));
    EXPECT_FALSE(systems.has_removed());
    systems.remove_all();
    EXPECT_EQ(systems.find("3"), nullptr);
    systems.destroy_removed();
    EXPECT_EQ(ended, (std::vector{2, 1, 4, 3}));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
