// concurrent_id_pool on a single thread: every call behaves like id_pool's. Several threads are
// tested in concurrent_id_pool_threads_test.cpp.
#include <muster/id/concurrent_id_pool.hpp>
#include <muster/id/id_pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "support/errors.hpp"
#include "support/layouts.hpp"
#include "support/scale.hpp"

namespace muster {
namespace {

using test::code_of;
using test::sentence_of;

template <class Layout>
class concurrent_id_pool_of : public testing::Test {
protected:
    /// The id with the layout's nth key and mth version, in world 1.
    static basic_id<Layout> nth(std::uint64_t key, std::uint64_t version = 0) {
        return basic_id<Layout>::pack(Layout::first_key + key, Layout::first_version + version,
                                      Layout::world_bits == 0 ? 0 : 1);
    }
};
using full_retire = layout<std::uint64_t, id_bits{.key = 32, .version = 32}>;
using full_wrap =
    layout<std::uint64_t, id_bits{.key = 4, .version = 60, .on_exhaustion = exhaustion::wrap}>;
using huge_keys =
    layout<std::uint64_t,
           id_bits{
               .key = 56, .version = 8, .first_key = 9, .on_exhaustion = exhaustion::tombstone}>;
using all_layouts =
    testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed,
                   test::with_policy<std::uint64_t, test::bound_bits, exhaustion::wrap>,
                   test::with_policy<std::uint32_t, test::compact_bits, exhaustion::tombstone>,
                   full_retire, full_wrap, huge_keys, test::tiny_bound<exhaustion::retire>,
                   test::tiny_bound<exhaustion::wrap>, test::tiny_bound<exhaustion::tombstone>,
                   test::nibble<exhaustion::retire>, test::nibble<exhaustion::wrap>,
                   test::nibble_from_1<exhaustion::tombstone>>;
TYPED_TEST_SUITE(concurrent_id_pool_of, all_layouts, test::layout_names);

TYPED_TEST(concurrent_id_pool_of, issues_keys_in_order_from_the_first) {
    concurrent_id_pool<TypeParam> pool;
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(pool.create(), this->nth(i));
    EXPECT_EQ(pool.size(), 10u);
}

TYPED_TEST(concurrent_id_pool_of, a_released_key_returns_with_the_next_version) {
    concurrent_id_pool<TypeParam> pool;
    const auto a = pool.create();
    const auto b = pool.create();
    EXPECT_TRUE(pool.destroy(a));
    EXPECT_FALSE(pool.alive(a));
    EXPECT_TRUE(pool.alive(b));
    EXPECT_FALSE(pool.alive(this->nth(0, 1)));  // not issued yet
    EXPECT_EQ(pool.create(), this->nth(0, 1));
    EXPECT_FALSE(pool.alive(a));
}

TYPED_TEST(concurrent_id_pool_of, destroy_returns_false_for_a_dead_id_and_changes_nothing) {
    using id_type = basic_id<TypeParam>;
    concurrent_id_pool<TypeParam> pool;
    EXPECT_FALSE(pool.destroy(this->nth(0)));  // no id exists yet
    const auto a = pool.create();
    pool.destroy(a);
    EXPECT_FALSE(pool.destroy(a));
    EXPECT_FALSE(pool.destroy(id_type{}));
    EXPECT_FALSE(pool.destroy(this->nth(0, 1)));
    EXPECT_FALSE(pool.destroy(this->nth(9)));
    if (TypeParam::world_bits != 0)
        EXPECT_FALSE(
            pool.destroy(id_type::pack(TypeParam::first_key, TypeParam::first_version, 2)));
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_EQ(pool.create(), this->nth(0, 1));
}

TYPED_TEST(concurrent_id_pool_of, reuses_the_last_freed_key_first) {
    concurrent_id_pool<TypeParam> pool;
    std::array<basic_id<TypeParam>, 4> ids;
    pool.create(ids);
    for (const std::size_t i : {1u, 3u, 0u}) pool.destroy(ids[i]);
    for (const std::uint64_t key : {0u, 3u, 1u}) EXPECT_EQ(pool.create(), this->nth(key, 1));
    EXPECT_EQ(pool.create(), this->nth(4));
}

TYPED_TEST(concurrent_id_pool_of, alive_and_destroy_accept_arbitrary_bits) {
    using id_type = basic_id<TypeParam>;
    using rep = typename TypeParam::rep;
    concurrent_id_pool<TypeParam> pool;
    std::set<id_type> living;
    for (int round = 0; round < 3; ++round) {
        EXPECT_FALSE(pool.alive(id_type{}));
        std::mt19937_64 dice(1);
        for (int i = 0; i < 2'000; ++i) {
            auto bits = static_cast<rep>(dice());
            // Half of the ids differ from a living id in one bit: random bits are rarely close.
            if (i % 2 == 0 && !living.empty())
                bits = static_cast<rep>(living.begin()->value() ^
                                        rep{1} << (i / 2 % std::numeric_limits<rep>::digits));
            const auto forged = id_type::from_value(bits);
            ASSERT_EQ(pool.alive(forged), living.contains(forged)) << to_string(forged);
            if (!living.contains(forged)) ASSERT_FALSE(pool.destroy(forged));
        }
        for (const std::uint64_t end : {0u, 1u})
            EXPECT_FALSE(pool.alive(id_type::from_value(static_cast<rep>(0 - end))) &&
                         !living.contains(id_type::from_value(static_cast<rep>(0 - end))));
        for (int i = 0; i < 3; ++i) living.insert(pool.create());
    }
    EXPECT_EQ(pool.size(), living.size());
}

TYPED_TEST(concurrent_id_pool_of, creating_many_equals_creating_one_by_one) {
    concurrent_id_pool<TypeParam> one_by_one, at_once;
    std::vector<basic_id<TypeParam>> singles, many(12);
    const auto churn = [](concurrent_id_pool<TypeParam>& pool) {
        std::vector<basic_id<TypeParam>> first(8);
        pool.create(first);
        for (const std::size_t i : {2u, 7u, 3u, 0u, 5u}) pool.destroy(first[i]);
    };
    churn(one_by_one);
    churn(at_once);
    for (int i = 0; i < 12; ++i) singles.push_back(one_by_one.create());
    at_once.create(many);
    EXPECT_EQ(many, singles);
    EXPECT_EQ(at_once.size(), 15u);
    at_once.create(std::span<basic_id<TypeParam>>());
    EXPECT_EQ(at_once.size(), 15u);
}

TYPED_TEST(concurrent_id_pool_of, creating_many_is_all_or_nothing) {
    concurrent_id_pool<TypeParam> pool{{.last_key = TypeParam::first_key + 9}};
    std::vector<basic_id<TypeParam>> some(4), too_many(8), all(7);
    pool.create(some);
    pool.destroy(some[1]);
    const std::string sentence = sentence_of([&] { pool.create(too_many); });
    EXPECT_EQ(too_many, std::vector<basic_id<TypeParam>>(8));
    EXPECT_NE(sentence.find("for 8 ids"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("has 10 keys, 7 of them free"), std::string::npos) << sentence;
    EXPECT_EQ(pool.size(), 3u);
    pool.create(all);
    EXPECT_EQ(all[0], this->nth(1, 1));
    EXPECT_EQ(all[6], this->nth(9));
}

TYPED_TEST(concurrent_id_pool_of, an_exhausted_key_range_is_an_error) {
    concurrent_id_pool<TypeParam> pool{
        {.first_key = TypeParam::first_key + 3, .last_key = TypeParam::first_key + 5}};
    for (std::uint64_t key = 3; key < 6; ++key) EXPECT_EQ(pool.create(), this->nth(key));
    EXPECT_EQ(code_of([&] { pool.create(); }), errc::id_overflow);
    EXPECT_EQ(code_of([&] { pool.create(); }), errc::id_overflow);
    EXPECT_FALSE(pool.alive(this->nth(2)));
    EXPECT_FALSE(pool.alive(this->nth(6)));
    EXPECT_TRUE(pool.destroy(this->nth(4)));
    EXPECT_EQ(pool.create(), this->nth(4, 1));
    EXPECT_EQ(pool.size(), 3u);
    EXPECT_EQ(pool.capacity(), 3u);
}

TYPED_TEST(concurrent_id_pool_of, reserve_allocates_capacity) {
    concurrent_id_pool<TypeParam> pool{{.last_key = TypeParam::first_key + 9}};
    EXPECT_EQ(pool.capacity(), 0u);
    pool.reserve(0);
    EXPECT_EQ(pool.capacity(), 0u);
    pool.reserve(7);
    EXPECT_GE(pool.capacity(), 7u);
    EXPECT_EQ(code_of([&] { pool.reserve(11); }), errc::id_overflow);
    EXPECT_EQ(pool.size(), 0u);
}

TYPED_TEST(concurrent_id_pool_of, refuses_the_same_options_as_id_pool) {
    const auto message_of = [](const id_pool_options& options) {
        const std::string message =
            sentence_of([&] { concurrent_id_pool<TypeParam> pool{options}; });
        EXPECT_EQ(message, sentence_of([&] { id_pool<TypeParam> pool{options}; }));
        return message;
    };
    if (TypeParam::world_bits != 0) {
        EXPECT_NE(message_of({.world = 0}), "no error");
        EXPECT_NE(message_of({.world = TypeParam::last_world + 1}), "no error");
    }
    EXPECT_NE(message_of({.first_key = TypeParam::last_key + 1}), "no error");
    EXPECT_NE(message_of({.last_key = TypeParam::last_key + 1}), "no error");
    EXPECT_NE(message_of({.first_key = 5, .last_key = 4}), "no error");
    EXPECT_NE(message_of({.first_version = TypeParam::last_version}), "no error");
    EXPECT_EQ(message_of({.first_version = TypeParam::last_version - 1}), "no error");
}

TYPED_TEST(concurrent_id_pool_of, refuses_fifo_reuse) {
    EXPECT_EQ(code_of([] { concurrent_id_pool<TypeParam> pool{{.reuse = reuse::fifo}}; }),
              errc::limit);
}

TYPED_TEST(concurrent_id_pool_of, grows_by_segments_and_keeps_all_ids) {
    concurrent_id_pool<TypeParam> pool;
    const std::uint64_t count =
        detail::smaller(TypeParam::last_key - TypeParam::first_key + 1, 5000);
    std::vector<basic_id<TypeParam>> ids;
    for (std::uint64_t i = 0; i < count; ++i) {
        ids.push_back(pool.create());
        ASSERT_EQ(ids.back(), this->nth(i));
        ASSERT_GE(pool.capacity(), i + 1);
    }
    for (const auto e : ids) ASSERT_TRUE(pool.alive(e));
    EXPECT_EQ(pool.size(), count);
    for (const auto e : ids) ASSERT_TRUE(pool.destroy(e));
    EXPECT_EQ(pool.size(), 0u);
    std::vector<basic_id<TypeParam>> again(ids.size());
    pool.create(again);  // more than create() takes in one step
    for (std::size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(again[i], this->nth(count - 1 - i, 1));
    EXPECT_EQ(pool.size(), count);
}

TEST(concurrent_id_pool, is_neither_copyable_nor_movable) {
    static_assert(!std::is_copy_constructible_v<concurrent_id_pool<>>);
    static_assert(!std::is_move_constructible_v<concurrent_id_pool<>>);
    static_assert(std::is_same_v<concurrent_id_pool<>::id_type, id>);
}

TEST(concurrent_id_pool, refuses_to_create_more_ids_than_keys) {
    concurrent_id_pool<> pool{{.last_key = 9}};
    std::vector<id> too_many(11);
    EXPECT_EQ(sentence_of([&] { pool.create(too_many); }),
              "no key is left for 11 ids: the range 0 to 9 has 10 keys, 10 of them free");
    EXPECT_EQ(pool.capacity(), 0u);
}

TEST(concurrent_id_pool, ids_belong_to_the_world_of_the_pool) {
    concurrent_id_pool<> pool{{.world = 7}}, other;
    const id e = pool.create();
    EXPECT_EQ(pool.world(), 7u);
    EXPECT_EQ(e, id::pack(0, 0, 7));
    (void)other.create();
    EXPECT_FALSE(other.alive(e));
    EXPECT_FALSE(other.destroy(e));
}

TEST(concurrent_id_pool, unused_version_is_above_every_issued_version) {
    concurrent_id_pool<> pool;
    EXPECT_EQ(pool.unused_version(), 0u);
    const id a = pool.create();
    EXPECT_EQ(pool.unused_version(), 1u);
    pool.destroy(a);
    EXPECT_EQ(pool.unused_version(), 1u);
    for (int i = 0; i < 3; ++i) pool.destroy(pool.create());
    (void)pool.create();
    const id b = pool.create();
    EXPECT_EQ(pool.unused_version(), 5u);
    pool.destroy(b);
    EXPECT_EQ(pool.unused_version(), 5u);
    concurrent_id_pool<> next{{.first_version = pool.unused_version()}};
    EXPECT_EQ(next.create(), id::pack(0, 5, 1));
}

TEST(concurrent_id_pool, a_layout_without_spare_bits_wraps_before_the_last_version) {
    using full =
        layout<std::uint64_t, id_bits{.key = 32, .version = 32, .on_exhaustion = exhaustion::wrap}>;
    const std::uint64_t late = full::last_version - 2;
    concurrent_id_pool<full> pool{{.last_key = 1, .first_version = late}};
    for (int round = 0; round < 3; ++round)
        for (const std::uint64_t version : {late, late + 1}) {
            const auto e = pool.create();
            EXPECT_EQ(e, basic_id<full>::pack(0, version));
            pool.destroy(e);
        }
    EXPECT_EQ(pool.size(), 0u);
}

TEST(concurrent_id_pool, counts_rounds_of_versions_and_issues_all_versions) {
    // A 24-bit tag above a 40-bit index; a version has 20 bits.
    using wide =
        layout<std::uint64_t, id_bits{.key = 40, .version = 20, .on_exhaustion = exhaustion::wrap}>;
    const std::uint64_t late = wide::last_version - 2;
    concurrent_id_pool<wide> pool{{.last_key = 1, .first_version = late}};
    std::vector<std::uint64_t> versions;
    for (int i = 0; i < 30; ++i) {
        const auto e = pool.create();
        ASSERT_EQ(e.key(), 0u);
        versions.push_back(e.version());
        ASSERT_TRUE(pool.destroy(e));
    }
    for (std::size_t i = 0; i < 21; ++i) ASSERT_EQ(versions[i], late + i % 3) << i;
    // Three bits of the tag count eight rounds. The eighth round omits the last version.
    EXPECT_EQ(versions[23], late);
}

TEST(concurrent_id_pool, more_keys_than_memory_start_at_the_first_key) {
    concurrent_id_pool<huge_keys> pool;
    EXPECT_EQ(code_of([&] { pool.reserve((std::size_t{1} << 40) + 1); }), errc::id_overflow);
    EXPECT_FALSE(pool.alive(basic_id<huge_keys>::pack(huge_keys::last_key, 0)));
    EXPECT_EQ(pool.create(), basic_id<huge_keys>::pack(9, 0));
}

// ---- comparison with id_pool --------------------------------------------------------------------

template <class Layout>
class concurrent_id_pool_beside_id_pool : public testing::Test {};
using byte_layouts =
    testing::Types<test::nibble<exhaustion::retire>, test::nibble<exhaustion::wrap>,
                   test::nibble<exhaustion::tombstone>, test::nibble_from_1<exhaustion::retire>,
                   test::nibble_from_1<exhaustion::wrap>,
                   test::nibble_from_1<exhaustion::tombstone>, test::least<exhaustion::retire>,
                   test::least<exhaustion::wrap>, test::least<exhaustion::tombstone>>;
TYPED_TEST_SUITE(concurrent_id_pool_beside_id_pool, byte_layouts, test::layout_names);

/// Makes each call on both pools and expects equal results.
template <class Layout>
class both {
public:
    using id_type = basic_id<Layout>;

    explicit both(const id_pool_options& options) : plain_(options), shared_(options) {}

    void create() {
        id_type e;
        const std::string expected = sentence_of([&] { e = plain_.create(); });
        ASSERT_EQ(sentence_of([&] { ASSERT_EQ(shared_.create(), e); }), expected);
        if (e) made.push_back(e);
    }
    void create(std::size_t count) {
        std::vector<id_type> ids(count), others(count);
        const std::string expected = sentence_of([&] { plain_.create(ids); });
        ASSERT_EQ(sentence_of([&] { shared_.create(others); }), expected);
        ASSERT_EQ(others, ids);
        if (expected == "no error") made.insert(made.end(), ids.begin(), ids.end());
    }
    void destroy(id_type e) { ASSERT_EQ(shared_.destroy(e), plain_.destroy(e)) << to_string(e); }
    void recycle() { ASSERT_EQ(shared_.recycle_tombstones(), plain_.recycle_tombstones()); }

    void compare() const {
        compare_counts();
        for (unsigned bits = 0; bits < 256; ++bits) {
            const auto e = id_type::from_value(static_cast<std::uint8_t>(bits));
            ASSERT_EQ(shared_.alive(e), plain_.alive(e)) << to_string(e);
        }
    }

    void compare_counts() const {
        ASSERT_EQ(shared_.size(), plain_.size());
        ASSERT_EQ(shared_.retired(), plain_.retired());
        ASSERT_EQ(shared_.tombstones(), plain_.tombstones());
        ASSERT_EQ(shared_.unused_version(), plain_.unused_version());
        for (const id_type e : made) ASSERT_EQ(shared_.alive(e), plain_.alive(e)) << to_string(e);
    }

    std::vector<id_type> made;  // alive or not

private:
    id_pool<Layout> plain_;
    concurrent_id_pool<Layout> shared_;
};

TYPED_TEST(concurrent_id_pool_beside_id_pool, agrees_in_every_short_story) {
    constexpr unsigned operations = 6;
    const unsigned length = test::scale() == 1 ? 5 : 6;
    unsigned stories = 1;
    for (unsigned i = 0; i < length; ++i) stories *= operations;
    for (unsigned story = 0; story < stories; ++story) {
        // Two keys, close to their last version.
        const std::uint64_t late =
            TypeParam::last_version < 3 ? TypeParam::first_version : TypeParam::last_version - 2;
        both<TypeParam> pools({.first_key = TypeParam::last_key - 1, .first_version = late});
        unsigned rest = story;
        for (unsigned i = 0; i < length; ++i, rest /= operations) {
            const std::size_t count = pools.made.size();
            switch (rest % operations) {
            case 0: pools.create(); break;
            case 1: pools.create(2); break;
            case 2: pools.recycle(); break;
            default:  // destroys one of the last three created ids
                if (const std::size_t back = rest % operations - 2; back <= count)
                    pools.destroy(pools.made[count - back]);
            }
            if (this->HasFatalFailure()) FAIL() << "in story " << story << ", step " << i;
        }
        pools.compare_counts();
        if (story % 16 == 0) pools.compare();  // comparing all 256 patterns is slow
        if (this->HasFatalFailure()) FAIL() << "after story " << story;
    }
}

TYPED_TEST(concurrent_id_pool_beside_id_pool, agrees_in_long_random_stories) {
    for (unsigned seed = 0; seed < 10 * test::scale(); ++seed) {
        std::mt19937 dice(seed);
        both<TypeParam> pools(id_pool_options{});
        for (unsigned i = 0; i < 600; ++i) {
            const auto roll = dice() % 100;
            if (roll < 40)
                pools.create();
            else if (roll < 45)
                pools.create(dice() % 5);
            else if (roll < 47)
                pools.recycle();
            else if (roll < 57)
                pools.destroy(basic_id<TypeParam>::from_value(static_cast<std::uint8_t>(dice())));
            else if (!pools.made.empty())
                pools.destroy(pools.made[pools.made.size() - 1 -
                                         dice() % detail::smaller(20, pools.made.size())]);
            if (i % 50 == 0) pools.compare();
            if (this->HasFatalFailure()) FAIL() << "seed " << seed << ", step " << i;
        }
    }
}

}  // namespace
}  // namespace muster
