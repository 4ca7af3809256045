// Fragments of a component type that is described at run time.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/fragment_kinds.hpp"

namespace muster::test {
namespace {

template <class Layout>
class raw_fragments : public testing::Test {};
TYPED_TEST_SUITE(raw_fragments, behavior_layouts, layout_names);

TYPED_TEST(raw_fragments, keep_values_of_any_size) {
    basic_world<TypeParam> w;
    for (const std::size_t size : {1u, 12u, 64u}) {
        const auto f = w.fragment(component_type{.size = size});
        std::vector<basic_id<TypeParam>> all = w.spawn_many(20);
        std::array<unsigned char, 64> bytes{};
        for (const auto e : all) {
            bytes.fill(static_cast<unsigned char>(e.key()));
            w.set_raw(e, f, bytes.data());
        }
        w.destroy(all[3]);
        w.add(all[5], w.tag());
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i == 3) continue;
            bytes.fill(static_cast<unsigned char>(all[i].key()));
            ASSERT_NE(w.try_get_raw(all[i], f), nullptr);
            EXPECT_EQ(std::memcmp(w.try_get_raw(all[i], f), bytes.data(), size), 0);
        }
        EXPECT_EQ(w.count(f), 19u);
    }
}

TYPED_TEST(raw_fragments, are_aligned_as_requested) {
    basic_world<TypeParam> w;
    for (const std::size_t alignment : {64u, 128u, 4096u}) {
        const auto f = w.fragment(component_type{.size = alignment, .alignment = alignment});
        std::vector<std::byte> room(alignment);
        const auto other = w.tag();
        for (int i = 0; i < 30; ++i) {
            const auto e = w.spawn();
            w.set_raw(e, f, room.data());
            if (i % 3 == 0) w.set(e, other);
        }
        for (const auto& chunk : {w.chunk(f), w.chunk(f, other)}) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(chunk.raw(f)) % alignment, 0u);
            for (const auto e : chunk.entities())
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(w.try_get_raw(e, f)) % alignment, 0u);
        }
    }
}

TYPED_TEST(raw_fragments, without_operations_start_as_zeros_and_are_copied_as_bytes) {
    basic_world<TypeParam> w;
    const auto f = w.fragment(component_type{.size = 12, .alignment = 4}, "bytes");
    const auto e = w.spawn();
    EXPECT_TRUE(w.add(e, f));
    const std::array<int, 3> zeros{}, numbers{1, 2, 3};
    EXPECT_EQ(std::memcmp(w.try_get_raw(e, f), zeros.data(), 12), 0);
    w.set_raw(e, f, numbers.data());
    const auto copy = w.clone(e);
    EXPECT_EQ(std::memcmp(w.try_get_raw(copy, f), numbers.data(), 12), 0);
    w.set(e, f);  // the default value again
    EXPECT_EQ(std::memcmp(w.try_get_raw(e, f), zeros.data(), 12), 0);
    EXPECT_EQ(std::memcmp(w.try_get_raw(copy, f), numbers.data(), 12), 0);
}

TYPED_TEST(raw_fragments, accept_a_value_stored_in_the_world) {
    basic_world<TypeParam> w;
    const auto f = w.fragment(component_type{.size = 4, .alignment = 4});
    const int number = 42;
    const auto first = w.spawn();
    w.set_raw(first, f, &number);
    std::vector<basic_id<TypeParam>> all = w.spawn_many(50);
    for (const auto e : all) w.set_raw(e, f, w.try_get_raw(first, f));
    w.set_raw(first, f, w.try_get_raw(first, f));
    for (const auto e : all) EXPECT_EQ(std::memcmp(w.try_get_raw(e, f), &number, 4), 0);
}

