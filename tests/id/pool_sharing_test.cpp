#include <muster/id/pool_sharing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;
using test::sentence_of;

/// A mark, a version and a key in one word, and a value beside it.
template <class Layout>
struct noted_slot {
    using id_type = basic_id<Layout>;
    static_assert(Layout::key_bits <= 32);

    std::uint64_t high;  // bit 63: dead; the version
    std::uint32_t low;   // of a dead slot: the next key
    std::uint32_t note;

    static noted_slot live(id_type e) { return {e.version(), 0, 0}; }
    static noted_slot dead(std::uint64_t, std::uint64_t next, std::uint64_t version) {
        return {std::uint64_t{1} << 63 | version, static_cast<std::uint32_t>(next), 0};
    }
    /// `on_seen` runs between the look at the head and its exchange, like another thread.
    static inline std::function<void()> on_seen;
    noted_slot seen() const {
        const noted_slot found{__atomic_load_n(&high, __ATOMIC_RELAXED), low, 0};
        if (on_seen) std::exchange(on_seen, nullptr)();
        return found;
    }
    void show(id_type e) { __atomic_store_n(&high, e.version(), __ATOMIC_RELAXED); }

    bool is(id_type e, id_type origin) const {
        return high == e.version() && e.world() == origin.world();
    }
    bool is_live(std::uint64_t) const { return high >> 63 == 0; }
    std::uint64_t version() const { return high << 1 >> 1; }
    std::uint64_t next() const { return low; }
};

template <class Layout>
using pool_of = slot_pool<Layout, noted_slot<Layout>>;
template <class Layout>
using sharing_of = pool_sharing<Layout, noted_slot<Layout>>;

using pool_type = pool_of<layouts::bound>;
using sharing = sharing_of<layouts::bound>;
using id_type = pool_type::id_type;

template <class Pool>
auto create_many(Pool& from, std::size_t count) {
    std::vector<typename Pool::id_type> made(count);
    for (auto& e : made) e = from.create();
    return made;
}

template <class Layout>
std::vector<std::uint64_t> keys_of(const std::vector<basic_id<Layout>>& ids) {
    std::vector<std::uint64_t> keys;
    for (const basic_id<Layout> e : ids) keys.push_back(e.key());
    return keys;
}
using key_list = std::vector<std::uint64_t>;

/// Creates through a phase of its own.
std::vector<id_type> create_shared(pool_type& pool, std::size_t count) {
    sharing shared(pool);
    const auto made = create_many(shared, count);
    shared.end();
    return made;
}

id_pool_options options_of(reuse order) {
    id_pool_options options;
    options.reuse = order;
    return options;
}
/// Keys 0 to `count` - 1.
id_pool_options options_of(std::uint64_t count) {
    id_pool_options options;
    options.last_key = count - 1;
    return options;
}

// ---- all layouts -------------------------------------------------------------------------------

template <class Layout>
class pool_sharing_of : public testing::Test {};
using all_layouts =
    testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed,
                   test::nibble<exhaustion::retire>, test::nibble_from_1<exhaustion::wrap>,
                   test::tiny_bound<exhaustion::tombstone>>;
TYPED_TEST_SUITE(pool_sharing_of, all_layouts, test::layout_names);

TYPED_TEST(pool_sharing_of, creates_the_ids_that_the_pool_would_create) {
    for (const reuse order : {reuse::lifo, reuse::fifo}) {
        pool_of<TypeParam> pool(options_of(order));
        pool_of<TypeParam> twin(options_of(order));
        for (pool_of<TypeParam>* each : {&pool, &twin}) {
            const auto made = create_many(*each, 7);
            for (const std::size_t i : {2u, 5u, 0u, 4u}) each->destroy(made[i]);
        }
        sharing_of<TypeParam> shared(pool);
        for (int i = 0; i < 8; ++i) ASSERT_EQ(shared.create(), twin.create()) << i;
        shared.end();
        EXPECT_EQ(pool.size(), twin.size());
        for (int i = 0; i < 3; ++i) ASSERT_EQ(pool.create(), twin.create()) << i;
    }
}

