// component_type: descriptions that contradict themselves, one rule at a time.
#include <muster/type/component_type.hpp>
#include <muster/type/type_info.hpp>

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

std::optional<errc> refusal(const component_type& type) {
    return test::code_of([&] { (void)describe(type); });
}

TEST(component_type_limits, a_size_above_2_to_the_40_is_an_error) {
    constexpr std::size_t limit = std::size_t{1} << 40;
    EXPECT_EQ(refusal({.size = limit, .alignment = 8}), std::nullopt);
    EXPECT_EQ(refusal({.size = limit + 8, .alignment = 8}), errc::bad_type);
    EXPECT_NE(test::sentence_of([&] {
                  (void)describe({.size = limit + 8, .alignment = 8});
              }).find("the limit is 2^40"),
              std::string::npos);
}

TEST(component_type_limits, a_tag_has_no_operations) {
    EXPECT_EQ(refusal({.size = 0, .alignment = 1}), std::nullopt);
    EXPECT_EQ(refusal({.size = 0, .alignment = 1, .destroy = [](void*, std::size_t) noexcept {}}),
              errc::bad_type);
    EXPECT_EQ(refusal({.size = 0,
                       .alignment = 1,
                       .copy = [](void*, const void*, std::size_t, std::size_t) {}}),
              errc::bad_type);
    EXPECT_EQ(refusal({.size = 0, .alignment = 1, .construct = [](void*, std::size_t) {}}),
              errc::bad_type);
    EXPECT_EQ(refusal({.size = 0, .alignment = 1, .pinned = true}), errc::bad_type);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
