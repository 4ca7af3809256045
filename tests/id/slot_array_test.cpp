// slot_array: where the slots of keys are. Its lookups are also tested through the pools.
#include <muster/id/id_pool.hpp>
#include <muster/id/slot_array.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

using id = basic_id<layouts::bound>;
using array = slot_array<layouts::bound, id_slot<layouts::bound>>;

id make(std::uint64_t key, std::uint64_t version = 0) {
    return id::assemble(key, version, 1);
}
array made() {
    return {id::assemble(0, 0, 1), 10, 0};
}

std::vector<std::uint64_t> keys_of(const array& slots) {
    std::vector<std::uint64_t> keys;
    slots.each([&](std::uint64_t key, const id_slot<layouts::bound>&) { keys.push_back(key); });
    return keys;
}

TEST(slot_array, cover_creates_unused_slots_and_moves_those_of_the_overflow) {
    array slots = made();
    slots.ensure(12) = {make(12, 5)};
    slots.ensure(2'000'000) = {make(2'000'000)};
    slots.ensure(3) = {make(3)};  // before the array
    EXPECT_FALSE(slots.is_dense(12));
    slots.grow(4);
    slots.cover(4);
    EXPECT_EQ(slots.dense_count(), 4u);
    EXPECT_TRUE(slots.is_dense(12));
    EXPECT_EQ(slots.find(12), slots.dense() + 2);
    EXPECT_TRUE(slots.alive(make(12, 5)));
    EXPECT_FALSE(slots.alive(make(11)));
    EXPECT_TRUE(slots.alive(make(3)));
    EXPECT_TRUE(slots.alive(make(2'000'000)));
    EXPECT_EQ(slots.find(14), nullptr);
    EXPECT_EQ(keys_of(slots), (std::vector<std::uint64_t>{10, 11, 12, 13, 3, 2'000'000}));
}

TEST(slot_array, next_living_goes_through_the_overflow_on_both_sides) {
    array slots = made();
    slots.grow(2);
    slots.cover(2);
    slots.dense()[1] = {make(11)};
    for (const std::uint64_t key : {3u, 5'000u}) slots.ensure(key) = {make(key)};
    EXPECT_EQ(slots.next_living(0), make(3));
    EXPECT_EQ(slots.next_living(4), make(11));
    EXPECT_EQ(slots.next_living(12), make(5'000));
    EXPECT_FALSE(slots.next_living(5'001));
}

TEST(slot_array, exclude_reverts_include) {
    array slots = made();
    slots.grow(3);
    slots.include(0);
    slots.dense()[0] = {make(10)};
    slots.include(1);
    slots.dense()[1] = {make(11)};
    slots.exclude(1);
    EXPECT_EQ(slots.dense_count(), 1u);
    slots.include_until(3);
    EXPECT_EQ(slots.dense_count(), 3u);
    slots.exclude(1);  // not the last: its slot stays
    EXPECT_EQ(slots.dense_count(), 3u);
    EXPECT_FALSE(slots.alive(make(11)));
}

TEST(slot_array, a_copy_has_slots_of_its_own) {
    array slots = made();
    slots.grow(2);
    slots.cover(2);
    slots.dense()[0] = {make(10)};
    slots.ensure(9'000) = {make(9'000)};
    const array copy(slots);
    *slots.find(10) = slots.untouched(10);
    *slots.find(9'000) = slots.untouched(9'000);
    EXPECT_FALSE(slots.alive(make(10)));
    EXPECT_TRUE(copy.alive(make(10)));
    EXPECT_TRUE(copy.alive(make(9'000)));
    EXPECT_EQ(copy.dense_count(), 2u);
    EXPECT_EQ(copy.fresh_id(1), make(11));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