TYPED_TEST(pool_sharing_of, the_pool_has_all_ids_after_the_end) {
    pool_of<TypeParam> pool{id_pool_options{}};
    const auto before = create_many(pool, 6);
    pool.destroy(before[1]);
    pool.destroy(before[3]);
    sharing_of<TypeParam> shared(pool);
    const auto made = create_many(shared, 6);
    shared.end();
    EXPECT_EQ(pool.size(), 10u);
    for (const auto e : made) EXPECT_TRUE(pool.alive(e)) << to_string(e);
    for (const std::size_t i : {1u, 3u}) EXPECT_FALSE(pool.alive(before[i]));
    for (const std::size_t i : {0u, 2u, 4u, 5u}) EXPECT_TRUE(pool.alive(before[i]));
    for (const auto e : made) EXPECT_TRUE(pool.destroy(e));
    EXPECT_EQ(pool.size(), 4u);
}

TYPED_TEST(pool_sharing_of, creates_until_no_key_is_left_and_no_further) {
    pool_of<TypeParam> pool(options_of(TypeParam::first_key + 12));
    const std::size_t count = 12;
    const auto before = create_many(pool, 5);
    pool.destroy(before[4]);
    sharing_of<TypeParam> shared(pool);
    std::set<std::uint64_t> keys;
    for (std::size_t i = 4; i < count; ++i) keys.insert(shared.create().key());
    EXPECT_EQ(keys.size(), count - 4);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(code_of([&] { (void)shared.create(); }), errc::id_overflow);
    shared.end();
    EXPECT_EQ(pool.size(), count);
    EXPECT_EQ(code_of([&] { pool.create(); }), errc::id_overflow);
}

// ---- one thread --------------------------------------------------------------------------------

TEST(pool_sharing, a_phase_that_creates_nothing_leaves_the_pool_as_it_was) {
    for (const std::size_t count : {0u, 1u, 100u}) {
        pool_type pool{id_pool_options{}};
        pool_type twin{id_pool_options{}};
        for (pool_type* each : {&pool, &twin}) {
            const auto made = create_many(*each, count);
            if (count != 0) each->destroy(made[0]);
        }
        create_shared(pool, 0);
        EXPECT_EQ(pool.size(), twin.size());
        EXPECT_EQ(pool.capacity(), twin.capacity());
        EXPECT_EQ(create_many(pool, 200), create_many(twin, 200));
    }
}

TEST(pool_sharing, a_reissued_id_has_its_slot_at_once) {
    pool_type pool{id_pool_options{}};
    const auto before = create_many(pool, 3);
    pool.destroy(before[1]);
    sharing shared(pool);
    const id_type made = shared.create();
    EXPECT_EQ(made, id_type::pack(1, 1, 1));
    EXPECT_TRUE(pool.find(1)->is(made, pool.origin()));
    EXPECT_FALSE(shared.has(made));  // it needs no answer: its slot has it
    shared.end();
}

TEST(pool_sharing, a_thread_that_was_overtaken_takes_the_next_waiting_key) {
    pool_type pool{id_pool_options{}};
    const auto before = create_many(pool, 4);
    for (const id_type e : before) pool.destroy(e);
    sharing shared(pool);
    std::vector<id_type> faster;
    noted_slot<layouts::bound>::on_seen = [&] { faster = create_many(shared, 2); };
    const id_type made = shared.create();
    EXPECT_EQ(keys_of(faster), (key_list{3, 2}));
    EXPECT_EQ(made.key(), 1u);
    EXPECT_EQ(shared.create().key(), 0u);
    EXPECT_EQ(shared.create().key(), 4u);
    shared.end();
    EXPECT_EQ(pool.size(), 5u);
}

TEST(pool_sharing, a_fresh_id_has_no_slot_before_the_end) {
    pool_type pool{id_pool_options{}};
    sharing shared(pool);
    const id_type made = shared.create();
    EXPECT_EQ(pool.find(made.key()), nullptr);
    shared.end();
    ASSERT_NE(pool.find(made.key()), nullptr);
    EXPECT_TRUE(pool.find(made.key())->is(made, pool.origin()));
}

