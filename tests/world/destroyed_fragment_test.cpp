// Destroyed fragments and the entities that had them.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/fragment_kinds.hpp"

namespace muster::test {
namespace {

template <class Layout>
class destroyed_fragments : public testing::Test {};
TYPED_TEST_SUITE(destroyed_fragments, behavior_layouts, layout_names);

TYPED_TEST(destroyed_fragments, are_removed_from_1000_owners_that_keep_the_rest) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto f = w.template fragment<std::string>("f");
    const auto t = w.tag();
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 1000; ++i) {
        all.push_back(w.spawn(with(f, std::to_string(i)), place{i, i}));
        if (i % 2 == 0) w.set(all.back(), t);
        if (i % 5 == 0) w.set(all.back(), std::to_string(i));
    }
    const auto bystander = w.spawn(place{-1, -1});
    EXPECT_TRUE(w.destroy(f));
    EXPECT_EQ(w.size(), 1002u);
    for (int i = 0; i < 1000; ++i) {
        const auto e = all[static_cast<std::size_t>(i)];
        ASSERT_TRUE(w.alive(e));
        EXPECT_FALSE(w.has(e, f));
        EXPECT_EQ(w.template get<place>(e), (place{i, i}));
        EXPECT_EQ(w.has(e, t), i % 2 == 0);
        if (i % 5 == 0) {
            EXPECT_EQ(w.template get<std::string>(e), std::to_string(i));
        }
    }
    EXPECT_EQ(w.template get<place>(bystander), (place{-1, -1}));
    EXPECT_EQ(w.template chunk<place>().size(), 401u);
}

TYPED_TEST(destroyed_fragments, destroy_their_1000_owners_if_defined_so) {
    counted::count = {};
    basic_world<TypeParam> w;
    const auto f = w.template fragment<counted>("f");
    w.define(f).when_destroyed(destroy_owners);
    const auto t = w.tag();
    const auto bystander = w.spawn(with(t), place{1, 2});
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 1000; ++i) {
        all.push_back(w.spawn(with(f, counted(i)), place{i, i}));
        if (i % 2 == 0) w.set(all.back(), t);
        if (i % 5 == 0) w.set(all.back(), std::to_string(i));
        if (i % 7 == 0) w.name(all.back(), "seventh");
    }
    EXPECT_TRUE(w.destroy(f));
    for (const auto e : all) EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.size(), 2u);
    EXPECT_EQ(counted::count.living, 0);
    EXPECT_EQ(counted::count.misused, 0);
    EXPECT_EQ(w.count(t), 1u);
    EXPECT_TRUE(w.lookup("seventh").is_null());
    EXPECT_EQ(w.template get<place>(bystander), (place{1, 2}));
}

TYPED_TEST(destroyed_fragments, follow_the_policy_defined_last) {
    basic_world<TypeParam> w;
    const auto f = w.tag();
    const auto e = w.spawn(with(f));
    w.define(f).when_destroyed(destroy_owners).when_destroyed(remove_fragment);
    w.destroy(f);
    EXPECT_TRUE(w.alive(e));
}

TYPED_TEST(destroyed_fragments, that_own_each_other_are_destroyed_together) {
    basic_world<TypeParam> w;
    const auto a = w.tag(), b = w.tag();
    w.define(a).when_destroyed(destroy_owners);
    w.define(b).when_destroyed(destroy_owners);
    w.set(a, b);
    w.set(b, a);
    const auto e = w.spawn(with(a)), other = w.spawn(place{});
    EXPECT_TRUE(w.destroy(a));
    EXPECT_FALSE(w.alive_any(a, b, e));
    EXPECT_TRUE(w.alive(other));
    EXPECT_EQ(w.size(), 1u);
}

