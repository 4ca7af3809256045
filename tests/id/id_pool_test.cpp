#include <muster/id/id_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster {
namespace {

using test::code_of;
using test::sentence_of;

template <class Layout>
class id_pool_of : public testing::Test {
protected:
    /// The id with the layout's nth key and mth version, in world 1.
    static basic_id<Layout> nth(std::uint64_t key, std::uint64_t version = 0) {
        return basic_id<Layout>::pack(Layout::first_key + key, Layout::first_version + version,
                                      Layout::world_bits == 0 ? 0 : 1);
    }
};
using all_layouts =
    testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed,
                   test::tiny_bound<exhaustion::retire>, test::nibble<exhaustion::retire>,
                   test::nibble<exhaustion::wrap>, test::nibble_from_1<exhaustion::tombstone>>;
TYPED_TEST_SUITE(id_pool_of, all_layouts, test::layout_names);

TYPED_TEST(id_pool_of, issues_keys_in_order_from_the_first) {
    id_pool<TypeParam> pool;
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(pool.create(), this->nth(i));
    EXPECT_EQ(pool.size(), 10u);
}

TYPED_TEST(id_pool_of, a_released_key_returns_with_the_next_version) {
    id_pool<TypeParam> pool;
    const auto a = pool.create();
    const auto b = pool.create();
    EXPECT_TRUE(pool.destroy(a));
    EXPECT_FALSE(pool.alive(a));
    EXPECT_TRUE(pool.alive(b));
    EXPECT_EQ(pool.create(), this->nth(0, 1));
    EXPECT_FALSE(pool.alive(a));
}

TYPED_TEST(id_pool_of, destroy_returns_false_for_a_dead_id_and_changes_nothing) {
    using id_type = basic_id<TypeParam>;
    id_pool<TypeParam> pool;
    const auto a = pool.create();
    pool.destroy(a);
    EXPECT_FALSE(pool.destroy(a));
    EXPECT_FALSE(pool.destroy(id_type{}));
    EXPECT_FALSE(pool.destroy(this->nth(0, 1)));  // the next id of this key, not yet issued
    EXPECT_FALSE(pool.destroy(this->nth(9)));
    if (TypeParam::world_bits != 0)
        EXPECT_FALSE(
            pool.destroy(id_type::pack(TypeParam::first_key, TypeParam::first_version, 2)));
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_EQ(pool.create(), this->nth(0, 1));
}

TYPED_TEST(id_pool_of, lifo_reuses_the_newest_key_and_fifo_the_oldest) {
    for (const reuse order : {reuse::lifo, reuse::fifo}) {
        id_pool<TypeParam> pool{{.reuse = order}};
        std::array<basic_id<TypeParam>, 4> ids;
        pool.create(ids);
        for (const int i : {1, 3, 0}) pool.destroy(ids[static_cast<std::size_t>(i)]);
        const bool lifo = order == reuse::lifo;
        EXPECT_EQ(pool.create(), this->nth(lifo ? 0 : 1, 1));
        EXPECT_EQ(pool.create(), this->nth(3, 1));
        EXPECT_EQ(pool.create(), this->nth(lifo ? 1 : 0, 1));
        EXPECT_EQ(pool.create(), this->nth(4));
    }
}

TYPED_TEST(id_pool_of, creating_many_equals_creating_one_by_one) {
    for (const reuse order : {reuse::lifo, reuse::fifo}) {
        id_pool<TypeParam> one{{.reuse = order}};
        id_pool<TypeParam> many{{.reuse = order}};
        for (auto* pool : {&one, &many}) {
            std::vector<basic_id<TypeParam>> ids(8);
            pool->create(ids);
            for (const std::size_t i : {6u, 2u, 5u}) pool->destroy(ids[i]);
            pool->create_at(this->nth(10));
        }
        std::vector<basic_id<TypeParam>> expected, got(5);
        for (int i = 0; i < 5; ++i) expected.push_back(one.create());
        many.create(got);
        EXPECT_EQ(got, expected);
        many.create(std::span<basic_id<TypeParam>>{});
        EXPECT_EQ(many.size(), one.size());
    }
}

TYPED_TEST(id_pool_of, creating_many_is_all_or_nothing) {
    using id_type = basic_id<TypeParam>;
    id_pool<TypeParam> pool{{.last_key = TypeParam::first_key + 9}};
    std::vector<id_type> ids(6);
    pool.create(ids);
    pool.destroy(ids[3]);
    std::vector<id_type> six(6);
    EXPECT_EQ(code_of([&] { pool.create(six); }), errc::id_overflow);
    EXPECT_EQ(pool.size(), 5u);
    EXPECT_EQ(six, std::vector<id_type>(6));
    std::vector<id_type> five(5);
    pool.create(five);
    EXPECT_EQ(five[0], this->nth(3, 1));
    EXPECT_EQ(pool.size(), 10u);
}

TYPED_TEST(id_pool_of, a_full_pool_refuses_another_id_and_keeps_its_ids) {
    using id_type = basic_id<TypeParam>;
    id_pool<TypeParam> pool{{.last_key = TypeParam::first_key + 2}};
    std::vector<id_type> ids(3);
    pool.create(ids);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(code_of([&] { pool.create(); }), errc::id_overflow);
    EXPECT_EQ(pool.size(), 3u);
    for (const id_type e : ids) EXPECT_TRUE(pool.alive(e));
    pool.destroy(ids[1]);
    EXPECT_EQ(pool.create(), this->nth(1, 1));
}

TYPED_TEST(id_pool_of, create_at_claims_an_exact_id) {
    id_pool<TypeParam> pool;
    EXPECT_EQ(pool.create_at(this->nth(3, 2)), this->nth(3, 2));
    EXPECT_TRUE(pool.alive(this->nth(3, 2)));
    EXPECT_FALSE(pool.alive(this->nth(3)));
    EXPECT_FALSE(pool.alive(this->nth(3, 1)));
    EXPECT_FALSE(pool.alive(this->nth(2)));
    // create() skips the claimed key.
    EXPECT_EQ(pool.create(), this->nth(0));
    EXPECT_EQ(pool.create(), this->nth(1));
    EXPECT_EQ(pool.create(), this->nth(2));
    EXPECT_EQ(pool.create(), this->nth(4));
    EXPECT_EQ(pool.size(), 5u);
    EXPECT_TRUE(pool.destroy(this->nth(3, 2)));
    EXPECT_EQ(pool.create(), this->nth(3, 3));
}

TYPED_TEST(id_pool_of, create_at_refuses_a_key_in_use_and_an_old_version) {
    id_pool<TypeParam> pool;
    pool.create_at(this->nth(0, 2));
    EXPECT_EQ(code_of([&] { pool.create_at(this->nth(0, 2)); }), errc::id_taken);
    EXPECT_EQ(code_of([&] { pool.create_at(this->nth(0, 3)); }), errc::id_taken);
    EXPECT_EQ(code_of([&] { pool.create_at(this->nth(0, 1)); }), errc::id_stale);
    pool.destroy(this->nth(0, 2));
    EXPECT_EQ(code_of([&] { pool.create_at(this->nth(0, 2)); }), errc::id_stale);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_EQ(pool.create_at(this->nth(0, 4)), this->nth(0, 4));
}

TYPED_TEST(id_pool_of, create_at_refuses_ids_that_are_never_issued) {
    using id_type = basic_id<TypeParam>;
    id_pool<TypeParam> pool;
    const std::uint64_t world = pool.world();
    const auto refused = [&](id_type e) { return code_of([&] { pool.create_at(e); }); };
    EXPECT_EQ(refused(id_type{}), errc::id_out_of_range);
    if (TypeParam::first_key != 0)
        EXPECT_EQ(refused(id_type::pack(0, TypeParam::first_version, world)),
                  errc::id_out_of_range);
    if (TypeParam::first_version != 0)
        EXPECT_EQ(refused(id_type::pack(TypeParam::first_key, 0, world)), errc::id_out_of_range);
    if (TypeParam::on_exhaustion != exhaustion::wrap)
        EXPECT_EQ(refused(id_type::pack(TypeParam::first_key, TypeParam::last_version, world)),
                  errc::id_out_of_range);
    if (TypeParam::world_bits != 0)
        EXPECT_EQ(refused(id_type::pack(3, 0, 2)), errc::foreign_entity);
    if (TypeParam::world_bits != 0)
        EXPECT_EQ(refused(id_type::pack(3, 0, 0)), errc::id_out_of_range);
    if (TypeParam::used_bits < 8 * sizeof(typename TypeParam::rep))
        EXPECT_EQ(refused(id_type::from_value(static_cast<typename TypeParam::rep>(
                      this->nth(0).value() | std::uint64_t{1}
                                                 << (8 * sizeof(typename TypeParam::rep) - 1)))),
                  errc::id_out_of_range);
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_EQ(pool.create(), this->nth(0));
}

TYPED_TEST(id_pool_of, iterates_over_living_ids_in_key_order) {
    using id_type = basic_id<TypeParam>;
    static_assert(std::forward_iterator<typename id_pool<TypeParam>::iterator>);
    id_pool<TypeParam> pool;
    EXPECT_EQ(pool.begin(), pool.end());
    std::vector<id_type> ids(6);
    pool.create(ids);
    pool.destroy(ids[0]);
    pool.destroy(ids[4]);
    pool.create_at(id_type::pack(TypeParam::last_key, TypeParam::first_version, pool.world()));
    const std::vector<id_type> living(pool.begin(), pool.end());
    EXPECT_EQ(living,
              (std::vector<id_type>{
                  ids[1], ids[2], ids[3], ids[5],
                  id_type::pack(TypeParam::last_key, TypeParam::first_version, pool.world())}));
}

TYPED_TEST(id_pool_of, destroying_while_iterating_visits_each_once) {
    using id_type = basic_id<TypeParam>;
    id_pool<TypeParam> pool;
    std::vector<id_type> ids(10);
    pool.create(ids);
    std::vector<id_type> visited;
    for (const id_type e : pool) {
        visited.push_back(e);
        EXPECT_TRUE(pool.destroy(e));
    }
    EXPECT_EQ(visited, ids);
    EXPECT_EQ(pool.size(), 0u);
}

TYPED_TEST(id_pool_of, the_first_version_can_be_raised) {
    id_pool<TypeParam> pool{{.first_version = TypeParam::first_version + 2}};
    EXPECT_EQ(pool.create(), this->nth(0, 2));
    EXPECT_FALSE(pool.alive(this->nth(0)));
    EXPECT_EQ(code_of([&] { pool.create_at(this->nth(1, 1)); }), errc::id_stale);
    EXPECT_EQ(pool.create_at(this->nth(1, 2)), this->nth(1, 2));
}

TYPED_TEST(id_pool_of, unused_version_is_above_every_issued_version) {
    id_pool<TypeParam> pool;
    EXPECT_EQ(pool.unused_version(), TypeParam::first_version);
    const auto a = pool.create();
    EXPECT_EQ(pool.unused_version(), TypeParam::first_version + 1);
    pool.destroy(a);
    EXPECT_EQ(pool.unused_version(), TypeParam::first_version + 1);
    pool.create_at(this->nth(12, 3));
    EXPECT_EQ(pool.unused_version(), TypeParam::first_version + 4);
}

TYPED_TEST(id_pool_of, options_that_do_not_fit_are_refused) {
    const auto refused = [](const id_pool_options& options) {
        return code_of([&] { id_pool<TypeParam>{options}; });
    };
    EXPECT_EQ(refused({.first_key = TypeParam::last_key + 1}), errc::id_out_of_range);
    EXPECT_EQ(refused({.last_key = TypeParam::last_key + 1}), errc::id_out_of_range);
    EXPECT_EQ(refused({.first_key = 9, .last_key = 8}), errc::id_out_of_range);
    EXPECT_EQ(refused({.first_version = TypeParam::last_version}), errc::id_out_of_range);
    if (TypeParam::world_bits != 0) {
        EXPECT_EQ(refused({.world = 0}), errc::id_out_of_range);
        EXPECT_EQ(refused({.world = TypeParam::last_world + 1}), errc::id_out_of_range);
    }
}

TYPED_TEST(id_pool_of, the_last_key_of_the_layout_is_issued_once_and_the_null_id_never) {
    using id_type = basic_id<TypeParam>;
    id_pool<TypeParam> pool{
        {.first_key = TypeParam::last_key - 1, .first_version = TypeParam::last_version - 1}};
    std::set<id_type> seen;
    try {
        for (int i = 0; i < 50; ++i) {
            const id_type e = pool.create();
            EXPECT_FALSE(e.is_null());
            EXPECT_FALSE(e.is_tombstone());
            EXPECT_TRUE(pool.alive(e));
            EXPECT_FALSE(pool.alive(id_type{}));
            if (TypeParam::on_exhaustion != exhaustion::wrap) EXPECT_TRUE(seen.insert(e).second);
            pool.destroy(e);
        }
        EXPECT_EQ(TypeParam::on_exhaustion, exhaustion::wrap);
    } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::id_overflow);
        EXPECT_EQ(seen.size(), 2u);
        EXPECT_EQ(pool.retired() + pool.tombstones(), 2u);
    }
}