TEST(pool_sharing, has_exactly_the_fresh_ids_that_it_created) {
    id_pool_options options;
    options.first_key = 10;
    options.first_version = 3;
    pool_type pool(options);
    const id_type before = pool.create();
    sharing shared(pool);
    const id_type made = shared.create();
    EXPECT_EQ(made, id_type::pack(11, 3, 1));
    EXPECT_TRUE(shared.has(made));
    for (const id_type other :
         {before, id_type::pack(12, 3, 1), id_type::pack(9, 3, 1), id_type::pack(0, 3, 1),
          id_type::pack(11, 2, 1), id_type::pack(11, 4, 1), id_type::pack(11, 3, 2), id_type{},
          id_type::pack(layouts::bound::last_key, 3, 1)})
        EXPECT_FALSE(shared.has(other)) << to_string(other);
    const id_type next = shared.create();
    EXPECT_EQ(next, id_type::pack(12, 3, 1));
    EXPECT_TRUE(shared.has(next));
    shared.end();
}

TEST(pool_sharing, the_growth_of_the_array_keeps_all_ids) {
    pool_type pool{id_pool_options{}};
    const auto before = create_many(pool, 60);
    for (const id_type e : before) pool.find(e.key())->note = static_cast<std::uint32_t>(e.key());
    const auto made = create_shared(pool, 5000);
    EXPECT_EQ(pool.size(), 5060u);
    for (std::size_t i = 0; i < made.size(); ++i) ASSERT_EQ(made[i].key(), 60 + i);
    for (const id_type e : made) ASSERT_TRUE(pool.alive(e));
    for (const id_type e : before) ASSERT_EQ(pool.find(e.key())->note, e.key());
    EXPECT_EQ(pool.create().key(), 5060u);
}

TEST(pool_sharing, phases_follow_each_other) {
    pool_type pool{id_pool_options{}};
    std::set<id_type> living;
    for (std::size_t round = 1; round < 20; ++round) {
        for (const id_type e : create_shared(pool, round)) ASSERT_TRUE(living.insert(e).second);
        const id_type dying = *living.begin();
        ASSERT_TRUE(pool.destroy(dying));
        living.erase(dying);
        ASSERT_TRUE(living.insert(pool.create()).second);
    }
    EXPECT_EQ(pool.size(), living.size());
    for (const id_type e : living) EXPECT_TRUE(pool.alive(e));
}

// ---- keys that were claimed ---------------------------------------------------------------------

TEST(pool_sharing, fresh_keys_skip_those_that_were_claimed_ahead) {
    pool_type pool{id_pool_options{}};
    create_many(pool, 2);
    // Close to the others, at a gap, and far beyond the array.
    for (const std::uint64_t key : {2u, 4u, 5u, 63u, 64u, 3000u, 1'000'000u})
        pool.find(pool.create_at(id_type::pack(key, 9, 1)).key())->note =
            static_cast<std::uint32_t>(key);
    sharing shared(pool);
    const auto made = create_many(shared, 3100);
    EXPECT_EQ((key_list{made[0].key(), made[1].key(), made[2].key()}), (key_list{3, 6, 7}));
    for (const id_type e : made) {
        ASSERT_TRUE(e.key() != 2 && e.key() != 4 && e.key() != 5 && e.key() != 63 &&
                    e.key() != 64 && e.key() != 3000);
        ASSERT_TRUE(shared.has(e));
    }
    for (const std::uint64_t key : {2u, 4u, 5u, 63u, 64u, 3000u}) {
        EXPECT_FALSE(shared.has(id_type::pack(key, 0, 1))) << key;
        EXPECT_FALSE(shared.has(id_type::pack(key, 9, 1))) << key;
    }
    shared.end();
    EXPECT_EQ(pool.size(), 2 + 7 + 3100u);
    for (const std::uint64_t key : {2u, 4u, 5u, 63u, 64u, 3000u, 1'000'000u}) {
        EXPECT_TRUE(pool.alive(id_type::pack(key, 9, 1))) << key;
        EXPECT_EQ(pool.find(key)->note, key);
    }
    for (const id_type e : made) ASSERT_TRUE(pool.alive(e));
    EXPECT_EQ(pool.create().key(), made.back().key() + 1);
}

