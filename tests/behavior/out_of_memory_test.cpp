// Makes every allocation of an id pool fail once, at every point of a story. A failure must change
// nothing.
#include <muster/base/raw_array.hpp>
#include <muster/id/concurrent_id_pool.hpp>
#include <muster/id/id_pool.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "support/allocation_pause.hpp"
#include "support/layouts.hpp"

namespace {
// Allocations until a failure; negative: no failure.
int countdown = -1;
int reallocations = 0;
bool fails_now() {
    return countdown >= 0 && countdown-- == 0;
}
}  // namespace

extern "C" {
void* __real_realloc(void* old, std::size_t size);
void* __wrap_realloc(void* old, std::size_t size) {
    ++reallocations;
    return fails_now() ? nullptr : __real_realloc(old, size);
}
void* __real_calloc(std::size_t count, std::size_t size);
void* __wrap_calloc(std::size_t count, std::size_t size) {
    muster::test::allocation_pause.run();
    return fails_now() ? nullptr : __real_calloc(count, size);
}
}

namespace muster {
namespace {

template <class Layout>
class out_of_memory : public testing::Test {};
using some_layouts = testing::Types<layouts::bound, layouts::compact, layouts::exact,
                                    layouts::packed, test::tiny_bound<exhaustion::tombstone>>;
TYPED_TEST_SUITE(out_of_memory, some_layouts, test::layout_names);

/// Repeats `call` until it succeeds. Each failed attempt must leave the pool unchanged.
template <class Layout, class Call>
void insist(id_pool<Layout>& pool, int& failures, Call call) {
    const std::vector<basic_id<Layout>> before(pool.begin(), pool.end());
    for (int successes = 0;; ++successes) {
        countdown = successes;
        try {
            call();
            countdown = -1;
            return;
        } catch (const std::bad_alloc&) {
            countdown = -1;
            ++failures;
        }
        const std::vector<basic_id<Layout>> after(pool.begin(), pool.end());
        ASSERT_EQ(after, before);
        ASSERT_EQ(pool.size(), before.size());
        for (const auto e : before) ASSERT_TRUE(pool.alive(e));
    }
}

TYPED_TEST(out_of_memory, a_failure_at_any_point_leaves_an_id_pool_unchanged) {
    using id_type = basic_id<TypeParam>;
    id_pool<TypeParam> pool;
    const auto nth = [&](std::uint64_t key, std::uint64_t version = 0) {
        return id_type::pack(TypeParam::first_key + key, TypeParam::first_version + version,
                             pool.world());
    };
    const auto distant =
        id_type::pack(TypeParam::last_key - 1, TypeParam::first_version, pool.world());
    std::vector<id_type> ids(8);
    int failures = 0;
    insist(pool, failures, [&] { EXPECT_EQ(pool.create(), nth(0)); });
    insist(pool, failures, [&] { pool.create_at(nth(5)); });
    insist(pool, failures, [&] { pool.create_at(distant); });
    insist(pool, failures, [&] { pool.create(ids); });
    EXPECT_EQ(ids[4], nth(6));  // skips the claimed key
    pool.destroy(ids[0]);
    pool.destroy(ids[1]);
    pool.destroy(ids[2]);
    insist(pool, failures, [&] { pool.create_at(nth(2, 3)); });  // from the middle of the free list
    insist(pool, failures, [&] { pool.reserve(31); });
    for (std::uint64_t i = 0; i < 4; ++i) insist(pool, failures, [&] { pool.create(); });
    EXPECT_GE(failures, TypeParam::key_bits > 8 ? 5 : 3);  // small pools allocate less often
    EXPECT_EQ(pool.size(), 3u + 8 - 3 + 1 + 4);
    EXPECT_TRUE(pool.alive(distant));
    EXPECT_TRUE(pool.alive(nth(2, 3)));
}

TEST(out_of_memory, creating_many_ids_allocates_before_the_first_id_is_issued) {
    id_pool<> pool;
    // Claims keys far ahead, which the run of new keys must skip.
    for (std::uint64_t key = 5000; key < 5064; ++key) pool.create_at(id::pack(key, 0, 1));
    pool.reserve(5064);
    std::vector<id> many(5064);
    int failures = 0;
    insist(pool, failures, [&] { pool.create(many); });
    EXPECT_GE(failures, 1);
    EXPECT_EQ(many.back(), id::pack(5127, 0, 1));
    EXPECT_EQ(pool.size(), 5064u + 64u);
}

TYPED_TEST(out_of_memory, a_failure_at_any_point_leaves_a_concurrent_id_pool_unchanged) {
    using id_type = basic_id<TypeParam>;
    concurrent_id_pool<TypeParam> pool;
    const std::size_t keys = TypeParam::key_bits > 8 ? 9000 : 30;
    int failures = 0;
    std::vector<id_type> living;
    const auto insist_on = [&](auto call) {
        for (int successes = 0;; ++successes) {
            countdown = successes;
            try {
                call();
                countdown = -1;
                return;
            } catch (const std::bad_alloc&) {
                countdown = -1;
                ++failures;
            }
            ASSERT_EQ(pool.size(), living.size());
            for (const id_type e : living) ASSERT_TRUE(pool.alive(e));
        }
    };
    insist_on([&] { living.push_back(pool.create()); });
    EXPECT_EQ(failures, 1);
    const id_type freed = pool.create();
    pool.destroy(freed);
    std::vector<id_type> many(keys - 1);
    insist_on([&] { pool.create(many); });
    // The failed attempts did not consume the free key.
    EXPECT_EQ(many[0], id_type::pack(freed.key(), freed.version() + 1, pool.world()));
    EXPECT_EQ(many.back().key(), TypeParam::first_key + keys - 1);
    // Four segments; those allocated before a failure are kept.
    if (TypeParam::key_bits > 8) EXPECT_EQ(failures, 4);
    living.insert(living.end(), many.begin(), many.end());
    if (TypeParam::key_bits > 8) insist_on([&] { pool.reserve(20'000); });
    for (const id_type e : living) ASSERT_TRUE(pool.alive(e));
    EXPECT_EQ(pool.size(), living.size());
}

TEST(out_of_memory, an_array_that_cannot_be_trimmed_keeps_its_memory) {
    detail::raw_array<int> numbers;
    numbers.grow(100);
    for (int i = 0; i < 100; ++i) numbers[static_cast<std::size_t>(i)] = i;
    countdown = 0;
    numbers.trim(10);
    countdown = -1;
    EXPECT_EQ(numbers.capacity(), 100u);
    EXPECT_EQ(numbers[99], 99);
    numbers.trim(10);
    EXPECT_EQ(numbers.capacity(), 10u);
    EXPECT_EQ(numbers[9], 9);
}

TEST(out_of_memory, creating_single_ids_allocates_rarely) {
    id_pool<> pool;
    const int before = reallocations;
    for (int i = 0; i < 1'000'000; ++i) pool.create();
    EXPECT_LE(reallocations - before, 20);
}

}  // namespace
}  // namespace muster
