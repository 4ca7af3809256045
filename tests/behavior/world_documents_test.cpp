// The programs of the Healing Entities and R-Type documents, line by line, on a Muster world.
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

// R-Type's ids. An exhausted slot stays a tombstone until a clean-up.
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

/// The end of the message of an error that `call` raises in this line of this file.
std::string call_site(const char* call, unsigned line) {
    return detail::text(" (", call, " at world_documents_test.cpp:", line, ")");
}

// ---- Healing Entities --------------------------------------------------------------------------

TEST(healing_entities_in_a_world, a_destroyed_entity_is_dead_at_once) {
    basic_world<layouts::compact> w;
    const auto e = w.spawn();
    EXPECT_TRUE(w.destroy(e));
    const unsigned line = __LINE__ + 1;
    const std::string message = test::sentence_of([&] { w.set(e, vector3{}); });
    EXPECT_EQ(message,
              "entity E:0[0] is dead: slot 0 is now at version 1; set world_options.provenance to "
              "record where entities are destroyed" +
                  call_site("set", line));
    EXPECT_EQ(test::code_of([&] { w.set(e, vector3{}); }), errc::dead_entity);
    EXPECT_EQ(test::code_of([&] { (void)w.get<vector3>(e); }), errc::dead_entity);
    EXPECT_FALSE(w.remove<vector3>(e));
    EXPECT_FALSE(w.destroy(e));
}

TEST(healing_entities_in_a_world, a_world_with_provenance_reports_where_an_entity_was_destroyed) {
    basic_world<layouts::compact> w({.provenance = true});
    const auto e = w.spawn(vector3{});
    w.name(e, "goblin");
    const unsigned destruction = __LINE__ + 1;
    w.destroy(e);
    const unsigned line = __LINE__ + 1;
    const std::string message = test::sentence_of([&] { (void)w.get<vector3>(e); });
    EXPECT_EQ(message, detail::text("entity E:0[0] \"goblin\" is dead: destroyed at ",
                                    "world_documents_test.cpp:", destruction,
                                    "; slot 0 is now at version 1", call_site("get", line)));
}

TEST(healing_entities_in_a_world, an_id_that_no_world_issued_is_dead) {
    basic_world<layouts::compact> w;
    const auto forged = basic_id<layouts::compact>::pack(7, 3);
    const unsigned line = __LINE__ + 1;
    const std::string message = test::sentence_of([&] { w.set(forged, vector3{}); });
    EXPECT_EQ(message,
              "entity E:7[3] is dead: no entity ever had this id" + call_site("set", line));
}

// The version is 0, unless the number was used before in this process.
TEST(healing_entities_in_a_world, an_entity_of_world_1_is_foreign_to_world_2) {
    world world1({.number = 1});
    world world2({.number = 2});
    const entity e = world1.spawn(vector3{1, 2, 3});
    const entity twin = world2.spawn(vector3{4, 5, 6});
    EXPECT_EQ(to_string(e), detail::text("E:1-0[", e.version(), "]"));
    EXPECT_EQ(to_string(world2), "W:2");
    const unsigned line = __LINE__ + 1;
    const std::string message = test::sentence_of([&] { world2.set(e, vector3{}); });
    EXPECT_EQ(message, detail::text("entity E:1-0[", e.version(),
                                    "] belongs to world W:1, not to W:2", call_site("set", line)));

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
    EXPECT_EQ(world2.get<vector3>(twin).x, 4);  // has the same key and is unchanged
    EXPECT_EQ(world1.get<vector3>(e).x, 1);
}

TEST(healing_entities_in_a_world, the_invalid_id_belongs_to_no_world) {
    world w;
    const entity invalid;
    EXPECT_FALSE(w.alive(invalid));
    EXPECT_FALSE(w.destroy(invalid));
    const unsigned line = __LINE__ + 1;
    const std::string message = test::sentence_of([&] { w.set(invalid, vector3{}); });
    EXPECT_EQ(message, "entity E:null is dead: it is the null id, which names no entity" +
                           call_site("set", line));
}

TEST(healing_entities_in_a_world, a_world_grows_beyond_256_entities) {
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
    EXPECT_EQ(registry.spawn().key(), 1u);  // index 0 is a tombstone
    EXPECT_EQ(registry.recycle_tombstones(), 1u);
    EXPECT_EQ(registry.recycle_tombstones(), 0u);
    const auto again = registry.spawn();
    EXPECT_EQ(again.value(), 0u);
    EXPECT_FALSE(registry.has<health>(again));
    EXPECT_FALSE(registry.alive(last));
}

TEST(r_type_in_a_world, reserving_room_for_10_000_entities_keeps_addresses) {
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

TEST(r_type_in_a_world, entities_are_destroyed_by_a_predicate) {
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

TEST(r_type_in_a_world, a_validating_function_refuses_dead_entities) {
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

TEST(r_type_in_a_world, entities_can_be_keys_of_a_hash_map) {
    basic_world<r_type_layout> registry;
    std::unordered_map<r_type_entity, std::string> names;
    const auto player = registry.spawn();
    names[player] = "Player";
    registry.destroy(player);
    const auto monster = registry.spawn();  // the same index
    names[monster] = "Monster";
    EXPECT_EQ(names.at(player), "Player");
    EXPECT_EQ(names.at(monster), "Monster");
    std::erase_if(names, [&](const auto& entry) { return !registry.alive(entry.first); });
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

/// A correct version of the document's example. Entities in the pool stay alive and are marked, so
/// that none can be released twice.
class entity_pool {
public:
    explicit entity_pool(basic_world<r_type_layout>& of) : registry_(of) {}

    r_type_entity acquire() {
        while (!resting_.empty()) {
            const r_type_entity e = resting_.back();
            resting_.pop_back();
            // The entity may have been destroyed in the meantime.
            if (registry_.remove<at_rest>(e)) return e;
        }
        return registry_.spawn();
    }

    /// Returns false if `e` is dead or already in the pool.
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

TEST(r_type_in_a_world, an_entity_pool_returns_only_living_entities) {
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
    EXPECT_FALSE(pool.release(e));  // otherwise two callers would own `e`
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
