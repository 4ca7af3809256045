#include <muster/catalog/bundle_index.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(bundle_index, an_unknown_list_has_no_chunk) {
    const bundle_index tested;
    for (const std::uint32_t list : {0u, 1u, 7u, 8u, 100'000u, ~0u}) {
        EXPECT_EQ(tested.find(list_index{list}).chunk, nullptr);
        EXPECT_EQ(tested.find(list_index{list}).spawned, nullptr);
    }
}

TEST(bundle_index, finds_the_entry_of_a_list) {
    bundle_index tested;
    chunk_data first;
    chunk_data second;
    tested.ensure(list_index{3}) = {&first, nullptr, {}};
    tested.ensure(list_index{500}) = {&second, &second, {4, 5}};
    EXPECT_EQ(tested.find(list_index{3}).chunk, &first);
    EXPECT_EQ(tested.find(list_index{3}).spawned, nullptr);
    EXPECT_EQ(tested.find(list_index{500}).chunk, &second);
    EXPECT_EQ(tested.find(list_index{500}).spawned, &second);
    EXPECT_EQ(tested.find(list_index{500}).columns[1], 5);
    for (const std::uint32_t list : {0u, 1u, 2u, 4u, 499u, 501u, 100'000u})
        EXPECT_EQ(tested.find(list_index{list}).chunk, nullptr) << list;
}

TEST(bundle_index, the_entry_of_a_list_is_reused) {
    bundle_index tested;
    chunk_data chunk;
    tested.ensure(list_index{2}).chunk = &chunk;
    EXPECT_EQ(&tested.ensure(list_index{2}), &tested.find(list_index{2}));
    EXPECT_EQ(tested.ensure(list_index{2}).chunk, &chunk);
}

TEST(bundle_index, clear_forgets_all_chunks) {
    bundle_index tested;
    chunk_data chunk;
    for (std::uint32_t list = 1; list < 100; ++list)
        tested.ensure(list_index{list}) = {&chunk, &chunk, {}};
    tested.clear();
    for (std::uint32_t list = 0; list < 100; ++list)
        ASSERT_EQ(tested.find(list_index{list}).chunk, nullptr);
    // A new entry must not show those that follow it in memory.
    tested.ensure(list_index{50}).chunk = &chunk;
    for (std::uint32_t list = 0; list < 100; ++list)
        ASSERT_EQ(tested.find(list_index{list}).chunk, list == 50 ? &chunk : nullptr) << list;
}

// ---- recent_sets -------------------------------------------------------------------------------

struct recent_sets_of : testing::Test {
    std::vector<fragment_data> fragments{10};
    recent_sets tested;
    chunk_data chunk;
    chunk_data other;

    recent_sets_of() {
        for (std::uint32_t i = 0; i < 10; ++i) fragments[i].index = fragment_index{i};
    }
    std::vector<fragment_data*> set(const std::vector<std::size_t>& numbers) {
        std::vector<fragment_data*> made;
        for (const std::size_t i : numbers) made.push_back(&fragments[i]);
        return made;
    }
};

TEST_F(recent_sets_of, know_nothing_at_first) {
    EXPECT_EQ(tested.find({}).chunk, nullptr);
    EXPECT_EQ(tested.find(set({1, 2})).chunk, nullptr);
}

TEST_F(recent_sets_of, find_the_same_fragments_in_the_same_order) {
    tested.put(set({1, 2}), chunk, nullptr);
    EXPECT_EQ(tested.find(set({1, 2})).chunk, &chunk);
    EXPECT_EQ(tested.find(set({1, 2})).spawned, nullptr);
    EXPECT_EQ(tested.find(set({2, 1})).chunk, nullptr);
    EXPECT_EQ(tested.find(set({1})).chunk, nullptr);
    EXPECT_EQ(tested.find(set({1, 2, 0})).chunk, nullptr);
    tested.put(set({1, 2}), chunk, &chunk);
    EXPECT_EQ(tested.find(set({1, 2})).spawned, &chunk);
}

TEST_F(recent_sets_of, a_set_of_more_than_six_fragments_is_not_stored) {
    const auto six = set({0, 1, 2, 3, 4, 5});
    const auto seven = set({0, 1, 2, 3, 4, 5, 6});
    tested.put(six, chunk, nullptr);
    tested.put(seven, other, nullptr);
    EXPECT_EQ(tested.find(six).chunk, &chunk);
    EXPECT_EQ(tested.find(seven).chunk, nullptr);
    // It does not take the place of another set, either.
    for (std::size_t i = 0; i < 8; ++i) tested.put(set({i}), chunk, nullptr);
    tested.put(seven, other, nullptr);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(tested.find(set({i})).chunk, &chunk) << i;
}

TEST_F(recent_sets_of, sets_with_equal_hashes_are_told_apart) {
    tested.put(set({0}), chunk, nullptr);
    EXPECT_EQ(tested.find(set({8})).chunk, nullptr);  // there are eight places
    tested.put(set({8}), other, nullptr);
    EXPECT_EQ(tested.find(set({0})).chunk, nullptr);
    EXPECT_EQ(tested.find(set({8})).chunk, &other);
}

TEST_F(recent_sets_of, a_found_set_is_always_the_one_that_was_put_last) {
    for (std::size_t i = 0; i < 10; ++i)
        for (std::size_t j = 0; j < 10; ++j) {
            tested.put(set({i, j}), chunk, nullptr);
            ASSERT_EQ(tested.find(set({i, j})).chunk, &chunk);
            tested.put(set({i, j}), other, nullptr);
            ASSERT_EQ(tested.find(set({i, j})).chunk, &other);
            ASSERT_EQ(tested.find(set({i, j, 9})).chunk, nullptr);
        }
}

TEST_F(recent_sets_of, clear_forgets_all_sets) {
    for (std::size_t i = 0; i < 10; ++i) tested.put(set({i}), chunk, &chunk);
    tested.clear();
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(tested.find(set({i})).chunk, nullptr);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
