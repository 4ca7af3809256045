// Traits of fragments: defaults, duplicates, needs, unique, hidden.
#include <muster/muster.hpp>
#include <muster/reflect/codec.hpp>

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>

#include "support/about_chunks.hpp"
#include "support/fragment_kinds.hpp"

namespace muster::test {
namespace {

constexpr detail::codec text_codec{};
constexpr detail::codec other_codec{};
struct saved {
    int value = 0;
};

}  // namespace
}  // namespace muster::test

template <>
struct muster::component_traits<muster::test::saved> {
    static constexpr const muster::detail::codec* codec = &muster::test::text_codec;
};

namespace muster::test {
namespace {

template <class Layout>
class defined_fragments : public testing::Test {};
TYPED_TEST_SUITE(defined_fragments, behavior_layouts, layout_names);

TYPED_TEST(defined_fragments, have_a_name_that_can_be_looked_up) {
    basic_world<TypeParam> w;
    w.template define<place>().name("place");
    EXPECT_EQ(w.lookup("place"), w.template component<place>().id());
    const auto f = w.spawn();
    const auto definition = w.define(f).name("first").name("second");
    EXPECT_EQ(definition.id(), f);
    EXPECT_EQ(w.name(f), "second");
    EXPECT_TRUE(w.lookup("first").is_null());
}

TYPED_TEST(defined_fragments, start_with_their_default_value) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<std::string>();
    w.define(f).default_value("one");
    const auto a = w.spawn(), b = w.spawn();
    w.set(a, f);
    EXPECT_TRUE(w.add(b, f));
    EXPECT_EQ(w.get(a, f), "one");
    EXPECT_EQ(w.get(b, f), "one");
    w.define(f).default_value(std::string("two"));
    EXPECT_EQ(w.get(a, f), "one");  // existing values do not change
    EXPECT_FALSE(w.add(a, f));
    w.set(a, f);
    EXPECT_EQ(w.get(a, f), "two");
}

TYPED_TEST(defined_fragments, need_a_default_value_if_their_type_has_none) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<given>();
    const auto e = w.spawn();
    EXPECT_EQ(code_of([&] { w.add(e, f); }), errc::no_default);
    EXPECT_TRUE(w.empty(e));
    w.define(f).default_value(given(8));
    w.add(e, f);
    EXPECT_EQ(w.get(e, f).value, 8);
}

TYPED_TEST(defined_fragments, plain_ids_take_the_type_of_the_default_value) {
    basic_world<TypeParam> w;
    const auto [e, f] = w.template ids<2>();
    w.define(f).default_value(2.5);
    EXPECT_EQ(code_of([&] { w.define(f).default_value(1); }), errc::type_mismatch);
    w.set(e, f);
    EXPECT_EQ(w.template get<double>(e, f), 2.5);
    EXPECT_EQ(code_of([&] { w.define(w.tag()).default_value(1); }), errc::type_mismatch);
}

TYPED_TEST(defined_fragments, are_duplicated_for_clones_and_defaults) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    int calls = 0;
    w.define(f).default_value(10).duplicate([&calls](const int& value) { return value + ++calls; });
    const auto e = w.spawn(with(f, 1));
    EXPECT_EQ(w.get(e, f), 1);
    EXPECT_EQ(w.get(w.clone(e), f), 2);
    EXPECT_EQ(w.get(w.clone(e, with(f, 50)), f), 50);
    const auto many = w.clone_many(2, e);
    EXPECT_EQ(w.get(many[0], f) + w.get(many[1], f), 3 + 4);
    const auto other = w.spawn();
    w.set(other, f);
    EXPECT_EQ(w.get(other, f), 14);
    EXPECT_EQ(calls, 4);
}

TYPED_TEST(defined_fragments, move_only_values_are_cloned_by_the_duplicate_function) {
    basic_world<TypeParam> w;
    w.template define<lone>().duplicate([](const lone& value) { return lone(*value.value + 1); });
    const auto e = w.spawn(lone(1));
    EXPECT_EQ(*w.template get<lone>(w.clone(e)).value, 2);
    for (const auto clone : w.clone_many(3, e)) EXPECT_EQ(*w.template get<lone>(clone).value, 2);
}

