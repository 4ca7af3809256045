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

namespace MUSTER_NAMESPACE::detail {
namespace {

template <std::size_t N>
struct numbered {};
struct early {};
struct of_one_file {};

/// Requested during static initialisation, when slots may still be empty.
const type_index index_before_main = ensure_type_index<early>();

template <std::size_t... N>
std::vector<type_index> numbers(std::index_sequence<N...>) {
    return {find_type_index<numbered<N>>()...};
}

TEST(type_index, differs_between_types_and_is_never_0) {
    const std::vector<type_index> all = numbers(std::make_index_sequence<300>());
    const std::set<type_index> different(all.begin(), all.end());
    EXPECT_EQ(different.size(), 300u);
    EXPECT_FALSE(different.contains(no_type));
    EXPECT_NE(find_type_index<int>(), find_type_index<unsigned>());
    EXPECT_NE(find_type_index<test::holder<int>>(), find_type_index<test::holder<float>>());
}

TEST(type_index, is_constant) {
    const type_index before = find_type_index<numbered<0>>();
    EXPECT_EQ(ensure_type_index<numbered<0>>(), before);
    EXPECT_EQ(number_slot<numbered<0>>(), before);
    EXPECT_EQ(find_type_index<numbered<0>>(), before);
}

TEST(type_index, requested_before_main_stays_valid) {
    EXPECT_NE(index_before_main, no_type);
    EXPECT_EQ(index_before_main, find_type_index<early>());
}

TEST(type_index, a_type_with_a_slot_in_each_library_has_one_number) {
    const char here = 0;
    const char there = 0;
    const std::type_info* const type = &typeid(test::known_everywhere);
    const type_index first = number_type(&here, "known_everywhere", type);
    EXPECT_EQ(number_type(&there, "known_everywhere", type), first);
    EXPECT_EQ(find_type_index<test::known_everywhere>(), first);
    // The type identifies it, not the spelling of its name.
    const char third = 0;
    EXPECT_EQ(number_type(&third, "known::everywhere", type), first);
}

TEST(type_index, a_type_with_internal_linkage_is_identified_by_its_slot) {
    const char here = 0;
    const char there = 0;
    const std::type_info* const type = &typeid(of_one_file);
    const type_index first = number_type(&here, "of_one_file", type);
    EXPECT_NE(number_type(&there, "of_one_file", type), first);
    EXPECT_EQ(number_type(&here, "of_one_file", type), first);
    // This also holds for a template with such an argument.
    const char holds = 0;
    const char holds_too = 0;
    const std::type_info* const holder = &typeid(test::holder<of_one_file>);
    EXPECT_NE(number_type(&holds, "holder", holder), number_type(&holds_too, "holder", holder));
}

TEST(type_index, without_rtti_a_type_is_identified_by_its_slot) {
    const char here = 0;
    const char there = 0;
    const type_index first = number_type(&here, "thing", nullptr);
    EXPECT_NE(first, no_type);
    EXPECT_NE(number_type(&there, "thing", nullptr), first);
    EXPECT_EQ(number_type(&here, "thing", nullptr), first);
}

TEST(type_index, a_new_type_at_a_reused_slot_address_has_its_own_number) {
    const char reused = 0;
    const type_index old = number_type(&reused, "old_thing", nullptr);
    const type_index now = number_type(&reused, "new_thing", nullptr);
    EXPECT_NE(now, old);
    EXPECT_EQ(number_type(&reused, "new_thing", nullptr), now);
}

TEST(type_index, all_threads_get_the_same_number_for_a_slot) {
    constexpr std::size_t count = 200;
    const std::vector<char> variables(count);
    std::vector<std::vector<type_index>> seen(4, std::vector<type_index>(count));
    std::vector<std::thread> threads;
    for (std::vector<type_index>& mine : seen)
        threads.emplace_back([&] {
            for (std::size_t i = 0; i < count; ++i)
                mine[i] = number_type(&variables[i], "contended", nullptr);
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<type_index>& value : seen) EXPECT_EQ(value, seen.front());
    EXPECT_EQ(std::set<type_index>(seen.front().begin(), seen.front().end()).size(), count);
}

TEST(type_index, a_list_of_types_is_numbered_by_its_order) {
    const list_index both = find_list_index<int, float>();
    EXPECT_NE(both, no_list);
    EXPECT_EQ((find_list_index<int, float>()), both);
    EXPECT_NE((find_list_index<float, int>()), both);
    EXPECT_NE(find_list_index<int>(), both);
    EXPECT_NE(find_list_index<int>(), find_list_index<float>());
    EXPECT_NE(number_list(), number_list());
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
