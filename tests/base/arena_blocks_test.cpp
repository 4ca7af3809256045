// arena: which blocks an allocation uses after a rewind.
#include <muster/base/arena.hpp>
#include <muster/base/array_list.hpp>

#include <gtest/gtest.h>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(arena_blocks, too_small_for_an_allocation_are_skipped_until_the_next_rewind) {
    arena memory;
    void* const first = memory.allocate(4000, 8);
    void* const second = memory.allocate(8000, 8);
    void* const large = memory.allocate(100'000, 8);
    memory.rewind({});
    EXPECT_EQ(memory.allocate(4000, 8), first);
    EXPECT_EQ(memory.allocate(90'000, 8), large);  // skips the second block
    memory.rewind({});
    EXPECT_EQ(memory.allocate(4000, 8), first);
    EXPECT_EQ(memory.allocate(8000, 8), second);
}

TEST(array_list_equality, depends_on_each_element_and_the_size) {
    const array_list<int> list{1, 2, 3};
    EXPECT_TRUE((list == array_list<int>{1, 2, 3}));
    EXPECT_FALSE((list == array_list<int>{1, 2, 4}));
    EXPECT_FALSE((list == array_list<int>{0, 2, 3}));
    EXPECT_FALSE((list == array_list<int>{1, 2}));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
