// The programs of Healing Entities and of R-Type's document, line by line, with a world.
#include <muster/muster.hpp>
#include <muster/world/instantiate.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

// R-Type's ids, whose spent slots wait for a clean-up.
using r_type_layout = muster::test::with_policy<std::uint32_t, muster::test::compact_bits,
                                                muster::exhaustion::tombstone>;
MUSTER_INSTANTIATE(r_type_layout)

namespace muster {
namespace {

struct vector3 {
    float x = 0, y = 0, z = 0;
};
struct health {
    int points = 100;
};

/// How an error ends that was raised in this line of this file.
std::string place(const char* call, unsigned line) {
    return detail::text(" (", call, " at world_documents_test.cpp:", line, ")");
}

// ---- Healing Entities --------------------------------------------------------------------------

TEST(healing_entities_in_a_world, what_is_deleted_is_dead_to_the_next_line) {
    basic_world<layouts::compact> w;
    const auto e = w.spawn();
    EXPECT_TRUE(w.destroy(e));
    const unsigned line = __LINE__ + 1;
    const std::string said = test::sentence_of([&] { w.set(e, vector3{}); });
    EXPECT_EQ(said,
              "entity E:0[0] is dead: slot 0 is now at version 1; world_options.provenance would "
              "tell where it was destroyed" +
                  place("set", line));
    EXPECT_EQ(test::code_of([&] { w.set(e, vector3{}); }), errc::dead_entity);
    EXPECT_EQ(test::code_of([&] { (void)w.get<vector3>(e); }), errc::dead_entity);
    EXPECT_FALSE(w.remove<vector3>(e));
    EXPECT_FALSE(w.destroy(e));
}

TEST(healing_entities_in_a_world, a_world_that_keeps_provenance_knows_where_it_died) {
    basic_world<layouts::compact> w({.provenance = true});
    const auto e = w.spawn(vector3{});
    w.name(e, "goblin");
    const unsigned death = __LINE__ + 1;
    w.destroy(e);
    const unsigned line = __LINE__ + 1;
    const std::string said = test::sentence_of([&] { (void)w.get<vector3>(e); });
    EXPECT_EQ(said, detail::text("entity E:0[0] \"goblin\" is dead: destroyed at ",
                                 "world_documents_test.cpp:", death, "; slot 0 is now at version 1",
                                 place("get", line)));
}

TEST(healing_entities_in_a_world, an_id_that_no_world_has_made_is_dead) {
    basic_world<layouts::compact> w;
    const auto forged = basic_id<layouts::compact>::pack(7, 3);
    const unsigned line = __LINE__ + 1;
    const std::string said = test::sentence_of([&] { w.set(forged, vector3{}); });
    EXPECT_EQ(said,
              "entity E:7[3] is dead: no entity was ever made with this id" + place("set", line));
}

// The version is 0, unless the number was used before in this process.
TEST(healing_entities_in_a_world, an_entity_of_world_1_is_a_stranger_in_world_2) {
    world world1({.number = 1});
    world world2({.number = 2});
    const entity e = world1.spawn(vector3{1, 2, 3});
    const entity twin = world2.spawn(vector3{4, 5, 6});
    EXPECT_EQ(to_string(e), detail::text("E:1-0[", e.version(), "]"));
    EXPECT_EQ(to_string(world2), "W:2");
    const unsigned line = __LINE__ + 1;
    const std::string said = test::sentence_of([&] { world2.set(e, vector3{}); });
    EXPECT_EQ(said, detail::text("entity E:1-0[", e.version(), "] belongs to world W:1, not to W:2",
                                 place("set", line)));

    const auto foreign = errc::foreign_entity;
    EXPECT_EQ(test::code_of([&] { world2.destroy(e); }), foreign);
    EXPECT_EQ(test::code_of([&] { world2.destroy(twin, e); }), foreign);
    EXPECT_EQ(test::code_of([&] { world2.set(e, health{}); }), foreign);
    EXPECT_EQ(test::code_of([&] { world2.add<health>(e); }), foreign);
    EXPECT_EQ(test::code_of([&] { (void)world2.get<vector3>(e); }), foreign);
    EXPECT_EQ(test::code_of([&] { world2.remove<vector3>(e); }), foreign);
    EXPECT_EQ(test::code_of([&] { world2.clear(e); }), foreign);
    EXPECT_EQ(test::code_of([&] { world2.clone(e); }), foreign);
    EXPECT_FALSE(world2.alive(e));
    EXPECT_FALSE(world2.has<vector3>(e));
    EXPECT_EQ(world2.try_get<vector3>(e), nullptr);
    EXPECT_EQ(world2.get<vector3>(twin).x, 4);  // the same key: nothing was done to it
    EXPECT_EQ(world1.get<vector3>(e).x, 1);
}

TEST(healing_entities_in_a_world, the_invalid_id_is_of_no_world) {
    world w;
    const entity invalid;
    EXPECT_FALSE(w.alive(invalid));
    EXPECT_FALSE(w.destroy(invalid));
    const unsigned line = __LINE__ + 1;
    const std::string said = test::sentence_of([&] { w.set(invalid, vector3{}); });
    EXPECT_EQ(said,
              "entity E:null is dead: it is the null id, which names nothing" + place("set", line));
}

TEST(healing_entities_in_a_world, it_grows_beyond_the_256_it_starts_with) {
    world w;
    std::unordered_set<entity> all;
    for (int i = 0; i < 1000; ++i) all.insert(w.spawn(health{i}));
    EXPECT_EQ(all.size(), 1000u);
    int sum = 0;
    for (const entity e : all) sum += w.get<health>(e).points;
    EXPECT_EQ(sum, 499'500);
}

// ---- R-Type: the entity system -----------------------------------------------------------------

using r_type_entity = basic_id<r_type_layout>;

TEST(r_type_in_a_world, generations_make_old_references_invalid) {
    basic_world<r_type_layout> registry;
    const r_type_entity e1 = registry.spawn();
    EXPECT_EQ(e1.value(), 0x00000000u);
    EXPECT_TRUE(registry.alive(e1));
    registry.destroy(e1);
    const r_type_entity e2 = registry.spawn();
    EXPECT_EQ(e2.value(), 0x00100000u);
    EXPECT_FALSE(registry.alive(e1));
    EXPECT_TRUE(registry.alive(e2));
}

TEST(r_type_in_a_world, components_do_not_disturb_the_order_of_indices) {
    basic_world<r_type_layout> registry;
    const auto e1 = registry.spawn(vector3{}, health{});
    const auto e2 = registry.spawn(std::string("text"));
    EXPECT_EQ(e1.key(), 0u);
    EXPECT_EQ(e2.key(), 1u);
    EXPECT_EQ(registry.size(), 2u);
}

TEST(r_type_in_a_world, cleanup_recycles_tombstones) {
    basic_world<r_type_layout> registry;
    r_type_entity last;
    for (int i = 0; i < 4095; ++i) {
        last = registry.spawn(health{i});
        EXPECT_EQ(last.key(), 0u);
        registry.destroy(last);
    }
    const auto tombstone = r_type_entity::pack(0, 4095);
    EXPECT_TRUE(tombstone.is_tombstone());
    EXPECT_FALSE(registry.alive(tombstone));
    EXPECT_EQ(registry.spawn().key(), 1u);  // index 0 waits
    EXPECT_EQ(registry.recycle_tombstones(), 1u);
    EXPECT_EQ(registry.recycle_tombstones(), 0u);
    const auto again = registry.spawn();
    EXPECT_EQ(again.value(), 0u);
    EXPECT_FALSE(registry.has<health>(again));
    EXPECT_FALSE(registry.alive(last));
}

TEST(r_type_in_a_world, room_for_10_000_entities_is_made_once) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<r_type_layout> registry;
    registry.reserve(10'000);
    registry.reserve<health>(10'000);
    const auto first = registry.spawn(health{});
    const health* const address = registry.try_get<health>(first);
    for (int i = 1; i < 10'000; ++i) registry.spawn(health{});
    EXPECT_EQ(registry.try_get<health>(first), address);  // the column did not move
    EXPECT_EQ(test::code_of([&] { registry.reserve(1'048'577); }), errc::id_overflow);
    EXPECT_EQ(registry.size(), 10'000u);
}

TEST(r_type_in_a_world, entities_are_removed_by_a_condition) {
    basic_world<r_type_layout> registry;
    std::vector<r_type_entity> all;
    for (int i = 0; i < 100; ++i) all.push_back(registry.spawn(health{i}, vector3{}));
    registry.destroy(all[10]);
    const std::size_t removed = registry.destroy_if(
        [&](r_type_entity e) { return registry.get<health>(e).points % 10 == 0; });
    EXPECT_EQ(removed, 9u);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(registry.alive(all[i]), i % 10 != 0);
        const health* const left = registry.try_get<health>(all[i]);
        if (i % 10 != 0) EXPECT_EQ(left->points, static_cast<int>(i));
    }
}

TEST(r_type_in_a_world, a_function_that_validates_refuses_the_dead) {
    basic_world<r_type_layout> registry;
    const auto process = [&](r_type_entity e) {
        if (!registry.alive(e)) throw std::runtime_error("Entity is dead!");
        registry.get_or_emplace<health>(e).points -= 1;
    };
    const auto e = registry.spawn();
    process(e);
    EXPECT_EQ(registry.get<health>(e).points, 99);
    registry.destroy(e);
    EXPECT_THROW(process(e), std::runtime_error);
    EXPECT_THROW(process(r_type_entity{}), std::runtime_error);
}

TEST(r_type_in_a_world, entities_are_keys_of_a_hash_map) {
    basic_world<r_type_layout> registry;
    std::unordered_map<r_type_entity, std::string> names;
    const auto player = registry.spawn();
    names[player] = "Player";
    registry.destroy(player);
    const auto monster = registry.spawn();  // the same index
    names[monster] = "Monster";
    EXPECT_EQ(names.at(player), "Player");
    EXPECT_EQ(names.at(monster), "Monster");
    std::erase_if(names, [&](const auto& one) { return !registry.alive(one.first); });
    EXPECT_EQ(names.size(), 1u);
    EXPECT_TRUE(names.contains(monster));
}

TEST(r_type_in_a_world, an_entity_can_be_described) {
    basic_world<r_type_layout> registry;
    const auto info = [&](r_type_entity e) {
        return detail::text("Entity[index=", e.key(), ", gen=", e.version(),
                            ", alive=", registry.alive(e) ? "1" : "0", "]");
    };
    registry.destroy(registry.spawn());
    const auto e = registry.spawn();
    EXPECT_EQ(info(e), "Entity[index=0, gen=1, alive=1]");
    registry.destroy(e);
    EXPECT_EQ(info(e), "Entity[index=0, gen=1, alive=0]");
}

/// The document's example, done right: what rests in the pool stays alive, and is marked, so that it
/// cannot be given back twice.
class entity_pool {
public:
    explicit entity_pool(basic_world<r_type_layout>& of) : registry_(of) {}

    r_type_entity acquire() {
        while (!resting_.empty()) {
            const r_type_entity e = resting_.back();
            resting_.pop_back();
            // Somebody may have destroyed it meanwhile.
            if (registry_.remove<at_rest>(e)) return e;
        }
        return registry_.spawn();
    }

    /// False if it is dead or here already.
    bool release(r_type_entity e) {
        if (!registry_.alive(e) || registry_.has<at_rest>(e)) return false;
        resting_.push_back(e);
        registry_.clear(e);
        registry_.add<at_rest>(e);
        return true;
    }

private:
    struct at_rest {};
    basic_world<r_type_layout>& registry_;
    std::vector<r_type_entity> resting_;
};

TEST(r_type_in_a_world, a_pool_of_entities_hands_out_living_ones_only) {
    basic_world<r_type_layout> registry;
    entity_pool pool(registry);
    const auto e = pool.acquire();
    registry.set(e, health{5}, vector3{});
    EXPECT_TRUE(pool.release(e));
    EXPECT_TRUE(registry.has_none<health>(e) && registry.has_none<vector3>(e));
    EXPECT_EQ(pool.acquire(), e);
    EXPECT_TRUE(registry.alive(e));
    EXPECT_TRUE(registry.empty(e));

    EXPECT_TRUE(pool.release(e));
    EXPECT_FALSE(pool.release(e));  // or two would own it
    EXPECT_EQ(pool.acquire(), e);
    EXPECT_NE(pool.acquire(), e);

    EXPECT_TRUE(pool.release(e));
    registry.destroy(e);
    const auto other = pool.acquire();
    EXPECT_NE(other, e);
    EXPECT_TRUE(registry.alive(other));
    EXPECT_FALSE(pool.release(e));
}

}  // namespace
}  // namespace muster
