#include <muster/id/living_iterator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <type_traits>
#include <vector>

#include "support/layouts.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

/// Living ids by key; counts how often it is asked.
template <class Layout>
class fake_source {
public:
    using id_type = basic_id<Layout>;
    using iterator = living_iterator<fake_source, id_type>;

    void insert(std::uint64_t key, std::uint64_t version = Layout::first_version) {
        living_[key] = id_type::pack(key, version, Layout::world_bits == 0 ? 0 : 1);
    }
    void erase(std::uint64_t key) { living_.erase(key); }

    [[nodiscard]] id_type next_living(std::uint64_t key) const noexcept {
        asked_.push_back(key);
        if (asked_.size() > 1000) {  // an iterator that never ends must not hang the test
            ADD_FAILURE() << "asked too often, last for key " << key;
            return id_type{};
        }
        const auto found = living_.lower_bound(key);
        return found == living_.end() ? id_type{} : found->second;
    }
    [[nodiscard]] id_type next_after(id_type e) const noexcept { return next_living(e.key() + 1); }
    [[nodiscard]] const std::vector<std::uint64_t>& asked() const { return asked_; }

    [[nodiscard]] iterator begin() const { return {*this, next_living(Layout::first_key)}; }
    [[nodiscard]] iterator end() const { return {*this, id_type{}}; }

private:
    std::map<std::uint64_t, id_type> living_;
    mutable std::vector<std::uint64_t> asked_;
};

using source = fake_source<layouts::bound>;
using source_id = source::id_type;

std::vector<std::uint64_t> keys_of(const source& ids) {
    std::vector<std::uint64_t> keys;
    for (const source_id living : ids) keys.push_back(living.key());
    return keys;
}
using key_list = std::vector<std::uint64_t>;

TEST(living_iterator, is_a_forward_iterator_that_returns_ids_by_value) {
    static_assert(std::forward_iterator<source::iterator>);
    static_assert(!std::bidirectional_iterator<source::iterator>);
    static_assert(std::is_same_v<std::iter_reference_t<source::iterator>, source_id>);
    // A C++17 forward iterator returns references.
    static_assert(std::is_same_v<std::iterator_traits<source::iterator>::iterator_category,
                                 std::input_iterator_tag>);
}

TEST(living_iterator, visits_nothing_if_nothing_lives) {
    const source ids;
    EXPECT_EQ(ids.begin(), ids.end());
    EXPECT_EQ(keys_of(ids), key_list{});
}

TEST(living_iterator, visits_each_living_id_once_by_key) {
    source ids;
    for (const std::uint64_t key : {700u, 3u, 4u, 0u}) ids.insert(key, key + 1);
    std::vector<source_id> visited(ids.begin(), ids.end());
    EXPECT_EQ(visited,
              (std::vector<source_id>{source_id::pack(0, 1, 1), source_id::pack(3, 4, 1),
                                      source_id::pack(4, 5, 1), source_id::pack(700, 701, 1)}));
}

TEST(living_iterator, a_step_asks_once_for_the_key_after_its_own) {
    source ids;
    ids.insert(5);
    ids.insert(9);
    auto at = ids.begin();
    EXPECT_EQ(ids.asked(), key_list{0});
    ++at;
    EXPECT_EQ(ids.asked(), (key_list{0, 6}));
    ++at;
    EXPECT_EQ(ids.asked(), (key_list{0, 6, 10}));
    EXPECT_EQ(at, ids.end());
}

TEST(living_iterator, reading_asks_nothing_and_changes_nothing) {
    source ids;
    ids.insert(5);
    const auto at = ids.begin();
    const std::size_t asked = ids.asked().size();
    EXPECT_EQ(*at, *at);
    EXPECT_EQ((*at).key(), 5u);
    EXPECT_EQ(ids.asked().size(), asked);
}

TEST(living_iterator, the_prefix_step_returns_the_iterator_itself) {
    source ids;
    ids.insert(1);
    ids.insert(2);
    auto at = ids.begin();
    EXPECT_EQ(&++at, &at);
    EXPECT_EQ((*at).key(), 2u);
}

