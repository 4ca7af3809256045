// The programs of evolved's manual, and those of its README without queries, on a Muster world.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

template <class Layout>
class evolved_manual : public testing::Test {};
TYPED_TEST_SUITE(evolved_manual, behavior_layouts, layout_names);

template <class Layout>
class evolved_readme : public testing::Test {};
TYPED_TEST_SUITE(evolved_readme, behavior_layouts, layout_names);

struct vector2 {
    float x = 0, y = 0;
    friend bool operator==(const vector2&, const vector2&) = default;
};

template <class Range>
auto listed(const Range& range) {
    return std::vector<std::remove_cvref_t<decltype(*range.begin())>>(range.begin(), range.end());
}

// ---- identifiers -------------------------------------------------------------------------------

TYPED_TEST(evolved_manual, an_id_is_alive_until_it_is_destroyed) {
    basic_world<TypeParam> w;
    const auto id = w.spawn();
    EXPECT_TRUE(w.alive(id));

    const auto [index, version, number] = id.unpack();
    EXPECT_EQ((basic_id<TypeParam>::pack(index, version, number)), id);

    w.destroy(id);
    EXPECT_FALSE(w.alive(id));
}

TYPED_TEST(evolved_manual, several_ids_created_at_once_are_distinct) {
    basic_world<TypeParam> w;
    const auto [a, b, c] = w.template ids<3>();
    EXPECT_TRUE(w.alive_all(a, b, c));
    std::set<basic_id<TypeParam>> all{a, b, c};
    for (const auto e : w.spawn_many(100)) all.insert(e);
    EXPECT_EQ(all.size(), 103u);
    EXPECT_EQ(w.size(), 103u);
}

