// Fragments created at run time and used like C++ types.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/fragment_kinds.hpp"

namespace muster::test {
namespace {

template <class Layout>
class fragments : public testing::Test {};
TYPED_TEST_SUITE(fragments, behavior_layouts, layout_names);

TYPED_TEST(fragments, are_named_ids_of_the_user) {
    basic_world<TypeParam> w;
    const auto health = w.template fragment<int>("health");
    EXPECT_TRUE(w.alive(health));
    EXPECT_EQ(w.size(), 1u);
    EXPECT_EQ(w.name(health), "health");
    EXPECT_EQ(w.lookup("health"), health.id());
    EXPECT_TRUE(w.empty(health));
    EXPECT_TRUE(w.destroy(health));
    EXPECT_EQ(w.size(), 0u);
    EXPECT_TRUE(w.lookup("health").is_null());
}

TYPED_TEST(fragments, created_without_a_name_have_an_empty_one) {
    basic_world<TypeParam> w;
    EXPECT_EQ(w.name(w.template fragment<int>()), "");
    EXPECT_EQ(w.name(w.tag()), "");
    EXPECT_EQ(w.name(w.fragment(component_type{.size = 4})), "");
}

TYPED_TEST(fragments, of_one_type_are_independent) {
    basic_world<TypeParam> w;
    const auto health = w.template fragment<int>("health");
    const auto mana = w.template fragment<int>("mana");
    const auto e = w.spawn(3, with(health, 1), with(mana, 2));
    EXPECT_EQ(w.get(e, health), 1);
    EXPECT_EQ(w.get(e, mana), 2);
    EXPECT_EQ(w.template get<int>(e), 3);
    EXPECT_EQ(w.get(e, w.template component<int>()), 3);
}

TYPED_TEST(fragments, convert_a_value_to_their_type) {
    basic_world<TypeParam> w;
    const auto weight = w.template fragment<double>("weight");
    const auto title = w.template fragment<std::string>("title");
    const auto e = w.spawn(with(weight, 1));
    w.set(e, title, "orc");
    EXPECT_EQ(w.get(e, weight), 1.0);
    EXPECT_EQ(w.get(e, title), "orc");
}

TYPED_TEST(fragments, plain_ids_take_the_type_of_their_first_value) {
    basic_world<TypeParam> w;
    const auto [e, f, t] = w.template ids<3>();
    w.set(e, f, std::string("x"));
    w.set(e, t);
    EXPECT_EQ(w.template get<std::string>(e, f), "x");
    EXPECT_EQ(code_of([&] { w.set(e, f, 1); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.set(e, t, 1); }), errc::type_mismatch);
    EXPECT_EQ(w.try_get_raw(e, t), nullptr);
    EXPECT_TRUE(w.has(e, t));
}

TYPED_TEST(fragments, reading_calls_leave_a_plain_id_untyped) {
    basic_world<TypeParam> w;
    const auto [e, f] = w.template ids<2>();
    EXPECT_FALSE(w.has(e, f));
    EXPECT_FALSE(w.remove(e, f));
    EXPECT_EQ(w.count(f), 0u);
    EXPECT_EQ(w.clear_fragment(f), 0u);
    EXPECT_EQ(w.template try_get<int>(e, f), nullptr);
    EXPECT_EQ(code_of([&] { (void)w.template get<int>(e, f); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { (void)w.chunk(f); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.set_raw(e, f, &w); }), errc::type_mismatch);
    w.define(f).unique().hidden().internal().name("late");
    w.set(e, f, 1.5);
    EXPECT_EQ(w.template get<double>(e, f), 1.5);
}

TYPED_TEST(fragments, failed_creation_leaves_neither_id_nor_name) {
    const std::uint64_t first = TypeParam::first_key;
    basic_world<TypeParam> w(world_options{.first_key = first, .last_key = first});
    (void)w.spawn();
    EXPECT_EQ(code_of([&] { (void)w.template fragment<int>("x"); }), errc::id_overflow);
    EXPECT_EQ(code_of([&] { (void)w.fragment(component_type{.size = 4}, "x"); }),
              errc::id_overflow);
    EXPECT_EQ(code_of([&] { (void)w.tag("x"); }), errc::id_overflow);
    EXPECT_TRUE(w.lookup("x").is_null());
    EXPECT_EQ(w.size(), 1u);
}

TYPED_TEST(fragments, can_number_a_thousand) {
    basic_world<TypeParam> w;
    const auto e = w.spawn();
    std::vector<basic_fragment<int, TypeParam>> all;
    for (int i = 0; i < 1000; ++i) all.push_back(w.template fragment<int>());
    for (int i = 0; i < 1000; i += 50) w.set(e, all[static_cast<std::size_t>(i)], i);
    for (int i = 0; i < 1000; ++i)
        EXPECT_EQ(w.has(e, all[static_cast<std::size_t>(i)]), i % 50 == 0);
    for (const auto fragment : all) w.destroy(fragment);
    EXPECT_TRUE(w.empty(e));
    EXPECT_EQ(w.size(), 1u);
}

TYPED_TEST(fragments, with_a_reused_key_inherit_nothing_from_the_old_fragment) {
    basic_world<TypeParam> w;
    const auto before = w.template fragment<int>("old");
    w.define(before).unique().default_value(7).when_destroyed(destroy_owners);
    w.destroy(before);
    const auto after = w.spawn();
    ASSERT_EQ(after.key(), before.id().key());
    const auto e = w.spawn(with(after, std::string("new")));
    EXPECT_FALSE(w.has(e, before));
    EXPECT_FALSE(w.define(after).is_unique());
    EXPECT_TRUE(w.has(w.clone(e), after));
    w.destroy(after);
    EXPECT_TRUE(w.alive(e));
}

// ---- reading and writing -----------------------------------------------------------------------

TYPED_TEST(fragments, can_be_read_from_a_const_world) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    const auto e = w.spawn(with(f, 1));
    const basic_world<TypeParam>& c = w;
    static_assert(std::is_same_v<decltype(c.get(e, f)), const int&>);
    static_assert(std::is_same_v<decltype(w.get(e, f)), int&>);
    static_assert(std::is_same_v<decltype(c.try_get(e, f)), const int*>);
    static_assert(std::is_same_v<decltype(c.try_get_raw(e, f)), const void*>);
    EXPECT_EQ(c.get(e, f), 1);
    EXPECT_EQ(c.template get<int>(e, f.id()), 1);
    EXPECT_EQ(c.try_get(e, f), w.try_get_raw(e, f));
    EXPECT_TRUE(c.has(e, f));
    EXPECT_EQ(c.count(f), 1u);
}

TYPED_TEST(fragments, calls_that_never_throw_accept_any_bits) {
    MUSTER_ABOUT_CHUNKS();
    using id_type = basic_id<TypeParam>;
    basic_world<TypeParam> w, other;
    const auto f = w.template fragment<int>();
    const auto e = w.spawn(with(f, 1));
    const auto dead = w.template fragment<int>();
    w.destroy(dead);
    const id_type forged = id_type::pack(TypeParam::last_key, 3);
    const auto stranger = other.template fragment<int>();
    for (const id_type bad : {id_type{}, dead.id(), forged}) {
        EXPECT_FALSE(w.has(e, bad));
        EXPECT_FALSE(w.has(bad, f));
        EXPECT_FALSE(w.has_any(e, bad, dead));
        EXPECT_TRUE(w.has_none(e, bad));
        EXPECT_EQ(w.template try_get<int>(e, bad), nullptr);
        EXPECT_EQ(w.template try_get<int>(bad, f), nullptr);
        EXPECT_EQ(w.try_get_raw(e, bad), nullptr);
        EXPECT_EQ(w.try_get_raw(bad, f), nullptr);
        EXPECT_EQ(w.count(bad), 0u);
        EXPECT_EQ(w.clear_fragment(bad), 0u);
        EXPECT_FALSE(w.remove(e, bad));
        EXPECT_FALSE(w.remove(bad, f));
        EXPECT_FALSE(w.chunk(f).has(bad));
        EXPECT_EQ(w.chunk(f).raw(bad), nullptr);
    }
    if (TypeParam::world_bits != 0) {
        EXPECT_FALSE(w.has(e, stranger));
        EXPECT_EQ(w.try_get(e, stranger), nullptr);
        EXPECT_EQ(w.try_get_raw(e, stranger), nullptr);
        EXPECT_EQ(w.count(stranger), 0u);
        EXPECT_FALSE(w.chunk(f).has(stranger));
    }
    EXPECT_EQ(w.template try_get<double>(e, f.id()), nullptr);
    EXPECT_EQ(w.get(e, f), 1);
}

TYPED_TEST(fragments, of_all_kinds_can_be_tested_in_one_call) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    const auto [plain, missing] = w.template ids<2>();
    const auto e = w.spawn(with(f, 1), with(plain, 2.5), prefab);
    EXPECT_TRUE(w.has_all(e, f, plain, prefab));
    EXPECT_FALSE(w.has_all(e, f, missing));
    EXPECT_TRUE(w.has_any(e, missing, disabled, plain));
    EXPECT_TRUE(w.has_none(e, missing, disabled));
    EXPECT_FALSE(w.has_none(e, missing, prefab));
}

TYPED_TEST(fragments, are_removed_in_one_move) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto a = w.template fragment<int>();
    const auto b = w.template fragment<std::string>();
    const auto t = w.tag();
    const auto e = w.spawn(with(a, 1), with(b, "x"), with(t), place{1, 2});
    EXPECT_TRUE(w.remove(e, a, t, a));
    EXPECT_EQ(w.locate(e).chunk.fragments().size(), 2u);
    EXPECT_EQ(w.get(e, b), "x");
    EXPECT_FALSE(w.remove(e, a, t));
    const std::array<basic_id<TypeParam>, 2> rest{b.id(), w.template component<place>().id()};
    EXPECT_TRUE(w.remove(e, std::span<const basic_id<TypeParam>>(rest)));
    EXPECT_TRUE(w.empty(e));
    EXPECT_FALSE(w.remove(e, std::span<const basic_id<TypeParam>>()));
}