TEST(pool_sharing, a_claimed_key_directly_after_the_last_one_is_skipped_later) {
    pool_type pool{id_pool_options{}};
    pool.create_at(id_type::pack(3, 0, 1));
    EXPECT_EQ(keys_of(create_shared(pool, 3)), (key_list{0, 1, 2}));
    EXPECT_EQ(pool.create().key(), 4u);
    EXPECT_EQ(pool.size(), 5u);
}

TEST(pool_sharing, keys_that_were_claimed_while_they_waited_are_not_created) {
    // Which of the five waiting keys were claimed: none, each, all.
    for (const reuse order : {reuse::lifo, reuse::fifo})
        for (unsigned claimed = 0; claimed < 32; ++claimed) {
            pool_type pool(options_of(order));
            const auto before = create_many(pool, 6);
            for (std::size_t i = 0; i < 5; ++i) pool.destroy(before[i]);
            for (std::size_t i = 0; i < 5; ++i)
                if ((claimed >> i & 1) != 0) pool.create_at(id_type::pack(i, 1, 1));
            key_list expected;
            for (std::uint64_t i = 0; i < 5; ++i)
                if ((claimed >> i & 1) == 0) expected.push_back(i);
            if (order == reuse::lifo) std::ranges::reverse(expected);
            expected.push_back(6);
            expected.push_back(7);
            sharing shared(pool);
            const auto made = create_many(shared, expected.size());
            shared.end();
            ASSERT_EQ(keys_of(made), expected) << claimed;
            ASSERT_EQ(pool.size(), 8u);
            for (std::size_t i = 0; i < 5; ++i)
                ASSERT_TRUE(pool.alive(id_type::pack(i, 1, 1))) << i;
        }
}

TEST(pool_sharing, keys_that_still_wait_after_a_phase_are_created_in_their_order) {
    for (const reuse order : {reuse::lifo, reuse::fifo})
        for (unsigned claimed = 0; claimed < 32; ++claimed) {
            pool_type pool(options_of(order));
            const auto before = create_many(pool, 6);
            for (std::size_t i = 0; i < 5; ++i) pool.destroy(before[i]);
            for (std::size_t i = 0; i < 5; ++i)
                if ((claimed >> i & 1) != 0) pool.create_at(id_type::pack(i, 1, 1));
            key_list expected;
            for (std::uint64_t i = 0; i < 5; ++i)
                if ((claimed >> i & 1) == 0) expected.push_back(i);
            if (order == reuse::lifo) std::ranges::reverse(expected);
            // Claimed keys lose their places: a key that dies now is the newest.
            create_shared(pool, 0);
            pool.destroy(before[5]);
            expected.insert(order == reuse::lifo ? expected.begin() : expected.end(), 5);
            if ((claimed & 1) != 0) {
                pool.destroy(id_type::pack(0, 1, 1));
                expected.insert(order == reuse::lifo ? expected.begin() : expected.end(), 0);
            }
            expected.push_back(6);
            ASSERT_EQ(keys_of(create_many(pool, expected.size())), expected) << claimed;
        }
}

TEST(pool_sharing, claimed_keys_do_not_slow_down_the_pool_after_a_phase) {
    pool_type pool{id_pool_options{}};
    const auto before = create_many(pool, 3);
    pool.destroy(before[0]);
    pool.create_at(id_type::pack(0, 1, 1));
    EXPECT_FALSE(pool.is_destroyed_easily(before[2]));
    create_shared(pool, 1);
    EXPECT_TRUE(pool.is_destroyed_easily(before[2]));
}

// ---- keys for command buffers --------------------------------------------------------------------

TEST(pool_sharing, fresh_keys_skip_those_that_others_reserved_before) {
    pool_type pool{id_pool_options{}};
    create_many(pool, 3);
    const auto taken = pool.take_keys(4);
    ASSERT_EQ(taken.count, 4u);
    sharing shared(pool);
    std::set<std::uint64_t> keys;
    for (int i = 0; i < 100; ++i) keys.insert(shared.create().key());
    EXPECT_EQ(keys.size(), 100u);
    for (std::uint64_t key = taken.first; key < taken.first + 4; ++key) {
        EXPECT_FALSE(keys.contains(key));
        EXPECT_FALSE(shared.has(pool.id_of_taken(key)));
    }
    shared.end();
    EXPECT_EQ(pool.size(), 103u);
    EXPECT_FALSE(pool.alive(pool.id_of_taken(taken.first)));
    EXPECT_TRUE(pool.claim_reserved(pool.id_of_taken(taken.first)));
    EXPECT_TRUE(pool.alive(pool.id_of_taken(taken.first)));
    EXPECT_EQ(pool.size(), 104u);
}