TYPED_TEST(raw_fragments, construct_and_destroy_each_value_once) {
    counted::count = {};
    {
        basic_world<TypeParam> w;
        const auto f = w.fragment(erased<counted>(), "counted");
        const counted original(5);
        std::vector<basic_id<TypeParam>> all = w.spawn_many(40);
        for (const auto e : all) w.set_raw(e, f, &original);
        EXPECT_EQ(counted::count.living, 41);
        for (const auto e : all) w.set_raw(e, f, &original);  // assigned
        EXPECT_EQ(counted::count.living, 41);
        (void)w.clone_many(10, all[0]);
        EXPECT_EQ(counted::count.living, 51);
        w.destroy(all[1]);
        w.remove(all[2], f);
        w.clear(all[3]);
        EXPECT_EQ(counted::count.living, 48);
        w.set(all[4], w.tag());
        w.set(all[4], f);
        EXPECT_EQ(static_cast<const counted*>(w.try_get_raw(all[4], f))->value, 0);
        EXPECT_EQ(static_cast<const counted*>(w.try_get_raw(all[5], f))->value, 5);
        EXPECT_EQ(w.clear_fragment(f), 47u);
        EXPECT_EQ(counted::count.living, 1);
        w.set_raw(all[6], f, &original);
        w.set_raw(all[7], f, &original);
        w.destroy(f);
        EXPECT_EQ(counted::count.living, 1);
        const auto g = w.fragment(erased<counted>());
        w.set_raw(all[8], g, &original);
        w.reset();
        EXPECT_EQ(counted::count.living, 1);
        const auto h = w.fragment(erased<counted>());
        w.add(w.spawn(), h);
    }
    EXPECT_EQ(counted::count.living, 0);
    EXPECT_EQ(counted::count.misused, 0);
}

TYPED_TEST(raw_fragments, a_throwing_copy_changes_nothing) {
    copies.stop();
    basic_world<TypeParam> w;
    const auto f = w.fragment(erased<fragile>(), "fragile");
    const fragile original(5);
    const auto e = w.spawn(place{1, 2});
    const auto full = w.spawn(place{3, 4});
    w.set_raw(full, f, &original);
    const picture<TypeParam> before(w, e), before_full(w, full);
    const int living = fragile::count.living;
    copies.start(0);
    EXPECT_THROW(w.set_raw(e, f, &original), broken);
    copies.start(0);
    EXPECT_THROW(w.set_raw(full, f, &original), broken);
    copies.start(0);
    EXPECT_THROW(w.add(e, f), broken);
    copies.start(0);
    EXPECT_THROW(w.set(full, f), broken);
    copies.start(0);
    EXPECT_THROW(w.clone(full), broken);
    copies.start(2);
    EXPECT_THROW(w.clone_many(5, full), broken);
    copies.stop();
    EXPECT_EQ(picture<TypeParam>(w, e), before);
    EXPECT_EQ(picture<TypeParam>(w, full), before_full);
    EXPECT_EQ(static_cast<const fragile*>(w.try_get_raw(full, f))->value, 5);
    EXPECT_EQ(fragile::count.living, living);
    EXPECT_EQ(fragile::count.misused, 0);
}

TYPED_TEST(raw_fragments, values_that_cannot_be_copied_are_refused_where_a_copy_is_needed) {
    basic_world<TypeParam> w;
    component_type type = erased<counted>();
    type.copy = nullptr;
    const auto f = w.fragment(type, "single");
    const auto e = w.spawn();
    EXPECT_TRUE(w.add(e, f));
    const picture<TypeParam> before(w, e);
    EXPECT_EQ(code_of([&] { w.clone(e); }), errc::not_copyable);
    EXPECT_EQ(code_of([&] { w.clone_many(2, e); }), errc::not_copyable);
    const counted other;
    EXPECT_EQ(code_of([&] { w.set_raw(e, f, &other); }), errc::not_copyable);
    EXPECT_EQ(picture<TypeParam>(w, e), before);
}

