#include <muster/storage/edge_table.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

const transition* insert(edge_table& table, std::uint64_t key) {
    const transition_ref made(new transition);
    table.reserve_one(key);
    table.insert(key, made);
    return made.get();
}

constexpr std::uint64_t first_epoch = std::uint64_t{1} << edge_key::epoch_shift;
constexpr std::uint64_t second_epoch = 2 * first_epoch;

TEST(edge_key, encodes_the_epoch_the_number_and_the_direction) {
    using key = edge_key;
    const auto of = [](std::uint32_t number, bool removes) {
        return key::of(first_epoch, fragment_index{number}, removes);
    };
    EXPECT_NE(of(3, false), of(3, true));
    EXPECT_NE(of(3, false), of(4, false));
    EXPECT_NE(of(3, true), of(4, false));
    EXPECT_NE(of(3, true), key::of(second_epoch, fragment_index{3}, true));
    EXPECT_EQ(of(3, true) & key::step_mask,
              key::of(second_epoch, fragment_index{3}, true) & key::step_mask);
    // The largest number loses no bit.
    EXPECT_EQ(of(~0u, true), first_epoch | 0x1'FFFF'FFFFu);
    EXPECT_EQ(of(~0u, false), first_epoch | 0x1'FFFF'FFFEu);
}

TEST(edge_key, of_a_fragment_of_a_present_fragment_and_of_a_set_differ) {
    using key = edge_key;
    for (const std::uint32_t number : {0u, 1u, 77u, ~0u})
        for (const bool removes : {false, true}) {
            const std::uint64_t absent = key::of(first_epoch, fragment_index{number}, removes);
            const std::uint64_t present =
                key::of_present(first_epoch, fragment_index{number}, removes);
            const std::uint64_t set = key::of_set(first_epoch, chunk_index{number}, removes);
            EXPECT_NE(absent, present);
            EXPECT_NE(absent, set);
            EXPECT_NE(present, set);
            for (const std::uint64_t made : {absent, present, set})
                EXPECT_EQ(made >> key::epoch_shift, 1u);
        }
}

TEST(edge_table, an_empty_table_finds_nothing) {
    const edge_table table;
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
        EXPECT_EQ(table.find(key), nullptr);
}

TEST(edge_table, finds_only_inserted_edges) {
    edge_table table;
    const transition* const zero = insert(table, 0);
    const transition* const seven = insert(table, 7);
    EXPECT_EQ(table.find(0), zero);
    EXPECT_EQ(table.find(7), seven);
    for (const std::uint64_t key : {1u, 3u, 4u, 8u, 15u}) EXPECT_EQ(table.find(key), nullptr);
    EXPECT_EQ(table.find(~std::uint64_t{0}), nullptr);  // the key of a free place
}

TEST(edge_table, finds_all_keys_with_equal_low_bits) {
    edge_table table;
    std::map<std::uint64_t, const transition*> model;
    for (std::uint64_t i = 0; i < 200; ++i) model[i << 20] = insert(table, i << 20);
    for (const auto& [key, made] : model) {
        ASSERT_EQ(table.find(key), made);
        ASSERT_EQ(table.find(key + 1), nullptr);
    }
    EXPECT_EQ(table.find(std::uint64_t{200} << 20), nullptr);
}

TEST(edge_table, collisions_at_the_end_of_the_table_wrap_to_its_beginning) {
    edge_table table;
    std::map<std::uint64_t, const transition*> model;
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
    std::map<std::uint64_t, const transition*> model;
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
    const transition* const made = insert(table, 5);
    EXPECT_EQ(table.find(5), made);
    EXPECT_EQ(table.find(6), nullptr);
    for (std::uint64_t key = 6; key < 100; ++key) insert(table, key);
    EXPECT_EQ(table.find(5), made);
}

TEST(edge_table, does_not_find_an_edge_of_an_earlier_epoch) {
    edge_table table;
    insert(table, first_epoch | 5);
    EXPECT_NE(table.find(first_epoch | 5), nullptr);
    EXPECT_EQ(table.find(second_epoch | 5), nullptr);
}

TEST(edge_table, an_edge_replaces_the_edge_of_an_earlier_epoch) {
    edge_table table;
    const transition_ref old(new transition);
    table.reserve_one(first_epoch | 5);
    table.insert(first_epoch | 5, old);
    EXPECT_EQ(old.get()->references, 2u);
    const transition* const made = insert(table, second_epoch | 5);
    EXPECT_EQ(table.find(second_epoch | 5), made);
    EXPECT_EQ(table.find(first_epoch | 5), nullptr);
    EXPECT_EQ(old.get()->references, 1u);
}

TEST(edge_table, edges_of_earlier_epochs_are_dropped_when_it_grows) {
    edge_table table;
    std::vector<transition_ref> old;
    for (std::uint64_t i = 0; i < 30; ++i) {
        old.emplace_back(new transition);
        table.reserve_one(first_epoch | i);
        table.insert(first_epoch | i, old.back());
    }
    for (std::uint64_t i = 1000; i < 1100; ++i) insert(table, second_epoch | i);
    for (const transition_ref& step : old) EXPECT_EQ(step.get()->references, 1u);
    for (std::uint64_t i = 1000; i < 1100; ++i) EXPECT_NE(table.find(second_epoch | i), nullptr);
}

TEST(edge_table, owns_a_reference_of_each_edge) {
    const transition_ref kept(new transition);
    {
        edge_table table;
        for (std::uint64_t key = 0; key < 20; ++key) {
            table.reserve_one(key);
            table.insert(key, kept);
        }
        EXPECT_EQ(kept.get()->references, 21u);
        table.clear();
        EXPECT_EQ(kept.get()->references, 1u);
        table.reserve_one(7);
        table.insert(7, kept);
        EXPECT_EQ(kept.get()->references, 2u);
    }
    EXPECT_EQ(kept.get()->references, 1u);
}

TEST(edge_table, agrees_with_a_map_over_random_epochs) {
    edge_table table;
    std::map<std::uint64_t, const transition*> model;
    std::mt19937_64 dice(23);
    std::uint64_t epoch = first_epoch;
    for (int i = 0; i < 5'000; ++i) {
        if (dice() % 100 == 0) {
            epoch += first_epoch;
            model.clear();
        }
        const std::uint64_t key = epoch | dice() % 300;
        const auto known = model.find(key);
        ASSERT_EQ(table.find(key), known == model.end() ? nullptr : known->second) << i;
        if (known == model.end()) model[key] = insert(table, key);
    }
}

TEST(edge_table, repeated_reserve_one_is_harmless) {
    edge_table table;
    for (int i = 0; i < 10; ++i) table.reserve_one(1);
    const transition* const made = insert(table, 1);
    EXPECT_EQ(table.find(1), made);
    EXPECT_EQ(table.find(2), nullptr);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