TYPED_TEST(defined_fragments, a_throwing_duplicate_changes_nothing) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<counted>();
    int left = 0;
    w.define(f).duplicate([&left](const counted& value) {
        if (left-- == 0) throw broken{};
        return value;
    });
    counted::count = {};
    const auto e = w.spawn(with(f, counted(1)), std::string("x"));
    const picture<TypeParam> before(w, e);
    EXPECT_THROW(w.clone(e), broken);
    left = 3;
    EXPECT_THROW(w.clone_many(5, e), broken);
    EXPECT_EQ(picture<TypeParam>(w, e), before);
    EXPECT_EQ(w.count(f), 1u);
    EXPECT_EQ(counted::count.living, 1);
    EXPECT_EQ(counted::count.misused, 0);
}

TYPED_TEST(defined_fragments, every_call_that_adds_a_fragment_adds_the_needed_ones) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>("f");
    const auto needed = w.template fragment<std::string>("needed");
    w.define(needed).default_value("here");
    w.define(f).needs(needed);
    const auto check = [&](basic_id<TypeParam> e, int value) {
        EXPECT_EQ(w.get(e, f), value);
        ASSERT_TRUE(w.has(e, needed));
        EXPECT_EQ(w.get(e, needed), "here");
    };
    check(w.spawn(with(f, 1)), 1);
    for (const auto e : w.spawn_many(10, with(f, 2))) check(e, 2);
    std::array<basic_id<TypeParam>, 3> made;
    w.spawn_into(std::span(made), with(f, 3), place{});
    for (const auto e : made) check(e, 3);
    w.spawn_rows(
        4,
        [&](basic_rows<TypeParam> rows) {
            for (const std::string& component : rows.components(needed))
                EXPECT_EQ(component, "here");
        },
        with(f, 4));
    const auto [key, version, number] = made[0].unpack();
    check(w.spawn_at(basic_id<TypeParam>::pack(key + 100, version, number), with(f, 5)), 5);
    const auto plain = w.spawn(place{1, 2});
    check(w.clone(plain, with(f, 6)), 6);
    for (const auto e : w.clone_many(3, plain, with(f, 7))) check(e, 7);
    check(w.builder().set(f, 8).spawn(), 8);
    check(w.builder().set(f, 9).clone(plain), 9);
    w.set(plain, f, 10);
    check(plain, 10);
    EXPECT_EQ(w.template get<place>(plain), (place{1, 2}));
    const auto added = w.spawn(), set_by_many = w.spawn(), raw = w.spawn();
    w.add(added, f);
    check(added, 0);
    w.set(set_by_many, with(f, 11), speed{});
    check(set_by_many, 11);
    const int value = 12;
    w.set_raw(raw, f, &value);
    check(raw, 12);
}

TYPED_TEST(defined_fragments, a_need_keeps_an_existing_value) {
    basic_world<TypeParam> w;
    const auto f = w.tag();
    const auto needed = w.template fragment<int>();
    w.define(needed).default_value(1);
    w.define(f).needs(needed);
    const auto e = w.spawn(with(needed, 5));
    w.set(e, f);
    EXPECT_EQ(w.get(e, needed), 5);
    EXPECT_EQ(w.get(w.spawn(with(f), with(needed, 6)), needed), 6);
    EXPECT_TRUE(w.remove(e, needed));  // a needed fragment can be removed
    EXPECT_TRUE(w.has(e, f));
}

TYPED_TEST(defined_fragments, needs_are_transitive_and_may_be_cyclic) {
    basic_world<TypeParam> w;
    const auto a = w.tag(), b = w.tag();
    const auto c = w.template fragment<std::string>();
    w.define(a).needs(b);
    w.define(b).needs(c);
    w.define(c).default_value("c").needs(a, c);
    const auto by_a = w.spawn(with(a)), by_b = w.spawn(with(b)), by_c = w.spawn(with(c, "x"));
    for (const auto e : {by_a, by_b, by_c}) EXPECT_TRUE(w.has_all(e, a, b, c));
    EXPECT_EQ(w.get(by_b, c), "c");
    EXPECT_EQ(w.get(by_c, c), "x");
    EXPECT_EQ(w.locate(by_a).chunk, w.locate(by_c).chunk);
}