TYPED_TEST(fragments, are_assigned_in_place) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<std::string>();
    const auto e = w.spawn(with(f, "a"));
    const picture<TypeParam> before(w, e);
    const std::string& value = w.get(e, f);
    w.set(e, f, "b");
    w.set(e, with(f, "c"));
    w.patch(e, f, [](std::string& s) { s += "d"; });
    w.patch(e, f, [](std::string& s) { s += "e"; });
    w.template patch<std::string>(e, f.id(), [](std::string& s) { s += "f"; });
    EXPECT_EQ(w.get(e, f), "cdef");
    EXPECT_FALSE(w.add(e, f));
    EXPECT_EQ(w.get(e, f), "cdef");
    w.set(e, f);
    EXPECT_EQ(value, "");
    EXPECT_EQ(&w.get(e, f), &value);
    EXPECT_EQ(picture<TypeParam>(w, e), before);
}

TYPED_TEST(fragments, a_throwing_patch_keeps_the_changes_made_before) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    const auto e = w.spawn(with(f, 1));
    EXPECT_THROW(w.patch(e, f,
                         [](int& value) {
                             value = 2;
                             throw broken{};
                         }),
                 broken);
    EXPECT_EQ(w.get(e, f), 2);
    w.set(e, f, 3);  // the world accepts changes again
    EXPECT_EQ(code_of([&] { w.patch(w.spawn(), f, [](int&) {}); }), errc::missing_component);
}

