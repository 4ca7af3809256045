// slot_pool with a slot that, unlike id_pool's, also stores a value, like a record of a world.
#include <muster/id/id_pool.hpp>
#include <muster/id/slot_pool.hpp>

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>
#include <vector>

#include "support/layouts.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

/// Stores version and live mark in one half, a location in the other; stores neither key nor world.
template <class Layout>
struct located_slot {
    std::uint64_t version_and_mark;
    std::uint64_t place;  // in a dead slot: the next free key

    static located_slot live(basic_id<Layout> e) { return {e.version() << 1 | 1, 0}; }
    static located_slot dead(std::uint64_t key, std::uint64_t next, std::uint64_t version) {
        EXPECT_NE(key, next);
        return {version << 1, next};
    }
    bool is(basic_id<Layout> e, basic_id<Layout> origin) const {
        return version_and_mark == (e.version() << 1 | 1) && e.world() == origin.world();
    }
    bool is_live(std::uint64_t) const { return (version_and_mark & 1) != 0; }
    std::uint64_t version() const { return version_and_mark >> 1; }
    std::uint64_t next() const { return place; }
};

template <class Layout>
class slot_pool_of : public testing::Test {};
using all_layouts =
    testing::Types<layouts::bound, layouts::compact, layouts::exact,
                   test::tiny_bound<exhaustion::tombstone>, test::nibble_from_1<exhaustion::wrap>>;
TYPED_TEST_SUITE(slot_pool_of, all_layouts, test::layout_names);

TYPED_TEST(slot_pool_of, a_custom_slot_issues_the_same_ids_and_keeps_its_value) {
    using id_type = basic_id<TypeParam>;
    slot_pool<TypeParam, located_slot<TypeParam>> pool{{}};
    id_pool<TypeParam> plain;
    std::unordered_map<id_type, std::uint64_t> places;
    std::vector<id_type> all;
    std::mt19937_64 dice(5);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        if (dice() % 2 == 0 && places.size() < 14) {
            id_type e;
            try {
                e = plain.create();
            } catch (const error&) {
                EXPECT_THROW(pool.create(), error);
                EXPECT_EQ(pool.recycle_tombstones(), plain.recycle_tombstones());
                if (plain.retired() != 0) break;
                continue;
            }
            ASSERT_EQ(pool.create(), e);
            pool.find(e.key())->place = i;
            places[e] = i;
            all.push_back(e);
        } else if (!all.empty()) {
            const id_type e = all[dice() % all.size()];
            ASSERT_EQ(pool.alive(e), places.contains(e));
            if (places.contains(e)) ASSERT_EQ(pool.find(e.key())->place, places[e]);
            ASSERT_EQ(pool.destroy(e), plain.destroy(e));
            places.erase(e);
        }
        ASSERT_EQ(pool.size(), places.size());
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
