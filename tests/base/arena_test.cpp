#include <muster/base/arena.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <set>

#include "support/allocation_count.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

bool is_aligned(const void* at, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(at) % alignment == 0;
}

TEST(arena, allocations_are_aligned_and_do_not_overlap) {
    arena memory;
    std::set<std::byte*> bytes;
    for (std::size_t size = 1; size < 300; size += 7) {
        const std::size_t alignment = std::size_t{1} << size % 9;
        auto* const room = static_cast<std::byte*>(memory.allocate(size, alignment));
        EXPECT_TRUE(is_aligned(room, alignment));
        std::memset(room, 1, size);
        for (std::size_t i = 0; i < size; ++i) EXPECT_TRUE(bytes.insert(room + i).second);
    }
}

TEST(arena, a_rewind_makes_the_same_memory_available_again) {
    arena memory;
    (void)memory.allocate(100, 8);
    const arena::position before = memory.now();
    void* const first = memory.allocate(64, 64);
    for (int i = 0; i < 1000; ++i) (void)memory.allocate(1000, 16);
    memory.rewind(before);
    EXPECT_EQ(memory.allocate(64, 64), first);
    memory.rewind({});
    std::set<void*> rooms;
    for (int i = 0; i < 1000; ++i) rooms.insert(memory.allocate(1000, 16));
    memory.rewind({});
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(rooms.contains(memory.allocate(1000, 16)));
}

TEST(arena, an_allocation_may_be_larger_than_a_block) {
    arena memory;
    (void)memory.allocate(8, 8);
    constexpr std::size_t large = std::size_t{3} << 20;
    void* const room = memory.allocate(large, 4096);
    EXPECT_TRUE(is_aligned(room, 4096));
    std::memset(room, 1, large);
    std::memset(memory.allocate(16, 16), 2, 16);
    EXPECT_EQ(static_cast<char*>(room)[large - 1], 1);
}

TEST(arena, an_impossible_allocation_throws_and_the_arena_stays_usable) {
    arena memory;
    EXPECT_THROW((void)memory.allocate(SIZE_MAX - 8, 8), std::bad_alloc);
    EXPECT_NE(memory.allocate(8, 8), nullptr);
}

TEST(arena, freeing_it_returns_all_blocks_and_makes_it_like_new) {
    constexpr int count = 100;
    const std::size_t before = test::blocks.living();
    arena memory;
    const auto fill = [&] {
        for (int i = 0; i < count; ++i) {
            void* const room = memory.allocate(1000, 64);
            EXPECT_TRUE(is_aligned(room, 64));
            std::memset(room, 1, 1000);
        }
        return test::blocks.living() - before;
    };
    const std::size_t in_use = fill();
    EXPECT_GT(in_use, 1u);
    EXPECT_LT(in_use, std::size_t{count});

    memory.free();
    EXPECT_EQ(test::blocks.living(), before);
    EXPECT_EQ(memory.now().block, arena().now().block);
    EXPECT_EQ(memory.now().used, arena().now().used);

    EXPECT_EQ(fill(), in_use);
    memory.rewind({});
    const std::size_t allocated = test::blocks.allocated;
    EXPECT_EQ(fill(), in_use);
    EXPECT_EQ(test::blocks.allocated, allocated) << "the blocks that it has were not reused";
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