TYPED_TEST(evolved_manual, destroying_a_dead_id_is_ignored) {
    basic_world<TypeParam> w;
    const auto [a, b, c] = w.template ids<3>();
    w.destroy(b);
    EXPECT_FALSE(w.destroy(b));
    EXPECT_EQ(w.destroy(a, b, c), 2u);
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(evolved_manual, a_destroyed_key_is_reused_with_the_next_version) {
    basic_world<TypeParam> w;
    const auto before = w.spawn();
    w.destroy(before);
    const auto after = w.spawn();
    EXPECT_EQ(after.key(), before.key());
    EXPECT_EQ(after.version(), before.version() + 1);
    EXPECT_FALSE(w.alive(before));
    EXPECT_TRUE(w.alive(after));
}

TYPED_TEST(evolved_manual, alive_all_requires_all_and_alive_any_requires_one) {
    basic_world<TypeParam> w;
    const auto [a, b] = w.template ids<2>();
    EXPECT_TRUE(w.alive_all(a, b));
    w.destroy(a);
    EXPECT_FALSE(w.alive_all(a, b));
    EXPECT_TRUE(w.alive_any(a, b));
    w.destroy(b);
    EXPECT_FALSE(w.alive_any(a, b));
    EXPECT_TRUE(w.alive_all());
    EXPECT_FALSE(w.alive_any());
}

TYPED_TEST(evolved_manual, running_out_of_keys_is_an_error_that_changes_nothing) {
    const std::uint64_t first = TypeParam::first_key;
    basic_world<TypeParam> w(world_options{.first_key = first, .last_key = first + 3});
    const auto [a, b] = w.template ids<2>();
    EXPECT_EQ(code_of([&] { (void)w.template ids<3>(); }), errc::id_overflow);
    EXPECT_EQ(w.size(), 2u);
    (void)w.template ids<2>();
    EXPECT_EQ(sentence_of([&] { (void)w.spawn(); }),
              detail::text("no key is left for 1 more id: the range ", first, " to ", first + 3,
                           " has 4 keys, 0 of them free"));
    w.destroy(a);
    EXPECT_EQ(w.spawn().key(), a.key());
    EXPECT_TRUE(w.alive(b));
}

TEST(evolved_manual_packed, ids_of_20_and_20_bits_allow_1048575_living_entities) {
    basic_world<layouts::packed> w;
    const auto all = w.spawn_many((1u << 20) - 1);
    EXPECT_EQ(all.front().value(), (std::uint64_t{1} << 20) + 1);
    EXPECT_EQ(all.back().key(), 1048575u);
    EXPECT_EQ(code_of([&] { (void)w.spawn(); }), errc::id_overflow);
    EXPECT_EQ(w.size(), 1048575u);
}

// ---- entities, fragments and components --------------------------------------------------------

TYPED_TEST(evolved_manual, a_component_is_attached_to_an_entity_through_a_fragment) {
    basic_world<TypeParam> w;
    const auto [entity, fragment] = w.template ids<2>();
    w.set(entity, fragment, 100);
    EXPECT_EQ(w.template get<int>(entity, fragment), 100);
}

TYPED_TEST(evolved_manual, a_player_has_health_and_stamina) {
    basic_world<TypeParam> w;
    const auto player = w.spawn();
    const auto health = w.spawn();
    const auto stamina = w.spawn();
    w.set(player, health, 100);
    w.set(player, stamina, 50);
    EXPECT_EQ(w.template get<int>(player, health), 100);
    EXPECT_EQ(w.template get<int>(player, stamina), 50);
    EXPECT_EQ(w.size(), 3u);
}

TYPED_TEST(evolved_manual, any_data_can_be_attached_to_any_id) {
    basic_world<TypeParam> w;
    const auto [entity, words, numbers, owner] = w.template ids<4>();
    w.set(entity, words, std::string("a text that is too long for a short string"));
    w.set(entity, numbers, std::vector<int>{1, 2, 3});
    w.set(entity, owner, numbers);
    w.set(words, numbers, std::vector<int>{4});
    EXPECT_EQ(w.template get<std::string>(entity, words).size(), 42u);
    EXPECT_EQ(w.template get<std::vector<int>>(entity, numbers), (std::vector{1, 2, 3}));
    EXPECT_EQ(w.template get<basic_id<TypeParam>>(entity, owner), numbers);
    EXPECT_EQ(w.template get<std::vector<int>>(words, numbers), std::vector{4});
}

// ---- traits ------------------------------------------------------------------------------------

/// "position 1 2; velocity 3 4": the values of marked fragments only.
template <class Layout>
std::string serialize(basic_world<Layout>& w, basic_id<Layout> e, basic_id<Layout> serializable) {
    std::string made;
    w.each_fragment(e, [&](basic_id<Layout> fragment, const void* value) {
        if (!w.has(fragment, serializable)) return;
        const auto& [x, y] = *static_cast<const vector2*>(value);
        made += detail::text(made.empty() ? "" : "; ", w.name(fragment), " ",
                             std::to_string(static_cast<int>(x)), " ",
                             std::to_string(static_cast<int>(y)));
    });
    return made;
}

TYPED_TEST(evolved_manual, only_fragments_marked_by_a_trait_are_serialized) {
    basic_world<TypeParam> w;
    const auto serializable = w.spawn();
    const auto position = w.spawn();
    w.name(position, "position");
    w.set(position, serializable, true);
    const auto secret = w.spawn();
    const auto velocity = w.spawn();
    w.name(velocity, "velocity");
    w.set(velocity, serializable, true);

    const auto player = w.spawn();
    w.set(player, position, vector2{1, 2});
    w.set(player, secret, vector2{7, 7});
    w.set(player, velocity, vector2{3, 4});
    EXPECT_EQ(serialize<TypeParam>(w, player, serializable), "position 1 2; velocity 3 4");

    w.remove(velocity, serializable);
    EXPECT_EQ(serialize<TypeParam>(w, player, serializable), "position 1 2");
}

TYPED_TEST(evolved_manual, the_fragment_of_a_type_can_have_traits_too) {
    basic_world<TypeParam> w;
    const auto serializable = w.tag("serializable");
    w.template define<vector2>().name("place");
    w.set(w.template component<vector2>(), serializable);
    const auto player = w.spawn(vector2{5, 6}, std::string("not marked"));
    EXPECT_EQ(serialize<TypeParam>(w, player, serializable), "place 5 6");
    EXPECT_EQ(w.count(serializable), 1u);
    EXPECT_EQ(w.template count<vector2>(), 1u);  // the trait is on the fragment, not the value
}

// ---- singletons --------------------------------------------------------------------------------

TYPED_TEST(evolved_manual, a_fragment_can_be_attached_to_itself) {
    basic_world<TypeParam> w;
    const auto gravity = w.spawn();
    w.set(gravity, gravity, 10);
    EXPECT_EQ(w.template get<int>(gravity, gravity), 10);
    EXPECT_EQ(w.count(gravity), 1u);
    EXPECT_TRUE(w.destroy(gravity));
    EXPECT_FALSE(w.alive(gravity));
    EXPECT_EQ(w.try_get_raw(gravity, gravity), nullptr);
}

TYPED_TEST(evolved_manual, a_type_can_be_a_singleton) {
    struct level {
        int number;
    };
    basic_world<TypeParam> w;
    EXPECT_FALSE(w.template has_single<level>());
    w.set_single(level{3});
    EXPECT_EQ(w.template single<level>().number, 3);
    const auto self = w.template component<level>();
    EXPECT_EQ(w.get(self, self).number, 3);
    EXPECT_EQ(w.size(), 0u);
}

// ---- chunks ------------------------------------------------------------------------------------

/// The entities of the manual's section on chunks.
template <class Layout>
struct manual_chunks {
    explicit manual_chunks(const world_options& options = {}) : w(options) {
        const auto three = w.template ids<3>();
        health = three[0], stamina = three[1], mana = three[2];
        entity1 = w.spawn();
        w.set(entity1, health, 100);
        w.set(entity1, stamina, 50);
        entity2 = w.spawn();
        w.set(entity2, health, 75);
        w.set(entity2, stamina, 40);
        entity3 = w.spawn();
        w.set(entity3, health, 50);
        w.set(entity3, stamina, 30);
        w.set(entity3, mana, 20);
    }
    basic_world<Layout> w;
    basic_id<Layout> health, stamina, mana, entity1, entity2, entity3;
};

TYPED_TEST(evolved_manual, entities_with_the_same_fragments_are_in_one_chunk) {
    MUSTER_ABOUT_CHUNKS();
    manual_chunks<TypeParam> m;
    const auto two = m.w.locate(m.entity1).chunk;
    const auto three = m.w.locate(m.entity3).chunk;
    EXPECT_EQ(two, m.w.locate(m.entity2).chunk);
    EXPECT_NE(two, three);
    EXPECT_EQ(listed(two.entities()), (std::vector{m.entity1, m.entity2}));
    EXPECT_EQ(listed(three.entities()), (std::vector{m.entity3}));
    EXPECT_EQ(listed(two.fragments()), (std::vector{m.health, m.stamina}));
    EXPECT_EQ(listed(three.fragments()), (std::vector{m.health, m.stamina, m.mana}));
    EXPECT_EQ(listed(three.template components<int>(m.mana)), std::vector{20});
    EXPECT_FALSE(m.w.locate(m.health).chunk);  // a fragment without components
}

TYPED_TEST(evolved_manual, a_chunk_is_found_by_its_fragments_in_any_order) {
    MUSTER_ABOUT_CHUNKS();
    manual_chunks<TypeParam> m;
    EXPECT_EQ(m.w.chunk(m.health, m.stamina), m.w.locate(m.entity1).chunk);
    EXPECT_EQ(m.w.chunk(m.stamina, m.health), m.w.locate(m.entity1).chunk);
    EXPECT_EQ(m.w.chunk(m.mana, m.health, m.stamina), m.w.locate(m.entity3).chunk);
}

TYPED_TEST(evolved_manual, a_missing_chunk_is_created_without_entities) {
    MUSTER_ABOUT_CHUNKS();
    manual_chunks<TypeParam> m;
    const auto made = m.w.chunk(m.mana, m.stamina);
    EXPECT_TRUE(made.empty());
    EXPECT_EQ(made.fragments().size(), 2u);
    const auto entity4 = m.w.spawn(with(m.stamina, 1), with(m.mana, 2));
    EXPECT_EQ(listed(made.entities()), std::vector{entity4});
}

/// The output of the program in the manual.
template <class Layout>
std::string print(manual_chunks<Layout>& m) {
    std::string made;
    const auto chunk = m.w.chunk(m.health, m.stamina);
    const auto entities = chunk.entities();
    const auto health = chunk.template components<int>(m.health);
    const auto stamina = chunk.template components<int>(m.stamina);
    for (std::size_t i = 0; i < entities.size(); ++i)
        made +=
            detail::text("Entity: ", entities[i].value(), ", Health: ", std::to_string(health[i]),
                         ", Stamina: ", std::to_string(stamina[i]), "\n");
    return made;
}

TYPED_TEST(evolved_manual, the_loop_over_a_chunk_sees_each_entity_with_its_components) {
    MUSTER_ABOUT_CHUNKS();
    manual_chunks<TypeParam> m;
    EXPECT_EQ(print(m), detail::text("Entity: ", m.entity1.value(), ", Health: 100, Stamina: 50\n",
                                     "Entity: ", m.entity2.value(), ", Health: 75, Stamina: 40\n"));
}

// evolved's predefined fragments use the keys up to 22.
TEST(evolved_manual_packed, the_full_example_prints_the_output_of_the_manual) {
    MUSTER_ABOUT_CHUNKS();
    manual_chunks<layouts::packed> m(world_options{.first_key = 23});
    EXPECT_EQ(print(m),
              "Entity: 1048602, Health: 100, Stamina: 50\n"
              "Entity: 1048603, Health: 75, Stamina: 40\n");
}

TYPED_TEST(evolved_manual, writing_to_a_column_changes_the_component_of_the_entity) {
    MUSTER_ABOUT_CHUNKS();
    manual_chunks<TypeParam> m;
    for (int& component : m.w.chunk(m.health, m.stamina).template components<int>(m.health))
        component += 1;
    EXPECT_EQ(m.w.template get<int>(m.entity1, m.health), 101);
    EXPECT_EQ(m.w.template get<int>(m.entity2, m.health), 76);
    EXPECT_EQ(m.w.template get<int>(m.entity3, m.health), 50);
}

// ---- structural changes ------------------------------------------------------------------------

TYPED_TEST(evolved_manual, adding_or_removing_a_fragment_changes_the_chunk) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto [entity, health, stamina] = w.template ids<3>();
    w.set(entity, health, 100);
    const auto with_health = w.locate(entity).chunk;
    w.set(entity, stamina, 50);
    EXPECT_NE(w.locate(entity).chunk, with_health);
    EXPECT_TRUE(with_health.empty());
    EXPECT_EQ(w.template get<int>(entity, health), 100);
    w.remove(entity, stamina);
    EXPECT_EQ(w.locate(entity).chunk, with_health);
    w.remove(entity, health);
    EXPECT_FALSE(w.locate(entity).chunk);
    EXPECT_TRUE(w.alive(entity));
}