TYPED_TEST(raw_fragments, without_construct_have_no_default) {
    basic_world<TypeParam> w;
    component_type type = erased<counted>();
    type.construct = nullptr;
    const auto f = w.fragment(type, "given");
    const auto e = w.spawn();
    EXPECT_EQ(code_of([&] { w.add(e, f); }), errc::no_default);
    EXPECT_EQ(code_of([&] { w.set(e, f); }), errc::no_default);
    EXPECT_TRUE(w.empty(e));
    const counted value(3);
    w.set_raw(e, f, &value);
    EXPECT_FALSE(w.add(e, f));
    EXPECT_EQ(code_of([&] { w.set(e, f); }), errc::no_default);
    EXPECT_EQ(static_cast<const counted*>(w.try_get_raw(e, f))->value, 3);
}

TYPED_TEST(raw_fragments, can_be_duplicated_by_a_function_over_addresses) {
    basic_world<TypeParam> w;
    component_type type = erased<counted>();
    type.copy = nullptr;
    const auto f = w.fragment(type);
    w.define(f).duplicate([](void* to, const void* from) {
        ::new (to) counted(static_cast<const counted*>(from)->value + 1);
    });
    const auto e = w.spawn();
    w.add(e, f);
    EXPECT_EQ(static_cast<const counted*>(w.try_get_raw(w.clone(e), f))->value, 1);
    for (const auto value : w.clone_many(3, e))
        EXPECT_EQ(static_cast<const counted*>(w.try_get_raw(value, f))->value, 1);
}

TYPED_TEST(raw_fragments, of_size_zero_are_tags) {
    basic_world<TypeParam> w;
    const auto f = w.fragment(component_type{}, "tag");
    const auto e = w.spawn(with(f));
    EXPECT_TRUE(w.has(e, f));
    EXPECT_EQ(w.try_get_raw(e, f), nullptr);
    EXPECT_EQ(w.chunk(f).raw(f), nullptr);
    w.set_raw(e, f, nullptr);
    const auto other = w.spawn();
    w.set_raw(other, f, nullptr);
    EXPECT_EQ(w.count(f), 2u);
}

TEST(raw_fragment, of_an_invalid_type_is_refused) {
    world w;
    const auto sentence = [&](component_type type) {
        EXPECT_EQ(code_of([&] { (void)w.fragment(type); }), errc::bad_type);
        return sentence_of([&] { (void)w.fragment(type); });
    };
    EXPECT_EQ(sentence({.size = 4, .alignment = 0}),
              "a component cannot be aligned to 0: not a power of two");
    EXPECT_EQ(sentence({.size = 6, .alignment = 3}),
              "a component cannot be aligned to 3: not a power of two");
    EXPECT_EQ(sentence({.size = 6, .alignment = 4}),
              "a component of 6 bytes cannot be aligned to 4: the size must be a multiple of the "
              "alignment");
    EXPECT_EQ(code_of([&] {
                  const std::size_t huge = std::size_t{1} << 40;
                  (void)w.fragment(component_type{.size = huge, .alignment = huge});
              }),
              errc::bad_type);
    component_type type = erased<counted>();
    type.size = 0;
    EXPECT_EQ(sentence(type), "a component of size 0 is a tag and cannot have operations");
    EXPECT_EQ(w.size(), 0u);
}

TEST(raw_fragment, does_not_match_a_cpp_type_of_equal_size) {
    world w;
    const id f = w.fragment(component_type{.size = sizeof(place), .alignment = alignof(place)});
    const entity e = w.spawn();
    w.add(e, f);
    EXPECT_EQ(w.try_get<place>(e, f), nullptr);
    EXPECT_EQ(code_of([&] { (void)w.get<place>(e, f); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.set(e, f, place{}); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { (void)w.chunk(f).components<place>(f); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.define(f).default_value(place{}); }), errc::type_mismatch);
    EXPECT_NE(w.try_get_raw(e, f), nullptr);
}

}  // namespace
}  // namespace muster::test
