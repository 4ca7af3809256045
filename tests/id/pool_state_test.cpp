// slot_pool: save and exchange. Random operations on a pool, and then the same operations on the
// pool and on a second pool that has taken its saved state.
#include <muster/id/id_pool.hpp>
#include <muster/id/slot_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "support/layouts.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

template <class Layout>
using pool_of = slot_pool<Layout, id_slot<Layout>>;

template <class Layout>
id_pool_options options_of(reuse order) {
    // Some keys of the layout are outside of the range, before and after it.
    const std::uint64_t last = std::min<std::uint64_t>(Layout::last_key - 2, 3000);
    return {.first_key = Layout::first_key + 2, .last_key = last, .reuse = order};
}

/// Random calls; two stories from copies make the same calls if their pools behave in the same way.
template <class Layout>
struct story {
    using id_type = basic_id<Layout>;

    std::mt19937_64 dice;
    std::vector<id_type> known;     // ids that may be alive
    std::vector<id_type> reserved;  // and ids that may be reserved

    id_type some(const std::vector<id_type>& ids) {
        return ids.empty() ? id_type{} : ids[dice() % ids.size()];
    }
    id_type wanted(const pool_of<Layout>& pool) {
        const std::uint64_t near = pool.dense_first_key() + dice() % (2 * pool.size() + 8);
        const std::uint64_t key = dice() % 3 == 0   ? dice() & Layout::last_key
                                  : dice() % 3 == 0 ? near % (Layout::first_key + 2)
                                                    : near & Layout::last_key;
        const id_slot<Layout>* slot = pool.find(key);
        const std::uint64_t version = slot == nullptr ? pool.first_version() : slot->version();
        return id_type::assemble(key, (version + dice() % 2) & Layout::last_version, pool.world());
    }

    /// Makes a call and returns its results.
    std::vector<std::uint64_t> step(pool_of<Layout>& pool) {
        std::vector<std::uint64_t> results;
        const auto note = [&](id_type e) {
            known.push_back(e);
            results.push_back(e.value());
        };
        const std::uint64_t kind = dice() % 64;
        try {
            if (kind < 20) {
                note(pool.create());
            } else if (kind < 22) {
                std::vector<id_type> ids(dice() % 20);
                pool.create(std::span<id_type>(ids));
                for (const id_type e : ids) note(e);
            } else if (kind < 30) {
                note(pool.create_at(wanted(pool)));
            } else if (kind < 34) {
                reserved.push_back(pool.reserve_id());
                results.push_back(reserved.back().value());
            } else if (kind < 37) {
                const id_type e = some(reserved);
                results.push_back(pool.claim_reserved(e) ? 1 : 0);
                known.push_back(e);
            } else if (kind < 38) {
                pool.give_up(some(reserved));
            } else if (kind < 40) {
                pool.undo_create(pool.create());
            } else if (kind < 41) {
                results.push_back(pool.recycle_tombstones());
            } else {
                results.push_back(pool.destroy(some(known)) ? 1 : 0);
            }
        } catch (const error& failure) {
            results.push_back(1000 + static_cast<std::uint64_t>(failure.code()));
        }
        for (const std::uint64_t number :
             {pool.size(), pool.retired(), pool.tombstones(), std::size_t{pool.available()}})
            results.push_back(number);
        return results;
    }
};

template <class Layout>
class pool_state : public testing::Test {};

using all_layouts =
    testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed,
                   test::tiny_bound<exhaustion::retire>, test::tiny_bound<exhaustion::wrap>,
                   test::tiny_bound<exhaustion::tombstone>, test::nibble<exhaustion::retire>,
                   test::nibble<exhaustion::wrap>, test::nibble_from_1<exhaustion::tombstone>>;
TYPED_TEST_SUITE(pool_state, all_layouts, test::layout_names);

template <class Layout>
void expect_same(const pool_of<Layout>& a, const pool_of<Layout>& b, const story<Layout>& past) {
    for (const auto e : past.known) ASSERT_EQ(a.alive(e), b.alive(e));
    ASSERT_EQ(a.unused_version(), b.unused_version());
    auto left = a.next_living(0);
    auto right = b.next_living(0);
    for (; left; left = a.next_living(left.key() + 1), right = b.next_living(right.key() + 1))
        ASSERT_EQ(left, right);
    ASSERT_FALSE(right);
}

template <class Layout>
void expect_same_steps(pool_of<Layout>& a, pool_of<Layout>& b, story<Layout> past) {
    story<Layout> other = past;
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(past.step(a), other.step(b)) << "step " << i;
    expect_same(a, b, past);
}

