#include <muster/storage/edge_table.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace muster::detail {
namespace {

const edge* insert(edge_table& table, std::uint64_t key) {
    auto* const made = new edge{key, nullptr, {}};
    table.reserve_one();
    table.insert(made);
    return made;
}

TEST(edge, a_key_encodes_the_chunk_and_the_direction) {
    EXPECT_NE(edge::key_of(chunk_index{3}, false), edge::key_of(chunk_index{3}, true));
    EXPECT_NE(edge::key_of(chunk_index{3}, false), edge::key_of(chunk_index{4}, false));
    EXPECT_NE(edge::key_of(chunk_index{3}, true), edge::key_of(chunk_index{4}, false));
    // The largest chunk index loses no bit.
    EXPECT_EQ(edge::key_of(chunk_index{~0u}, true), 0x1'FFFF'FFFFu);
    EXPECT_EQ(edge::key_of(chunk_index{~0u}, false), 0x1'FFFF'FFFEu);
}

TEST(edge_table, an_empty_table_finds_nothing) {
    const edge_table table;
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
        EXPECT_EQ(table.find(key), nullptr);
}

TEST(edge_table, finds_only_inserted_edges) {
    edge_table table;
    const edge* const zero = insert(table, 0);
    const edge* const seven = insert(table, 7);
    EXPECT_EQ(table.find(0), zero);
    EXPECT_EQ(table.find(7), seven);
    for (const std::uint64_t key : {1u, 3u, 4u, 8u, 15u}) EXPECT_EQ(table.find(key), nullptr);
    EXPECT_EQ(table.find(~std::uint64_t{0}), nullptr);  // the key of a free place
}

TEST(edge_table, finds_all_keys_with_equal_low_bits) {
    edge_table table;
    std::map<std::uint64_t, const edge*> model;
    for (std::uint64_t i = 0; i < 200; ++i) model[i << 20] = insert(table, i << 20);
    for (const auto& [key, made] : model) {
        ASSERT_EQ(table.find(key), made);
        ASSERT_EQ(table.find(key + 1), nullptr);
    }
    EXPECT_EQ(table.find(std::uint64_t{200} << 20), nullptr);
}

TEST(edge_table, collisions_at_the_end_of_the_table_wrap_to_its_beginning) {
    edge_table table;
    std::map<std::uint64_t, const edge*> model;
    // Low bits of all ones: every key hashes to the last place, for any table size.
    for (std::uint64_t i = 1; i <= 40; ++i) {
        const std::uint64_t key = i << 16 | 0xFFFF;
        model[key] = insert(table, key);
        for (const auto& [inserted, made] : model) ASSERT_EQ(table.find(inserted), made);
        ASSERT_EQ(table.find(0xFFFF), nullptr);
        ASSERT_EQ(table.find(0), nullptr);
    }
}

TEST(edge_table, agrees_with_a_map_over_random_keys) {
    edge_table table;
    std::map<std::uint64_t, const edge*> model;
    std::mt19937_64 dice(17);
    for (int i = 0; i < 3'000; ++i) {
        const std::uint64_t key = dice() % 5'000;
        const auto known = model.find(key);
        ASSERT_EQ(table.find(key), known == model.end() ? nullptr : known->second);
        if (known == model.end()) model[key] = insert(table, key);
    }
    for (const auto& [key, made] : model) ASSERT_EQ(table.find(key), made);
}

TEST(edge_table, clear_removes_all_edges_and_the_table_stays_usable) {
    edge_table table;
    for (std::uint64_t key = 0; key < 100; ++key) insert(table, key);
    table.clear();
    for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(table.find(key), nullptr);
    table.clear();
    const edge* const made = insert(table, 5);
    EXPECT_EQ(table.find(5), made);
    EXPECT_EQ(table.find(6), nullptr);
    for (std::uint64_t key = 6; key < 100; ++key) insert(table, key);
    EXPECT_EQ(table.find(5), made);
}

TEST(edge_table, repeated_reserve_one_is_harmless) {
    edge_table table;
    for (int i = 0; i < 10; ++i) table.reserve_one();
    const edge* const made = insert(table, 1);
    EXPECT_EQ(table.find(1), made);
    EXPECT_EQ(table.find(2), nullptr);
}

}  // namespace
}  // namespace muster::detail