TYPED_TEST(destroyed_fragments, that_own_themselves_are_destroyed_once) {
    for (const destruction policy : {remove_fragment, destroy_owners}) {
        basic_world<TypeParam> w;
        const auto f = w.template fragment<std::string>();
        w.define(f).when_destroyed(policy);
        w.set(f, f, "self");
        const auto e = w.spawn(with(f, "other"));
        EXPECT_TRUE(w.destroy(f));
        EXPECT_FALSE(w.destroy(f));
        EXPECT_EQ(w.alive(e), policy == remove_fragment);
        EXPECT_EQ(w.size(), policy == remove_fragment ? 1u : 0u);
        EXPECT_NE(w.spawn(), f.id());
    }
}

TYPED_TEST(destroyed_fragments, apply_their_policies_transitively) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto root = w.tag("root");
    const auto strict = w.template fragment<int>("strict"), lax = w.template fragment<int>("lax");
    w.define(root).when_destroyed(destroy_owners);
    w.define(strict).when_destroyed(destroy_owners);
    w.set(strict, root);
    w.set(lax, root);
    const auto destroyed = w.spawn(with(strict, 1)), kept = w.spawn(with(lax, 2), place{3, 4});
    const auto both = w.spawn(with(strict, 5), with(lax, 6)), bare = w.spawn(with(lax, 7));
    EXPECT_TRUE(w.destroy(root));
    EXPECT_FALSE(w.alive_any(root, strict, lax, destroyed, both));
    EXPECT_TRUE(w.alive_all(kept, bare));
    EXPECT_EQ(w.locate(kept).chunk, w.template chunk<place>());
    EXPECT_EQ(w.template get<place>(kept), (place{3, 4}));
    EXPECT_TRUE(w.empty(bare));
    EXPECT_EQ(w.size(), 2u);
}

TYPED_TEST(destroyed_fragments, of_a_type_are_registered_anew_on_the_next_use) {
    basic_world<TypeParam> w;
    w.template define<place>().unique().name("spot");
    const auto e = w.spawn(place{1, 2}, speed{3});
    const auto before = w.template component<place>();
    EXPECT_TRUE(w.destroy(before));
    EXPECT_FALSE(w.template has<place>(e));
    EXPECT_EQ(w.template get<speed>(e).value, 3);
    EXPECT_EQ(code_of([&] { (void)w.get(e, before); }), errc::dead_fragment);
    EXPECT_TRUE(w.lookup("spot").is_null());
    w.set(e, place{5, 6});
    EXPECT_NE(w.template component<place>(), before);
    EXPECT_FALSE(w.template define<place>().is_unique());
    EXPECT_EQ(w.template get<place>(w.clone(e)), (place{5, 6}));
    EXPECT_EQ(w.size(), 2u);
}

TYPED_TEST(destroyed_fragments, can_destroy_the_fragment_of_a_type) {
    basic_world<TypeParam> w;
    const auto trait = w.tag();
    w.define(trait).when_destroyed(destroy_owners);
    const auto e = w.spawn(place{1, 2}, speed{3});
    w.set(w.template component<place>(), trait);
    w.destroy(trait);
    EXPECT_TRUE(w.alive(e));
    EXPECT_FALSE(w.template has<place>(e));
    EXPECT_EQ(w.template get<speed>(e).value, 3);
    EXPECT_EQ(w.size(), 1u);
    EXPECT_EQ(w.template get<place>(w.spawn(place{5, 6})), (place{5, 6}));
}

TYPED_TEST(destroyed_fragments, free_their_chunks) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto f = w.tag();
    const auto with_f = w.chunk(f), without = w.template chunk<place>();
    w.spawn(with(f), place{});
    w.destroy(f);
    EXPECT_EQ(code_of([&] { (void)with_f.size(); }), errc::dead_chunk);
    EXPECT_EQ(without.size(), 1u);
}

