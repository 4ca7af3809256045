#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/world_layouts.hpp"

namespace muster::test {
namespace {

struct position {
    float x, y;
    friend bool operator==(const position&, const position&) = default;
};
struct velocity {
    float x, y;
};
struct frozen {};

template <class Layout>
class world_test : public testing::Test {
protected:
    using id_type = basic_id<Layout>;
    basic_world<Layout> w;
};
TYPED_TEST_SUITE(world_test, behavior_layouts, layout_names);

// ---- entities -----------------------------------------------------------------------------------

TYPED_TEST(world_test, the_first_spawn_takes_the_first_key_of_the_layout_despite_registered_types) {
    (void)this->w.template component<position>();
    const auto e = this->w.spawn(position{1, 2}, frozen{});
    EXPECT_EQ(e.key(), TypeParam::first_key);
    EXPECT_EQ(this->w.size(), 1u);
}

TYPED_TEST(world_test, a_spawned_entity_has_the_passed_components) {
    const auto e = this->w.spawn(position{1, 2}, velocity{3, 4}, frozen{}, std::string("x"));
    EXPECT_EQ(this->w.template get<position>(e), (position{1, 2}));
    EXPECT_EQ(this->w.template get<std::string>(e), "x");
    EXPECT_TRUE((this->w.template has_all<position, velocity, frozen>(e)));
    EXPECT_FALSE(this->w.template has<int>(e));
    EXPECT_FALSE(this->w.empty(e));
}

TYPED_TEST(world_test, move_only_components_are_moved_in) {
    auto owned = std::make_unique<int>(7);
    const auto e = this->w.spawn(std::move(owned));
    EXPECT_EQ(*this->w.template get<std::unique_ptr<int>>(e), 7);
    this->w.set(e, std::make_unique<int>(8), position{});
    EXPECT_EQ(*this->w.template get<std::unique_ptr<int>>(e), 8);
}

TYPED_TEST(world_test, spawn_many_returns_the_ids_of_as_many_single_calls) {
    basic_world<TypeParam> other;
    std::vector<basic_id<TypeParam>> singles;
    for (int i = 0; i < 100; ++i) singles.push_back(other.spawn(position{1, 1}));
    const auto many = this->w.spawn_many(100, position{1, 1});
    ASSERT_EQ(many.size(), singles.size());
    for (std::size_t i = 0; i < many.size(); ++i) {
        EXPECT_EQ(many[i].key(), singles[i].key());
        EXPECT_EQ(this->w.template get<position>(many[i]), (position{1, 1}));
    }
}

TYPED_TEST(world_test, spawn_into_fills_a_buffer_of_the_caller) {
    basic_id<TypeParam> buffer[3];
    this->w.spawn_into(buffer, std::string("abc"));
    for (const auto e : buffer) EXPECT_EQ(this->w.template get<std::string>(e), "abc");
}

TYPED_TEST(world_test, spawn_rows_lets_the_caller_fill_each_row) {
    std::vector<basic_id<TypeParam>> made;
    this->w.spawn_rows(
        10,
        [&](basic_rows<TypeParam> rows) {
            EXPECT_EQ(rows.size(), 10u);
            float next = 0;
            for (position& p : rows.template components<position>()) p.x = next++;
            made.assign(rows.entities().begin(), rows.entities().end());
            EXPECT_TRUE(this->w.alive(made[3]));
        },
        position{0, 5}, velocity{});
    EXPECT_EQ(this->w.template get<position>(made[3]), (position{3, 5}));
}

TYPED_TEST(world_test, spawn_columns_creates_an_entity_for_each_row) {
    MUSTER_ABOUT_CHUNKS();
    const std::vector<position> places{{1, 2}, {3, 4}, {5, 6}};
    const std::string names[] = {"a", "b", "c"};
    const auto made = this->w.spawn_columns(places, names, std::vector<frozen>(3));
    ASSERT_EQ(made.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(this->w.template get<position>(made[i]), places[i]);
        EXPECT_EQ(this->w.template get<std::string>(made[i]), names[i]);
        EXPECT_TRUE(this->w.template has<frozen>(made[i]));
        EXPECT_EQ(this->w.locate(made[i]).row, i);
    }
    EXPECT_TRUE(this->w.spawn_columns(std::vector<position>{}).empty());
    EXPECT_EQ(this->w.size(), 3u);
}

TYPED_TEST(world_test, spawn_columns_of_different_lengths_is_an_error) {
    const std::vector<position> three(3);
    basic_id<TypeParam> out[3];
    EXPECT_EQ(code_of([&] { this->w.spawn_columns(three, std::vector<velocity>(2)); }),
              errc::size_mismatch);
    EXPECT_EQ(code_of([&] { this->w.spawn_columns_into(std::span(out).first(2), three); }),
              errc::size_mismatch);
    EXPECT_EQ(this->w.size(), 0u);
    this->w.spawn_columns_into(out, three);
    EXPECT_TRUE(this->w.alive_all(out[0], out[1], out[2]));
}

TYPED_TEST(world_test, spawn_columns_copies_from_a_chunk_that_grows_during_the_call) {
    MUSTER_ABOUT_CHUNKS();
    for (int i = 0; i < 8; ++i) this->w.spawn(std::to_string(i), position{float(i), 0});
    const auto chunk = this->w.template chunk<std::string, position>();
    const auto made = this->w.spawn_columns(chunk.template components<std::string>(),
                                            chunk.template components<position>());
    ASSERT_EQ(chunk.size(), 16u);
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(this->w.template get<std::string>(made[i]), std::to_string(i));
        EXPECT_EQ(this->w.template get<position>(made[i]).x, float(i));
    }
}

TYPED_TEST(world_test, a_throwing_fill_function_destroys_its_entities) {
    MUSTER_ABOUT_CHUNKS();
    const auto before = this->w.spawn(position{}, velocity{});
    std::vector<basic_id<TypeParam>> seen;
    EXPECT_THROW(this->w.spawn_rows(
                     3,
                     [&](basic_rows<TypeParam> rows) {
                         seen.assign(rows.entities().begin(), rows.entities().end());
                         throw std::runtime_error("no");
                     },
                     position{}, velocity{}),
                 std::runtime_error);
    for (const auto e : seen) EXPECT_FALSE(this->w.alive(e));
    EXPECT_EQ(this->w.size(), 1u);
    EXPECT_EQ((this->w.template chunk<position, velocity>().size()), 1u);
    EXPECT_TRUE(this->w.alive(before));
}

TYPED_TEST(world_test, spawn_at_claims_an_exact_id) {
    const auto first = this->w.spawn();
    const auto wanted =
        basic_id<TypeParam>::pack(first.key() + 500, first.version() + 2, first.world());
    EXPECT_EQ(this->w.spawn_at(wanted, position{1, 1}), wanted);
    EXPECT_EQ(this->w.template get<position>(wanted), (position{1, 1}));
    EXPECT_EQ(code_of([&] { this->w.spawn_at(wanted); }), errc::id_taken);
}

TYPED_TEST(world_test, a_clone_copies_the_prototype_except_for_passed_values) {
    const auto prefab = this->w.spawn(position{1, 2}, velocity{3, 4}, std::string("orc"));
    const auto e = this->w.clone(prefab, position{5, 5}, frozen{});
    EXPECT_EQ(this->w.template get<position>(e), (position{5, 5}));
    EXPECT_EQ(this->w.template get<std::string>(e), "orc");
    EXPECT_TRUE(this->w.template has<frozen>(e));
    EXPECT_FALSE(this->w.template has<frozen>(prefab));
    EXPECT_TRUE(this->w.empty(this->w.clone(this->w.spawn())));
    for (const auto clone : this->w.clone_many(3, prefab, velocity{9, 9}))
        EXPECT_EQ(this->w.template get<velocity>(clone).x, 9);
}

TYPED_TEST(world_test, a_component_that_cannot_be_copied_must_be_passed_to_clone) {
    const auto prefab = this->w.spawn(position{}, std::make_unique<int>(1));
    EXPECT_EQ(code_of([&] { this->w.clone(prefab); }), errc::not_copyable);
    EXPECT_EQ(code_of([&] { this->w.clone_many(2, prefab); }), errc::not_copyable);
    EXPECT_EQ(this->w.size(), 1u);
    const auto e = this->w.clone(prefab, std::make_unique<int>(2));
    EXPECT_EQ(*this->w.template get<std::unique_ptr<int>>(e), 2);
}

TYPED_TEST(world_test, destroying_retires_the_version_at_once) {
    const auto e = this->w.spawn(position{});
    const auto copy = e;
    EXPECT_TRUE(this->w.destroy(e));
    EXPECT_FALSE(this->w.destroy(copy));
    EXPECT_FALSE(this->w.alive(e));
    EXPECT_EQ(this->w.template try_get<position>(e), nullptr);
    const auto next = this->w.spawn();
    EXPECT_EQ(next.key(), e.key());
    EXPECT_NE(next, e);
}

TYPED_TEST(world_test, several_entities_are_destroyed_in_one_call) {
    const auto a = this->w.spawn();
    const auto b = this->w.spawn(position{});
    const auto c = this->w.spawn();
    this->w.destroy(b);
    EXPECT_EQ(this->w.destroy(a, b, c), 2u);
    const auto many = this->w.spawn_many(5, frozen{});
    EXPECT_EQ(this->w.destroy(many), 5u);
    EXPECT_EQ(this->w.size(), 0u);
}

TYPED_TEST(world_test, destroy_if_tests_only_living_entities) {
    const auto many = this->w.spawn_many(10, position{});
    this->w.destroy(many[4]);
    std::size_t asked = 0;
    EXPECT_EQ(this->w.destroy_if([&](auto e) {
        ++asked;
        EXPECT_TRUE(this->w.alive(e));
        return e.key() % 2 == 0;
    }),
              TypeParam::first_key == 0 ? 4u : 5u);
    EXPECT_EQ(asked, 9u);
}

TYPED_TEST(world_test, alive_all_and_any_take_any_ids) {
    const auto a = this->w.spawn();
    const auto b = this->w.spawn();
    this->w.destroy(b);
    EXPECT_TRUE(this->w.alive_any(a, b));
    EXPECT_FALSE(this->w.alive_all(a, b));
    EXPECT_TRUE(this->w.alive_all(a, a));
    EXPECT_FALSE(this->w.alive_any(b, basic_id<TypeParam>{}));
}

TYPED_TEST(world_test, reset_destroys_everything_and_old_handles_stay_dead) {
    const auto old = this->w.spawn_many(20, position{}, std::string("x"));
    this->w.set_single(velocity{1, 1});
    const auto fragment = this->w.template component<position>();
    this->w.name(old[0], "first");
    this->w.reset();
    EXPECT_EQ(this->w.size(), 0u);
    EXPECT_FALSE(this->w.template has_single<velocity>());
    EXPECT_EQ(this->w.template component<position>(), fragment);
    EXPECT_TRUE(this->w.lookup("first").is_null());
    for (const auto e : this->w.spawn_many(20, position{}))
        for (const auto dead : old) EXPECT_NE(e, dead);
    for (const auto e : old) EXPECT_FALSE(this->w.alive(e));
}

// ---- components ---------------------------------------------------------------------------------

TYPED_TEST(world_test, set_inserts_or_assigns) {
    const auto e = this->w.spawn();
    this->w.set(e, position{1, 1});
    this->w.set(e, position{2, 2}, velocity{3, 3});
    EXPECT_EQ(this->w.template get<position>(e), (position{2, 2}));
    EXPECT_EQ(this->w.template get<velocity>(e).x, 3);
}

TYPED_TEST(world_test, add_keeps_existing_values) {
    const auto e = this->w.spawn(position{1, 1});
    EXPECT_FALSE(this->w.template add<position>(e));
    EXPECT_EQ(this->w.template get<position>(e), (position{1, 1}));
    EXPECT_TRUE((this->w.template add<position, frozen>(e)));
    EXPECT_EQ(this->w.template get<position>(e), (position{1, 1}));
}

TYPED_TEST(world_test, emplace_constructs_a_value_from_its_arguments) {
    const auto e = this->w.spawn();
    EXPECT_EQ(this->w.template emplace<position>(e, 1.f, 2.f), (position{1, 2}));
    EXPECT_EQ(this->w.template emplace<std::string>(e, 3u, 'a'), "aaa");
    EXPECT_EQ(this->w.template get_or_emplace<std::string>(e, "other"), "aaa");
    EXPECT_EQ(this->w.template get_or_emplace<int>(e, 4), 4);
}

TYPED_TEST(world_test, patch_changes_in_place) {
    const auto e = this->w.spawn(position{1, 1});
    const position& p = this->w.template patch<position>(e, [](position& it) { it.x = 9; });
    EXPECT_EQ(p.x, 9);
    EXPECT_EQ(code_of([&] { this->w.template patch<velocity>(e, [](velocity&) {}); }),
              errc::missing_component);
}

TYPED_TEST(world_test, several_components_are_returned_as_a_tuple) {
    const auto e = this->w.spawn(position{1, 2}, velocity{3, 4});
    auto [p, v] = this->w.template get<position, velocity>(e);
    p.x = 7;
    EXPECT_EQ(this->w.template get<position>(e).x, 7);
    EXPECT_EQ(v.y, 4);
    const auto [q, s] = this->w.template try_get<position, std::string>(e);
    EXPECT_NE(q, nullptr);
    EXPECT_EQ(s, nullptr);
}

TYPED_TEST(world_test, several_components_are_removed_in_one_call) {
    const auto e = this->w.spawn(position{}, velocity{}, frozen{});
    EXPECT_TRUE((this->w.template remove<position, frozen, std::string>(e)));
    EXPECT_FALSE((this->w.template remove<position, frozen, std::string>(e)));
    EXPECT_TRUE(this->w.template has<velocity>(e));
    EXPECT_TRUE((this->w.template has_none<position, frozen>(e)));
    EXPECT_TRUE(this->w.clear(e));
    EXPECT_FALSE(this->w.clear(e));
    EXPECT_TRUE(this->w.alive(e));
    EXPECT_TRUE(this->w.empty(e));
}

TYPED_TEST(world_test, clear_removes_a_type_from_all_entities) {
    const auto a = this->w.spawn(position{1, 1}, std::string("a"));
    const auto b = this->w.spawn(position{2, 2});
    const auto c = this->w.spawn(std::string("c"));
    EXPECT_EQ(this->w.template count<position>(), 2u);
    EXPECT_EQ(this->w.template clear<position>(), 2u);
    EXPECT_EQ(this->w.template count<position>(), 0u);
    EXPECT_EQ(this->w.template get<std::string>(a), "a");
    EXPECT_TRUE(this->w.empty(b));
    EXPECT_EQ(this->w.template get<std::string>(c), "c");
    EXPECT_EQ(this->w.template clear<double>(), 0u);
}

TYPED_TEST(world_test, an_entity_is_found_by_value) {
    this->w.spawn(position{1, 1});
    const auto b = this->w.spawn(position{2, 2}, frozen{});
    EXPECT_EQ(this->w.find(position{2, 2}), b);
    EXPECT_TRUE(this->w.find(position{3, 3}).is_null());
    EXPECT_EQ(this->w.template find_if<position>([](const position& p) { return p.x > 1; }), b);
}

TYPED_TEST(world_test, singletons_belong_to_the_world) {
    EXPECT_FALSE(this->w.template has_single<position>());
    this->w.spawn();
    EXPECT_EQ(code_of([&] { (void)this->w.template single<position>(); }), errc::missing_component);
    EXPECT_TRUE(sentence_of([&] {
                    (void)this->w.template single<position>();
                }).starts_with("world " + to_string(this->w) + " has no singleton "));
    this->w.set_single(position{1, 2});
    EXPECT_EQ(this->w.template single<position>(), (position{1, 2}));
    this->w.template single<position>().x = 5;
    EXPECT_EQ(std::as_const(this->w).template single<position>().x, 5);
    EXPECT_EQ(this->w.size(), 1u);
    EXPECT_TRUE(this->w.template remove_single<position>());
    EXPECT_EQ(code_of([&] { (void)this->w.template single<position>(); }), errc::missing_component);
}

TYPED_TEST(world_test, destroying_the_fragment_of_a_type_removes_it_from_all_entities) {
    const auto e = this->w.spawn(position{}, velocity{1, 1});
    const auto fragment = this->w.template component<position>();
    EXPECT_TRUE(this->w.alive(fragment));
    EXPECT_TRUE(this->w.destroy(fragment));
    EXPECT_FALSE(this->w.template has<position>(e));
    EXPECT_EQ(this->w.template get<velocity>(e).x, 1);
    EXPECT_NE(this->w.template component<position>(), fragment);
    this->w.set(e, position{4, 4});
    EXPECT_EQ(this->w.template get<position>(e), (position{4, 4}));
}

TYPED_TEST(world_test, values_may_be_references_into_the_world) {
    std::vector<basic_id<TypeParam>> es{this->w.spawn(std::string("first value, not short"))};
    for (int i = 0; i < 200; ++i) {
        es.push_back(this->w.spawn(this->w.template get<std::string>(es.back())));
        const auto moved = this->w.spawn();
        this->w.set(moved, std::move(this->w.template get<std::string>(es.back())));
        this->w.set(es.back(), this->w.template get<std::string>(moved));
        es.push_back(moved);
    }
    for (const auto e : es)
        EXPECT_EQ(this->w.template get<std::string>(e), "first value, not short");
}

TYPED_TEST(world_test, setting_a_value_to_itself_keeps_it) {
    const auto e = this->w.spawn(std::string("kept"));
    this->w.set(e, this->w.template get<std::string>(e));
    this->w.set(e, std::move(this->w.template get<std::string>(e)));
    EXPECT_EQ(this->w.template get<std::string>(e), "kept");
}

// ---- names and capacity -------------------------------------------------------------------------

TYPED_TEST(world_test, names_can_be_looked_up_and_move_no_entity) {
    const auto e = this->w.spawn(position{});
    const auto other = this->w.spawn();
    const auto before = this->w.locate(e);
    this->w.name(e, "player");
    this->w.name(other, "player");
    EXPECT_EQ(this->w.name(e), "player");
    EXPECT_EQ(this->w.lookup("player"), e);
    EXPECT_EQ(this->w.lookup_all("player").size(), 2u);
    EXPECT_EQ(this->w.locate(e).chunk, before.chunk);
    this->w.destroy(e);
    EXPECT_EQ(this->w.lookup("player"), other);
    EXPECT_EQ(this->w.name(e), "");
    this->w.name(other, "");
    EXPECT_TRUE(this->w.lookup("player").is_null());
}

TYPED_TEST(world_test, only_garbage_is_collected) {
    MUSTER_ABOUT_CHUNKS();
    std::vector<basic_id<TypeParam>> es;
    for (int i = 0; i < 100; ++i) es.push_back(this->w.spawn(position{1, 1}, std::string("x")));
    const auto collected = this->w.template chunk<velocity, frozen>();
    EXPECT_TRUE(collected.empty());
    for (int i = 0; i < 90; ++i) this->w.destroy(es[static_cast<std::size_t>(i)]);
    this->w.collect_garbage();
    EXPECT_EQ(code_of([&] { (void)collected.size(); }), errc::dead_chunk);
    EXPECT_NE((this->w.template chunk<velocity, frozen>()), collected);
    for (std::size_t i = 90; i < 100; ++i) EXPECT_EQ(this->w.template get<std::string>(es[i]), "x");
    this->w.spawn(position{}, std::string("y"));
    EXPECT_EQ((this->w.template chunk<position, std::string>().size()), 11u);
}

TYPED_TEST(world_test, reserving_rows_keeps_references_valid) {
    this->w.template reserve<position, velocity>(1000);
    const auto e = this->w.spawn(position{1, 1}, velocity{});
    const position* const p = this->w.template try_get<position>(e);
    for (int i = 0; i < 999; ++i) this->w.spawn(position{}, velocity{});
    EXPECT_EQ(this->w.template try_get<position>(e), p);
}

// ---- const, iteration ---------------------------------------------------------------------------

TYPED_TEST(world_test, a_const_world_can_be_read) {
    const auto e = this->w.spawn(position{1, 2}, velocity{});
    const auto& c = this->w;
    static_assert(std::is_same_v<decltype(c.template get<position>(e)), const position&>);
    static_assert(std::is_same_v<decltype(c.template try_get<position>(e)), const position*>);
    EXPECT_EQ(c.template get<position>(e).y, 2);
    std::size_t seen = 0;
    for (const auto entity : c.entities()) seen += entity == e ? 1u : 100u;
    EXPECT_EQ(seen, 1u);
}

TYPED_TEST(world_test, entities_may_be_destroyed_while_they_are_visited) {
    const auto many = this->w.spawn_many(50, frozen{});
    for (const auto e : this->w.entities()) this->w.destroy(e);
    EXPECT_EQ(this->w.size(), 0u);
}

TEST(world, reports_its_number) {
    world w{world_options{.number = 4711}};
    EXPECT_EQ(w.number(), 4711u);
    EXPECT_EQ(to_string(w), "W:4711");
    std::ostringstream out;
    out << w;
    EXPECT_EQ(out.str(), "W:4711");
    EXPECT_EQ(w.spawn().world(), 4711u);
    EXPECT_EQ(code_of([] { const world same{world_options{.number = 4711}}; }), errc::number_taken);
}

TEST(world, keys_can_be_limited_to_a_range) {
    world w{world_options{.first_key = 100, .last_key = 102}};
    EXPECT_EQ(w.spawn().key(), 100u);
    EXPECT_EQ(code_of([&] { w.spawn_many(3, 1); }), errc::id_overflow);
    EXPECT_EQ(w.size(), 1u);
    EXPECT_EQ(w.spawn_many(2, 1).back().key(), 102u);
    EXPECT_EQ(code_of([&] { w.spawn(2); }), errc::id_overflow);
    EXPECT_EQ(w.count<int>(), 2u);
}

}  // namespace
}  // namespace muster::test
