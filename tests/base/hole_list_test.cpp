#include <muster/base/hole_list.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

constexpr std::uint32_t hole = ~std::uint32_t{0};

/// A list of numbers whose places are known, as its users know them.
struct hole_lists : testing::Test {
    hole_list<std::uint32_t> list{hole};
    std::vector<std::size_t> places;  // by number
    std::size_t moved = 0;

    void append() {
        const auto number = static_cast<std::uint32_t>(places.size());
        places.push_back(list.size());
        list.push_back(number);
    }
    auto note_moves() {
        return [this](std::uint32_t number, std::size_t place) {
            places[number] = place;
            ++moved;
        };
    }
    void erase(std::uint32_t number) { list.erase(places[number], note_moves()); }
    [[nodiscard]] std::vector<std::uint32_t> elements() const {
        std::vector<std::uint32_t> all(list.begin(), list.end());
        std::erase(all, hole);
        return all;
    }
    void expect_elements(const std::vector<std::uint32_t>& model) const {
        ASSERT_EQ(elements(), model);
        ASSERT_EQ(list.count(), model.size());
        ASSERT_EQ(list.empty(), model.empty());
        if (!model.empty()) ASSERT_EQ(list.back(), model.back());
        for (const std::uint32_t number : model) ASSERT_EQ(list[places[number]], number);
    }
};

TEST_F(hole_lists, agree_with_a_vector_over_random_operations) {
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        list = hole_list<std::uint32_t>(hole);
        places.clear();
        std::vector<std::uint32_t> model;
        for (int step = 0; step < 2000; ++step) {
            // Grows and shrinks in turns, so that lists of all lengths lose elements.
            const bool is_growing = step / 250 % 2 == 0;
            if (model.empty() || random() % 4 < (is_growing ? 3u : 1u)) {
                model.push_back(static_cast<std::uint32_t>(places.size()));
                append();
            } else if (random() % 100 != 0) {
                const std::size_t at = random() % model.size();
                erase(model[at]);
                model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
            } else {
                const auto divisor = static_cast<std::uint32_t>(2 + random() % 3);
                const auto is_unwanted = [=](std::uint32_t number) {
                    return number % divisor == 0;
                };
                list.erase_if(is_unwanted, note_moves());
                std::erase_if(model, is_unwanted);
            }
            ASSERT_NO_FATAL_FAILURE(expect_elements(model));
        }
    }
}

TEST_F(hole_lists, never_have_more_holes_than_elements) {
    for (int i = 0; i < 1000; ++i) append();
    for (std::uint32_t number = 0; number < 1000; number += 3) {
        erase(number);
        ASSERT_LE(list.size(), 2 * list.count() + 1);
    }
}

TEST_F(hole_lists, close_up_at_once_while_they_are_short) {
    for (int i = 0; i < 10; ++i) append();
    erase(3);
    EXPECT_EQ(list.size(), 9u);
}

/// Counts how many elements move while all are erased.
TEST_F(hole_lists, move_each_element_a_few_times_however_many_are_erased) {
    for (const std::size_t count : {1000u, 2000u, 8000u}) {
        for (const int order : {0, 1, 2}) {
            list = hole_list<std::uint32_t>(hole);
            places.clear();
            moved = 0;
            std::vector<std::uint32_t> all;
            for (std::size_t i = 0; i < count; ++i) {
                all.push_back(static_cast<std::uint32_t>(i));
                append();
            }
            if (order == 1) std::ranges::reverse(all);
            if (order == 2) std::ranges::shuffle(all, std::mt19937(1));
            for (const std::uint32_t number : all) erase(number);
            EXPECT_TRUE(list.empty());
            EXPECT_LE(moved, 2 * count) << "order " << order;
        }
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