TEST(id_pool, ranges_split_one_id_space) {
    id_pool<> server{{.last_key = 999}};
    id_pool<> client{{.first_key = 1000}};
    const id mine = client.create();
    EXPECT_EQ(mine.key(), 1000u);
    // Each side claims the ids of the other side by value.
    std::vector<id> made(300);
    server.create(made);
    std::mt19937 dice(3);
    std::shuffle(made.begin(), made.end(), dice);
    for (const id e : made) client.create_at(e);
    server.create_at(mine);
    for (const id e : made) EXPECT_TRUE(client.alive(e));
    EXPECT_TRUE(server.alive(mine));
    EXPECT_EQ(client.size(), 301u);
    // The client does not reuse a destroyed key outside its range: only the server may.
    for (const id e : made) EXPECT_TRUE(client.destroy(e));
    EXPECT_EQ(client.create().key(), 1001u);
    EXPECT_EQ(code_of([&] { client.create_at(made[0]); }), errc::id_stale);
    const id next = id::pack(made[0].key(), 1, 1);
    EXPECT_EQ(client.create_at(next), next);
    EXPECT_TRUE(
        std::is_sorted(client.begin(), client.end(), [](id a, id b) { return a.key() < b.key(); }));
}

TEST(id_pool, an_overflow_key_costs_a_page_instead_of_a_long_array) {
    id_pool<> pool;
    pool.create_at(id::pack(4'000'000'000, 3, 1));
    pool.create_at(id::pack(0xFFFF'FFFF, 0, 1));
    EXPECT_LE(pool.capacity(), 4096u);
    EXPECT_EQ(pool.create(), id::pack(0, 0, 1));
    EXPECT_EQ(pool.size(), 3u);
    EXPECT_TRUE(pool.destroy(id::pack(4'000'000'000, 3, 1)));
    EXPECT_EQ(pool.create(), id::pack(4'000'000'000, 4, 1));
    EXPECT_EQ(std::vector<id>(pool.begin(), pool.end()),
              (std::vector<id>{id::pack(0, 0, 1), id::pack(4'000'000'000, 4, 1),
                               id::pack(0xFFFF'FFFF, 0, 1)}));
}

TEST(id_pool, ids_claimed_in_random_order_move_into_the_array) {
    // Like loading a saved game: 50,000 ids with gaps, in random order. The array may be up to four
    // times as large.
    std::vector<id> saved;
    for (std::uint64_t key = 0; key < 60'000; ++key)
        if (key % 6 != 5) saved.push_back(id::pack(key, key % 3, 1));
    std::mt19937 dice(4);
    std::shuffle(saved.begin(), saved.end(), dice);
    id_pool<> pool;
    for (const id e : saved) pool.create_at(e);
    EXPECT_EQ(pool.size(), saved.size());
    EXPECT_GE(pool.capacity(), 60'000u);
    EXPECT_LE(pool.capacity(), 250'000u);
    for (const id e : saved) ASSERT_TRUE(pool.alive(e));
    // create() fills the gaps in ascending order before it appends.
    for (std::uint64_t key = 5; key < 60'000; key += 6)
        ASSERT_EQ(pool.create(), id::pack(key, 0, 1));
    EXPECT_EQ(pool.create(), id::pack(60'000, 0, 1));
    EXPECT_EQ(static_cast<std::size_t>(std::distance(pool.begin(), pool.end())), pool.size());
}

TEST(id_pool, a_claimed_free_key_keeps_its_position_in_the_free_list) {
    id_pool<> pool{{.reuse = reuse::fifo}};
    std::array<id, 4> ids;
    pool.create(ids);
    for (const id e : ids) pool.destroy(e);  // free list: 0 1 2 3
    pool.create_at(id::pack(2, 5, 1));       // 0 1 (2) 3
    EXPECT_EQ(pool.create(), id::pack(0, 1, 1));
    pool.destroy(id::pack(2, 5, 1));  // 1 2 3
    EXPECT_EQ(pool.create(), id::pack(1, 1, 1));
    EXPECT_EQ(pool.create(), id::pack(2, 6, 1));
    EXPECT_EQ(pool.create(), id::pack(3, 1, 1));
    EXPECT_EQ(pool.create(), id::pack(4, 0, 1));
}

TEST(id_pool, a_claimed_key_keeps_its_position_at_the_head_of_the_free_list) {
    id_pool<> pool{{.reuse = reuse::fifo}};
    std::array<id, 3> ids;
    pool.create(ids);
    for (const id e : ids) pool.destroy(e);
    pool.destroy(pool.create_at(id::pack(0, 3, 1)));
    EXPECT_EQ(pool.create(), id::pack(0, 4, 1));
    EXPECT_EQ(pool.create(), id::pack(1, 1, 1));
    // create() skips a claimed key; destroying that key appends it to the free list again.
    pool.create_at(id::pack(2, 7, 1));
    pool.destroy(id::pack(1, 1, 1));
    EXPECT_EQ(pool.create(), id::pack(1, 2, 1));
    pool.destroy(id::pack(1, 2, 1));
    pool.destroy(id::pack(2, 7, 1));
    EXPECT_EQ(pool.create(), id::pack(1, 3, 1));
    EXPECT_EQ(pool.create(), id::pack(2, 8, 1));
}

TEST(id_pool, unused_version_includes_overflow_keys) {
    id_pool<> pool;
    pool.create_at(id::pack(4'000'000'000, 77, 1));
    EXPECT_EQ(pool.unused_version(), 78u);
    pool.destroy(id::pack(4'000'000'000, 77, 1));
    EXPECT_EQ(pool.unused_version(), 78u);
}

TEST(id_pool, reserve_allocates_once) {
    id_pool<> pool;
    pool.reserve(1000);
    EXPECT_EQ(pool.capacity(), 1000u);
    for (int i = 0; i < 1000; ++i) pool.create();
    EXPECT_EQ(pool.capacity(), 1000u);
    pool.reserve(10);
    EXPECT_EQ(pool.capacity(), 1000u);
    id_pool<layouts::compact> small;
    EXPECT_EQ(code_of([&] { small.reserve((1u << 20) + 1); }), errc::id_overflow);
    EXPECT_EQ(small.capacity(), 0u);
    id_pool<test::tiny_bound<exhaustion::retire>> worn{{.last_key = 15}};
    for (int i = 0; i < 7 * 8; ++i) worn.destroy(worn.create());  // retires keys
    worn.reserve(8);
    const std::size_t room = worn.capacity();
    EXPECT_GE(room, 8 + worn.retired());
    for (int i = 0; i < 8; ++i) worn.create();
    EXPECT_EQ(worn.capacity(), room);
    small.reserve(1u << 20);
    EXPECT_EQ(small.capacity(), 1u << 20);
}

TEST(id_pool, retires_a_key_without_versions_left) {
    id_pool<test::nibble<exhaustion::retire>> pool{{.last_key = 1}};
    for (int i = 0; i < 15; ++i) EXPECT_TRUE(pool.destroy(pool.create()));
    EXPECT_EQ(pool.retired(), 1u);
    EXPECT_EQ(pool.create().key(), 1u);
    EXPECT_EQ(pool.recycle_tombstones(), 0u);
    EXPECT_EQ(
        sentence_of([&] { pool.create(); }),
        "no key is left for 1 more id: the range 0 to 1 has 2 keys, 0 of them free, 1 retired");
    EXPECT_EQ(sentence_of(
                  [&] { pool.create_at(basic_id<test::nibble<exhaustion::retire>>::pack(0, 3)); }),
              "E:0[3] cannot be created: key 0 is retired: it has no versions left");
}

TEST(id_pool, keeps_tombstones_until_they_are_recycled) {
    using layout_type = test::nibble<exhaustion::tombstone>;
    id_pool<layout_type> pool{{.last_key = 1}};
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(pool.destroy(pool.create()));
    EXPECT_EQ(pool.tombstones(), 2u);
    EXPECT_EQ(sentence_of([&] { pool.create(); }),
              "no key is left for 1 more id: the range 0 to 1 has 2 keys, 0 of them free, "
              "2 tombstones that recycle_tombstones() would free");
    EXPECT_EQ(sentence_of([&] { pool.create_at(basic_id<layout_type>::pack(0, 3)); }),
              "E:0[3] cannot be created: key 0 is a tombstone: recycle_tombstones() makes it "
              "usable again");
    EXPECT_EQ(pool.unused_version(), 15u);
    EXPECT_EQ(pool.recycle_tombstones(), 2u);
    EXPECT_EQ(pool.recycle_tombstones(), 0u);
    EXPECT_EQ(pool.create_at(basic_id<layout_type>::pack(1, 0)).key(), 1u);
    pool.destroy(basic_id<layout_type>::pack(1, 0));
    EXPECT_EQ(pool.tombstones(), 0u);
    EXPECT_EQ(pool.create().version(), 1u);
    EXPECT_EQ(pool.create().version(), 0u);
    EXPECT_EQ(code_of([&] { pool.create(); }), errc::id_overflow);
    EXPECT_EQ(pool.unused_version(), 15u);  // all versions have been issued
}

TEST(id_pool, recycled_tombstones_are_freed_in_the_order_of_their_destruction) {
    for (const reuse order : {reuse::lifo, reuse::fifo}) {
        id_pool<test::nibble<exhaustion::tombstone>> pool{{.last_key = 3, .reuse = order}};
        using id_type = basic_id<test::nibble<exhaustion::tombstone>>;
        for (std::uint64_t key = 0; key < 4; ++key)
            pool.destroy(pool.create_at(id_type::pack(key, 14)));
        EXPECT_EQ(pool.recycle_tombstones(), 4u);
        for (std::uint64_t i = 0; i < 4; ++i)
            EXPECT_EQ(pool.create().key(), order == reuse::fifo ? i : 3 - i);
    }
}

TEST(id_pool, versions_wrap_to_the_first_if_the_layout_wraps) {
    using layout_type = test::nibble_from_1<exhaustion::wrap>;
    id_pool<layout_type> pool;
    for (std::uint64_t version = 1; version <= 15; ++version) {
        const auto e = pool.create();
        EXPECT_EQ(e.version(), version);
        EXPECT_FALSE(e.is_tombstone());
        pool.destroy(e);
    }
    EXPECT_EQ(pool.create().version(), 1u);
    EXPECT_EQ(pool.unused_version(), 16u);
    EXPECT_EQ(pool.retired(), 0u);
}

TEST(id_pool, error_messages_name_the_ids_and_limits) {
    id_pool<> pool{{.world = 7, .first_key = 10, .last_key = 12}};
    const id e = pool.create_at(id::pack(11, 4, 7));
    EXPECT_EQ(sentence_of([&] { pool.create_at(e); }), "E:7-11[4] is already alive");
    EXPECT_EQ(sentence_of([&] { pool.create_at(id::pack(11, 5, 7)); }),
              "E:7-11[5] cannot be created: its key is in use by E:7-11[4]");
    pool.destroy(e);
    EXPECT_EQ(sentence_of([&] { pool.create_at(e); }),
              "E:7-11[4] cannot be created: key 11 is already at version 5");
    EXPECT_EQ(sentence_of([&] { pool.create_at(id::pack(11, 9, 8)); }),
              "E:8-11[9] belongs to world W:8, not to W:7");
    EXPECT_EQ(sentence_of([&] { pool.create_at(id{}); }),
              "E:null can never be alive: it is the null id");
    EXPECT_EQ(sentence_of([&] { pool.create_at(id::pack(11, 65535, 7)); }),
              "E:7-11[65535] can never be alive: its version is reserved for tombstones");
    std::vector<id> four(4);
    EXPECT_EQ(sentence_of([&] { pool.create(four); }),
              "no key is left for 4 ids: the range 10 to 12 has 3 keys, 3 of them free");
    EXPECT_EQ(sentence_of([] { id_pool<>{{.world = 65536}}; }),
              "world 65536 does not fit in 16 bits: the largest is 65535");
    EXPECT_EQ(sentence_of([] { id_pool<>{{.world = 0}}; }),
              "0 is not a world number: numbers start at 1");
    EXPECT_EQ(sentence_of([] { id_pool<>{{.first_key = 5, .last_key = 4}}; }),
              "the key range 5 to 4 is empty");
    EXPECT_EQ(sentence_of([] { id_pool<>{{.first_version = 65535}}; }),
              "versions cannot start at 65535: the first must be below 65535");
}

TEST(id_pool, is_neither_copyable_nor_movable) {
    static_assert(!std::is_copy_constructible_v<id_pool<>> &&
                  !std::is_move_constructible_v<id_pool<>>);
    static_assert(std::is_default_constructible_v<id_pool<>>);
    static_assert(noexcept(std::declval<id_pool<>&>().destroy(id{})));
    static_assert(noexcept(std::declval<const id_pool<>&>().alive(id{})));
}

}  // namespace
}  // namespace muster
