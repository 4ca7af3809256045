// Exhaustive search: reaches every state of two keys with 4-bit versions, and applies every
// operation in each.
#include <muster/id/id_pool.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/id_story.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

template <class Layout>
class every_state : public testing::Test {};
using byte_layouts =
    testing::Types<nibble<exhaustion::retire>, nibble<exhaustion::wrap>,
                   nibble<exhaustion::tombstone>, nibble_from_1<exhaustion::retire>,
                   nibble_from_1<exhaustion::wrap>, nibble_from_1<exhaustion::tombstone>,
                   least<exhaustion::retire>, least<exhaustion::wrap>,
                   least<exhaustion::tombstone>>;
TYPED_TEST_SUITE(every_state, byte_layouts, layout_names);

/// Expects `alive` to accept exactly these ids among all 256 bit patterns.
template <class Layout>
void expect_only_living(const id_pool<Layout>& pool, const std::vector<basic_id<Layout>>& living) {
    const std::set<basic_id<Layout>> alive(living.begin(), living.end());
    ASSERT_EQ(alive.size(), living.size());
    for (unsigned bits = 0; bits < 256; ++bits) {
        const auto e = basic_id<Layout>::from_value(static_cast<std::uint8_t>(bits));
        ASSERT_EQ(pool.alive(e), alive.contains(e)) << to_string(e);
    }
    ASSERT_FALSE(pool.alive(basic_id<Layout>{}));
}

TYPED_TEST(every_state, of_two_keys_reports_exactly_the_living_ids) {
    using story = id_story<TypeParam>;
    using id_type = basic_id<TypeParam>;
    // The last two keys: their ids would include the null id, if a pool could issue it.
    const id_pool_options options{.first_key = TypeParam::last_key - 1};

    std::vector<std::function<void(story&)>> operations;
    operations.push_back([](story& s) { s.create(); });
    operations.push_back([](story& s) { s.create_many(2); });
    operations.push_back([](story& s) { s.recycle(); });
    for (const std::uint64_t key : {TypeParam::last_key - 1, TypeParam::last_key})
        for (std::uint64_t version = 0; version <= TypeParam::last_version; ++version) {
            const id_type e = id_type::pack(key, version);
            operations.push_back([e](story& s) { s.destroy(e); });
            // Claiming every version in every state would be slow and cover no further cases.
            if (version % 5 == 4 || version <= 1)
                operations.push_back([e](story& s) { s.create_at(e); });
        }

    std::map<std::string, std::vector<std::size_t>> paths{
        {story(options).model().state_text(), {}}};
    std::deque<std::string> open{paths.begin()->first};
    std::size_t steps = 0;
    for (; !open.empty(); open.pop_front()) {
        const std::vector<std::size_t> path = paths.at(open.front());
        for (std::size_t next = 0; next < operations.size(); ++next) {
            story replayed(options);
            for (const std::size_t before : path) operations[before](replayed);
            ASSERT_NO_THROW(operations[next](replayed)) << open.front();
            ++steps;
            if (!paths.contains(replayed.model().state_text())) {
                expect_only_living(replayed.pool(), replayed.model().living());
                if (this->HasFatalFailure()) return;
                replayed.look_at_all();
                std::vector<std::size_t> longer = path;
                longer.push_back(next);
                open.push_back(replayed.model().state_text());
                paths.emplace(replayed.model().state_text(), std::move(longer));
            }
        }
    }
    // Fails if the search stops after its first step.
    EXPECT_GT(paths.size(), TypeParam::last_version == 1 ? 8u : 1000u);
    this->RecordProperty("states", static_cast<int>(paths.size()));
    this->RecordProperty("steps", static_cast<int>(steps));
}

TYPED_TEST(every_state, long_random_runs_report_exactly_the_living_ids) {
    for (unsigned seed = 0; seed < 4; ++seed) {
        std::mt19937 dice(seed);
        id_story<TypeParam> story({.reuse = seed % 2 == 0 ? reuse::lifo : reuse::fifo});
        for (int i = 0; i < 3000; ++i) {
            const std::vector<basic_id<TypeParam>> living = story.model().living();
            const auto bits = static_cast<std::uint8_t>(dice());
            switch (dice() % 8) {
            case 0:
            case 1:
            case 2: story.create(); break;
            case 3:
            case 4:
            case 5:
                if (!living.empty()) story.destroy(living[dice() % living.size()]);
                break;
            case 6:
                if (dice() % 8 == 0) story.create_at(basic_id<TypeParam>::from_value(bits));
                break;
            case 7:
                if (dice() % 50 == 0) story.recycle();
                break;
            }
            expect_only_living(story.pool(), story.model().living());
            if (this->HasFatalFailure()) return;
        }
        story.look_at_all();
    }
}

template <class Layout>
class retiring : public testing::Test {};
using retiring_layouts =
    testing::Types<nibble<exhaustion::retire>, nibble_from_1<exhaustion::retire>,
                   least<exhaustion::retire>, tiny_bound<exhaustion::retire>>;
TYPED_TEST_SUITE(retiring, retiring_layouts, layout_names);

TYPED_TEST(retiring, no_id_is_issued_twice_and_exhaustion_reports_id_overflow) {
    using id_type = basic_id<TypeParam>;
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 dice(seed);
        id_pool<TypeParam> pool{{.reuse = seed % 2 == 0 ? reuse::lifo : reuse::fifo}};
        std::set<id_type> issued;
        std::vector<id_type> living;
        std::optional<errc> end;
        while (!end) {
            if (!living.empty() && dice() % 5 < 2) {
                const std::size_t at = dice() % living.size();
                ASSERT_TRUE(pool.destroy(living[at]));
                living.erase(living.begin() + static_cast<std::ptrdiff_t>(at));
                continue;
            }
            try {
                living.push_back(pool.create());
                ASSERT_TRUE(issued.insert(living.back()).second) << to_string(living.back());
            } catch (const error& e) {
                if (living.empty()) end = e.code();
                // Every key is in use, but versions are left.
                while (!living.empty()) {
                    ASSERT_TRUE(pool.destroy(living.back()));
                    living.pop_back();
                }
            }
        }
        const std::uint64_t keys = TypeParam::last_key - TypeParam::first_key + 1;
        EXPECT_EQ(*end, errc::id_overflow);
        EXPECT_EQ(pool.retired(), keys);
        EXPECT_EQ(issued.size(), keys * (TypeParam::last_version - TypeParam::first_version));
        for (const id_type e : issued) EXPECT_FALSE(pool.alive(e));
        EXPECT_EQ(pool.size(), 0u);
    }
}

}  // namespace
}  // namespace muster::test