TYPED_TEST(evolved_manual, entities_are_spawned_and_cloned_with_their_components) {
    basic_world<TypeParam> w;
    const auto [health, stamina] = w.template ids<2>();
    const auto enemy1 = w.spawn(with(health, 100), with(stamina, 50));
    const auto enemy2 = w.clone(enemy1, with(health, 50));
    EXPECT_EQ(w.template get<int>(enemy1, health), 100);
    EXPECT_EQ(w.template get<int>(enemy1, stamina), 50);
    EXPECT_EQ(w.template get<int>(enemy2, health), 50);
    EXPECT_EQ(w.template get<int>(enemy2, stamina), 50);
    EXPECT_EQ(w.locate(enemy1).chunk, w.locate(enemy2).chunk);
}

TYPED_TEST(evolved_manual, assigning_components_is_not_a_structural_change) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto [health, stamina] = w.template ids<2>();
    const auto enemy1 = w.spawn(with(health, 100), with(stamina, 50));
    const auto enemy2 = w.clone(enemy1, with(health, 50));
    const auto [chunk, row] = w.locate(enemy1);
    const int& health1 = w.template get<int>(enemy1, health);
    const int& stamina2 = w.template get<int>(enemy2, stamina);

    w.set(enemy1, health, 75);
    w.set(enemy1, stamina, 42);
    EXPECT_EQ(w.locate(enemy1).chunk, chunk);
    EXPECT_EQ(w.locate(enemy1).row, row);
    EXPECT_EQ(&w.template get<int>(enemy1, health), &health1);
    EXPECT_EQ(health1, 75);
    EXPECT_EQ(stamina2, 50);
    EXPECT_EQ(chunk.size(), 2u);
}

