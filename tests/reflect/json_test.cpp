// Values as JSON: what is written, that it reads back exactly, and what hostile texts do.
#include <muster/reflect.hpp>

#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace muster::test {

enum class mood : std::uint8_t { calm, angry = 3 };
enum class depth : std::int16_t { low = -5, high = 100 };

struct vec2 {
    float x = 0, y = 0;
    friend bool operator==(const vec2&, const vec2&) = default;
};
struct goblin {
    vec2 where;
    int hit_points = 10;
    std::string name;
    mood now = mood::calm;
    std::vector<vec2> bag;
    std::optional<int> rank;
    std::map<std::string, int> skills;
    entity leader;
    friend bool operator==(const goblin&, const goblin&) = default;
};
struct node {
    int value = 0;
    std::vector<node> children;
    friend bool operator==(const node&, const node&) = default;
};
class health {
public:
    health() = default;
    health(int now, int cached) : points_(now), cached_(cached) {}
    friend bool operator==(const health&, const health&) = default;

private:
    friend struct component_traits<health>;
    int points_ = 1;
    int cached_ = 2;
};

}  // namespace muster::test

template <>
struct muster::component_traits<muster::test::health> {
    using type = muster::test::health;
    static constexpr auto fields = muster::fields(
        muster::field<&type::points_>("points").renamed_from("hp").range(0, 100).unit("hp"),
        muster::field<&type::cached_>("cached").transient());
};

