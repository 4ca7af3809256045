#include <muster/base/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>

namespace muster {
namespace {

TEST(error, stores_its_code_and_its_message) {
    const error e(errc::id_stale, "too old");
    EXPECT_EQ(e.code(), errc::id_stale);
    EXPECT_STREQ(e.what(), "too old");
}

TEST(error, is_caught_as_a_runtime_error) {
    static_assert(std::is_base_of_v<std::runtime_error, error>);
    try {
        detail::raise(errc::limit, "no more");
        FAIL();
    } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "no more");
    }
}

TEST(error, every_code_has_a_unique_name) {
    std::set<std::string> names;
    for (int i = 0; i <= static_cast<int>(errc::out_of_memory); ++i) {
        const std::string name = to_string(static_cast<errc>(i));
        EXPECT_NE(name, "unknown") << i;
        EXPECT_TRUE(names.insert(name).second) << name;
    }
    EXPECT_STREQ(to_string(errc::dead_entity), "dead_entity");
    EXPECT_STREQ(to_string(static_cast<errc>(200)), "unknown");
}

TEST(error, set_error_handler_returns_the_previous_handler) {
    const error_handler mine = [](const error_info&) {};
    EXPECT_EQ(set_error_handler(mine), nullptr);
    EXPECT_EQ(set_error_handler(nullptr), mine);
    EXPECT_EQ(set_error_handler(nullptr), nullptr);
}

TEST(error, the_handler_is_not_called_when_exceptions_are_enabled) {
    set_error_handler([](const error_info&) { FAIL() << "called"; });
    EXPECT_THROW(detail::raise(errc::limit, "thrown"), error);
    EXPECT_THROW(detail::raise_out_of_memory(), std::bad_alloc);
    set_error_handler(nullptr);
}

}  // namespace
}  // namespace muster