TYPED_TEST(evolved_manual, a_clone_can_have_more_than_its_prototype) {
    basic_world<TypeParam> w;
    const auto [health, stamina] = w.template ids<2>();
    const auto enemy1 = w.spawn(with(health, 100));
    const auto enemy2 = w.clone(enemy1, with(stamina, 50));
    EXPECT_EQ(w.template get<int>(enemy2, health), 100);
    EXPECT_EQ(w.template get<int>(enemy2, stamina), 50);
    EXPECT_FALSE(w.has(enemy1, stamina));
}

// ---- README: names -----------------------------------------------------------------------------

TYPED_TEST(evolved_readme, an_entity_has_a_name_that_can_change) {
    basic_world<TypeParam> w;
    const auto player = w.spawn();
    w.name(player, "Player");
    EXPECT_EQ(w.name(player), "Player");
    w.name(player, "Hero");
    EXPECT_EQ(w.name(player), "Hero");
    EXPECT_TRUE(w.lookup("Player").is_null());
    EXPECT_TRUE(w.empty(player));  // a name is not a component
}

TYPED_TEST(evolved_readme, several_entities_can_share_a_name_and_lookup_returns_the_first) {
    basic_world<TypeParam> w;
    const auto player1 = w.spawn();
    w.name(player1, "Player");
    const auto player2 = w.spawn();
    w.name(player2, "Player");
    EXPECT_EQ(w.lookup("Player"), player1);
    EXPECT_EQ(w.lookup_all("Player"), (std::vector{player1, player2}));
    w.destroy(player1);
    EXPECT_EQ(w.lookup("Player"), player2);
    EXPECT_TRUE(w.lookup_all("Nobody").empty());
}

