#include <muster/type/type_name.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace game {
struct position {
    struct part {};
};
enum class team { red, blue };
template <class T>
struct box {};
template <int N>
struct slot {};
namespace ui {
struct button {};
}  // namespace ui
}  // namespace game

struct without_namespace {};

namespace MUSTER_NAMESPACE::detail {
namespace {

struct of_one_file {};

TEST(type_name, includes_namespaces) {
    EXPECT_EQ(type_name<game::position>(), "game::position");
    EXPECT_EQ(type_name<game::ui::button>(), "game::ui::button");
    EXPECT_EQ(type_name<game::position::part>(), "game::position::part");
    EXPECT_EQ(type_name<game::team>(), "game::team");
    EXPECT_EQ(type_name<without_namespace>(), "without_namespace");
}

TEST(type_name, includes_template_arguments) {
    EXPECT_EQ(type_name<game::box<int>>(), "game::box<int>");
    EXPECT_EQ(type_name<game::box<game::position>>(), "game::box<game::position>");
    EXPECT_EQ(type_name<game::slot<7>>(), "game::slot<7>");
    EXPECT_EQ(type_name<std::vector<int>>(), "std::vector<int>");
}

TEST(type_name, built_in_types_are_named_by_their_keyword) {
    EXPECT_EQ(type_name<int>(), "int");
    EXPECT_EQ(type_name<double>(), "double");
    EXPECT_EQ(type_name<bool>(), "bool");
    EXPECT_EQ(type_name<unsigned char>(), "unsigned char");
}

TEST(type_name, std_string_has_its_short_name) {
    EXPECT_EQ(type_name<std::string>(), "std::string");
}

TEST(type_name, a_name_that_contains_int_is_not_cut) {
    struct print {};
    EXPECT_TRUE(type_name<print>().ends_with("print")) << type_name<print>();
    EXPECT_EQ(type_name<game::box<unsigned int>>(), "game::box<unsigned int>");
}

TEST(type_name, a_type_of_an_anonymous_namespace_ends_with_its_own_name) {
    EXPECT_TRUE(type_name<of_one_file>().ends_with("::of_one_file")) << type_name<of_one_file>();
}

TEST(type_name, is_a_constant_expression) {
    static_assert(type_name<game::position>() == "game::position");
    static_assert(type_name<std::string>() == "std::string");
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
