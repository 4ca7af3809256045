#include <muster/storage/key_map.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

constexpr std::uint64_t none = 0;
using map = key_map<std::uint64_t, none>;

TEST(key_map, is_initially_empty) {
    const map m;
    for (const std::uint64_t key :
         {std::uint64_t{0}, std::uint64_t{511}, std::uint64_t{1} << 40, none})
        EXPECT_EQ(m.find(key), none);
    EXPECT_FALSE(m.dense_words().cover(0));
}

TEST(key_map, stores_words_of_dense_and_overflow_keys) {
    map m;
    m.prepare(7, true);
    m.prepare(1 << 20, true);
    m.prepare(std::uint64_t{1} << 60, false);
    EXPECT_EQ(m.find(7), none);
    m.at(7) = 1;
    m.at(1 << 20) = 2;
    m.at(std::uint64_t{1} << 60) = 3;
    EXPECT_EQ(m.find(7), 1u);
    EXPECT_EQ(m.find(8), none);
    EXPECT_EQ(m.find(1 << 20), 2u);
    EXPECT_EQ(m.find(std::uint64_t{1} << 60), 3u);
    EXPECT_EQ(m.find((std::uint64_t{1} << 60) + 1), none);
}

TEST(key_map, an_overflow_key_is_found_when_dense_pages_reach_it) {
    map m;
    m.prepare(5000, false);
    m.at(5000) = 1;
    m.prepare(5001, true);
    m.at(5001) = 2;
    EXPECT_EQ(m.find(5000), 1u);
    m.prepare(5000, true);
    EXPECT_EQ(m.at(5000), 1u);
    EXPECT_EQ(m.find(5001), 2u);
}

TEST(key_map, take_overflow_removes_the_overflow_keys_below_a_limit) {
    key_map<std::uint8_t, 0> m;
    for (const std::uint64_t key : {10u, 20u, 30u}) {
        m.prepare(key, false);
        m.at(key) = static_cast<std::uint8_t>(key);
    }
    std::map<std::uint64_t, int> taken;
    m.take_overflow(21, [&](std::uint64_t key, std::uint8_t word) { taken[key] = word; });
    EXPECT_EQ(taken, (std::map<std::uint64_t, int>{{10, 10}, {20, 20}}));
    EXPECT_EQ(m.find(10), 0);
    EXPECT_EQ(m.find(30), 30);
    m.take_overflow(100, [&](std::uint64_t key, std::uint8_t word) { taken[key] = word; });
    EXPECT_EQ(taken.size(), 3u);
    EXPECT_FALSE(m.has_overflow());
}

TEST(key_map, trim_frees_only_pages_without_words) {
    map m;
    for (std::uint64_t key = 0; key < 5000; ++key) {
        m.prepare(key, true);
        m.at(key) = key;
    }
    for (std::uint64_t key = 512; key < 4096; ++key) m.at(key) = none;
    m.prepare(std::uint64_t{1} << 50, false);
    m.trim();
    EXPECT_EQ(&m.dense_words()[1000],
              &m.dense_words()[1000 + map::page_size]);  // both on the shared page
    for (std::uint64_t key = 0; key < 5000; ++key)
        ASSERT_EQ(m.find(key), key < 512 || key >= 4096 ? key : none);
    m.clear();
    EXPECT_EQ(m.find(1), none);
}

TEST(key_map, keep_erases_words_that_fail_the_predicate) {
    map m;
    for (const std::uint64_t key : {1u, 2u, 5000u}) {
        m.prepare(key, true);
        m.at(key) = key;
    }
    m.prepare(std::uint64_t{1} << 50, false);
    m.at(std::uint64_t{1} << 50) = 7;
    m.keep([](std::uint64_t word) { return word % 2 == 0; });
    EXPECT_EQ(m.find(1), none);
    EXPECT_EQ(m.find(2), 2u);
    EXPECT_EQ(m.find(5000), 5000u);
    EXPECT_EQ(m.find(std::uint64_t{1} << 50), none);
    m.trim();
    EXPECT_FALSE(m.has_overflow());
    EXPECT_EQ(m.find(2), 2u);
}

TEST(key_map, agrees_with_a_std_map_over_random_changes) {
    std::mt19937_64 random(7);
    map m;
    std::map<std::uint64_t, std::uint64_t> model;
    for (int step = 0; step < 20'000; ++step) {
        const bool is_dense = random() % 4 != 0;
        const std::uint64_t key = is_dense ? random() % 3000 : random() >> random() % 64;
        if (random() % 3 != 0) {
            m.prepare(key, is_dense);
            m.at(key) = model[key] = random() >> 1;
        } else if (model.contains(key)) {
            m.at(key) = none;
            model.erase(key);
        }
        if (step % 1000 == 0) m.trim();
        const auto found = model.find(key);
        ASSERT_EQ(m.find(key), found == model.end() ? none : found->second);
    }
    for (const auto& [key, word] : model) ASSERT_EQ(m.find(key), word);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