// ---- README: tags ------------------------------------------------------------------------------

TYPED_TEST(evolved_readme, a_tag_is_a_fragment_without_a_component) {
    basic_world<TypeParam> w;
    const auto player_tag = w.tag();
    const auto player = w.spawn();
    w.set(player, player_tag);
    EXPECT_TRUE(w.has(player, player_tag));
    EXPECT_EQ(w.try_get_raw(player, player_tag), nullptr);
    EXPECT_EQ(w.template try_get<bool>(player, player_tag), nullptr);
}

// ---- README: unique, explicit, internal --------------------------------------------------------

TYPED_TEST(evolved_readme, the_clone_of_a_prefab_is_not_a_prefab) {
    basic_world<TypeParam> w;
    const auto [health, stamina] = w.template ids<2>();
    const auto enemy_prefab = w.builder().set(prefab).set(health, 100).set(stamina, 50).spawn();
    const auto enemy_clone = w.clone(enemy_prefab);
    EXPECT_TRUE(w.has(enemy_prefab, prefab));
    EXPECT_FALSE(w.has(enemy_clone, prefab));
    EXPECT_EQ(w.template get<int>(enemy_clone, health), 100);
    EXPECT_EQ(w.template get<int>(enemy_clone, stamina), 50);
    for (const auto clone : w.clone_many(10, enemy_prefab)) EXPECT_FALSE(w.has(clone, prefab));
    EXPECT_EQ(w.count(prefab), 1u);
}

TYPED_TEST(evolved_readme, a_unique_fragment_is_not_cloned) {
    basic_world<TypeParam> w;
    const auto [health, passport] = w.template ids<2>();
    w.define(passport).unique();
    const auto original = w.spawn(with(health, 100), with(passport, std::string("X 123")));
    EXPECT_FALSE(w.has(w.clone(original), passport));
    const auto other = w.clone(original, with(passport, std::string("X 124")));
    EXPECT_EQ(w.template get<std::string>(other, passport), "X 124");
    w.define(passport).unique(false);
    EXPECT_EQ(w.template get<std::string>(w.clone(original), passport), "X 123");
}

TYPED_TEST(evolved_readme, disabled_and_prefab_are_explicit_and_internal) {
    basic_world<TypeParam> w;
    EXPECT_TRUE(w.template define<disabled_t>().is_hidden());
    EXPECT_TRUE(w.template define<disabled_t>().is_internal());
    EXPECT_FALSE(w.template define<disabled_t>().is_unique());
    EXPECT_TRUE(w.template define<prefab_t>().is_hidden());
    EXPECT_TRUE(w.template define<prefab_t>().is_internal());
    EXPECT_TRUE(w.template define<prefab_t>().is_unique());
    const auto enemy_tag = w.tag();
    EXPECT_FALSE(w.define(enemy_tag).is_hidden());
    EXPECT_FALSE(w.define(enemy_tag).is_internal());
    EXPECT_TRUE(w.define(enemy_tag).hidden().is_hidden());
}