TEST(pool_sharing, keys_that_others_reserve_meanwhile_are_not_created) {
    pool_type pool(options_of(std::uint64_t{4096}));
    sharing shared(pool);
    std::set<std::uint64_t> keys;
    std::vector<std::uint64_t> reserved;
    for (int i = 0; i < 64; ++i) {
        ASSERT_TRUE(keys.insert(shared.create().key()).second);
        const auto taken = pool.take_keys(1);
        ASSERT_EQ(taken.count, 1u);
        ASSERT_TRUE(keys.insert(taken.first).second);
        reserved.push_back(taken.first);
    }
    shared.end();
    EXPECT_EQ(pool.size(), 64u);
    for (const std::uint64_t key : reserved)
        EXPECT_TRUE(pool.claim_reserved(pool.id_of_taken(key)));
    EXPECT_EQ(pool.size(), 128u);
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(keys.insert(pool.create().key()).second);
}

TEST(pool_sharing, unused_keys_are_open_to_others_again_after_the_end) {
    pool_type pool(options_of(std::uint64_t{4096}));
    sharing shared(pool);
    create_many(shared, 10);
    shared.end();
    EXPECT_LE(pool.take_keys(1).first, pool.capacity());
    EXPECT_EQ(pool.create().key(), 10u);
}

TEST(pool_sharing, keys_below_those_that_others_reserved_meanwhile_stay_the_pools) {
    pool_type pool(options_of(std::uint64_t{4096}));
    sharing shared(pool);
    const std::uint64_t reserved = pool.take_keys(1).first;
    create_many(shared, 10);
    shared.end();
    EXPECT_EQ(pool.take_keys(1).first, reserved + 1);
    EXPECT_EQ(pool.create().key(), 10u);
}

TEST(pool_sharing, keys_that_the_pool_had_before_a_phase_stay_its_own) {
    pool_type pool(options_of(std::uint64_t{4096}));
    pool.reserve(500);
    create_shared(pool, 10);
    EXPECT_EQ(pool.take_keys(1).first, 500u);
    EXPECT_EQ(pool.create().key(), 10u);
}

TEST(pool_sharing, keys_that_it_used_are_not_opened_to_others) {
    // The array has room for more keys than the pool has claimed.
    pool_type pool(options_of(std::uint64_t{1024}));
    create_many(pool, 600);
    ASSERT_EQ(pool.capacity(), 1024u);
    const auto made = create_shared(pool, 320);
    const auto taken = pool.take_keys(1);
    ASSERT_EQ(taken.count, 1u);
    EXPECT_GT(taken.first, made.back().key());
}

TEST(pool_sharing, leaves_some_keys_of_a_large_range_to_others) {
    pool_type pool(options_of(std::uint64_t{1024}));
    sharing shared(pool);
    std::size_t created = 0;
    while (!code_of([&] { (void)shared.create(); })) ++created;
    EXPECT_GT(created, 900u);
    std::uint64_t reserved = 0;
    while (pool.take_keys(1).count != 0) ++reserved;
    EXPECT_GE(reserved, 10u);
    EXPECT_LE(created + reserved, 1024u);
    shared.end();
    // Afterwards the pool's own thread may use the rest.
    while (!code_of([&] { pool.create(); })) ++created;
    EXPECT_EQ(created + reserved, 1024u);
    EXPECT_EQ(pool.size(), created);
}