TYPED_TEST(fragments, take_move_only_values) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<lone>("lone");
    const auto e = w.spawn(with(f, lone(1)));
    w.set(e, f, lone(2));
    EXPECT_EQ(*w.get(e, f).value, 2);
    auto ready = with(f, lone(3));
    w.set(e, std::move(ready));
    EXPECT_EQ(*w.get(e, f).value, 3);
    const auto copy = w.clone(e, with(f, lone(4)));
    EXPECT_EQ(*w.get(copy, f).value, 4);
    EXPECT_EQ(code_of([&] { w.clone(e); }), errc::not_copyable);
    EXPECT_EQ(code_of([&] { w.clone_many(2, e); }), errc::not_copyable);
    const lone other(5);
    EXPECT_EQ(code_of([&] { w.set_raw(e, f, &other); }), errc::not_copyable);
    EXPECT_EQ(code_of([&] { w.copy_fragment(f, w.template fragment<lone>()); }),
              errc::not_copyable);
    EXPECT_EQ(*w.get(e, f).value, 3);
    EXPECT_EQ(w.count(f), 2u);
}

TYPED_TEST(fragments, are_cleared_and_counted_over_all_chunks) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<std::string>();
    const auto t = w.tag();
    for (int i = 0; i < 100; ++i) {
        const auto e = w.spawn(with(f, std::to_string(i)));
        if (i % 2 == 0) w.set(e, t);
        if (i % 3 == 0) w.set(e, i);
    }
    EXPECT_EQ(w.count(f), 100u);
    EXPECT_EQ(w.count(t), 50u);
    EXPECT_EQ(w.clear_fragment(f), 100u);
    EXPECT_EQ(w.count(f), 0u);
    EXPECT_EQ(w.count(t), 50u);
    EXPECT_EQ(w.template count<int>(), 34u);
    EXPECT_EQ(w.size(), 102u);
    EXPECT_EQ(w.clear_fragment(prefab), 0u);
}