TYPED_TEST(evolved_readme, an_enemy_can_be_disabled_and_enabled) {
    basic_world<TypeParam> w;
    const auto enemy_tag = w.tag();
    const auto enemy = w.spawn(with(enemy_tag));
    w.set(enemy, disabled);
    EXPECT_TRUE(w.has_all(enemy, enemy_tag, disabled));
    EXPECT_TRUE(w.has(w.clone(enemy), disabled));
    EXPECT_TRUE(w.remove(enemy, disabled));
    EXPECT_FALSE(w.has(enemy, disabled));
}

// ---- README: shared components -----------------------------------------------------------------

TYPED_TEST(evolved_readme, copies_of_a_pointer_share_the_object) {
    basic_world<TypeParam> w;
    const auto initial_position = std::make_shared<vector2>();
    const auto position = w.spawn();
    auto recipe = w.builder();
    recipe.set(position, initial_position);
    const auto enemy1 = recipe.spawn();
    const auto enemy2 = recipe.spawn();
    using shared = std::shared_ptr<vector2>;
    EXPECT_EQ(w.template get<shared>(enemy1, position), w.template get<shared>(enemy2, position));
}

TYPED_TEST(evolved_readme, default_and_duplicate_create_a_value_for_each_entity) {
    basic_world<TypeParam> w;
    using shared = std::shared_ptr<vector2>;
    const auto position = w.template fragment<shared>("position");
    w.define(position)
        .default_value(std::make_shared<vector2>(vector2{1, 2}))
        .duplicate([](const shared& value) { return std::make_shared<vector2>(*value); });
    const auto enemy1 = w.spawn();
    w.set(enemy1, position);
    const auto enemy2 = w.spawn();
    w.set(enemy2, position);
    EXPECT_NE(w.get(enemy1, position), w.get(enemy2, position));
    EXPECT_EQ(*w.get(enemy1, position), *w.get(enemy2, position));
    const auto enemy3 = w.clone(enemy1);
    w.get(enemy1, position)->x = 9;
    EXPECT_EQ(w.get(enemy2, position)->x, 1);
    EXPECT_EQ(w.get(enemy3, position)->x, 1);
}

// ---- README: requirements ----------------------------------------------------------------------

TYPED_TEST(evolved_readme, a_physical_entity_receives_a_position_and_a_velocity) {
    basic_world<TypeParam> w;
    const auto position = w.template fragment<vector2>("position");
    w.define(position).default_value(vector2{1, 2});
    const auto velocity = w.template fragment<vector2>("velocity");
    w.define(velocity).default_value(vector2{3, 4});
    const auto physical = w.tag("physical");
    w.define(physical).needs(position, velocity);

    const auto enemy = w.builder().set(physical).spawn();
    EXPECT_TRUE(w.has_all(enemy, position, velocity));
    EXPECT_EQ(w.get(enemy, position), (vector2{1, 2}));
    EXPECT_EQ(w.get(enemy, velocity), (vector2{3, 4}));

    const auto rock = w.spawn(with(position, vector2{8, 8}));
    w.set(rock, physical);
    EXPECT_EQ(w.get(rock, position), (vector2{8, 8}));  // existing values do not change
    EXPECT_EQ(w.get(rock, velocity), (vector2{3, 4}));
}

// ---- README: destruction policies --------------------------------------------------------------

TYPED_TEST(evolved_readme, a_destroyed_fragment_is_removed_from_its_entities) {
    basic_world<TypeParam> w;
    const auto world_tag = w.tag();
    const auto entity = w.spawn(with(world_tag));
    w.destroy(world_tag);
    EXPECT_TRUE(w.alive(entity));
    EXPECT_FALSE(w.has(entity, world_tag));
    EXPECT_TRUE(w.empty(entity));
}

TYPED_TEST(evolved_readme, a_destroyed_fragment_destroys_its_entities_if_defined_so) {
    basic_world<TypeParam> w;
    const auto world_tag = w.tag();
    w.define(world_tag).when_destroyed(destroy_owners);
    const auto entity = w.spawn(with(world_tag), vector2{});
    const auto other = w.spawn(vector2{});
    w.destroy(world_tag);
    EXPECT_FALSE(w.alive(entity));
    EXPECT_TRUE(w.alive(other));
    EXPECT_EQ(w.size(), 1u);
}

}  // namespace
}  // namespace muster::test
