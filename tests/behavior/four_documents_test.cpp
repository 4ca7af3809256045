// The worked examples of the four systems that Muster unites, bit for bit.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "support/errors.hpp"

namespace muster {
namespace {

// ---- ECR: entity identifiers -----------------------------------------------------------------

using ecr_example =
    layout<std::uint8_t, id_bits{.key = 4, .version = 4, .first_key = 1, .first_version = 1}>;

TEST(ecr, ids_of_4_and_4_bits) {
    using id_type = basic_id<ecr_example>;
    EXPECT_EQ(id_type::pack(1, 1).value(), 17);
    EXPECT_EQ(id_type::pack(1, 2).value(), 33);
    EXPECT_EQ(id_type::pack(2, 1).value(), 18);
}

TEST(ecr, a_pool_issues_ids_in_this_order) {
    id_pool<ecr_example> pool;
    const auto first = pool.create();
    EXPECT_EQ(first.value(), 17);
    EXPECT_EQ(pool.create().value(), 18);
    pool.destroy(first);
    EXPECT_EQ(pool.create().value(), 33);
}

TEST(ecr, an_id_is_version_times_2_to_the_20_plus_key_in_a_double) {
    using id_type = basic_id<layouts::exact>;
    EXPECT_EQ(id_type::pack(5, 3).to_double(), 3.0 * 1048576.0 + 5.0);
    EXPECT_EQ(id_type::from_double(3.0 * 1048576.0 + 5.0), id_type::pack(5, 3));
    EXPECT_EQ(layouts::exact::last_key, 1048575u);
    EXPECT_EQ(layouts::exact::last_version, 8589934591u);
    id_pool<layouts::exact> pool;
    EXPECT_EQ(pool.create().to_double(), 1048577.0);
}

TEST(ecr, a_key_that_has_used_its_last_version_is_not_reused) {
    id_pool<ecr_example> pool;
    for (int i = 0; i < 14; ++i) pool.destroy(pool.create());
    EXPECT_EQ(pool.retired(), 1u);
    EXPECT_EQ(pool.create().key(), 2u);
}

// ---- R-Type: the entity system ---------------------------------------------------------------

using r_type_entity = basic_id<layouts::compact>;

TEST(r_type, generations_make_old_references_invalid) {
    id_pool<layouts::compact> registry;
    const r_type_entity e1 = registry.create();
    EXPECT_EQ(e1.value(), 0x00000000u);
    registry.destroy(e1);
    const r_type_entity e2 = registry.create();
    EXPECT_EQ(e2.value(), 0x00100000u);
    EXPECT_FALSE(registry.alive(e1));
}

TEST(r_type, index_42_generation_5) {
    const r_type_entity entity = r_type_entity::pack(42, 5);
    EXPECT_EQ(entity.key(), 42u);
    EXPECT_EQ(entity.version(), 5u);
    EXPECT_FALSE(entity.is_null());
    EXPECT_FALSE(entity.is_tombstone());
    EXPECT_TRUE(r_type_entity::pack(42, 4095).is_tombstone());
    EXPECT_EQ(r_type_entity{}.value(), 0xFFFFFFFFu);
    EXPECT_TRUE(r_type_entity{}.is_null());
    static_assert(sizeof(r_type_entity) == 4);
}

TEST(r_type, comparison_and_hashing) {
    const auto e1 = r_type_entity::pack(10, 0), e2 = r_type_entity::pack(10, 1),
               e3 = r_type_entity::pack(10, 0);
    EXPECT_TRUE(e1 == e3);
    EXPECT_TRUE(e1 != e2);
    EXPECT_TRUE((e1 <=> e2) < 0);
    std::unordered_map<r_type_entity, std::string> names;
    names[e1] = "Player";
    EXPECT_EQ(names.at(e3), "Player");
    EXPECT_FALSE(names.contains(e2));
}

TEST(r_type, cleanup_resets_tombstones_if_the_layout_requests_it) {
    using layout_type =
        layout<std::uint32_t,
               id_bits{.key = 20, .version = 12, .on_exhaustion = exhaustion::tombstone}>;
    id_pool<layout_type> registry;
    registry.reserve(10'000);
    for (int i = 0; i < 4095; ++i) registry.destroy(registry.create());
    EXPECT_EQ(registry.tombstones(), 1u);
    EXPECT_EQ(registry.recycle_tombstones(), 1u);
    EXPECT_EQ(registry.create().value(), 0u);
}

// ---- Healing Entities ------------------------------------------------------------------------

TEST(healing_entities, the_first_entity_of_the_first_world) {
    id_pool<> world1;
    const entity e = world1.create();
    EXPECT_EQ(to_string(e), "E:1-0[0]");
    EXPECT_EQ(to_string(basic_id<layouts::compact>::pack(0, 0)), "E:0[0]");
    EXPECT_EQ(entity{}.value(), 0u);
    EXPECT_EQ(e.value(), 0x0001'0000'0000'0000u);
}

TEST(healing_entities, an_entity_of_another_world_is_not_alive_here) {
    id_pool<> world1{{.world = 1}};
    id_pool<> world2{{.world = 2}};
    const entity e = world1.create();
    (void)world2.create();  // the same key and version
    EXPECT_TRUE(world1.alive(e));
    EXPECT_FALSE(world2.alive(e));
    EXPECT_FALSE(world2.destroy(e));
    EXPECT_EQ(test::sentence_of([&] { world2.create_at(e); }),
              "E:1-0[0] belongs to world W:1, not to W:2");
}

// ---- evolved ---------------------------------------------------------------------------------

TEST(evolved, the_short_example_of_its_manual) {
    using id_type = basic_id<layouts::packed>;
    id_pool<layouts::packed> evolved;
    const id_type e = evolved.create();
    EXPECT_TRUE(evolved.alive(e));
    const auto [index, version, world] = e.unpack();
    EXPECT_EQ(version, 1u);  // the first version is 1
    EXPECT_EQ(id_type::pack(index, version), e);
    EXPECT_EQ(world, 0u);
    EXPECT_EQ(e.value(), 1048577u);
    evolved.destroy(e);
    EXPECT_FALSE(evolved.alive(e));
}

TEST(evolved, two_to_the_20_less_1_ids_and_then_an_error) {
    id_pool<layouts::packed> evolved;
    std::vector<basic_id<layouts::packed>> ids((1u << 20) - 1);
    evolved.create(ids);
    EXPECT_EQ(ids.back(), basic_id<layouts::packed>::pack(1048575, 1));
    EXPECT_EQ(test::code_of([&] { evolved.create(); }), errc::id_overflow);
    EXPECT_EQ(evolved.size(), 1048575u);
    evolved.destroy(ids[7]);
    EXPECT_EQ(evolved.create(), basic_id<layouts::packed>::pack(8, 2));
}

}  // namespace
}  // namespace muster