TYPED_TEST(fragments, a_throwing_copy_keeps_all_old_values_of_a_chunk_with_both) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto from = w.template fragment<fragile>("from");
    const auto to = w.template fragment<fragile>("to");
    const auto all = w.spawn_many(5, with(from, fragile(1)), with(to, fragile(2)));
    const int living = fragile::count.living;
    copies.start(3);
    EXPECT_THROW(w.copy_fragment(from, to), broken);
    copies.stop();
    EXPECT_EQ(fragile::count.living, living);
    for (const auto e : all) EXPECT_EQ(w.get(e, to).value, 2);
    EXPECT_EQ(w.copy_fragment(from, to), 5u);
    for (const auto e : all) EXPECT_EQ(w.get(e, to).value, 1);
    EXPECT_EQ(fragile::count.living, living);
}

TYPED_TEST(fragments, are_copied_to_other_fragments) {
    basic_world<TypeParam> w;
    const auto from = w.template fragment<std::string>("from");
    const auto to = w.template fragment<std::string>("to");
    const auto fresh = w.spawn();
    const auto none = w.spawn(with(from, "a"));
    const auto both = w.spawn(with(from, "b"), with(to, "old"));
    const auto only = w.spawn(with(to, "stays"));
    EXPECT_EQ(w.copy_fragment(from, to), 2u);
    EXPECT_EQ(w.get(none, to), "a");
    EXPECT_EQ(w.get(both, to), "b");
    EXPECT_EQ(w.get(only, to), "stays");
    EXPECT_EQ(w.get(none, from), "a");
    EXPECT_EQ(w.copy_fragment(from, fresh), 2u);
    EXPECT_EQ(w.template get<std::string>(both, fresh), "b");
    EXPECT_EQ(w.copy_fragment(from, from), 0u);
    EXPECT_EQ(w.get(none, from), "a");
}

TYPED_TEST(fragments, tags_are_copied_too) {
    basic_world<TypeParam> w;
    const auto from = w.tag(), to = w.tag();
    const auto a = w.spawn(with(from)), b = w.spawn(with(from), place{1, 2});
    EXPECT_EQ(w.copy_fragment(from, to), 2u);
    EXPECT_TRUE(w.has(a, to));
    EXPECT_TRUE(w.has(b, to));
    EXPECT_EQ(w.template get<place>(b), (place{1, 2}));
}

TYPED_TEST(fragments, are_copied_with_the_needs_of_the_target) {
    basic_world<TypeParam> w;
    const auto from = w.template fragment<int>("from"), to = w.template fragment<int>("to");
    const auto extra = w.template fragment<std::string>("extra");
    w.define(to).needs(extra);
    w.define(extra).default_value("more");
    const auto e = w.spawn(with(from, 4));
    EXPECT_EQ(w.copy_fragment(from, to), 1u);
    EXPECT_EQ(w.get(e, to), 4);
    EXPECT_EQ(w.get(e, extra), "more");
}

