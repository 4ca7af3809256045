#include <muster/system/parallel_stage.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

system_data named(std::string_view name, system_data* group = nullptr) {
    system_data made;
    made.name = name;
    made.links.group = group;
    return made;
}
access to(std::uint32_t type, bool is_written) {
    return {type_index{type}, is_written, "c"};
}

TEST(order_marks, find_constraints_of_both_sides_and_of_their_groups) {
    system_data group = named("group");
    system_data member = named("member", &group);
    system_data other = named("other");
    system_data outer = named("outer");
    system_data inside = named("inside", &outer);
    order_marks marks;
    EXPECT_FALSE(marks.is_ordered_with(other));
    marks.add(member);
    EXPECT_FALSE(marks.is_ordered_with(inside));

    outer.constraints.push_back({group.name, false});  // of the tested side
    EXPECT_TRUE(marks.is_ordered_with(inside));
    EXPECT_FALSE(marks.is_ordered_with(other));

    marks.clear();
    EXPECT_FALSE(marks.is_ordered_with(inside));
    group.constraints.push_back({other.name, true});  // of the marked side
    marks.add(member);
    EXPECT_TRUE(marks.is_ordered_with(other));
}

TEST(access_marks, a_conflict_needs_one_component_and_one_write) {
    access_marks marks;
    const std::array first{to(1, false), to(2, true)};
    marks.add(first);
    EXPECT_FALSE(marks.has_conflict(std::array{to(1, false), to(3, true)}));
    EXPECT_TRUE(marks.has_conflict(std::array{to(1, true)}));
    EXPECT_TRUE(marks.has_conflict(std::array{to(2, false)}));
    marks.clear();
    EXPECT_FALSE(marks.has_conflict(std::array{to(2, false)}));
}

TEST(find_conflicts, leaves_out_pairs_that_are_ordered_through_others) {
    system_data a = named("a"), b = named("b"), c = named("c"), d = named("d");
    for (system_data* system : {&a, &c, &d}) system->use.taken.push_back(to(1, true));
    b.use.taken.push_back(to(2, true));
    b.constraints.push_back({a.name, false});
    c.constraints.push_back({b.name, false});
    const std::array<system_plan::step, 4> steps{{{&a, 1}, {&b, 2}, {&c, 3}, {&d, 4}}};
    const std::vector<system_conflict> found = find_conflicts(steps);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].first, "a");
    EXPECT_EQ(found[0].second, "d");
    EXPECT_EQ(found[1].first, "c");
    EXPECT_EQ(found[1].second, "d");
    EXPECT_EQ(found[1].component, "c");
}

TEST(find_conflicts, two_readers_have_none) {
    system_data a = named("a"), b = named("b");
    for (system_data* system : {&a, &b}) system->use.taken.push_back(to(1, false));
    const std::array<system_plan::step, 2> steps{{{&a, 1}, {&b, 2}}};
    EXPECT_TRUE(find_conflicts(steps).empty());
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
