// The stacks of concurrent_id_pool, without a pool. Its own tests let threads interfere.
#include <muster/id/key_stacks.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "support/layouts.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

template <class Layout>
class key_stacks_of : public testing::Test {};
using all_layouts = testing::Types<layouts::bound, layouts::compact, layouts::exact,
                                   test::tiny_bound<exhaustion::wrap>>;
TYPED_TEST_SUITE(key_stacks_of, all_layouts, test::layout_names);

template <class Layout>
struct fixture {
    using links = key_links<Layout>;

    typename links::slots slots{links::end_at(0)};
    key_stacks<Layout> stacks;

    fixture() { slots.ensure(0, 16); }
    void push(std::uint64_t index) { stacks.push(slots, index, slots.at(index), index + 1); }
    std::vector<std::uint64_t> pop(std::size_t count) {
        std::vector<std::uint64_t> indices;
        stacks.pop_many(slots, count, [&](typename links::link top) noexcept {
            EXPECT_EQ(links::version_of(top), (links::index_of(top) + 1) & Layout::last_version);
            indices.push_back(links::index_of(top));
        });
        return indices;
    }
};
using numbers = std::vector<std::uint64_t>;

TYPED_TEST(key_stacks_of, the_last_key_is_first) {
    using links = key_links<TypeParam>;
    fixture<TypeParam> f;
    for (const std::uint64_t index : {4u, 2u, 5u}) f.push(index);
    EXPECT_EQ(f.stacks.count_free(f.slots).count, 3u);
    EXPECT_TRUE(f.stacks.count_free(f.slots).is_steady);
    EXPECT_FALSE(f.stacks.is_none_free());
    typename links::link top = 0;
    ASSERT_TRUE(f.stacks.pop(f.slots, top));
    EXPECT_EQ(links::index_of(top), 5u);
    EXPECT_EQ(f.pop(1), numbers{2});
    EXPECT_EQ(f.pop(9), numbers{4});
    EXPECT_TRUE(f.stacks.is_none_free());
    EXPECT_FALSE(f.stacks.pop(f.slots, top));
    EXPECT_EQ(f.stacks.count_free(f.slots).count, 0u);
}

TYPED_TEST(key_stacks_of, a_thread_finds_the_keys_of_other_threads) {
    fixture<TypeParam> f;
    std::thread([&] { f.push(3); }).join();
    std::thread([&] { f.push(4); }).join();
    f.push(1);
    numbers found = f.pop(9);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0], 1u);  // its own stack is first, unless threads share it
    EXPECT_EQ(found[1] + found[2], 7u);
}

TYPED_TEST(key_stacks_of, a_single_pop_also_finds_the_key_of_another_thread) {
    using links = key_links<TypeParam>;
    fixture<TypeParam> f;
    std::thread([&] { f.push(3); }).join();
    typename links::link top = 0;
    ASSERT_TRUE(f.stacks.pop(f.slots, top));
    EXPECT_EQ(links::index_of(top), 3u);
    EXPECT_FALSE(f.stacks.pop(f.slots, top));
}

TYPED_TEST(key_stacks_of, highest_version_considers_each_top) {
    fixture<TypeParam> f;
    EXPECT_EQ(f.stacks.highest_version(2), 2u);
    f.push(4);
    EXPECT_EQ(f.stacks.highest_version(2), 5u);
    EXPECT_EQ(f.stacks.highest_version(6), 6u);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
