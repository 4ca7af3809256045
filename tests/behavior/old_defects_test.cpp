// Defects of the systems that Muster unites. Each check is a function that holds on Muster and
// fails on a small re-creation of the old behaviour, which proves that the check can fail.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <vector>

#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster {
namespace {

namespace old {

/// R-Type: 20 bits of index, 12 of generation; the highest generation is a tombstone that cleanup
/// resets.
struct r_type {
    using id_type = std::uint32_t;
    std::vector<std::uint32_t> generations;
    std::vector<std::uint32_t> free, parked;

    id_type create() {
        if (!free.empty()) {
            const std::uint32_t index = free.back();
            free.pop_back();
            return generations[index] << 20 | index;
        }
        generations.push_back(0);
        return static_cast<id_type>(generations.size() - 1) & 0xFFFFF;  // no limit
    }
    bool alive(id_type e) const {
        return (e & 0xFFFFF) < generations.size() && generations[e & 0xFFFFF] == e >> 20;
    }
    bool destroy(id_type e) {
        if (!alive(e)) return false;
        std::uint32_t& generation = generations[e & 0xFFFFF];
        if (generation < 4095) ++generation;
        (generation == 4095 ? parked : free).push_back(e & 0xFFFFF);
        return true;
    }
    std::size_t recycle_tombstones() {
        const std::size_t count = parked.size();
        for (const std::uint32_t index : parked) {
            generations[index] = 0;
            free.push_back(index);
        }
        parked.clear();
        return count;
    }
    /// remove_entities_if: a handle is rebuilt for every slot, also for free ones.
    template <class Predicate>
    void destroy_if(Predicate predicate) {
        for (std::uint32_t i = 0; i < generations.size(); ++i)
            if (const id_type e = generations[i] << 20 | i; predicate(e)) destroy(e);
    }
    void clear() {
        generations.clear();
        free.clear();
        parked.clear();
    }
};

/// ECR: create(id) overwrites the slot, whatever its version is.
struct ecr {
    using id_type = std::uint64_t;
    std::vector<id_type> slots{0};
    std::vector<std::uint64_t> free;

    id_type create() {
        if (free.empty()) {
            slots.push_back(std::uint64_t{1} << 20 | slots.size());
            return slots.back();
        }
        const std::uint64_t key = free.back();
        free.pop_back();
        return slots[key] = (slots[key] & ~std::uint64_t{0xFFFFF}) | key;
    }
    id_type create_at(id_type wanted) {
        const std::uint64_t key = wanted & 0xFFFFF;
        std::erase(free, key);
        return slots[key] = wanted;
    }
    bool alive(id_type e) const { return (e & 0xFFFFF) < slots.size() && slots[e & 0xFFFFF] == e; }
    bool destroy(id_type e) {
        if (!alive(e)) return false;
        const std::uint64_t version = (e >> 20) + 1;
        slots[e & 0xFFFFF] = (version > 65535 ? 1 : version) << 20;  // wraps
        free.push_back(e & 0xFFFFF);
        return true;
    }
};

/// Healing Entities: a 16-bit generation that wraps, a 16-bit world counter that wraps.
struct healing_world {
    using id_type = std::uint64_t;
    static inline std::uint16_t counter = 0;
    std::uint16_t number = ++counter;
    std::vector<std::uint16_t> generations;
    std::deque<std::uint32_t> free;