TYPED_TEST(fragments, a_throwing_copy_changes_nothing_in_its_chunk) {
    MUSTER_ABOUT_CHUNKS();
    copies.stop();
    basic_world<TypeParam> w;
    const auto from = w.template fragment<fragile>(), to = w.template fragment<fragile>();
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 5; ++i) all.push_back(w.spawn(with(from, fragile(i))));
    const picture<TypeParam> before(w, all[2]);
    const int living = fragile::count.living;
    copies.start(3);
    EXPECT_THROW(w.copy_fragment(from, to), broken);
    copies.stop();
    EXPECT_EQ(picture<TypeParam>(w, all[2]), before);
    EXPECT_EQ(w.count(to), 0u);
    EXPECT_EQ(fragile::count.living, living);
    EXPECT_EQ(w.copy_fragment(from, to), 5u);
    EXPECT_EQ(w.count(to), 5u);
    EXPECT_EQ(w.get(all[4], to).value, 4);
}

TYPED_TEST(fragments, of_an_entity_are_listed_in_creation_order) {
    basic_world<TypeParam> w;
    const auto a = w.template fragment<int>();
    const auto t = w.tag();
    const auto b = w.template fragment<double>();
    const auto e = w.spawn(with(b, 2.0), with(t), with(a, 1));
    std::vector<basic_id<TypeParam>> seen;
    w.each_fragment(e, [&](basic_id<TypeParam> f, void* value) {
        seen.push_back(f);
        EXPECT_EQ(value, w.try_get_raw(e, f));
        EXPECT_EQ(value == nullptr, f == t);
    });
    EXPECT_EQ(seen, (std::vector<basic_id<TypeParam>>{a, t, b}));
    w.each_fragment(w.spawn(), [](basic_id<TypeParam>, void*) { ADD_FAILURE(); });
    EXPECT_EQ(code_of([&] { w.each_fragment(basic_id<TypeParam>{}, [](auto, void*) {}); }),
              errc::dead_entity);
}

TYPED_TEST(fragments, do_not_change_while_a_callback_reads_them) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    const auto e = w.spawn(with(f, 1));
    const auto other = w.spawn();
    const auto check = [&](auto change) {  // changes are deferred, then cancelled
        w.defer();
        const std::size_t size = w.size();
        change();
        EXPECT_EQ(w.get(e, f), 1);
        EXPECT_EQ(w.count(f), 1u);
        w.cancel();
        EXPECT_LE(w.size(), size);
    };
    const auto check_all = [&] {
        const int two = 2;
        check([&] { w.set(e, f, 2); });
        check([&] { w.set(e, f); });
        check([&] { EXPECT_FALSE(w.add(e, f)); });
        check([&] { EXPECT_TRUE(w.add(other, f)); });
        check([&] { EXPECT_TRUE(w.remove(e, f)); });
        check([&] { EXPECT_EQ(w.clear_fragment(f), 1u); });
        check([&] { EXPECT_EQ(w.copy_fragment(f, other), 1u); });
        check([&] { w.set_raw(e, f, &two); });
        check([&] { EXPECT_TRUE(w.destroy(f)); });
        check([&] { w.set(e, w.tag()); });
        check([&] { w.set(e, w.template fragment<int>(), 2); });
        check([&] { w.set_raw(e, w.fragment(component_type{.size = sizeof two}), &two); });
        check([&] { w.set(e, w.template ids<2>()[0], 3); });
        check([&] { w.spawn(with(f, 1)); });
        check([&] { w.builder().set(f, 1).spawn(); });
    };
    w.each_fragment(e, [&](basic_id<TypeParam>, void*) { check_all(); });
    w.patch(e, f, [&](int&) { check_all(); });
    EXPECT_THROW(w.each_fragment(e, [](basic_id<TypeParam>, void*) { throw broken{}; }), broken);
    EXPECT_EQ(w.size(), 3u);
    w.set(e, f, 2);
    EXPECT_EQ(w.get(e, f), 2);
}

