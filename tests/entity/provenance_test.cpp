#include <muster/entity/provenance.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <source_location>
#include <string>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(provenance, a_call_site_is_printed_as_file_name_and_line) {
    const std::source_location here = std::source_location::current();
    EXPECT_EQ(place_text(here), "provenance_test.cpp:" + std::to_string(here.line()));
    EXPECT_EQ(place_text(std::source_location()), ":0");
}

TEST(provenance, is_initially_empty) {
    const provenance tested;
    EXPECT_EQ(tested.find(0, 0), nullptr);
    EXPECT_EQ(tested.find(~std::uint64_t{0}, ~std::uint64_t{0}), nullptr);
}

TEST(provenance, a_destruction_is_found_by_key_and_version) {
    provenance tested;
    const std::source_location here = std::source_location::current();
    tested.note(42, 3, here, "goblin");
    const provenance::entry* const found = tested.find(42, 3);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->version, 3u);
    EXPECT_EQ(found->where.line(), here.line());
    EXPECT_EQ(found->name, "goblin");
    EXPECT_EQ(tested.find(42, 2), nullptr);
    EXPECT_EQ(tested.find(42, 4), nullptr);
    EXPECT_EQ(tested.find(43, 3), nullptr);
}

TEST(provenance, a_key_keeps_only_its_last_destruction) {
    provenance tested;
    tested.note(1, 0, std::source_location::current(), "first");
    const std::source_location later = std::source_location::current();
    tested.note(1, 1, later, "");
    EXPECT_EQ(tested.find(1, 0), nullptr);
    ASSERT_NE(tested.find(1, 1), nullptr);
    EXPECT_EQ(tested.find(1, 1)->where.line(), later.line());
    EXPECT_EQ(tested.find(1, 1)->name, "");
}

TEST(provenance, copies_the_name) {
    provenance tested;
    {
        const std::string name(100, 'x');
        tested.note(1, 0, std::source_location::current(), name);
    }
    EXPECT_EQ(tested.find(1, 0)->name, std::string(100, 'x'));
}

TEST(provenance, many_keys_are_stored_separately) {
    provenance tested;
    for (std::uint64_t key = 0; key < 1000; ++key)
        tested.note(key << 20, key, std::source_location::current(), std::to_string(key));
    for (std::uint64_t key = 0; key < 1000; ++key) {
        ASSERT_NE(tested.find(key << 20, key), nullptr);
        ASSERT_EQ(tested.find(key << 20, key)->name, std::to_string(key));
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