TYPED_TEST(defined_fragments, a_fragment_that_needs_itself_needs_no_default) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<given>("f");
    w.define(f).needs(f);
    EXPECT_EQ(w.get(w.spawn(with(f, given(1))), f).value, 1);
}

TYPED_TEST(defined_fragments, types_can_need_types) {
    basic_world<TypeParam> w;
    w.template define<place>().template needs<speed, marked>();
    w.template define<speed>().default_value(speed{7});
    const auto e = w.spawn(place{1, 2});
    EXPECT_EQ(w.template get<speed>(e).value, 7);
    EXPECT_TRUE(w.template has<marked>(e));
}

TYPED_TEST(defined_fragments, a_needed_plain_id_becomes_a_tag) {
    basic_world<TypeParam> w;
    const auto [f, needed] = w.template ids<2>();
    w.define(f).needs(needed);
    const auto e = w.spawn(with(f, 1));
    EXPECT_TRUE(w.has(e, needed));
    EXPECT_EQ(w.try_get_raw(e, needed), nullptr);
}

TYPED_TEST(defined_fragments, a_needed_fragment_without_default_is_an_error_that_changes_nothing) {
    basic_world<TypeParam> w;
    const auto f = w.tag("f");
    const auto needed = w.template fragment<given>("needed");
    w.define(f).needs(needed);
    const auto e = w.spawn(place{1, 2});
    const picture<TypeParam> before(w, e);
    const auto refused = errc::no_default;
    EXPECT_EQ(code_of([&] { w.set(e, f); }), refused);
    EXPECT_EQ(code_of([&] { w.add(e, f); }), refused);
    EXPECT_EQ(code_of([&] { w.set(e, with(f), speed{1}); }), refused);
    EXPECT_EQ(code_of([&] { w.spawn(with(f)); }), refused);
    EXPECT_EQ(code_of([&] { w.spawn_many(3, with(f)); }), refused);
    EXPECT_EQ(code_of([&] { w.clone(e, with(f)); }), refused);
    EXPECT_EQ(code_of([&] { w.clone_many(3, e, with(f)); }), refused);
    EXPECT_EQ(code_of([&] { w.builder().set(f).spawn(); }), refused);
    EXPECT_EQ(picture<TypeParam>(w, e), before);
    EXPECT_EQ(w.count(f), 0u);
    w.set(e, with(f), with(needed, given(3)));  // an explicit value needs no default
    EXPECT_EQ(w.get(e, needed).value, 3);
}

TYPED_TEST(defined_fragments, a_throwing_needed_default_changes_nothing) {
    copies.stop();
    basic_world<TypeParam> w;
    const auto f = w.tag("f");
    const auto needed = w.template fragment<fragile>("needed");
    w.define(needed).default_value(fragile(3));
    w.define(f).needs(needed);
    const auto e = w.spawn(std::string("x"));
    const picture<TypeParam> before(w, e);
    const int living = fragile::count.living;
    for (int i = 0; i < 4; ++i) {
        copies.start(0);
        EXPECT_THROW(i == 0   ? w.set(e, f)
                     : i == 1 ? (void)w.spawn(with(f))
                     : i == 2 ? (void)w.clone(e, with(f))
                              : w.set(e, with(f), place{}),
                     broken);
    }
    copies.start(5);
    EXPECT_THROW(w.spawn_many(10, with(f)), broken);
    copies.stop();
    EXPECT_EQ(picture<TypeParam>(w, e), before);
    EXPECT_EQ(fragile::count.living, living);
    EXPECT_EQ(w.count(needed), 0u);
}

TYPED_TEST(defined_fragments, new_traits_do_not_change_existing_entities) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    const auto needed = w.tag();
    const auto e = w.spawn(with(f, 1));
    const picture<TypeParam> before(w, e);
    w.define(f).needs(needed).unique().hidden().default_value(5);
    EXPECT_EQ(picture<TypeParam>(w, e), before);
    w.set(e, f, 2);
    EXPECT_EQ(picture<TypeParam>(w, e), before);
    EXPECT_TRUE(w.has(w.spawn(with(f, 1)), needed));
}

