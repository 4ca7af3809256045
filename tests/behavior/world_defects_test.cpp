// Defects of the systems that Muster unites, if they need a world with components;
// old_defects_test.cpp has those of ids alone. Where the old behaviour is short, a re-creation
// proves that the check can fail.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"
#include "support/trouble.hpp"
#include "support/world_dump.hpp"
#include "support/world_layouts.hpp"

using nibble_tombstone = muster::test::nibble<muster::exhaustion::tombstone>;
using nibble_wrap = muster::test::nibble<muster::exhaustion::wrap>;
using nibble_retire = muster::test::nibble<muster::exhaustion::retire>;

namespace muster {
namespace {

using test::broken;
using test::code_of;
using test::counted;
using test::fragile;

namespace old {

/// R-Type with one component type. It finds values by the index alone and inserts them step by
/// step.
struct registry {
    using id_type = std::uint32_t;
    static constexpr std::size_t absent = ~std::size_t{0};
    std::vector<std::uint32_t> generations, free;
    std::vector<std::size_t> positions;  // by index: the position of its value
    std::vector<std::uint32_t> owners;
    std::vector<fragile> values;

    id_type spawn() {
        if (free.empty()) {
            generations.push_back(0);
            positions.push_back(absent);
            return static_cast<id_type>(generations.size() - 1);
        }
        const std::uint32_t index = free.back();
        free.pop_back();
        return generations[index] << 20 | index;
    }
    bool alive(id_type e) const { return generations[e & 0xFFFFF] == e >> 20; }
    void destroy(id_type e) {
        remove(e);
        ++generations[e & 0xFFFFF];
        free.push_back(e & 0xFFFFF);
    }
    void emplace(id_type e, int value) {
        positions[e & 0xFFFFF] = values.size();
        owners.push_back(e & 0xFFFFF);
        values.emplace_back(value);  // may throw after the other two have changed
    }
    void remove(id_type e) {
        const std::size_t position = std::exchange(positions[e & 0xFFFFF], absent);
        if (position == absent) return;
        positions[owners.back()] = owners.back() == (e & 0xFFFFF) ? absent : position;
        owners[position] = owners.back();
        values[position] = std::move(values.back());
        owners.pop_back();
        values.pop_back();
    }
    const fragile* find(id_type e) const {
        const std::size_t position = positions[e & 0xFFFFF];
        return alive(e) && position < values.size() ? &values[position] : nullptr;
    }
};

/// Healing Entities: removing a component queues the entity's slot for reuse.
struct healing_world : registry {
    void remove(id_type e) {
        registry::remove(e);
        free.push_back(e & 0xFFFFF);
    }
};

}  // namespace old

/// A Muster world with the interface of the old registries.
struct adapted_world {
    using id_type = entity;
    world w;
    entity spawn() { return w.spawn(); }
    bool alive(entity e) const { return w.alive(e); }
    void destroy(entity e) { w.destroy(e); }
    void emplace(entity e, int value) { w.emplace<fragile>(e, value); }
    void remove(entity e) { w.remove<fragile>(e); }
    const fragile* find(entity e) const { return w.try_get<fragile>(e); }
};

template <class Registry>
bool holds(const Registry& r, typename Registry::id_type e, int value) {
    const fragile* const found = r.find(e);
    return found != nullptr && found->value == value;
}

/// Calls that require a living entity of this world.
constexpr void (*calls_on_the_living[])(world&, entity) = {
    [](world& w, entity e) { w.set(e, 3); },
    [](world& w, entity e) { w.add<double>(e); },
    [](world& w, entity e) { w.emplace<int>(e, 3); },
    [](world& w, entity e) { w.get_or_emplace<int>(e, 3); },
    [](world& w, entity e) { (void)w.get<int>(e); },
    [](world& w, entity e) { w.patch<int>(e, [](int& value) { value = 5; }); },
    [](world& w, entity e) { w.clone(e); },
    [](world& w, entity e) { w.clone_many(2, e, 3.5); },
    [](world& w, entity e) { w.name(e, "name"); },
    [](world& w, entity e) { (void)w.locate(e); },
};

// ---- 1: a wrapped version makes a stale handle valid again -------------------------------------

template <class Layout>
void a_stale_handle_reaches_nothing(int uses) {
    basic_world<Layout> w;
    const auto stale = w.spawn(7);
    w.destroy(stale);
    for (int i = 1; i < uses; ++i) {
        const auto e = w.spawn(i);
        ASSERT_FALSE(w.alive(stale));
        ASSERT_EQ(w.template try_get<int>(stale), nullptr);
        ASSERT_FALSE(w.template remove<int>(stale));
        ASSERT_FALSE(w.destroy(stale));
        ASSERT_EQ(w.template get<int>(e), i);
        w.destroy(e);
    }
    EXPECT_EQ(w.size(), 0u);
}

TEST(world_defect_1, a_stale_handle_finds_nothing_however_often_its_slot_is_reused) {
    a_stale_handle_reaches_nothing<layouts::bound>(70'000);
    a_stale_handle_reaches_nothing<layouts::compact>(9'000);
    a_stale_handle_reaches_nothing<nibble_retire>(100);
}

TEST(world_defect_1, destroying_the_last_version_of_a_key_destroys_its_components) {
    basic_world<nibble_retire> w;
    const int before = counted::count.living;
    for (int i = 0; i < 15; ++i) w.destroy(w.spawn(counted(i)));
    EXPECT_EQ(counted::count.living, before);
    EXPECT_EQ(w.spawn().key(), 1u);
    EXPECT_EQ(w.count<counted>(), 0u);
}

// ---- 2: a tombstone is alive -------------------------------------------------------------------

TEST(world_defect_2, a_tombstone_accepts_no_component_and_is_freed_once) {
    using id_type = basic_id<nibble_tombstone>;
    basic_world<nibble_tombstone> w;
    std::vector<id_type> destroyed;
    for (int i = 0; i < 15; ++i) {
        destroyed.push_back(w.spawn(i));
        w.destroy(destroyed.back());
    }
    const auto tombstone = id_type::pack(0, 15);
    ASSERT_TRUE(tombstone.is_tombstone());
    EXPECT_FALSE(w.alive(tombstone));
    EXPECT_EQ(code_of([&] { w.set(tombstone, 1); }), errc::dead_entity);
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(w.destroy(tombstone) || w.destroy(destroyed.back()));
    EXPECT_EQ(w.recycle_tombstones(), 1u);
    std::set<id_type> later;
    for (int i = 0; i < 3; ++i) later.insert(w.spawn(i));
    EXPECT_EQ(later.size(), 3u);
    EXPECT_EQ(w.count<int>(), 3u);
}

// ---- 3: remove_entities_if destroys free slots -------------------------------------------------

TEST(world_defect_3, destroying_by_predicate_tests_only_living_entities) {
    basic_world<layouts::compact> w;
    std::vector<basic_id<layouts::compact>> all;
    for (int i = 0; i < 10; ++i) all.push_back(w.spawn(i));
    w.set_single(std::string("the fragment of a type is an id, too"));
    w.destroy(all[3]);
    w.destroy(all[5]);
    std::vector<basic_id<layouts::compact>> tested;
    const std::size_t count = w.destroy_if([&](auto e) {
        tested.push_back(e);
        return true;
    });
    EXPECT_EQ(count, 8u);
    std::erase(all, all[3]);
    std::erase(all, all[4]);
    EXPECT_EQ(tested, all);
    EXPECT_EQ(w.size(), 0u);
    EXPECT_TRUE(w.has_single<std::string>());
    std::set<basic_id<layouts::compact>> later;
    for (int i = 0; i < 20; ++i) later.insert(w.spawn(i));
    EXPECT_EQ(later.size(), 20u);
}

TEST(world_defect_3, a_predicate_sees_the_unchanged_world_and_may_throw) {
    world w;
    std::vector<entity> all;
    for (int i = 0; i < 5; ++i) all.push_back(w.spawn(i));
    const std::string before = test::dump<layouts::bound, int>(w);
    EXPECT_THROW(w.destroy_if([&](entity e) {
        if (w.get<int>(e) == 3) throw broken{};
        return true;
    }),
                 broken);
    EXPECT_EQ((test::dump<layouts::bound, int>(w)), before);
    EXPECT_EQ(w.destroy_if([&](entity) { return w.size() == 5; }), 5u);
    EXPECT_EQ(w.size(), 0u);
}

// ---- 4: no limit is checked --------------------------------------------------------------------

TEST(world_defect_4, spawning_in_a_full_world_is_an_error_that_changes_nothing) {
    basic_world<layouts::compact> w;
    const auto type = w.component<int>();  // takes the highest key
    EXPECT_EQ(code_of([&] { w.spawn_many(1'048'576, 1); }), errc::id_overflow);
    EXPECT_EQ(w.size(), 0u);
    const auto all = w.spawn_many(1'048'575, 1);
    EXPECT_EQ(all.back().key(), 1'048'574u);
    EXPECT_FALSE(std::ranges::count(all, type.id()));
    EXPECT_EQ(code_of([&] { w.spawn(2); }), errc::id_overflow);
    EXPECT_EQ(code_of([&] { w.spawn(); }), errc::id_overflow);
    EXPECT_EQ(code_of([&] { w.clone(all[0]); }), errc::id_overflow);
    EXPECT_EQ(code_of([&] { w.set(all[0], 2.5); }), errc::id_overflow);  // a new type needs a key
    EXPECT_EQ(w.size(), 1'048'575u);
    EXPECT_EQ(w.count<int>(), 1'048'575u);
    EXPECT_EQ(w.find(2), basic_id<layouts::compact>{});
    w.destroy(all[7]);
    EXPECT_EQ(w.spawn(2).key(), 7u);
}

// ---- 5: the null id is alive in a corner -------------------------------------------------------

template <class Layout>
class world_defect_5 : public testing::Test {};
using some_layouts = testing::Types<layouts::bound, layouts::exact, nibble_wrap, nibble_tombstone>;
TYPED_TEST_SUITE(world_defect_5, some_layouts, test::layout_names);

TYPED_TEST(world_defect_5, every_call_treats_the_null_id_as_dead) {
    basic_world<TypeParam> w;
    w.spawn(1);
    const basic_id<TypeParam> null;
    EXPECT_FALSE(w.alive(null) || w.template has<int>(null) || w.destroy(null) || w.clear(null));
    EXPECT_FALSE(w.template remove<int>(null));
    EXPECT_EQ(w.template try_get<int>(null), nullptr);
    EXPECT_TRUE(w.empty(null));
    EXPECT_EQ(code_of([&] { w.set(null, 1); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { (void)w.template get<int>(null); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { w.clone(null); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { w.spawn_at(null, 1); }), errc::id_out_of_range);
    EXPECT_EQ(w.size(), 1u);
}

TEST(world_defect_5, no_fragment_is_ever_the_null_id) {
    basic_world<nibble_wrap> w;  // its null id is the last version of the last key
    for (int i = 0; i < 40; ++i) {
        const auto type = w.component<int>();
        ASSERT_TRUE(w.alive(type));
        ASSERT_FALSE(type.id().is_null());
        w.destroy(type);
    }
    for (int i = 0; i < 400; ++i) {
        const auto e = w.spawn();
        ASSERT_TRUE(e);
        w.destroy(e);
    }
}

TEST(world_defect_5, every_living_world_has_a_unique_number) {
    std::vector<std::unique_ptr<world>> all;
    std::set<std::uint64_t> numbers;
    for (int i = 0; i < 100; ++i) {
        all.push_back(std::make_unique<world>());
        numbers.insert(all.back()->number());
    }
    EXPECT_EQ(numbers.size(), 100u);
    EXPECT_FALSE(numbers.contains(0));
    EXPECT_EQ(code_of([&] { world({.number = all[50]->number()}); }), errc::number_taken);
}

// ---- 6: clearing makes all old handles valid again ---------------------------------------------

TEST(world_defect_6, reset_keeps_old_handles_dead) {
    world w;
    const int living = counted::count.living;
    std::vector<entity> old_ids;
    for (int i = 0; i < 50; ++i) old_ids.push_back(w.spawn(i, counted(i)));
    w.name(old_ids[0], "first");
    for (int round = 0; round < 3; ++round) {
        w.reset();
        EXPECT_EQ(w.size(), 0u);
        EXPECT_EQ(counted::count.living, living);
        EXPECT_FALSE(w.lookup("first"));
        std::vector<entity> new_ids;
        for (int i = 0; i < 50; ++i) new_ids.push_back(w.spawn(100 + i, counted(i)));
        for (const entity e : old_ids) {
            EXPECT_FALSE(w.alive(e) || w.has<int>(e) || w.remove<int>(e) || w.destroy(e));
            EXPECT_EQ(code_of([&] { w.set(e, 1); }), errc::dead_entity);
        }
        EXPECT_EQ(w.count<int>(), 50u);
        old_ids.insert(old_ids.end(), new_ids.begin(), new_ids.end());
    }
}

TEST(world_defect_6, old_ids_are_dead_in_a_new_world_with_a_reused_number) {
    std::vector<entity> before;
    const std::uint64_t number = world().number();
    {
        world w({.number = number});
        before = w.spawn_many(20, 1);
    }
    world w({.number = number});
    const std::vector<entity> now = w.spawn_many(20, 2);
    for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_EQ(before[i].key(), now[i].key());
        EXPECT_FALSE(w.alive(before[i]) || w.destroy(before[i]));
        EXPECT_EQ(w.get<int>(now[i]), 2);
    }
}

// ---- 7: creating an exact id sets a version back -----------------------------------------------

TEST(world_defect_7, an_exact_id_neither_rewinds_a_slot_nor_changes_its_living_entity) {
    basic_world<layouts::exact> w;
    const int living = counted::count.living;
    const auto first = w.spawn(counted(1));
    w.destroy(first);
    EXPECT_EQ(code_of([&] { w.spawn_at(first, counted(9)); }), errc::id_stale);
    const auto second = w.spawn(counted(2));
    ASSERT_EQ(second.key(), first.key());
    EXPECT_EQ(code_of([&] { w.spawn_at(first, counted(9)); }), errc::id_stale);
    EXPECT_EQ(code_of([&] { w.spawn_at(second, counted(9)); }), errc::id_taken);
    EXPECT_EQ(w.get<counted>(second).value, 2);
    EXPECT_EQ(w.count<counted>(), 1u);
    EXPECT_EQ(counted::count.living, living + 1);
    EXPECT_FALSE(w.alive(first));
}

// ---- 8: removing a component queues the slot of the living entity ------------------------------

template <class Registry>
bool only_destroying_frees_a_slot(Registry r) {
    const auto e = r.spawn();
    r.emplace(e, 1);
    r.remove(e);
    const auto other = r.spawn();
    return r.alive(e) && other != e;
}

TEST(world_defect_8, removing_a_component_does_not_free_the_slot) {
    MUSTER_ABOUT_CHUNKS();
    EXPECT_FALSE(only_destroying_frees_a_slot(old::healing_world{}));
    EXPECT_TRUE(only_destroying_frees_a_slot(old::registry{}));
    adapted_world adapted;
    EXPECT_TRUE(only_destroying_frees_a_slot<adapted_world&>(adapted));

    world& w = adapted.w;
    const std::uint64_t key = w.spawn().key();
    for (int i = 0; i < 10'000; ++i) w.destroy(w.spawn(i, std::string("text")));
    EXPECT_LE(w.spawn().key(), key + 1);
    EXPECT_EQ(w.chunk<std::string>().size(), 0u);
}

// ---- 10: removing through a stale handle corrupts the entity in that slot ----------------------

template <class Registry>
bool a_stale_handle_removes_nothing(Registry& r) {
    const auto stale = r.spawn();
    r.emplace(stale, 1);
    r.destroy(stale);
    const auto living = r.spawn();  // in the same slot
    r.emplace(living, 2);
    r.remove(stale);
    return holds(r, living, 2) && r.find(stale) == nullptr;
}

TEST(world_defect_10, a_stale_handle_cannot_change_the_living_entity_of_its_slot) {
    old::registry r_type;
    EXPECT_FALSE(a_stale_handle_removes_nothing(r_type));
    adapted_world adapted;
    EXPECT_TRUE(a_stale_handle_removes_nothing(adapted));

    world& w = adapted.w;
    const entity stale = w.spawn(1, std::string("old"), counted(1));
    w.destroy(stale);
    const entity living = w.spawn(2, std::string("new"), counted(2));
    ASSERT_EQ(living.key(), stale.key());
    const std::string before = test::dump<layouts::bound, int, std::string, counted, fragile>(w);
    const int calls = counted::count.calls();
    EXPECT_FALSE(w.remove<int>(stale));
    EXPECT_FALSE((w.remove<int, std::string>(stale)));
    EXPECT_FALSE(w.clear(stale));
    EXPECT_FALSE(w.destroy(stale));
    EXPECT_EQ(w.destroy(stale, stale), 0u);
    for (const auto call : calls_on_the_living)
        EXPECT_EQ(code_of([&] { call(w, stale); }), errc::dead_entity);
    EXPECT_EQ((test::dump<layouts::bound, int, std::string, counted, fragile>(w)), before);
    EXPECT_EQ(counted::count.calls(), calls);
}

// ---- 11: a throwing constructor leaves the storage inconsistent -------------------------------

template <class Registry>
bool a_throwing_constructor_keeps_the_storage_consistent(Registry& r) {
    const auto a = r.spawn();
    const auto b = r.spawn();
    const auto c = r.spawn();
    r.emplace(a, 1);
    test::copies.start(0);
    try {
        r.emplace(b, 2);
    } catch (const broken&) {
    }
    test::copies.stop();
    r.emplace(c, 3);
    return test::copies.has_struck() && holds(r, a, 1) && r.find(b) == nullptr && holds(r, c, 3);
}

TEST(world_defect_11, a_throwing_constructor_keeps_the_columns_consistent) {
    old::registry r_type;
    EXPECT_FALSE(a_throwing_constructor_keeps_the_storage_consistent(r_type));
    adapted_world adapted;
    EXPECT_TRUE(a_throwing_constructor_keeps_the_storage_consistent(adapted));
}

TEST(world_defect_11, a_copy_that_throws_in_spawn_many_leaves_no_entity) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const fragile breaks(7);
    w.spawn_many(3, 1, breaks, std::string("text"));
    const std::string before = test::dump<layouts::bound, int, fragile, std::string>(w);
    for (int n = 0; n < 10; ++n) {
        test::copies.start(n);
        EXPECT_THROW(w.spawn_many(10, 2, breaks, std::string("other")), broken);
        test::copies.stop();
        EXPECT_EQ((test::dump<layouts::bound, int, fragile, std::string>(w)), before);
    }
    EXPECT_EQ(w.spawn_many(10, 2, breaks, std::string("other")).size(), 10u);
    const auto rows = w.chunk<int, fragile, std::string>();
    for (std::size_t i = 0; i < 13; ++i) {
        EXPECT_EQ(rows.components<int>()[i], i < 3 ? 1 : 2);
        EXPECT_EQ(rows.components<std::string>()[i], i < 3 ? "text" : "other");
    }
}

// ---- 15: the pool of the example returns destroyed entities -----------------------------------

/// As in the document.
struct entity_pool {
    world& registry;
    std::vector<entity> entities;
    entity acquire() {
        if (entities.empty()) return registry.spawn();
        const entity e = entities.back();
        entities.pop_back();
        return e;
    }
    void release(entity e) {
        registry.destroy(e);
        entities.push_back(e);
    }
};

TEST(world_defect_15, using_an_entity_that_a_pool_destroyed_is_an_error) {
    world w;
    entity_pool pool{w, {}};
    pool.release(pool.acquire());
    const entity living = w.spawn(1);
    const entity recycled = pool.acquire();
    ASSERT_EQ(recycled.key(), living.key());
    EXPECT_FALSE(w.alive(recycled));
    EXPECT_EQ(code_of([&] { w.set(recycled, 2); }), errc::dead_entity);
    EXPECT_EQ(w.get<int>(living), 1);
}

// ---- 16: the cost of destroying grows with the number of component types -----------------------

template <int Kind>
struct kind {
    counted value;
};

template <int... Kinds>
void use_all(world& w, std::integer_sequence<int, Kinds...>) {
    (w.spawn(kind<Kinds>{counted(Kinds)}, kind<Kinds + 1>{counted(Kinds)}), ...);
}

TEST(world_defect_16, destroying_touches_only_the_components_of_the_entity_and_of_the_last_row) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    use_all(w, std::make_integer_sequence<int, 60>{});
    const entity first = w.spawn(counted(1), kind<0>{counted(1)});
    w.spawn_many(20, counted(2), kind<0>{counted(2)});
    const int made = counted::count.made;
    const int ended = counted::count.ended;
    w.destroy(first);
    EXPECT_EQ(counted::count.made - made, 2);    // the last row moves into the gap
    EXPECT_EQ(counted::count.ended - ended, 4);  // the entity's 2 values, and 2 moved-from values
    EXPECT_EQ(counted::count.misused, 0);
}

// ---- 18: none of them detects an id of another world -------------------------------------------

TEST(world_defect_18, every_call_detects_an_id_of_another_world) {
    world w;
    world other;
    const entity mine = w.spawn(1);
    const entity foreign = other.spawn(2);
    const entity type = other.component<int>();
    ASSERT_EQ(mine.key(), foreign.key());
    const std::string before = test::dump<layouts::bound, int>(w);
    for (const entity e : {foreign, type}) {
        for (const auto call : calls_on_the_living)
            EXPECT_EQ(code_of([&] { call(w, e); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] { w.destroy(e); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] { w.clear(e); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] { w.remove<int>(e); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] { w.spawn_at(e, 3); }), errc::foreign_entity);
        EXPECT_FALSE(w.alive(e) || w.has<int>(e) || w.try_get<int>(e) != nullptr);
    }
    EXPECT_EQ(code_of([&] { w.destroy(mine, foreign); }), errc::foreign_entity);
    EXPECT_EQ((test::dump<layouts::bound, int>(w)), before);
    EXPECT_EQ(other.get<int>(foreign), 2);
}

}  // namespace
}  // namespace muster