TYPED_TEST(pool_state, a_pool_that_takes_a_saved_state_continues_exactly) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        const id_pool_options options =
            options_of<TypeParam>(seed % 2 == 0 ? reuse::lifo : reuse::fifo);
        pool_of<TypeParam> pool(options);
        story<TypeParam> past{std::mt19937_64(seed), {}, {}};
        for (unsigned i = 0; i < 50 * seed; ++i) past.step(pool);
        auto state = pool.save();
        pool_of<TypeParam> second({});
        second.exchange(state);
        expect_same(pool, second, past);
        expect_same_steps(pool, second, past);
        if (this->HasFatalFailure()) return;
    }
}

TYPED_TEST(pool_state, a_pool_that_takes_back_its_own_state_repeats_the_same_results) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        pool_of<TypeParam> pool(options_of<TypeParam>(seed % 2 == 0 ? reuse::lifo : reuse::fifo));
        story<TypeParam> past{std::mt19937_64(seed), {}, {}};
        for (unsigned i = 0; i < 50 * seed; ++i) past.step(pool);
        for (const auto e : past.reserved) pool.give_up(e);
        past.reserved.clear();
        auto state = pool.save();
        story<TypeParam> first = past;
        std::vector<std::vector<std::uint64_t>> results;
        for (int i = 0; i < 1000; ++i) results.push_back(first.step(pool));
        for (const auto e : first.reserved) pool.give_up(e);
        pool.exchange(state);
        for (const auto& result : results) ASSERT_EQ(past.step(pool), result);
    }
}

TYPED_TEST(pool_state, a_second_exchange_reverts_the_first) {
    pool_of<TypeParam> pool(options_of<TypeParam>(reuse::lifo));
    story<TypeParam> past{std::mt19937_64(7), {}, {}};
    auto empty = pool.save();
    for (int i = 0; i < 300; ++i) past.step(pool);
    auto state = pool.save();
    pool_of<TypeParam> copy({});
    copy.exchange(state);
    pool.exchange(empty);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_FALSE(pool.next_living(0));
    pool.exchange(empty);
    expect_same_steps(pool, copy, past);
}

using bound_pool = pool_of<layouts::bound>;

TEST(pool_state_with_threads, ids_taken_before_the_save_stay_reserved) {
    bound_pool pool({});
    const auto taken = pool.take_keys(3);
    const auto e = pool.id_of_taken(taken.first);
    pool.create();  // notices the keys
    auto state = pool.save();
    ASSERT_TRUE(pool.claim_reserved(e));
    pool.exchange(state);
    EXPECT_FALSE(pool.alive(e));
    EXPECT_TRUE(pool.has_reserved());
    EXPECT_TRUE(pool.claim_reserved(e));
    EXPECT_TRUE(pool.alive(e));
    EXPECT_EQ(pool.size(), 2u);
}

TEST(pool_state_with_threads, an_id_taken_after_the_save_is_not_issued) {
    for (const bool is_known : {false, true}) {
        bound_pool pool({});
        pool.create();
        auto state = pool.save();
        const auto taken = pool.take_keys(3);
        const auto e = pool.id_of_taken(taken.first);
        if (is_known) pool.prepare(5000);
        pool.exchange(state);
        for (int i = 0; i < 5000; ++i) {
            const std::uint64_t key = pool.create().key();
            ASSERT_FALSE(key >= taken.first && key < taken.first + taken.count);
        }
        EXPECT_TRUE(pool.claim_reserved(e));
        EXPECT_EQ(pool.size(), 5002u);
        EXPECT_GE(pool.take_keys(1).first, taken.first + taken.count);
    }
}

TEST(pool_state_with_threads, a_thread_may_reserve_keys_during_exchanges) {
    bound_pool pool({});
    pool.create();
    auto state = pool.save();
    std::vector<std::uint64_t> taken;
    std::thread other([&] {
        for (int i = 0; i < 2000; ++i) {
            const auto run = pool.take_keys(2);
            taken.push_back(pool.id_of_taken(run.first).key());
            taken.push_back(run.first + 1);
        }
    });
    std::set<std::uint64_t> issued;
    for (int i = 0; i < 2000; ++i) {
        pool.exchange(state);
        issued.insert(pool.create().key());
    }
    other.join();
    for (int i = 0; i < 2000; ++i) issued.insert(pool.create().key());
    std::sort(taken.begin(), taken.end());
    EXPECT_EQ(std::adjacent_find(taken.begin(), taken.end()), taken.end());
    for (const std::uint64_t key : taken) ASSERT_FALSE(issued.contains(key));
}

TEST(pool_state_with_threads, a_copy_of_a_state_is_independent) {
    bound_pool pool({});
    const auto e = pool.create();
    auto state = pool.save();
    auto copy = state;
    bound_pool second({});
    second.exchange(state);
    second.destroy(e);
    pool.exchange(copy);
    EXPECT_TRUE(pool.alive(e));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