TEST(living_iterator, the_postfix_step_returns_the_position_before) {
    source ids;
    ids.insert(1);
    ids.insert(2);
    auto at = ids.begin();
    const auto before = at++;
    EXPECT_EQ((*before).key(), 1u);
    EXPECT_EQ((*at).key(), 2u);
    EXPECT_NE(before, at);
}

TEST(living_iterator, copies_step_independently) {
    source ids;
    for (std::uint64_t key = 0; key < 4; ++key) ids.insert(key);
    auto first = ids.begin();
    ++first;
    auto second = first;
    EXPECT_EQ(first, second);
    ++second;
    ++second;
    EXPECT_EQ((*first).key(), 1u);
    EXPECT_EQ((*second).key(), 3u);
    EXPECT_EQ(std::distance(first, second), 2);
}

TEST(living_iterator, a_default_iterator_equals_the_end) {
    source ids;
    ids.insert(1);
    EXPECT_EQ(source::iterator{}, ids.end());
    EXPECT_EQ(source::iterator{}, source::iterator{});
    EXPECT_NE(source::iterator{}, ids.begin());
    EXPECT_TRUE((*source::iterator{}).is_null());
}

TEST(living_iterator, versions_of_one_key_are_different_positions) {
    source ids;
    ids.insert(1, 3);
    const auto before = ids.begin();
    ids.insert(1, 4);
    EXPECT_NE(before, ids.begin());
    EXPECT_EQ((*before).version(), 3u);  // as it was found
}

TEST(living_iterator, continues_with_the_next_key_after_its_own_id_dies) {
    source ids;
    for (std::uint64_t key = 0; key < 6; ++key) ids.insert(key);
    key_list visited;
    for (const source_id living : ids) {
        visited.push_back(living.key());
        ids.erase(living.key());
    }
    EXPECT_EQ(visited, (key_list{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(ids.begin(), ids.end());
}

TEST(living_iterator, skips_ids_that_die_before_it_reaches_them) {
    source ids;
    for (std::uint64_t key = 0; key < 6; ++key) ids.insert(key);
    key_list visited;
    for (const source_id living : ids) {
        visited.push_back(living.key());
        ids.erase(living.key() + 1);
    }
    EXPECT_EQ(visited, (key_list{0, 2, 4}));
}

TEST(living_iterator, visits_ids_that_appear_after_its_position_and_no_earlier_ones) {
    source ids;
    ids.insert(10);
    key_list visited;
    for (const source_id living : ids) {
        visited.push_back(living.key());
        if (visited.size() == 1) {
            ids.insert(5);
            ids.insert(10, 7);  // its own key lives again
            ids.insert(15);
        }
    }
    EXPECT_EQ(visited, (key_list{10, 15}));
}

TEST(living_iterator, agrees_with_a_sorted_list_over_random_keys) {
    std::mt19937_64 random(11);
    for (int round = 0; round < 50; ++round) {
        source ids;
        key_list expected;
        for (std::uint64_t i = random() % 40; i != 0; --i) expected.push_back(random() >> 32);
        for (const std::uint64_t key : expected) ids.insert(key);
        std::ranges::sort(expected);
        expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
        ASSERT_EQ(keys_of(ids), expected);
        ASSERT_EQ(static_cast<std::size_t>(std::ranges::distance(ids)), expected.size());
    }
}

template <class Layout>
class living_iterator_of : public testing::Test {};
using small_layouts =
    testing::Types<test::nibble<exhaustion::retire>, test::nibble_from_1<exhaustion::wrap>,
                   test::tiny_bound<exhaustion::tombstone>, test::least<exhaustion::retire>,
                   layouts::compact, layouts::exact>;
TYPED_TEST_SUITE(living_iterator_of, small_layouts, test::layout_names);

TYPED_TEST(living_iterator_of, reaches_the_end_after_the_first_and_the_last_key_of_the_layout) {
    fake_source<TypeParam> ids;
    ids.insert(TypeParam::first_key);
    ids.insert(TypeParam::last_key);
    key_list visited;
    for (const auto living : ids) visited.push_back(living.key());
    EXPECT_EQ(visited, (key_list{TypeParam::first_key, TypeParam::last_key}));
    // The key does not wrap round to the first one.
    EXPECT_EQ(ids.asked().back(), TypeParam::last_key + 1);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