    id_type create() {
        if (free.empty())
            for (int i = 0; i < 32; ++i) {
                free.push_back(static_cast<std::uint32_t>(generations.size()));
                generations.push_back(0);
            }
        const std::uint32_t slot = free.front();
        free.pop_front();
        return std::uint64_t{number} << 48 | std::uint64_t{generations[slot]} << 32 | slot;
    }
    bool alive(id_type e) const {
        return e >> 48 == number && static_cast<std::uint32_t>(e) < generations.size() &&
               generations[static_cast<std::uint32_t>(e)] == (e >> 32 & 0xFFFF);
    }
    bool destroy(id_type e) {
        if (!alive(e)) return false;
        ++generations[static_cast<std::uint32_t>(e)];  // the slot is not queued again
        return true;
    }
    std::size_t capacity() const { return generations.size(); }
};

}  // namespace old

using tombstone_compact =
    test::with_policy<std::uint32_t, test::compact_bits, exhaustion::tombstone>;

// ---- 1: a wrapped version makes a stale handle valid again -------------------------------------

template <class Pool>
bool a_stale_handle_stays_dead(Pool& pool, std::uint64_t uses) {
    const auto first = pool.create();
    pool.destroy(first);
    for (std::uint64_t i = 1; i < uses; ++i) {
        pool.destroy(pool.create());
        if (pool.alive(first)) return false;
    }
    (void)pool.create();
    return !pool.alive(first);
}

TEST(defect_1, a_stale_handle_never_becomes_valid_again) {
    old::ecr ecr;
    EXPECT_FALSE(a_stale_handle_stays_dead(ecr, 65'535));

    id_pool<layouts::bound> bound;
    id_pool<layouts::compact> compact;
    id_pool<layouts::packed> packed;
    EXPECT_TRUE(a_stale_handle_stays_dead(bound, 70'000));
    EXPECT_TRUE(a_stale_handle_stays_dead(compact, 5'000));
    EXPECT_TRUE(a_stale_handle_stays_dead(packed, 1'100'000));
    EXPECT_EQ(bound.retired(), 1u);
    EXPECT_EQ(compact.retired(), 1u);
    EXPECT_EQ(packed.retired(), 1u);
}

TEST(defect_1, a_stale_handle_stays_dead_with_eight_billion_versions) {
    using id_type = basic_id<layouts::exact>;
    id_pool<layouts::exact> pool;
    const id_type first = pool.create();
    pool.destroy(first);
    pool.destroy(pool.create_at(id_type::pack(first.key(), layouts::exact::last_version - 1)));
    EXPECT_EQ(pool.retired(), 1u);
    EXPECT_EQ(pool.create().key(), 2u);
    EXPECT_FALSE(pool.alive(first));
    EXPECT_EQ(test::code_of([&] { pool.create_at(first); }), errc::id_stale);
}

// ---- 2: tombstones pass as alive and are freed several times -----------------------------------

template <class Pool, class Handle>
bool tombstones_are_dead_and_freed_once(Pool& pool, Handle tombstone) {
    for (int i = 0; i < 4095; ++i) pool.destroy(pool.create());
    bool sound = !pool.alive(tombstone);
    for (int i = 0; i < 3; ++i) sound = !pool.destroy(tombstone) && sound;
    sound = pool.recycle_tombstones() == 1 && sound;
    std::set<Handle> living;
    for (int i = 0; i < 4; ++i) sound = living.insert(pool.create()).second && sound;
    return sound;
}

TEST(defect_2, a_tombstone_is_dead_and_its_slot_is_freed_once) {
    old::r_type r_type;
    EXPECT_FALSE(tombstones_are_dead_and_freed_once(r_type, 0xFFF00000u));
    id_pool<tombstone_compact> pool;
    EXPECT_TRUE(
        tombstones_are_dead_and_freed_once(pool, basic_id<tombstone_compact>::pack(0, 4095)));
}

// ---- 3: destroying by predicate frees slots that are free already ------------------------------

template <class Pool, class DestroyAll>
bool destroying_by_predicate_touches_only_the_living(Pool& pool, DestroyAll destroy_all) {
    const auto a = pool.create();
    (void)pool.create();
    pool.destroy(a);
    destroy_all(pool);
    std::set<decltype(pool.create())> made;
    for (int i = 0; i < 4; ++i)
        if (!made.insert(pool.create()).second) return false;
    return true;
}

TEST(defect_3, destroying_by_predicate_never_touches_free_slots) {
    old::r_type r_type;
    EXPECT_FALSE(destroying_by_predicate_touches_only_the_living(
        r_type, [](old::r_type& all) { all.destroy_if([](std::uint32_t) { return true; }); }));
    id_pool<> pool;
    EXPECT_TRUE(destroying_by_predicate_touches_only_the_living(pool, [](id_pool<>& all) {
        for (const id e : all) EXPECT_TRUE(all.destroy(e));
    }));
}

// ---- 4: one entity more than there are keys ----------------------------------------------------

template <class Pool>
bool spawn_number_1048577_is_an_error(Pool& pool) {
    const auto first = pool.create();
    for (int i = 1; i < 1'048'576; ++i)
        if (pool.create() == first) return false;
    try {
        (void)pool.create();
        return false;
    } catch (const error& e) {
        return e.code() == errc::id_overflow && pool.alive(first);
    }
}

TEST(defect_4, running_out_of_keys_is_an_error) {
    old::r_type r_type;
    EXPECT_FALSE(spawn_number_1048577_is_an_error(r_type));
    id_pool<layouts::compact> pool;
    EXPECT_TRUE(spawn_number_1048577_is_an_error(pool));
    EXPECT_EQ(pool.size(), 1'048'576u);
}

// ---- 5: the null id is alive in a corner -------------------------------------------------------

template <class Pool, class Handle>
bool null_is_dead_at_the_last_key_and_version(Pool& pool, Handle null) {
    while ((static_cast<std::uint32_t>(pool.create()) & 0xFFFFF) != 0xFFFFF) {
    }
    for (std::uint32_t generation = 0; generation < 4096; ++generation) {
        pool.destroy(static_cast<Handle>(generation << 20 | 0xFFFFF));
        try {
            if (static_cast<std::uint32_t>(pool.create()) == null || pool.alive(null)) return false;
        } catch (const error&) {
            return !pool.alive(null);  // the key is retired
        }
    }
    return !pool.alive(null);
}

/// An adapter with integers as handles, like the old pool.
template <class Layout>
struct integers {
    id_pool<Layout> pool;
    std::uint32_t create() { return pool.create().value(); }
    bool alive(std::uint32_t e) const { return pool.alive(basic_id<Layout>::from_value(e)); }
    bool destroy(std::uint32_t e) { return pool.destroy(basic_id<Layout>::from_value(e)); }
};

TEST(defect_5, the_null_id_is_never_alive) {
    old::r_type r_type;
    EXPECT_FALSE(null_is_dead_at_the_last_key_and_version(r_type, 0xFFFFFFFFu));
    integers<layouts::compact> retiring;
    EXPECT_TRUE(null_is_dead_at_the_last_key_and_version(retiring, 0xFFFFFFFFu));
    integers<test::with_policy<std::uint32_t, test::compact_bits, exhaustion::wrap>> wrapping;
    EXPECT_TRUE(null_is_dead_at_the_last_key_and_version(wrapping, 0xFFFFFFFFu));
}

TEST(defect_5, no_world_ever_has_the_number_0) {
    for (int i = 0; i < 65'534; ++i) (void)old::healing_world{};
    (void)old::healing_world{};
    old::healing_world wrapped;  // its number is 0
    EXPECT_EQ(wrapped.create(), 0u);
    EXPECT_TRUE(wrapped.alive(0));

    for (int i = 0; i < 70'000; ++i) {
        world_number number = world_number::take<layouts::bound>();
        ASSERT_NE(number.value(), 0u);
        number.retire_versions(number.first_version() + 1);
    }
    EXPECT_EQ(test::code_of([] { id_pool<>{{.world = 0}}; }), errc::id_out_of_range);
}

// ---- 6: clearing makes all old handles valid again ---------------------------------------------

TEST(defect_6, cleared_entities_stay_dead) {
    old::r_type r_type;
    const std::uint32_t cleared = r_type.create();
    r_type.clear();
    (void)r_type.create();
    EXPECT_TRUE(r_type.alive(cleared));

    id_pool<> pool;
    std::vector<id> ids(100);
    pool.create(ids);
    for (const id e : pool) pool.destroy(e);
    std::vector<id> again(100);
    pool.create(again);
    for (const id e : ids) EXPECT_FALSE(pool.alive(e));
}

TEST(defect_6, entities_of_an_earlier_world_with_the_same_number_stay_dead) {
    std::vector<id> ids(100);
    {
        world_number number = world_number::take<layouts::bound>(12);
        id_pool<> pool{{.world = 12, .first_version = number.first_version()}};
        pool.create(ids);
        number.retire_versions(pool.unused_version());
    }
    const world_number number = world_number::take<layouts::bound>(12);
    id_pool<> pool{{.world = 12, .first_version = number.first_version()}};
    std::vector<id> again(100);
    pool.create(again);
    for (const id e : ids) EXPECT_FALSE(pool.alive(e));
}

// ---- 7: creating an exact id sets a version back -----------------------------------------------

template <class Pool>
bool an_exact_id_cannot_rewind(Pool& pool) {
    const auto first = pool.create();
    pool.destroy(first);
    pool.destroy(pool.create());
    try {
        pool.create_at(first);
    } catch (const error& e) {
        return e.code() == errc::id_stale && !pool.alive(first);
    }
    return false;
}

TEST(defect_7, an_exact_id_never_sets_a_version_back) {
    old::ecr ecr;
    EXPECT_FALSE(an_exact_id_cannot_rewind(ecr));
    id_pool<layouts::exact> exact;
    EXPECT_TRUE(an_exact_id_cannot_rewind(exact));
    id_pool<layouts::bound> bound;
    EXPECT_TRUE(an_exact_id_cannot_rewind(bound));
}

// ---- 8: destroying does not free the slot ------------------------------------------------------

template <class Pool>
bool slots_are_used_again(Pool& pool) {
    for (int i = 0; i < 10'000; ++i) pool.destroy(pool.create());
    return pool.capacity() <= 64;
}

TEST(defect_8, only_destroying_frees_the_key) {
    old::healing_world healing;
    EXPECT_FALSE(slots_are_used_again(healing));
    id_pool<> pool;
    EXPECT_TRUE(slots_are_used_again(pool));
    const id living = pool.create();
    std::vector<id> others(1000);
    pool.create(others);
    for (const id e : others) EXPECT_NE(e.key(), living.key());
}

}  // namespace
}  // namespace muster
