#include <muster/base/error.hpp>
#include <muster/type/component_type.hpp>

#include <gtest/gtest.h>

#include <cstring>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;

void relocate(void*, void*, std::size_t) noexcept {}
void destroy(void*, std::size_t) noexcept {}

TEST(component_type, without_operations_is_copied_as_bytes_and_zero_initialised) {
    const type_info made = describe(component_type{.size = 12, .alignment = 4});
    EXPECT_TRUE(made.can_copy() && made.can_construct());
    int from[3] = {1, 2, 3};
    int to[9];
    made.copy_values(to, from, 3, 0);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(to[i], i % 3 + 1);
    made.construct_values(to, 2);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(to[i], i < 6 ? 0 : i % 3 + 1);
}

TEST(component_type, a_nontrivial_type_is_copied_and_constructed_only_by_its_operations) {
    for (const component_type& type :
         {component_type{.size = 8, .alignment = 8, .relocate = relocate},
          component_type{.size = 8, .alignment = 8, .destroy = destroy}}) {
        const type_info made = describe(type);
        EXPECT_FALSE(made.can_copy());
        EXPECT_FALSE(made.can_construct());
    }
}

TEST(component_type, an_invalid_description_is_an_error) {
    const auto code = [](const component_type& type) {
        return code_of([&] { (void)describe(type); });
    };
    EXPECT_EQ(code({.size = 4, .alignment = 0}), errc::bad_type);
    EXPECT_EQ(code({.size = 6, .alignment = 3}), errc::bad_type);
    EXPECT_EQ(code({.size = 6, .alignment = 4}), errc::bad_type);
    EXPECT_EQ(code({.size = 0, .alignment = 1, .destroy = destroy}), errc::bad_type);
    EXPECT_EQ(code({.size = std::size_t{1} << 40, .alignment = std::size_t{1} << 40}),
              errc::bad_type);
    EXPECT_EQ(describe(component_type{}).size, 0u);  // a tag
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
