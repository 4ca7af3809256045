// The fields of aggregates and their names.
#include <muster/reflect/aggregate.hpp>

#include <muster/id/id.hpp>

#include <gtest/gtest.h>

#include <any>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

namespace detail = muster::detail;

struct nothing {};
struct single {
    unsigned long target;
};
struct vec2 {
    float x, y;
};
struct nested {
    vec2 from, to;
    single last;
};
struct goblin {
    vec2 where;
    int hit_points;
    std::string name;
    std::vector<int> bag;
    std::optional<int> rank;
    std::map<std::string, int> skills;
};
struct library_types {
    std::optional<std::string> a;
    std::variant<int, std::string> b;
    std::array<int, 3> c;
    std::unordered_map<int, std::vector<int>> d;
    std::set<int> e;
    std::unique_ptr<int> f;
    std::tuple<int, float> g;
    std::pair<int, int> h;
    std::string_view i;
    int* j;
    muster::entity k;
    bool l;
};
struct initialized {
    int first = 1;
    std::string second = "two";
    std::vector<vec2> third{{1, 2}};
};
enum class mood : unsigned char { calm, angry = 3, wild = 200 };
struct with_enum {
    mood now;
    const int fixed;
};
struct aligned {
    char small;
    alignas(64) double wide;
};
template <class T>
struct pair_of {
    T left, right;
};
struct wide {
    int f01, f02, f03, f04, f05, f06, f07, f08, f09, f10, f11, f12, f13, f14, f15, f16;
    int f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32;
};
struct únïcode {
    int größe;
};

static_assert(detail::count_fields<nothing>() == 0);
static_assert(detail::count_fields<single>() == 1);
static_assert(detail::count_fields<vec2>() == 2);
static_assert(detail::count_fields<nested>() == 3);
static_assert(detail::count_fields<goblin>() == 6);
static_assert(detail::count_fields<library_types>() == 12);
static_assert(detail::count_fields<initialized>() == 3);
static_assert(detail::count_fields<with_enum>() == 2);
static_assert(detail::count_fields<aligned>() == 2);
static_assert(detail::count_fields<pair_of<vec2>>() == 2);
static_assert(detail::count_fields<wide>() == 32);

TEST(aggregate, names_of_fields_are_those_of_the_source) {
    EXPECT_EQ((detail::field_name<vec2, 0>), "x");
    EXPECT_EQ((detail::field_name<vec2, 1>), "y");
    EXPECT_EQ((detail::field_name<goblin, 0>), "where");
    EXPECT_EQ((detail::field_name<goblin, 1>), "hit_points");
    EXPECT_EQ((detail::field_name<goblin, 5>), "skills");
    EXPECT_EQ((detail::field_name<library_types, 11>), "l");
    EXPECT_EQ((detail::field_name<pair_of<vec2>, 1>), "right");
    EXPECT_EQ((detail::field_name<wide, 31>), "f32");
    EXPECT_EQ((detail::field_name<únïcode, 0>), "größe");
}

TEST(aggregate, a_type_inside_a_function_has_names_too) {
    struct local {
        int alpha;
        double beta;
    };
    EXPECT_EQ((detail::field_name<local, 1>), "beta");
}

TEST(aggregate, references_lead_to_the_fields) {
    goblin g{{1, 2}, 7, "gob", {1}, {}, {}};
    auto fields = detail::tie_fields(g);
    std::get<1>(fields) = 8;
    std::get<2>(fields) += "lin";
    EXPECT_EQ(g.hit_points, 8);
    EXPECT_EQ(g.name, "goblin");
    EXPECT_EQ(&std::get<5>(fields), &g.skills);
    wide w{};
    std::get<31>(detail::tie_fields(w)) = 5;
    EXPECT_EQ(w.f32, 5);
    const vec2 constant{3, 4};
    static_assert(std::is_same_v<decltype(detail::tie_fields(constant)),
                                 std::tuple<const float&, const float&>>);
    EXPECT_EQ(std::get<1>(detail::tie_fields(constant)), 4);
}

TEST(aggregate, a_value_of_an_enumeration_has_a_name_if_it_is_declared) {
    EXPECT_EQ((detail::value_name<mood::calm>), "calm");
    EXPECT_EQ((detail::value_name<mood::angry>), "angry");
    EXPECT_EQ((detail::value_name<static_cast<mood>(200)>), "wild");
    EXPECT_EQ((detail::value_name<static_cast<mood>(2)>), "");
}

}  // namespace