TEST(pool_sharing, the_error_names_the_keys_that_are_left_to_others) {
    pool_type large(options_of(std::uint64_t{1024}));
    sharing shared(large);
    std::size_t created = 0;
    std::string sentence;
    while ((sentence = sentence_of([&] { (void)shared.create(); })) == "no error") ++created;
    EXPECT_NE(sentence.find("1024 keys of the range 0 to 1023"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(std::to_string(1024 - created) + " are reserved"), std::string::npos)
        << sentence;
    shared.end();

    pool_type small(options_of(std::uint64_t{4}));
    sharing all(small);
    create_many(all, 4);
    sentence = sentence_of([&] { (void)all.create(); });
    EXPECT_NE(sentence.find("4 keys of the range 0 to 3"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("command buffers"), std::string::npos) << sentence;
    all.end();
}

TEST(pool_sharing, many_phases_do_not_take_the_keys_of_others_without_need) {
    pool_type pool(options_of(std::uint64_t{1024}));
    // Each time something is reserved meanwhile, so that no phase can return what it did not use.
    for (int phase = 0; phase < 20; ++phase) {
        sharing shared(pool);
        ASSERT_EQ(pool.take_keys(1).count, 1u) << phase;
        (void)shared.create();
        shared.end();
    }
    EXPECT_EQ(pool.size(), 20u);
}

TEST(pool_sharing, takes_more_keys_when_it_needs_them) {
    pool_type pool(options_of(std::uint64_t{1024}));
    std::size_t created = 0;
    for (int phase = 0; phase < 10; ++phase) {
        sharing shared(pool);
        EXPECT_EQ(pool.take_keys(1).count, 1u) << phase;  // nothing is returned at the end
        while (!code_of([&] { (void)shared.create(); })) ++created;
        shared.end();
        EXPECT_EQ(pool.size(), created);
        if (!pool.has_open_keys()) break;
    }
    EXPECT_FALSE(pool.has_open_keys());
    EXPECT_GT(created, 940u);
    create_shared(pool, 1024 - 60 - created);  // the keys that only the pool may use
}

// ---- against a naive model ------------------------------------------------------------------------

TEST(pool_sharing, agrees_with_a_set_of_ids_over_random_operations) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        std::mt19937 random(seed);
        pool_type pool(options_of(seed % 2 == 0 ? reuse::lifo : reuse::fifo));
        std::map<std::uint64_t, id_type> living;
        std::set<id_type> issued;
        std::set<id_type> reserved;
        const auto add = [&](id_type e) {
            ASSERT_FALSE(living.contains(e.key())) << to_string(e);
            ASSERT_TRUE(issued.insert(e).second) << to_string(e);
            living[e.key()] = e;
        };
        const auto reserve_key = [&] {
            const auto taken = pool.take_keys(1);
            const id_type e = pool.id_of_taken(taken.first);
            ASSERT_EQ(taken.count, 1u);
            ASSERT_TRUE(issued.insert(e).second) << to_string(e);
            reserved.insert(e);
        };
        for (int step = 0; step < 300; ++step) {
            SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step));
            const auto choice = random() % 10;
            if (choice < 2) {
                add(pool.create());
            } else if (choice < 5 && !living.empty()) {
                const auto dying =
                    std::next(living.begin(), static_cast<long>(random() % living.size()));
                ASSERT_TRUE(pool.destroy(dying->second));
                living.erase(dying);
            } else if (choice < 6) {
                const id_type wanted =
                    id_type::pack(random() % (random() % 8 == 0 ? 5000 : 80), 100, 1);
                if (!code_of([&] { pool.create_at(wanted); })) add(wanted);
            } else if (choice < 7) {
                reserve_key();
            } else if (choice < 8 && !reserved.empty()) {
                const id_type e = *reserved.begin();
                reserved.erase(reserved.begin());
                ASSERT_TRUE(pool.claim_reserved(e));
                living[e.key()] = e;
            } else if (choice < 9) {
                sharing shared(pool);
                for (auto i = random() % 20; i != 0; --i) {
                    if (random() % 16 == 0) reserve_key();
                    const id_type e = shared.create();
                    const auto* const slot = pool.find(e.key());
                    ASSERT_TRUE(shared.has(e) != (slot != nullptr && slot->is(e, pool.origin())));
                    add(e);
                }
                shared.end();
            }
            if (HasFatalFailure()) return;
            ASSERT_EQ(pool.size(), living.size());
        }
        for (const id_type e : issued) {
            const auto found = living.find(e.key());
            ASSERT_EQ(pool.alive(e), found != living.end() && found->second == e) << to_string(e);
        }
    }
}

// ---- several threads -------------------------------------------------------------------------------

constexpr std::size_t thread_count = 4;

