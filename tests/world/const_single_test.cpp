// Singletons that are only read.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>

#include "support/errors.hpp"
#include "support/fragment_kinds.hpp"

namespace muster::test {
namespace {

struct gravity {
    int value;
};
struct paused {};

template <class Layout>
class const_singles : public testing::Test {};
TYPED_TEST_SUITE(const_singles, behavior_layouts, layout_names);

TYPED_TEST(const_singles, are_the_singletons) {
    basic_world<TypeParam> w;
    EXPECT_FALSE(w.template has_single<const gravity>());
    w.set_single(gravity{9});
    w.set_single(paused{});
    const gravity& read = w.template single<const gravity>();
    EXPECT_EQ(&read, &w.template single<gravity>());
    EXPECT_EQ(&read, &std::as_const(w).template single<const gravity>());
    EXPECT_EQ(&read, &std::as_const(w).template single<gravity>());
    static_assert(std::is_same_v<decltype(w.template single<const gravity>()), const gravity&>);
    EXPECT_TRUE(w.template has_single<const gravity>());
    EXPECT_TRUE(w.template has_single<const paused>());
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(const_singles, are_missing_with_the_name_of_the_type) {
    basic_world<TypeParam> w;
    std::string of_const;
    std::string of_mutable;
    try {
        (void)w.template single<const gravity>();
    } catch (const error& missing) {
        EXPECT_EQ(missing.code(), errc::missing_component);
        of_const = missing.what();
    }
    try {
        (void)w.template single<gravity>();
    } catch (const error& missing) {
        of_mutable = missing.what();
    }
    EXPECT_NE(of_const.find("gravity"), std::string::npos) << of_const;
    EXPECT_EQ(of_const.find("const gravity"), std::string::npos) << of_const;
    EXPECT_EQ(of_const.substr(0, of_const.find(" (")), of_mutable.substr(0, of_mutable.find(" (")));
}

}  // namespace
}  // namespace muster::test