TYPED_TEST(fragments, have_columns_in_their_chunks) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>("f");
    const auto t = w.tag("t");
    const auto missing = w.template fragment<int>("missing");
    const auto chunk = w.chunk(f, t);
    EXPECT_TRUE(chunk.empty());
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 20; ++i) all.push_back(w.spawn(with(t), with(f, i)));
    EXPECT_EQ(listed(chunk.entities()), all);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(chunk.components(f)[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(chunk.raw(f), chunk.template components<int>(f.id()).data());
    EXPECT_EQ(chunk.raw(t), nullptr);
    EXPECT_TRUE(chunk.has(f));
    EXPECT_TRUE(chunk.has(t));
    EXPECT_FALSE(chunk.has(missing));
    EXPECT_EQ(chunk.raw(missing), nullptr);
    EXPECT_EQ(code_of([&] { (void)chunk.components(missing); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { (void)chunk.template components<double>(f.id()); }),
              errc::type_mismatch);
    EXPECT_EQ(code_of([&] { (void)chunk.template components<int>(t); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { (void)basic_chunk<TypeParam>{}.components(f); }),
              errc::missing_component);
    EXPECT_EQ(w.chunk(prefab, f), w.chunk(f, prefab));
}

// ---- with --------------------------------------------------------------------------------------

TYPED_TEST(fragments, are_added_to_many_entities_at_once) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<std::string>();
    const auto t = w.tag();
    for (const auto e : w.spawn_many(50, with(f, "x"), place{1, 2}, with(t))) {
        EXPECT_EQ(w.get(e, f), "x");
        EXPECT_EQ(w.template get<place>(e), (place{1, 2}));
        EXPECT_TRUE(w.has(e, t));
    }
    std::array<basic_id<TypeParam>, 5> made;
    w.spawn_into(std::span(made), with(f, "y"));
    for (const auto e : made) EXPECT_EQ(w.get(e, f), "y");
    EXPECT_TRUE(w.spawn_many(0, with(f, "z")).empty());
    EXPECT_EQ(w.count(f), 55u);
}

TYPED_TEST(fragments, are_filled_row_by_row) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    const auto plain = w.spawn();
    w.spawn_rows(
        10,
        [&](basic_rows<TypeParam> rows) {
            for (int i = 0; i < 10; ++i) rows.components(f)[static_cast<std::size_t>(i)] += i;
            for (double& component : rows.template components<double>(plain)) component = 2.5;
        },
        with(f, 100), with(plain, 0.5));
    EXPECT_EQ(listed(w.chunk(f, plain).components(f)),
              (std::vector{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}));
    EXPECT_EQ(w.chunk(f, plain).template components<double>(plain)[9], 2.5);
}

TYPED_TEST(fragments, are_added_to_an_exact_id) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    const auto e = w.spawn(with(f, 1));
    const auto [key, version, number] = e.unpack();
    const auto next = basic_id<TypeParam>::pack(key + 5, version, number);
    EXPECT_EQ(w.spawn_at(next, with(f, 7)), next);
    EXPECT_EQ(w.get(next, f), 7);
    EXPECT_EQ(code_of([&] { w.spawn_at(next, with(f, 8)); }), errc::id_taken);
    EXPECT_EQ(w.get(next, f), 7);
    EXPECT_EQ(w.count(f), 2u);
}

TYPED_TEST(fragments, are_added_to_clones) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<std::string>(), g = w.template fragment<std::string>();
    const auto e = w.spawn(with(f, "f"), place{1, 2});
    for (const auto clone : w.clone_many(20, e, with(g, "g"), with(f, "other"))) {
        EXPECT_EQ(w.get(clone, f), "other");
        EXPECT_EQ(w.get(clone, g), "g");
        EXPECT_EQ(w.template get<place>(clone), (place{1, 2}));
    }
    std::array<basic_id<TypeParam>, 3> made;
    w.clone_into(std::span(made), e, with(g, "h"));
    for (const auto clone : made) EXPECT_EQ(w.get(clone, g), "h");
    EXPECT_EQ(w.get(e, f), "f");
}

TYPED_TEST(fragments, are_set_together_with_types_in_one_call) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    const auto t = w.tag();
    const auto e = w.spawn(with(f, 1));
    w.set(e, with(t), place{3, 4}, with(f, 2));
    EXPECT_EQ(w.get(e, f), 2);
    EXPECT_TRUE(w.has(e, t));
    EXPECT_EQ(w.template get<place>(e), (place{3, 4}));
}