/// Calls `work(i)` on so many threads; they begin together.
template <class Work>
void on_threads(Work work) {
    std::latch begin(thread_count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < thread_count; ++i)
        threads.emplace_back([&, i] {
            begin.arrive_and_wait();
            work(i);
        });
    for (std::thread& thread : threads) thread.join();
}

TEST(pool_sharing, threads_create_different_ids_and_use_all_waiting_keys) {
    // So many that threads meet, even on a machine with few processors.
    constexpr std::size_t waiting = 150'000;
    constexpr std::size_t created = 50'000;  // by each thread
    for (const reuse order : {reuse::lifo, reuse::fifo}) {
        pool_type pool(options_of(order));
        const auto before = create_many(pool, 2 * waiting);
        for (std::size_t i = 0; i < before.size(); i += 2) pool.destroy(before[i]);
        sharing shared(pool);
        std::vector<id_type> made[thread_count];
        on_threads([&](std::size_t i) { made[i] = create_many(shared, created); });
        shared.end();
        std::vector<bool> seen(2 * waiting + thread_count * created);
        std::size_t reissued = 0;
        for (const std::vector<id_type>& ids : made)
            for (const id_type e : ids) {
                ASSERT_FALSE(seen[e.key()]) << to_string(e);
                seen[e.key()] = true;
                reissued += e.version() == 1;
                ASSERT_TRUE(pool.alive(e)) << to_string(e);
            }
        EXPECT_EQ(reissued, waiting);
        EXPECT_EQ(pool.size(), waiting + thread_count * created);
        EXPECT_EQ(pool.create().key(), waiting + thread_count * created);
    }
}

TEST(pool_sharing, threads_share_the_last_keys_without_giving_one_twice) {
    for (int round = 0; round < 20; ++round) {
        pool_type pool(options_of(std::uint64_t{200}));
        const auto before = create_many(pool, 100);
        for (std::size_t i = 0; i < 50; ++i) pool.destroy(before[i]);
        sharing shared(pool);
        std::atomic<std::size_t> created = 0;
        on_threads([&](std::size_t) {
            for (int i = 0; i < 60; ++i)
                if (!code_of([&] { (void)shared.create(); })) ++created;
        });
        shared.end();
        EXPECT_EQ(created.load(), 150u);
        EXPECT_EQ(pool.size(), 200u);
    }
}

TEST(pool_sharing, threads_reserve_keys_while_others_create) {
    pool_type pool(options_of(std::uint64_t{1} << 16));
    create_many(pool, 10);
    sharing shared(pool);
    std::vector<std::uint64_t> keys[thread_count];
    on_threads([&](std::size_t i) {
        for (int step = 0; step < 1000; ++step)
            if (i % 2 == 0)
                keys[i].push_back(shared.create().key());
            else if (const auto taken = pool.take_keys(1); taken.count != 0)
                keys[i].push_back(taken.first);
    });
    shared.end();
    std::set<std::uint64_t> different;
    for (const std::vector<std::uint64_t>& part : keys) {
        EXPECT_GT(part.size(), 0u);
        for (const std::uint64_t key : part) ASSERT_TRUE(different.insert(key).second) << key;
    }
    EXPECT_EQ(pool.size(), 10 + thread_count / 2 * 1000);
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(different.insert(pool.create().key()).second);
}

TEST(pool_sharing, an_id_is_known_to_the_threads_that_receive_it) {
    pool_type pool{id_pool_options{}};
    const auto before = create_many(pool, 500);
    for (const id_type e : before) pool.destroy(e);
    sharing shared(pool);
    std::atomic<std::uint64_t> published[thread_count]{};
    std::atomic<int> unknown = 0;
    on_threads([&](std::size_t i) {
        for (int step = 0; step < 500; ++step) {
            published[i].store(shared.create().value(), std::memory_order_release);
            const std::uint64_t value =
                published[(i + 1) % thread_count].load(std::memory_order_acquire);
            if (value == 0) continue;
            const id_type e = id_type::from_value(value);
            const auto* const slot = pool.find(e.key());
            unknown += !(slot != nullptr ? slot->seen().is(e, pool.origin()) : shared.has(e));
        }
    });
    shared.end();
    EXPECT_EQ(unknown.load(), 0);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
