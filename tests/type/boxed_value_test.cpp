#include <muster/type/boxed_value.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

namespace MUSTER_NAMESPACE::detail {
namespace {

struct alignas(256) wide {
    int value;
};

TEST(boxed_value, holding_stores_an_aligned_value) {
    const auto text = boxed_value::holding(std::string(100, 'x'));
    ASSERT_TRUE(text);
    EXPECT_EQ(*static_cast<std::string*>(text.room), std::string(100, 'x'));
    const auto aligned = boxed_value::holding(wide{7});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned.room) % 256, 0u);
    EXPECT_EQ(static_cast<wide*>(aligned.room)->value, 7);
}

TEST(boxed_value, is_empty_when_default_constructed_or_moved_from) {
    EXPECT_FALSE(boxed_value());
    EXPECT_FALSE(boxed_value(type_info_of<std::string>));  // storage without a value
    auto first = boxed_value::holding(std::string("text"));
    auto second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
    ASSERT_TRUE(second);
    first = std::move(second);
    ASSERT_TRUE(first);
    EXPECT_EQ(*static_cast<std::string*>(first.room), "text");
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
