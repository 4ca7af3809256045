#include <muster/base/sparse_array.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(sparse_array, find_returns_an_element_after_ensure) {
    sparse_array<int> array;
    EXPECT_TRUE(array.empty());
    EXPECT_EQ(array.find(0), nullptr);
    EXPECT_EQ(array.next(0), array.none);
    array.ensure(1000, 7);
    EXPECT_EQ(*array.find(1000), 7);
    EXPECT_EQ(array.find(1001), nullptr);
    EXPECT_EQ(array.ensure(1000, 8), 7);  // an existing element keeps its value
    EXPECT_EQ(array.size(), 1u);
    array.erase(1000);
    EXPECT_TRUE(array.empty());
    EXPECT_EQ(array.find(1000), nullptr);
}

TEST(sparse_array, elements_do_not_move_while_the_tree_grows) {
    sparse_array<int> array;
    const int* const first = &array.ensure(3, 33);
    for (std::uint64_t index = 4; index != 0; index <<= 1) array.ensure(index, 0);
    EXPECT_EQ(array.find(3), first);
    EXPECT_EQ(*first, 33);
}

TEST(sparse_array, supports_the_highest_indices) {
    sparse_array<int> array;
    const std::uint64_t top = array.none - 1;
    array.ensure(top, 1);
    array.ensure(0, 2);
    EXPECT_EQ(*array.find(top), 1);
    EXPECT_EQ(array.next(1), top);
    EXPECT_EQ(array.next(array.none), array.none);
    array.erase(top);
    EXPECT_EQ(array.next(1), array.none);
}

TEST(sparse_array, behaves_like_a_map) {
    std::mt19937_64 dice(2);
    for (unsigned round = 0; round < 30; ++round) {
        sparse_array<std::uint64_t> array;
        std::map<std::uint64_t, std::uint64_t> model;
        for (int i = 0; i < 2000; ++i) {
            // Dense in some rounds, spread over all 64 bits in others.
            const std::uint64_t index =
                dice() % 3 == 0 ? dice() % 300 : dice() >> (round % 2 == 0 ? 40 : 1);
            switch (dice() % 3) {
            case 0:
                EXPECT_EQ(array.ensure(index, index * 3),
                          model.try_emplace(index, index * 3).first->second);
                break;
            case 1:
                if (const auto at = model.lower_bound(index); at != model.end()) {
                    array.erase(at->first);
                    model.erase(at);
                }
                break;
            case 2: {
                const auto at = model.lower_bound(index);
                ASSERT_EQ(array.next(index), at == model.end() ? array.none : at->first);
                const std::uint64_t* found = array.find(index);
                ASSERT_EQ(found != nullptr, model.contains(index));
                if (found != nullptr) ASSERT_EQ(*found, model.at(index));
                break;
            }
            }
            ASSERT_EQ(array.size(), model.size());
        }
        std::uint64_t at = array.next(0);
        for (const auto& [index, value] : model) {
            ASSERT_EQ(at, index);
            ASSERT_EQ(*array.find(at), value);
            at = array.next(at + 1);
        }
        ASSERT_EQ(at, array.none);
    }
}

TEST(sparse_array, a_copy_has_the_same_elements_of_its_own) {
    sparse_array<int> array;
    for (const std::uint64_t index : {3u, 70u, 1'000'000u}) array.ensure(index, 1);
    const sparse_array<int> copy(array);
    array[70] = 2;
    array.erase(3);
    EXPECT_EQ(copy.size(), 3u);
    EXPECT_EQ(copy[3], 1);
    EXPECT_EQ(copy[70], 1);
    EXPECT_EQ(copy.next(71), 1'000'000u);
}

TEST(sparse_array, swap_exchanges_all_elements) {
    sparse_array<int> full;
    full.ensure(5000, 1);
    sparse_array<int> empty;
    int* const element = full.find(5000);
    empty.swap(full);
    EXPECT_TRUE(full.empty());
    EXPECT_EQ(full.next(0), full.none);
    EXPECT_EQ(empty.find(5000), element);
    full = std::move(empty);
    EXPECT_EQ(full.find(5000), element);
    const sparse_array<int> moved(std::move(full));
    EXPECT_EQ(moved.find(5000), element);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
