// exact_ids: random lists of ids, compared with `create_at` for each of them on a copy of the pool.
#include <muster/id/exact_ids.hpp>
#include <muster/id/id_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;

template <class Layout>
struct exact_ids_of : testing::Test {
    using id_type = basic_id<Layout>;
    using slot = id_slot<Layout>;
    using pool_type = slot_pool<Layout, slot>;

    static id_pool_options options(reuse order = reuse::lifo) {
        // Some keys of the layout are outside of the range, before and after it.
        const std::uint64_t last = std::min<std::uint64_t>(Layout::last_key - 2, 5000);
        return {.first_key = Layout::first_key + 2, .last_key = last, .reuse = order};
    }
    static id_type make(const pool_type& pool, std::uint64_t key, std::uint64_t more = 0) {
        return id_type::assemble(key, Layout::first_version + more, pool.world());
    }
    /// Creates the ids; false if that was refused.
    static std::optional<errc> create(pool_type& pool, const std::vector<id_type>& wanted) {
        exact_ids<Layout, slot> made(pool, wanted);
        if (const auto refused = code_of([&] { made.check(); })) return refused;
        std::size_t calls = 0;
        made.create([&](slot&, std::size_t i) {
            EXPECT_LT(i, wanted.size());
            ++calls;
        });
        EXPECT_EQ(calls, wanted.size());
        return std::nullopt;
    }
    static std::vector<id_type> living(const pool_type& pool) {
        std::vector<id_type> all;
        for (id_type e = pool.next_living(0); e; e = pool.next_living(e.key() + 1))
            all.push_back(e);
        return all;
    }
    /// Expects that both pools have the same ids, and issue the same ids from now on.
    static void expect_equal(pool_type& pool, pool_type& model) {
        ASSERT_EQ(pool.size(), model.size());
        ASSERT_EQ(living(pool), living(model));
        ASSERT_EQ(pool.unused_version(), model.unused_version());
        auto saved = pool.save();
        auto saved_model = model.save();
        for (int i = 0; i < 40 && model.available() != 0; ++i)
            ASSERT_EQ(pool.create(), model.create());
        pool.exchange(saved);
        model.exchange(saved_model);
    }
};

using some_layouts =
    testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed,
                   test::tiny_bound<exhaustion::wrap>, test::tiny_bound<exhaustion::tombstone>>;
TYPED_TEST_SUITE(exact_ids_of, some_layouts, test::layout_names);

TYPED_TEST(exact_ids_of, nothing_creates_nothing) {
    typename TestFixture::pool_type pool(this->options());
    EXPECT_EQ(this->create(pool, {}), std::nullopt);
    EXPECT_EQ(pool.size(), 0u);
}

TYPED_TEST(exact_ids_of, the_next_fresh_ids_are_issued_in_order) {
    typename TestFixture::pool_type pool(this->options()), model(this->options());
    const std::uint64_t first = pool.dense_first_key();
    const std::vector wanted{this->make(pool, first), this->make(pool, first + 1),
                             this->make(pool, first + 2)};
    EXPECT_EQ(this->create(pool, wanted), std::nullopt);
    for (const auto e : wanted) EXPECT_EQ(model.create(), e);
    this->expect_equal(pool, model);
}

TYPED_TEST(exact_ids_of, bad_ids_are_refused_before_anything_changes) {
    using id = basic_id<TypeParam>;
    typename TestFixture::pool_type pool(this->options());
    const std::uint64_t first = pool.dense_first_key();
    const id alive = pool.create();
    const id dead = pool.create();
    pool.destroy(dead);
    const id good = this->make(pool, first + 3), other = this->make(pool, first + 2);
    const auto before = this->living(pool);
    EXPECT_EQ(this->create(pool, {other, good, alive}), errc::id_taken);
    EXPECT_EQ(this->create(pool, {good, dead}), errc::id_stale);
    EXPECT_EQ(this->create(pool, {good, id{}}), errc::id_out_of_range);
    if (TypeParam::world_bits != 0)
        EXPECT_EQ(this->create(pool, {good, id::assemble(first + 3, 0, 2)}), errc::foreign_entity);
    EXPECT_EQ(this->living(pool), before);
    EXPECT_EQ(this->create(pool, {good, other}), std::nullopt);
}

TYPED_TEST(exact_ids_of, keys_of_other_threads_are_refused) {
    typename TestFixture::pool_type pool(this->options());
    if (pool.available() < 300) GTEST_SKIP() << "a small range is not shared";
    const auto taken = pool.take_keys(1);
    ASSERT_EQ(taken.count, 1u);
    const auto e = pool.id_of_taken(taken.first);
    EXPECT_EQ(this->create(pool, {e}), errc::id_taken);
    EXPECT_EQ(this->create(pool, {this->make(pool, taken.first + 1), e}), errc::id_taken);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_EQ(this->create(pool, {this->make(pool, taken.first + 1)}), std::nullopt);
    EXPECT_TRUE(pool.claim_reserved(e));
    EXPECT_EQ(pool.size(), 2u);
}

TYPED_TEST(exact_ids_of, agrees_with_create_at_for_random_lists) {
    using id = basic_id<TypeParam>;
    for (int turn = 0; turn < 300; ++turn) {
        SCOPED_TRACE(turn);
        std::mt19937_64 dice(static_cast<unsigned>(turn));
        const reuse order = turn % 2 == 0 ? reuse::lifo : reuse::fifo;
        typename TestFixture::pool_type pool(this->options(order)), model(this->options(order));
        const auto both = [&](auto call) {
            call(pool);
            call(model);
        };
        for (int step = 0; step < 6; ++step) {
            const auto created = dice() % 20, destroyed = dice() % 10;
            for (std::uint64_t i = 0; i < created && model.available() != 0; ++i)
                both([](auto& p) { (void)p.create(); });
            for (std::uint64_t i = 0; i < destroyed; ++i)
                if (const id e = model.next_living(dice() % 40))
                    both([&](auto& p) { p.destroy(e); });
            // Keys near the fresh ones, freed keys, distant keys and keys outside of the range.
            std::vector<id> wanted;
            std::set<std::uint64_t> keys;
            const std::uint64_t from = model.dense_first_key() + dice() % 60;
            const auto count = dice() % 30;
            for (std::uint64_t i = 0; i < count; ++i) {
                const std::uint64_t key = dice() % 8 == 0   ? dice() & TypeParam::last_key
                                          : dice() % 4 == 0 ? dice() % 60
                                                            : from + i * (1 + dice() % 2);
                if (key < TypeParam::first_key || key > TypeParam::last_key) continue;
                if (!keys.insert(key).second) continue;
                const auto* const known = model.find(key);
                const std::uint64_t next =
                    known == nullptr ? TypeParam::first_version : known->version();
                if (known != nullptr && known->is_live(key)) continue;
                const std::uint64_t version = next + dice() % 2;
                if (version > TypeParam::last_issued_version) continue;
                wanted.push_back(id::assemble(key, version, model.world()));
            }
            // Not a pointer to a member: g++ 12 warns of it at -O3.
            if (dice() % 2 == 0) std::ranges::sort(wanted, {}, [](const id e) { return e.key(); });
            for (const id e : wanted) model.create_at(e);
            ASSERT_EQ(this->create(pool, wanted), std::nullopt);
            this->expect_equal(pool, model);
            if (this->HasFatalFailure()) return;
        }
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
