// Types as trees, the fields of values, and the ids in them.
#include <muster/reflect.hpp>

#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

namespace muster::test {
namespace {

struct vec2 {
    float x, y;
};
struct leg {
    entity foot;
    float length;
};
struct party {
    entity leader;
    std::vector<entity> members;
    std::optional<entity> pet;
    leg first;
    std::string name;
    std::array<entity, 2> guards;
    std::map<entity, leg> mounts;
    std::set<entity> friends;
    std::unordered_set<std::uint64_t> numbers;
    std::variant<int, entity> other;
    std::pair<entity, int> prize;
    std::vector<party> allies;
};
struct wide {
    char small;
    double large;
    std::string text;
};

constexpr std::uint64_t moved = 1000;
const detail::id_map move_ids{[](const void*, std::uint64_t e) noexcept { return e + moved; },
                              nullptr};

const detail::codec& ids = detail::codec_of<entity>();

entity number(std::uint64_t n) {
    return entity::from_value(n);
}

TEST(fields, are_visited_with_their_names) {
    vec2 v{1, 2};
    std::string names;
    each_field(v, [&](std::string_view name, float& field) {
        names += name;
        field *= 10;
    });
    EXPECT_EQ(names, "xy");
    EXPECT_EQ(v.x, 10);
    EXPECT_EQ(v.y, 20);
    const vec2 constant{3, 4};
    float sum = 0;
    each_field(constant, [&](std::string_view, const float& field) { sum += field; });
    EXPECT_EQ(sum, 7);
}

TEST(codec, has_offsets_of_fields_in_the_value) {
    const detail::codec& type = detail::codec_of<wide>();
    ASSERT_EQ(type.fields.size(), 3u);
    EXPECT_EQ(type.fields[0].offset, offsetof(wide, small));
    EXPECT_EQ(type.fields[1].offset, offsetof(wide, large));
    EXPECT_EQ(type.fields[2].name, "text");
    EXPECT_EQ(type.fields[2].type().kind, value_kind::text);
    EXPECT_EQ(type.size, sizeof(wide));
    EXPECT_FALSE(type.copies_bytes);
    EXPECT_TRUE(detail::codec_of<vec2>().copies_bytes);
}

TEST(codec, of_each_kind_has_a_name) {
    EXPECT_STREQ(to_string(detail::codec_of<bool>().kind), "boolean");
    EXPECT_STREQ(to_string(detail::codec_of<int>().kind), "integer");
    EXPECT_STREQ(to_string(detail::codec_of<char32_t>().kind), "natural");
    EXPECT_STREQ(to_string(detail::codec_of<float>().kind), "real");
    EXPECT_STREQ(to_string(detail::codec_of<value_kind>().kind), "enumeration");
    EXPECT_STREQ(to_string(detail::codec_of<std::string>().kind), "text");
    EXPECT_STREQ(to_string(detail::codec_of<entity>().kind), "handle");
    EXPECT_STREQ(to_string(detail::codec_of<vec2>().kind), "structure");
    EXPECT_STREQ(to_string(detail::codec_of<std::array<int, 2>>().kind), "array");
    EXPECT_STREQ(to_string(detail::codec_of<std::vector<int>>().kind), "list");
    EXPECT_STREQ((to_string(detail::codec_of<std::map<int, int>>().kind)), "map");
    EXPECT_STREQ(to_string(detail::codec_of<std::optional<int>>().kind), "optional");
    EXPECT_STREQ(to_string(detail::codec_of<std::variant<int>>().kind), "variant");
}

TEST(codec, finds_ids_at_any_depth) {
    EXPECT_TRUE(detail::contains_id(detail::codec_of<entity>()));
    EXPECT_TRUE(detail::contains_id(detail::codec_of<leg>()));
    EXPECT_TRUE(detail::contains_id(detail::codec_of<party>()));
    EXPECT_TRUE(
        (detail::contains_id(detail::codec_of<std::map<int, std::vector<std::optional<leg>>>>())));
    EXPECT_FALSE(detail::contains_id(detail::codec_of<wide>()));
    EXPECT_FALSE(detail::contains_id(detail::codec_of<std::vector<std::uint64_t>>()));
}

TEST(codec, translates_ids_at_any_depth) {
    party p{number(1),
            {number(2), number(3)},
            number(4),
            {number(5), 1},
            "name",
            {number(6), number(7)},
            {{number(8), {number(9), 2}}},
            {number(10), number(11)},
            {12},
            number(13),
            {number(14), 15},
            {}};
    party ally{};
    ally.leader = number(16);
    p.allies.push_back(ally);
    detail::translate_ids(detail::codec_of<party>(), &p, ids, move_ids);
    EXPECT_EQ(p.leader, number(1001));
    EXPECT_EQ(p.members, (std::vector{number(1002), number(1003)}));
    EXPECT_EQ(p.pet, number(1004));
    EXPECT_EQ(p.first.foot, number(1005));
    EXPECT_EQ(p.guards[1], number(1007));
    ASSERT_TRUE(p.mounts.contains(number(1008)));
    EXPECT_EQ(p.mounts[number(1008)].foot, number(1009));
    EXPECT_EQ(p.friends, (std::set{number(1010), number(1011)}));
    EXPECT_TRUE(p.numbers.contains(12)) << "a number is no id";
    EXPECT_EQ(std::get<entity>(p.other), number(1013));
    EXPECT_EQ(p.prize.first, number(1014));
    EXPECT_EQ(p.prize.second, 15);
    EXPECT_EQ(p.allies[0].leader, number(1016));
}

TEST(codec, keys_that_become_equal_are_merged) {
    std::map<entity, int> all{{number(1), 10}, {number(2), 20}};
    const detail::id_map to_one{
        [](const void*, std::uint64_t) noexcept { return std::uint64_t{7}; }, nullptr};
    detail::translate_ids(detail::codec_of<decltype(all)>(), &all, ids, to_one);
    EXPECT_EQ(all, (std::map<entity, int>{{number(7), 10}}));
}

TEST(codec, numbers_that_do_not_fit_are_not_written) {
    std::int8_t small = 1;
    EXPECT_FALSE(detail::write_integer(detail::codec_of<std::int8_t>(), &small, 128));
    EXPECT_FALSE(detail::write_integer(detail::codec_of<std::int8_t>(), &small, -129));
    EXPECT_EQ(small, 1);
    EXPECT_TRUE(detail::write_integer(detail::codec_of<std::int8_t>(), &small, -128));
    EXPECT_EQ(small, -128);
    std::uint16_t natural = 1;
    EXPECT_FALSE(detail::write_natural(detail::codec_of<std::uint16_t>(), &natural, 65536));
    EXPECT_EQ(natural, 1);
    float real = 1;
    EXPECT_FALSE(detail::write_real(detail::codec_of<float>(), &real, 1e300));
    EXPECT_EQ(real, 1);
}

TEST(codec, a_failing_element_leaves_the_list_as_it_was) {
    std::vector<int> all{1};
    const detail::codec& type = detail::codec_of<std::vector<int>>();
    EXPECT_THROW(type.list->add(&all, [](void*, void*) { throw 1; }), int);
    EXPECT_EQ(all, std::vector{1});
}

}  // namespace
}  // namespace muster::test
