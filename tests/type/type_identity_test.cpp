// type_index: which mangled names denote one type in every file.
#include <muster/type/type_index.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <typeinfo>
#include <vector>

namespace muster::test {
inline void known_function() {}
template <void (*)()>
struct calls {};
template <int>
struct sized {};
template <class... Ts>
struct several {};
struct part {};

/// Two types with one name in one function, and a type inside of a type of a function.
inline std::array<const std::type_info*, 3> locals_of_a_function() {
    const std::type_info* first = nullptr;
    {
        struct same {};
        first = &typeid(same);
    }
    struct same {
        struct inner {};
    };
    return {first, &typeid(same), &typeid(same::inner)};
}
}  // namespace muster::test

namespace MUSTER_NAMESPACE::detail {
namespace {

/// Whether two slots of the type have one number.
bool is_one_type(const std::type_info& type) {
    // Slots of their own for each call: a slot has one number for good.
    auto* const slots = new char[2];
    static std::vector<std::unique_ptr<char[]>> kept;
    kept.emplace_back(slots);
    return number_type(&slots[0], "a", &type) == number_type(&slots[1], "b", &type);
}
template <class T>
bool is_one_type() {
    return is_one_type(typeid(T));
}
struct hidden {};
void hidden_function() {}

TEST(type_identity, of_templates_with_literals_functions_and_repeated_parts) {
    EXPECT_TRUE(is_one_type<test::sized<42>>());
    EXPECT_TRUE(is_one_type<test::calls<&test::known_function>>());
    EXPECT_TRUE((is_one_type<test::several<test::part, test::part, test::part*, int[3]>>()));
    EXPECT_TRUE(
        (is_one_type<test::several<const char*, const char*, test::sized<1>, test::sized<1>>>()));
}

TEST(type_identity, of_types_inside_of_inline_functions) {
    for (const std::type_info* const type : test::locals_of_a_function())
        EXPECT_TRUE(is_one_type(*type)) << type->name();
}

TEST(type_identity, is_the_slot_if_any_part_is_local_to_the_file) {
    EXPECT_FALSE(is_one_type<hidden>());
    EXPECT_FALSE(is_one_type<test::several<hidden>>());
    EXPECT_FALSE(is_one_type<test::calls<&hidden_function>>());
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