TYPED_TEST(defined_fragments, a_destroyed_fragment_is_no_longer_needed) {
    basic_world<TypeParam> w;
    const auto f = w.tag();
    const auto needed = w.template fragment<given>();
    w.define(f).needs(needed);
    w.destroy(needed);
    EXPECT_EQ(w.locate(w.spawn(with(f))).chunk, w.chunk(f));
}

TYPED_TEST(defined_fragments, unique_fragments_are_cloned_only_if_passed_explicitly) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<lone>("passport");
    w.define(f).unique();
    const auto e = w.spawn(with(f, lone(1)), place{1, 2});
    const auto copy = w.clone(e);  // skips the passport, which cannot be copied
    EXPECT_FALSE(w.has(copy, f));
    EXPECT_EQ(w.template get<place>(copy), (place{1, 2}));
    EXPECT_EQ(*w.get(w.clone(e, with(f, lone(2))), f).value, 2);
    EXPECT_EQ(w.clone_many(3, e).size(), 3u);
    EXPECT_EQ(w.count(f), 2u);
    const auto only = w.spawn(with(f, lone(3)));
    EXPECT_TRUE(w.empty(w.clone(only)));
}

TYPED_TEST(defined_fragments, report_their_traits) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>();
    EXPECT_FALSE(w.define(f).is_unique());
    EXPECT_FALSE(w.define(f).is_hidden());
    EXPECT_FALSE(w.define(f).is_internal());
    w.define(f).unique().hidden().internal();
    EXPECT_TRUE(w.define(f).is_unique());
    EXPECT_TRUE(w.define(f.id()).is_hidden());
    EXPECT_TRUE(w.define(f).is_internal());
    w.define(f).unique(false).hidden(false).internal(false);
    EXPECT_FALSE(w.define(f).is_unique());
    EXPECT_FALSE(w.define(f).is_hidden());
    EXPECT_FALSE(w.define(f).is_internal());
}

TYPED_TEST(defined_fragments, of_a_type_start_with_its_component_traits) {
    basic_world<TypeParam> w;
    EXPECT_TRUE(w.template define<secret>().is_hidden());
    EXPECT_TRUE(w.template define<secret>().is_unique());
    EXPECT_FALSE(w.template define<secret>().is_internal());
    EXPECT_FALSE(w.template has<secret>(w.clone(w.spawn(secret{1}))));
    w.template define<secret>().unique(false);
    EXPECT_EQ(w.template get<secret>(w.clone(w.spawn(secret{1}))).value, 1);
}

TYPED_TEST(defined_fragments, prefab_and_disabled_behave_alike_in_every_world) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto e = w.spawn(place{1, 2});
    w.set(e, prefab);
    w.set(e, disabled);
    const auto copy = w.clone(e);
    EXPECT_FALSE(w.has(copy, prefab));
    EXPECT_TRUE(w.has(copy, disabled));
    EXPECT_TRUE(w.remove(e, prefab, disabled));
    EXPECT_EQ(w.locate(e).chunk, w.template chunk<place>());
    EXPECT_EQ(w.size(), 2u);
}

TYPED_TEST(defined_fragments, cannot_be_defined_when_they_are_dead) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>("f");
    auto definition = w.define(f);
    w.destroy(f);
    const auto dead = errc::dead_fragment;
    EXPECT_EQ(code_of([&] { (void)w.define(f); }), dead);
    EXPECT_EQ(code_of([&] { (void)w.define(basic_id<TypeParam>{}); }), dead);
    EXPECT_EQ(code_of([&] { definition.default_value(1); }), dead);
    EXPECT_EQ(code_of([&] { definition.duplicate([](int value) { return value; }); }), dead);
    EXPECT_EQ(code_of([&] { definition.template needs<place>(); }), dead);
    EXPECT_EQ(code_of([&] { definition.unique(); }), dead);
    EXPECT_EQ(code_of([&] { definition.hidden(); }), dead);
    EXPECT_EQ(code_of([&] { definition.internal(); }), dead);
    EXPECT_EQ(code_of([&] { definition.when_destroyed(destroy_owners); }), dead);
    EXPECT_EQ(code_of([&] { (void)definition.is_hidden(); }), dead);
    EXPECT_EQ(code_of([&] { w.template define<place>().needs(f); }), dead);
}

