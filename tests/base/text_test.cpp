#include <muster/base/text.hpp>

#include <gtest/gtest.h>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(text, concatenates_strings_and_numbers) {
    EXPECT_EQ(text("key ", std::uint64_t{7}, std::string(" is"), " free"), "key 7 is free");
    EXPECT_EQ(text(~std::uint64_t{0}), "18446744073709551615");
    EXPECT_EQ(text(), "");
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