TYPED_TEST(destroyed_fragments, can_be_destroyed_by_every_destroy_call) {
    basic_world<TypeParam> w;
    const auto a = w.tag(), b = w.tag(), c = w.tag();
    const auto e = w.spawn(with(a), with(b), with(c));
    EXPECT_EQ(w.destroy(a, b), 2u);
    EXPECT_EQ(w.destroy_if([&](basic_id<TypeParam> id) { return id == c; }), 1u);
    EXPECT_TRUE(w.alive(e));
    EXPECT_TRUE(w.empty(e));
}

TYPED_TEST(destroyed_fragments, reset_destroys_user_fragments_and_keeps_those_of_types) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto f = w.template fragment<std::string>("mine");
    const auto needed = w.tag();
    w.template define<place>().unique().name("spot").default_value(place{7, 7}).needs(needed);
    w.template define<speed>().template needs<place>();
    const auto type = w.template component<place>();
    w.set(type, needed);
    w.set_single(speed{9});
    const auto e = w.spawn(with(f, "x"), place{1, 2});
    w.reset();
    EXPECT_FALSE(w.alive_any(f, needed, e));
    EXPECT_TRUE(w.alive(type));
    EXPECT_EQ(w.size(), 0u);
    EXPECT_FALSE(w.template has_single<speed>());
    EXPECT_TRUE(w.empty(type));
    EXPECT_TRUE(w.lookup("mine").is_null());
    EXPECT_EQ(w.lookup("spot"), type.id());
    EXPECT_EQ(w.template component<place>(), type);
    EXPECT_TRUE(w.template define<place>().is_unique());
    const auto fast = w.spawn(speed{1});
    EXPECT_EQ(w.template get<place>(fast), (place{7, 7}));
    EXPECT_EQ(w.locate(fast).chunk.fragments().size(), 2u);  // reset destroyed the needed tag
    const auto fresh = w.template ids<2>();
    w.set(fresh[0], fresh[1], 1.5);  // reused keys have no type
    EXPECT_EQ(w.template get<double>(fresh[0], fresh[1]), 1.5);
    EXPECT_EQ(code_of([&] { w.set(fast, f, "y"); }), errc::dead_fragment);
}

TYPED_TEST(destroyed_fragments, collecting_garbage_frees_chunks_but_keeps_fragments) {
    MUSTER_ABOUT_CHUNKS();
    basic_world<TypeParam> w;
    const auto f = w.template fragment<int>("f");
    w.define(f).default_value(4);
    const auto e = w.spawn(with(f, 1), place{});
    const auto chunk = w.chunk(f);
    w.clear(e);
    w.collect_garbage();
    EXPECT_EQ(code_of([&] { (void)chunk.entities(); }), errc::dead_chunk);
    EXPECT_TRUE(w.alive(f));
    w.set(e, f);
    EXPECT_EQ(w.get(e, f), 4);
    EXPECT_EQ(w.locate(e).chunk, w.chunk(f));
    EXPECT_EQ(w.count(f), 1u);
}

/// Its last value queries the world when it is destroyed.
struct curious {
    world* asked = nullptr;
    std::size_t* found = nullptr;

    curious() = default;
    curious(world& w, std::size_t& count) : asked(&w), found(&count) {}
    curious(const curious& other) noexcept = default;
    curious(curious&& other) noexcept
        : asked(std::exchange(other.asked, nullptr)), found(other.found) {}
    curious& operator=(const curious&) = default;
    ~curious() {
        if (asked != nullptr) *found = asked->query<const place>().count();
    }
};

TEST(destroyed_sparse_fragment, can_be_followed_by_a_query_in_the_destructor_of_its_default_value) {
    world w;
    std::size_t found = 0;
    w.define<curious>().sparse().default_value(curious(w, found));
    w.add<curious>(w.spawn());
    const entity e = w.spawn(place{});
    w.defer();
    w.destroy(w.component<curious>());
    w.set(e, curious{});  // a pending value of the destroyed fragment
    found = 0;
    w.commit();
    EXPECT_EQ(found, 1u);
}

}  // namespace
}  // namespace muster::test
