// The words and links of concurrent_id_pool, for layouts with and without spare bits.
#include <muster/id/key_links.hpp>

#include <gtest/gtest.h>

#include <cstdint>

#include "support/layouts.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

template <class Layout>
class key_links_of : public testing::Test {};
using all_layouts =
    testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed,
                   test::tiny_bound<exhaustion::wrap>, test::nibble<exhaustion::tombstone>,
                   layout<std::uint64_t, id_bits{.key = 32, .version = 32}>>;
TYPED_TEST_SUITE(key_links_of, all_layouts, test::layout_names);

TYPED_TEST(key_links_of, a_link_contains_index_version_and_rounds) {
    using links = key_links<TypeParam>;
    for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{1}, links::last_index})
        for (const std::uint64_t tag : {std::uint64_t{0}, std::uint64_t{2}, links::end_tag - 1}) {
            const auto to = links::make_link(index, tag);
            EXPECT_EQ(links::index_of(to), index);
            EXPECT_EQ(links::version_of(to) | links::rounds_of(to) << TypeParam::version_bits, tag);
            EXPECT_FALSE(links::is_end(to));
            EXPECT_FALSE(links::is_empty(to));
        }
}

TYPED_TEST(key_links_of, an_empty_head_and_the_end_of_a_stack_differ_from_all_links) {
    using links = key_links<TypeParam>;
    EXPECT_TRUE(links::is_empty(links::empty));
    EXPECT_TRUE(links::is_end(links::make_link(3, links::end_tag)));
    const auto last = links::make_link(3, 1);
    EXPECT_TRUE(links::is_empty(links::head_after(last, links::end_at(3))));
    EXPECT_EQ(links::index_of(links::head_after(last, links::end_at(3))), 3u);
    EXPECT_EQ(links::head_after(last, links::make_link(2, 0)), links::make_link(2, 0));
}

TYPED_TEST(key_links_of, the_word_of_a_free_key_has_another_index) {
    using links = key_links<TypeParam>;
    for (const std::uint64_t index : {0u, 1u, 6u}) {
        EXPECT_FALSE(links::has_index(links::end_at(index), index));
        EXPECT_EQ(links::word_above(links::empty, index), links::end_at(index));
        EXPECT_FALSE(links::has_index(links::word_above(links::make_link(5, 1), index), index));
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
