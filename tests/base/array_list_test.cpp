#include <muster/base/array_list.hpp>
#include <muster/base/reserve.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <random>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

using numbers = array_list<std::uint32_t>;

void expect_equal(const numbers& list, const std::vector<std::uint32_t>& model) {
    ASSERT_EQ(list.size(), model.size());
    ASSERT_EQ(list.empty(), model.empty());
    ASSERT_GE(list.capacity(), list.size());
    for (std::size_t i = 0; i < model.size(); ++i) ASSERT_EQ(list[i], model[i]) << "at " << i;
    if (!model.empty()) {
        ASSERT_EQ(list.front(), model.front());
        ASSERT_EQ(list.back(), model.back());
    }
}

TEST(array_list, agrees_with_a_vector_over_random_operations) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t end) { return random() % end; };
        numbers list;
        std::vector<std::uint32_t> model;
        for (int step = 0; step < 200; ++step) {
            const auto value = static_cast<std::uint32_t>(below(8));
            const std::size_t at = below(model.size() + 1);
            const auto place = static_cast<std::ptrdiff_t>(at);
            switch (below(14)) {
            case 0:
            case 1:
            case 2:
                list.push_back(value);
                model.push_back(value);
                break;
            case 3:
                if (model.empty()) break;
                list.pop_back();
                model.pop_back();
                break;
            case 4:
                list.insert(list.begin() + at, value);
                model.insert(model.begin() + place, value);
                break;
            case 5: {
                const std::vector<std::uint32_t> some(below(5), value);
                list.insert(list.begin() + at, some.data(), some.data() + some.size());
                model.insert(model.begin() + place, some.begin(), some.end());
                break;
            }
            case 6:
                if (at == model.size()) break;
                list.erase(list.begin() + at);
                model.erase(model.begin() + place);
                break;
            case 7: {
                const std::size_t last = at + below(model.size() - at + 1);
                list.erase(list.begin() + at, list.begin() + last);
                model.erase(model.begin() + place,
                            model.begin() + static_cast<std::ptrdiff_t>(last));
                break;
            }
            case 8:
                ASSERT_EQ(list.erase_if([&](std::uint32_t element) { return element == value; }),
                          std::erase(model, value));
                break;
            case 9: {
                const std::size_t size = below(40);
                list.resize(size, value);
                model.resize(size, value);
                break;
            }
            case 10:
                if (below(10) == 0) {
                    list.clear();
                    model.clear();
                }
                break;
            case 11: reserve_more(list, below(20)); break;
            case 12: {
                numbers copy(list);
                ASSERT_TRUE(copy == list);
                copy.push_back(1);
                ASSERT_FALSE(copy == list);
                const numbers& same = list;
                list = same;  // self-assignment
                break;
            }
            default: {
                numbers moved(std::move(list));
                list = std::move(moved);
                break;
            }
            }
            expect_equal(list, model);
        }
    }
}

TEST(array_list, accepts_references_to_its_own_elements) {
    numbers list(3, 7);
    while (list.size() < 100) list.push_back(list.front());
    list.insert(list.begin(), list.back());
    list.resize(0);
    EXPECT_TRUE(list.empty());
    list.resize(3, 5);
    list.erase_value(list[1]);
    EXPECT_TRUE(list.empty());
}

TEST(array_list, a_failed_allocation_changes_nothing) {
    numbers list(3, 7);
    EXPECT_THROW(list.reserve(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
    volatile std::size_t huge =
        std::numeric_limits<std::size_t>::max() / 4;  // unknown to the compiler
    EXPECT_THROW(list.resize(huge), std::bad_alloc);
    expect_equal(list, {7, 7, 7});
}

TEST(array_list, over_aligned_elements_are_aligned) {
    struct alignas(64) line {
        std::uint32_t value;
    };
    array_list<line> list;
    for (std::uint32_t i = 0; i < 50; ++i) {
        list.push_back({i});
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(list.data()) % 64, 0u);
    }
    for (std::uint32_t i = 0; i < 50; ++i) ASSERT_EQ(list[i].value, i);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
