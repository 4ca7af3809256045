#include <muster/base/arena.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>

namespace muster::detail {
namespace {

bool is_aligned(const void* at, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(at) % alignment == 0;
}

TEST(arena, gives_out_room_that_is_aligned_and_not_shared) {
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

TEST(arena, gives_out_the_same_room_again_after_a_rewind) {
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

TEST(arena, has_room_for_what_is_larger_than_its_blocks) {
    arena memory;
    (void)memory.allocate(8, 8);
    constexpr std::size_t large = std::size_t{3} << 20;
    void* const room = memory.allocate(large, 4096);
    EXPECT_TRUE(is_aligned(room, 4096));
    std::memset(room, 1, large);
    std::memset(memory.allocate(16, 16), 2, 16);
    EXPECT_EQ(static_cast<char*>(room)[large - 1], 1);
}

TEST(arena, refuses_what_no_memory_can_hold_and_goes_on) {
    arena memory;
    EXPECT_THROW((void)memory.allocate(SIZE_MAX - 8, 8), std::bad_alloc);
    EXPECT_NE(memory.allocate(8, 8), nullptr);
}

TEST(arena, starts_anew_after_it_was_freed) {
    arena memory;
    for (int i = 0; i < 100; ++i) (void)memory.allocate(1000, 16);
    memory.free();
    std::memset(memory.allocate(1000, 16), 1, 1000);
}

}  // namespace
}  // namespace muster::detail