namespace muster::test {
namespace {

template <class T>
void expect_json(const T& value, const std::string& text) {
    EXPECT_EQ(to_json(value), text);
    EXPECT_EQ(to_json(from_json<T>(text)), text);
    EXPECT_EQ(from_json<T>(text), value);
}

template <class T>
std::string failure_of(const std::string& text, const json_options& how = {}) {
    try {
        (void)from_json<T>(text, how);
    } catch (const error& thrown) {
        EXPECT_EQ(thrown.code(), errc::bad_json);
        return thrown.what();
    }
    return "no error";
}

TEST(json, a_struct_is_an_object_with_its_fields) {
    goblin g{{1, 2.5f}, 7, "gob \"the\" ünique\n", mood::angry, {{0, 1}}, 3, {{"sing", 1}}, {}};
    expect_json(
        g, R"({"where":{"x":1,"y":2.5},"hit_points":7,"name":"gob \"the\" ünique\n","now":"angry",)"
           R"("bag":[{"x":0,"y":1}],"rank":3,"skills":{"sing":1},"leader":null})");
}

TEST(json, a_value_may_contain_values_of_its_own_type) {
    expect_json(node{1, {{2, {}}, {3, {{4, {}}}}}},
                R"({"value":1,"children":[{"value":2,"children":[]},)"
                R"({"value":3,"children":[{"value":4,"children":[]}]}]})");
}

TEST(json, listed_fields_have_the_names_and_the_traits_of_their_list) {
    EXPECT_EQ(to_json(health(5, 9)), R"({"points":5})");
    EXPECT_EQ(from_json<health>(R"({"points":5})"), health(5, 2));
    EXPECT_EQ(from_json<health>(R"({"hp":6})"), health(6, 2)) << "the old name";
    EXPECT_NE(failure_of<health>(R"({"cached":6})").find("no such field"), std::string::npos);
}

TEST(json, numbers_read_back_exactly) {
    expect_json(0.1 + 0.2, "0.30000000000000004");
    expect_json(1e-12, "1e-12");
    expect_json(0.1f, "0.1");
    expect_json(std::numeric_limits<double>::max(), to_json(std::numeric_limits<double>::max()));
    expect_json(std::numeric_limits<double>::denorm_min(), "5e-324");
    expect_json(std::numeric_limits<std::uint64_t>::max(), "18446744073709551615");
    expect_json(std::numeric_limits<std::int64_t>::min(), "-9223372036854775808");
    expect_json(std::int8_t{-128}, "-128");
    expect_json(std::uint16_t{65535}, "65535");
    expect_json('a', "97");
    expect_json(true, "true");
    EXPECT_TRUE(std::signbit(from_json<double>(to_json(-0.0))));
}

TEST(json, random_bits_of_numbers_read_back_exactly) {
    std::mt19937_64 random(1);
    for (int i = 0; i != 20'000; ++i) {
        const auto number = std::bit_cast<double>(random());
        EXPECT_EQ(std::bit_cast<std::uint64_t>(from_json<double>(to_json(number))),
                  std::bit_cast<std::uint64_t>(number));
        const auto small = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        // A signaling NaN becomes a quiet one where the processor loads it.
        if (small == small)
            EXPECT_EQ(std::bit_cast<std::uint32_t>(from_json<float>(to_json(small))),
                      std::bit_cast<std::uint32_t>(small));
    }
}

TEST(json, what_is_no_number_has_a_name) {
    EXPECT_EQ(to_json(std::numeric_limits<double>::infinity()), R"("inf")");
    EXPECT_EQ(to_json(-std::numeric_limits<float>::infinity()), R"("-inf")");
    EXPECT_EQ(to_json(std::numeric_limits<double>::quiet_NaN()), R"("nan")");
    EXPECT_EQ(to_json(std::bit_cast<double>(0xfff8000000000001u)), R"("nan:fff8000000000001")");
    EXPECT_TRUE(std::isnan(from_json<float>(R"("nan")")));
    EXPECT_EQ(from_json<float>(R"("-inf")"), -std::numeric_limits<float>::infinity());
    for (const char* bad :
         {R"("nan:1")", R"("nan:")", R"("nan:7ff0000000000000")", R"("infinity")", R"("")"})
        EXPECT_NE(failure_of<double>(bad).find("\"nan\""), std::string::npos) << bad;
}

TEST(json, an_enumeration_has_the_names_of_its_values) {
    expect_json(mood::angry, R"("angry")");
    expect_json(static_cast<mood>(200), "200");
    expect_json(depth::low, R"("low")");
    expect_json(static_cast<depth>(-3000), "-3000");
    EXPECT_NE(failure_of<mood>(R"("cross")").find("has no value cross"), std::string::npos);
    EXPECT_NE(failure_of<mood>("256").find("256 does not fit"), std::string::npos);
}

TEST(json, bytes_that_are_no_text_are_kept) {
    expect_json(std::string("\xff\x00z", 3), R"({"$bytes":"ff007a"})");
    expect_json(std::string("\0\x1f", 2), R"("\u0000\u001f")");
    expect_json(std::map<std::string, int>{{"\xc0", 1}, {"a", 2}},
                R"([["a",2],[{"$bytes":"c0"},1]])");
    for (int first = 0; first != 256; ++first)
        for (int second = 0; second != 256; ++second) {
            const std::string bytes{static_cast<char>(first), static_cast<char>(second)};
            ASSERT_EQ(from_json<std::string>(to_json(bytes)), bytes);
        }
}

TEST(json, lists_of_the_standard_library_are_arrays) {
    expect_json(std::vector<int>{1, 2}, "[1,2]");
    expect_json(std::vector<bool>{true, false}, "[true,false]");
    expect_json(std::deque<std::string>{"a"}, R"(["a"])");
    expect_json(std::list<int>{}, "[]");
    expect_json(std::set<int>{3, 1}, "[1,3]");
    expect_json(std::multiset<int>{1, 1}, "[1,1]");
    expect_json(std::array<int, 2>{4, 5}, "[4,5]");
    expect_json(std::map<int, std::string>{{1, "a"}}, R"([[1,"a"]])");
    expect_json(std::pair<int, bool>{1, true}, R"({"0":1,"1":true})");
    expect_json(std::tuple<int, std::string>{1, "a"}, R"({"0":1,"1":"a"})");
}

TEST(json, unordered_elements_have_one_order) {
    std::unordered_set<int> forth, back;
    for (int i = 0; i != 100; ++i) forth.insert(i), back.insert(99 - i);
    EXPECT_EQ(to_json(forth), to_json(back));
    expect_json(std::unordered_map<std::string, int>{{"b", 1}, {"a", 2}}, R"({"a":2,"b":1})");
}

TEST(json, an_optional_value_is_there_or_null) {
    expect_json(std::optional<int>{}, "null");
    expect_json(std::optional<int>{1}, "1");
    expect_json(std::optional<std::optional<int>>{std::optional<int>{}}, "[null]");
    expect_json(std::optional<std::optional<int>>{}, "null");
    expect_json(std::optional<entity>{entity{}}, "[null]");
}

TEST(json, a_variant_says_which_alternative_it_holds) {
    using either = std::variant<std::monostate, int, std::string, int>;
    expect_json(either{}, R"({"0":{}})");
    expect_json(either{std::in_place_index<3>, 5}, R"({"3":5})");
    expect_json(either{"a"}, R"({"2":"a"})");
    for (const char* bad : {"{}", R"({"4":1})", R"({"1":1,"3":2})", R"({"x":1})", R"({"":1})", "1"})
        EXPECT_NE(failure_of<either>(bad), "no error") << bad;
}

TEST(json, an_id_reads_back_in_every_layout) {
    expect_json(entity::pack(7, 3, 2), R"("E:2-7[3]")");
    expect_json(basic_id<layouts::compact>::pack(7, 3), R"("E:7[3]")");
    expect_json(basic_id<layouts::exact>::pack(7, 3), R"("E:7[3]")");
    for (const char* bad :
         {R"("")", R"("E:1")", R"("E:1-2[3")", R"("E:1-2[3] ")", R"("E:99999999-2[3]")",
          R"("e:1-2[3]")", R"("E:1--2[3]")", R"("E:1-99999999999[3]")", "7"})
        EXPECT_NE(failure_of<entity>(bad), "no error") << bad;
}

TEST(json, every_space_of_json_is_skipped) {
    EXPECT_EQ(from_json<vec2>(" {\n\t\"y\" : 2 ,\r\n \"x\":1 } "), (vec2{1, 2}));
    EXPECT_EQ(from_json<vec2>("{}"), (vec2{0, 0})) << "fields that are left out have their default";
    EXPECT_EQ(from_json<std::string>(R"("\u00e4\ud83d\ude00\/")"), "ä😀/");
}

TEST(json, an_error_says_where_it_is) {
    EXPECT_EQ(failure_of<goblin>("{\"bag\": [{\"x\": 1},\n  {\"z\": 2}]}"),
              "line 2, column 8, at $.bag[1].z: muster::test::vec2 has no such field");
    EXPECT_EQ(failure_of<vec2>(R"({"x":1,"x":2})"),
              "line 1, column 12, at $.x: this field is there twice");
    EXPECT_EQ(failure_of<std::uint8_t>("300"),
              "line 1, column 4, at $: 300 does not fit in unsigned char");
    EXPECT_EQ(failure_of<int>(""), "line 1, column 1, at $: expected a digit instead of the end");
}

TEST(json, unknown_fields_are_skipped_on_request) {
    EXPECT_EQ(from_json<vec2>(R"({"z":[1,{"a":null,"b":"c"},true,false,-1.5e3],"x":1})",
                              {.skips_unknown = true}),
              (vec2{1, 0}));
}

TEST(json, texts_that_are_not_json_are_errors) {
    for (const char* bad : {"{",
                            "}",
                            "[",
                            "{\"x\"",
                            "{\"x\":",
                            "{\"x\":1",
                            "{\"x\":1,}",
                            "{x:1}",
                            "{'x':1}",
                            "{\"x\":01}",
                            "{\"x\":1.}",
                            "{\"x\":.5}",
                            "{\"x\":1e}",
                            "{\"x\":+1}",
                            "{\"x\":1}{",
                            "{\"x\":1} x",
                            "{\"x\":--1}",
                            "{\"x\":\"1\"}",
                            "null",
                            "{\"x\":null}",
                            "{\"\\ud800\":1}",
                            "{\"\\udc00\":1}",
                            "{\"\\u12g4\":1}",
                            "{\"\\x\":1}",
                            "{\"\x01\":1}",
                            "{\"\xff\":1}",
                            "{\"x\":1e999}",
                            "{\"x\":tru}"})
        EXPECT_NE(failure_of<vec2>(bad), "no error") << bad;
    EXPECT_NE(failure_of<std::vector<int>>("[1,]"), "no error");
    EXPECT_NE(failure_of<std::set<int>>("[1,1]"), "no error");
    EXPECT_NE((failure_of<std::map<int, int>>("[[1,2],[1,3]]")), "no error");
    EXPECT_NE((failure_of<std::map<int, int>>("[[1]]")), "no error");
    EXPECT_NE((failure_of<std::array<int, 2>>("[1]")), "no error");
    EXPECT_NE((failure_of<std::array<int, 2>>("[1,2,3]")), "no error");
    EXPECT_NE(failure_of<int>("1.0"), "no error");
    EXPECT_NE(failure_of<bool>("1"), "no error");
}

TEST(json, every_truncated_text_is_an_error) {
    const goblin g{{1, 2}, 7, "ä\n", mood::angry, {{3, 4}}, 5, {{"s", 6}}, entity::pack(1, 2, 3)};
    const std::string whole = to_json(g);
    EXPECT_EQ(from_json<goblin>(whole), g);
    for (std::size_t size = 0; size != whole.size(); ++size)
        EXPECT_NE(failure_of<goblin>(whole.substr(0, size)), "no error") << size;
}

TEST(json, deep_texts_are_refused_before_they_fill_the_stack) {
    std::string deep(100'000, '[');
    EXPECT_NE(failure_of<std::vector<node>>(deep).find("expected an object"), std::string::npos);
    std::string nodes;
    for (int i = 0; i != 50'000; ++i) nodes += R"({"children":[)";
    EXPECT_NE(failure_of<node>(nodes).find("more than 100 levels"), std::string::npos);
    EXPECT_NE(
        failure_of<vec2>(R"({"z":)" + deep, {.skips_unknown = true}).find("more than 100 levels"),
        std::string::npos);
}

TEST(json, random_changes_of_a_text_never_crash) {
    const goblin g{{1, 2}, 7, "a", mood::angry, {{3, 4}}, 5, {{"s", 6}}, entity::pack(1, 2, 3)};
    const std::string whole = to_json(g);
    std::mt19937 random(2);
    int accepted = 0;
    for (int i = 0; i != 20'000; ++i) {
        std::string text = whole;
        for (unsigned changes = random() % 4 + 1; changes != 0; --changes)
            text[random() % text.size()] = static_cast<char>(random() % 256);
        accepted += failure_of<goblin>(text) == "no error" ? 1 : 0;
    }
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, 20'000);
}

}  // namespace
}  // namespace muster::test
