#include <muster/type/type_index.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

namespace muster::test {
struct known_everywhere {};
template <class T>
struct holder {};
}  // namespace muster::test

namespace muster::detail {
namespace {

template <std::size_t N>
struct numbered {};
struct early {};
struct of_one_file {};

/// Asked for while variables are still being filled.
const type_index asked_early = ensure_type_index<early>();

template <std::size_t... N>
std::vector<type_index> numbers(std::index_sequence<N...>) {
    return {find_type_index<numbered<N>>()...};
}

TEST(type_index, of_each_type_is_another_and_none_is_0) {
    const std::vector<type_index> all = numbers(std::make_index_sequence<300>());
    const std::set<type_index> different(all.begin(), all.end());
    EXPECT_EQ(different.size(), 300u);
    EXPECT_FALSE(different.contains(no_type));
    EXPECT_NE(find_type_index<int>(), find_type_index<unsigned>());
    EXPECT_NE(find_type_index<test::holder<int>>(), find_type_index<test::holder<float>>());
}

TEST(type_index, does_not_change) {
    const type_index before = find_type_index<numbered<0>>();
    EXPECT_EQ(ensure_type_index<numbered<0>>(), before);
    EXPECT_EQ(number_slot<numbered<0>>(), before);
    EXPECT_EQ(find_type_index<numbered<0>>(), before);
}

TEST(type_index, asked_for_before_main_is_the_one_that_stays) {
    EXPECT_NE(asked_early, no_type);
    EXPECT_EQ(asked_early, find_type_index<early>());
}

TEST(type_index, one_type_with_a_variable_in_each_library_has_one_number) {
    const char here = 0;
    const char there = 0;
    const std::type_info* const type = &typeid(test::known_everywhere);
    const type_index first = number_type(&here, "known_everywhere", type);
    EXPECT_EQ(number_type(&there, "known_everywhere", type), first);
    EXPECT_EQ(find_type_index<test::known_everywhere>(), first);
    // By what it is, not by how it is spelt.
    const char third = 0;
    EXPECT_EQ(number_type(&third, "known::everywhere", type), first);
}

TEST(type_index, a_type_of_one_file_is_known_by_its_variable_alone) {
    const char here = 0;
    const char there = 0;
    const std::type_info* const type = &typeid(of_one_file);
    const type_index first = number_type(&here, "of_one_file", type);
    EXPECT_NE(number_type(&there, "of_one_file", type), first);
    EXPECT_EQ(number_type(&here, "of_one_file", type), first);
    // The same holds for what is made of such a type.
    const char holds = 0;
    const char holds_too = 0;
    const std::type_info* const holder = &typeid(test::holder<of_one_file>);
    EXPECT_NE(number_type(&holds, "holder", holder), number_type(&holds_too, "holder", holder));
}

TEST(type_index, without_type_information_a_type_is_known_by_its_variable_alone) {
    const char here = 0;
    const char there = 0;
    const type_index first = number_type(&here, "thing", nullptr);
    EXPECT_NE(first, no_type);
    EXPECT_NE(number_type(&there, "thing", nullptr), first);
    EXPECT_EQ(number_type(&here, "thing", nullptr), first);
}

TEST(type_index, another_type_at_the_address_of_an_unloaded_one_has_a_number_of_its_own) {
    const char reused = 0;
    const type_index old = number_type(&reused, "old_thing", nullptr);
    const type_index now = number_type(&reused, "new_thing", nullptr);
    EXPECT_NE(now, old);
    EXPECT_EQ(number_type(&reused, "new_thing", nullptr), now);
}

TEST(type_index, threads_that_ask_for_one_variable_get_one_number) {
    constexpr std::size_t count = 200;
    const std::vector<char> variables(count);
    std::vector<std::vector<type_index>> seen(4, std::vector<type_index>(count));
    std::vector<std::thread> threads;
    for (std::vector<type_index>& mine : seen)
        threads.emplace_back([&] {
            for (std::size_t i = 0; i < count; ++i)
                mine[i] = number_type(&variables[i], "contended", nullptr);
        });
    for (std::thread& one : threads) one.join();
    for (const std::vector<type_index>& one : seen) EXPECT_EQ(one, seen.front());
    EXPECT_EQ(std::set<type_index>(seen.front().begin(), seen.front().end()).size(), count);
}

TEST(type_index, a_list_of_types_has_a_number_by_its_order) {
    const list_index both = find_list_index<int, float>();
    EXPECT_NE(both, no_list);
    EXPECT_EQ((find_list_index<int, float>()), both);
    EXPECT_NE((find_list_index<float, int>()), both);
    EXPECT_NE(find_list_index<int>(), both);
    EXPECT_NE(find_list_index<int>(), find_list_index<float>());
    EXPECT_NE(number_list(), number_list());
}

}  // namespace
}  // namespace muster::detail