TYPED_TEST(defined_fragments, cannot_be_changed_while_the_world_copies_their_values) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<std::string>("f");
    const auto other = w.tag("other");
    std::vector<errc> refused;
    const auto change = [&](auto call) { refused.push_back(*code_of(call)); };
    w.define(f).default_value(std::string(100, 'a')).duplicate([&](const std::string& text) {
        change([&] { w.define(f).default_value("b"); });
        change([&] { w.define(f).duplicate([](const std::string& it) { return it; }); });
        change([&] { w.define(other).hidden(); });
        change([&] { w.define(other).needs(f); });
        return text;
    });
    const auto e = w.spawn();
    w.set(e, f);
    EXPECT_EQ(w.get(e, f), std::string(100, 'a'));
    EXPECT_EQ(refused, std::vector<errc>(4, errc::in_scope));
}

TYPED_TEST(defined_fragments, defining_with_a_type_fixes_the_type) {
    basic_world<TypeParam> w;
    const auto [plain, e] = w.template ids<2>();
    w.define(basic_fragment<std::string, TypeParam>(plain)).duplicate([](const std::string& text) {
        return text + "!";
    });
    EXPECT_EQ(code_of([&] { w.set(e, plain, 1); }), errc::type_mismatch);
    w.set(e, plain, std::string("a"));
    EXPECT_EQ(w.template get<std::string>(w.clone(e), plain), "a!");
}

TYPED_TEST(defined_fragments, remain_untyped_when_a_call_fails) {
    basic_world<TypeParam> w;
    const auto [f, dead, e] = w.template ids<3>();
    w.destroy(dead);
    EXPECT_EQ(code_of([&] { w.set(e, with(f, 1), with(dead, 2)); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { w.spawn(with(f, 1), with(f, 2)); }), errc::given_twice);
    EXPECT_EQ(code_of([&] { w.define(f).needs(f, dead); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { w.spawn_at(e, with(f, 1)); }), errc::id_taken);
    w.set(e, f, std::string("text"));
    EXPECT_EQ(w.template get<std::string>(e, f), "text");
    EXPECT_EQ(code_of([&] { w.set(e, f, 1); }), errc::type_mismatch);
}

TYPED_TEST(defined_fragments, a_default_in_a_builder_overrides_the_prototype) {
    basic_world<TypeParam> w;
    const auto f = w.template fragment<std::unique_ptr<int>>("owner");
    const auto prototype = w.spawn(with(f, std::make_unique<int>(1)));
    auto recipe = w.builder();
    recipe.set(f);
    const auto made = recipe.clone(prototype);
    EXPECT_EQ(w.get(made, f), nullptr);
    EXPECT_EQ(*w.get(prototype, f), 1);
}

TYPED_TEST(defined_fragments, have_the_codec_of_their_type_or_their_own) {
    basic_world<TypeParam> w;
    basic_world<TypeParam> other;
    EXPECT_EQ(w.template define<place>().codec(), nullptr);
    EXPECT_EQ(w.template define<saved>().codec(), &text_codec);
    EXPECT_EQ(w.define(w.template fragment<saved>()).codec(), &text_codec);
    w.template define<saved>().codec(&other_codec);
    EXPECT_EQ(w.template define<saved>().codec(), &other_codec);
    EXPECT_EQ(other.template define<saved>().codec(), &text_codec);
    w.template define<saved>().codec(nullptr);
    EXPECT_EQ(w.template define<saved>().codec(), nullptr);
}

TYPED_TEST(defined_fragments, untyped_ids_take_the_codec_of_their_first_value) {
    basic_world<TypeParam> w;
    const auto [e, f, g] = w.template ids<3>();
    EXPECT_EQ(w.define(f).codec(), nullptr);
    w.set(e, f, saved{1});
    EXPECT_EQ(w.define(f).codec(), &text_codec);
    w.define(g).codec(&other_codec);  // before it has a type
    w.set(e, g, saved{1});
    EXPECT_EQ(w.define(g).codec(), &other_codec);
    EXPECT_EQ(w.template get<saved>(e, g).value, 1);
}

}  // namespace
}  // namespace muster::test