TYPED_TEST(fragments, of_a_type_are_the_same_as_the_type) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto f = w.template component<place>();
    const auto e = w.spawn(with(f, place{1, 2}));
    EXPECT_EQ(w.template get<place>(e), (place{1, 2}));
    w.set(e, place{3, 4});
    EXPECT_EQ(w.get(e, f), (place{3, 4}));
    EXPECT_EQ(w.locate(e).chunk, w.template chunk<place>());
    EXPECT_EQ(w.size(), 1u);
}

TYPED_TEST(fragments, can_be_set_in_a_builder) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<std::string>(), g = w.template fragment<std::string>();
    const auto t = w.tag();
    auto recipe = w.builder();
    recipe.set(g, "g").set(f, "first").set(t).set(place{1, 2}).set(f, "second");
    EXPECT_EQ(recipe.size(), 4u);
    for (const auto e : recipe.spawn_many(20)) {
        EXPECT_EQ(w.get(e, f), "second");
        EXPECT_EQ(w.get(e, g), "g");
        EXPECT_TRUE(w.has(e, t));
        EXPECT_EQ(w.template get<place>(e), (place{1, 2}));
    }
    EXPECT_TRUE(recipe.remove(t));
    EXPECT_FALSE(recipe.remove(t));
    const auto e = recipe.clone(w.spawn(with(f, "own"), 5));
    EXPECT_EQ(w.get(e, f), "second");
    EXPECT_EQ(w.template get<int>(e), 5);
    EXPECT_FALSE(w.has(e, t));
    w.destroy(g);
    EXPECT_EQ(code_of([&] { (void)recipe.spawn(); }), errc::dead_fragment);
    EXPECT_TRUE(recipe.remove(g));
    EXPECT_EQ(w.get(recipe.spawn(), f), "second");
}

TYPED_TEST(fragments, passed_twice_are_refused) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>("f");
    const auto e = w.spawn(with(f, 1));
    const picture<TypeParam> before(w, e);
    const auto twice = errc::given_twice;
    EXPECT_EQ(code_of([&] { w.spawn(with(f, 1), with(f, 2)); }), twice);
    EXPECT_EQ(code_of([&] { w.spawn_many(3, with(f, 1), with(f, 2)); }), twice);
    EXPECT_EQ(code_of([&] { w.spawn(1, with(w.template component<int>(), 2)); }), twice);
    EXPECT_EQ(code_of([&] { w.set(e, with(f, 1), with(f, 2)); }), twice);
    EXPECT_EQ(code_of([&] { w.clone(e, with(f, 1), with(f, 2)); }), twice);
    EXPECT_EQ(code_of([&] { (void)w.chunk(f, f); }), twice);
    EXPECT_EQ(picture<TypeParam>(w, e), before);
    EXPECT_EQ(w.get(e, f), 1);
}

TYPED_TEST(fragments, that_are_dead_null_or_forged_are_refused_and_nothing_changes) {
    MUSTER_ABOUT_CHUNKS();
    using id_type = basic_id<TypeParam>;
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    const auto e = w.spawn(with(f, 1), place{1, 2});
    const auto gone = w.template fragment<int>();
    w.destroy(gone);
    const picture<TypeParam> before(w, e);
    const int value = 2;
    for (const id_type bad : {id_type{}, gone.id(), id_type::pack(TypeParam::last_key, 3)}) {
        const auto dead = errc::dead_fragment;
        EXPECT_EQ(code_of([&] { w.set(e, bad, 2); }), dead);
        EXPECT_EQ(code_of([&] { w.set(e, bad); }), dead);
        EXPECT_EQ(code_of([&] { w.add(e, bad); }), dead);
        EXPECT_EQ(code_of([&] { w.set_raw(e, bad, &value); }), dead);
        EXPECT_EQ(code_of([&] { (void)w.template get<int>(e, bad); }), dead);
        EXPECT_EQ(code_of([&] { w.template patch<int>(e, bad, [](int&) {}); }), dead);
        EXPECT_EQ(code_of([&] { w.copy_fragment(f, bad); }), dead);
        EXPECT_EQ(code_of([&] { w.copy_fragment(bad, f); }), dead);
        EXPECT_EQ(code_of([&] { (void)w.chunk(f, bad); }), dead);
        EXPECT_EQ(code_of([&] { (void)w.chunk(f).template components<int>(bad); }), dead);
        EXPECT_EQ(code_of([&] { w.spawn(with(f, 1), with(bad, 2)); }), dead);
        EXPECT_EQ(code_of([&] { w.spawn_many(5, with(bad, 2)); }), dead);
        EXPECT_EQ(code_of([&] { w.clone(e, with(bad, 2)); }), dead);
        EXPECT_EQ(code_of([&] { w.clone_many(5, e, with(bad)); }), dead);
        EXPECT_EQ(code_of([&] { w.set(e, with(f, 9), with(bad, 2)); }), dead);
        EXPECT_EQ(code_of([&] { (void)w.define(bad); }), dead);
        const auto lost = errc::dead_entity;
        EXPECT_EQ(code_of([&] { w.set(bad, f, 2); }), lost);
        EXPECT_EQ(code_of([&] { w.set(bad, f); }), lost);
        EXPECT_EQ(code_of([&] { w.add(bad, f); }), lost);
        EXPECT_EQ(code_of([&] { w.set_raw(bad, f, &value); }), lost);
        EXPECT_EQ(code_of([&] { (void)w.get(bad, f); }), lost);
        EXPECT_EQ(code_of([&] { w.patch(bad, f, [](int&) {}); }), lost);
        EXPECT_EQ(code_of([&] { w.clone(bad, with(f, 1)); }), lost);
        EXPECT_EQ(code_of([&] { w.clone_many(2, bad, with(f, 1)); }), lost);
        EXPECT_EQ(code_of([&] { w.each_fragment(bad, [](id_type, void*) {}); }), lost);
    }
    EXPECT_EQ(picture<TypeParam>(w, e), before);
    EXPECT_EQ(w.get(e, f), 1);
}

TYPED_TEST(fragments, remain_untyped_when_the_entity_is_dead) {
    basic_world<TypeParam> w;
    const auto f = w.spawn();
    EXPECT_EQ(code_of([&] { w.set(basic_id<TypeParam>{}, f, 1); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { w.set(basic_id<TypeParam>{}, f); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { w.add(basic_id<TypeParam>{}, f); }), errc::dead_entity);
    const auto e = w.spawn();
    w.set(e, f, std::string("x"));
    EXPECT_EQ(w.template get<std::string>(e, f), "x");
}

TYPED_TEST(fragments, throwing_values_change_nothing) {
    copies.stop();
    basic_world<TypeParam> w;
    const auto f = w.template fragment<fragile>("f");
    const auto t = w.tag();
    const auto e = w.spawn(with(f, fragile(1)), place{1, 2});
    const auto bare = w.spawn(place{3, 4});
    const picture<TypeParam> before(w, e), before_bare(w, bare);
    const auto value = with(f, fragile(2));
    const int living = fragile::count.living;
    copies.start(0);
    EXPECT_THROW(w.set(e, value), broken);
    copies.start(0);
    EXPECT_THROW(w.set(bare, value, with(t)), broken);
    copies.start(0);
    EXPECT_THROW(w.spawn(value), broken);
    copies.start(4);
    EXPECT_THROW(w.spawn_many(10, value, place{}), broken);
    copies.start(0);
    EXPECT_THROW(w.add(bare, f), broken);
    copies.start(0);
    EXPECT_THROW(w.clone(e, with(t)), broken);
    copies.stop();
    EXPECT_EQ(picture<TypeParam>(w, e), before);
    EXPECT_EQ(picture<TypeParam>(w, bare), before_bare);
    EXPECT_EQ(w.get(e, f).value, 1);
    EXPECT_EQ(w.count(f), 1u);
    EXPECT_EQ(w.count(t), 0u);
    EXPECT_EQ(fragile::count.living, living);
}

}  // namespace
}  // namespace muster::test
