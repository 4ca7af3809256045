// Sparse fragments of dead, foreign, forged and unusual ids, fragments that are destroyed while values are
// pending, and worlds with few keys.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/layouts.hpp"
#include "support/sparse_kinds.hpp"
#include "support/world_layouts.hpp"

namespace muster {
namespace {

using test::code_of;
using test::counted;
using namespace test::sparse_kinds;

template <class Layout>
class sparse_hostile : public testing::Test {
protected:
    ~sparse_hostile() override { EXPECT_EQ(counted::count.misused, 0); }

    using entity_type = basic_id<Layout>;
    sparse_world<Layout> here;
    entity_type living = here.spawn(place{1}, burning{2}, label{"living"}, stunned{});

    /// Expects that the id has no sparse fragment and that no call changes the world. A dead id is one that is
    /// null, was destroyed or was never issued; `destroy`, `remove` and `clear` return false for it. All calls
    /// throw for the id of another world.
    void expect_dead(entity_type e) { expect_not_alive(e, errc::dead_entity); }
    void expect_foreign(entity_type e) { expect_not_alive(e, errc::foreign_entity); }

    void expect_not_alive(entity_type e, errc expected) {
        SCOPED_TRACE(e.value());
        auto& w = here;
        EXPECT_FALSE(w.alive(e));
        EXPECT_EQ(w.template try_get<burning>(e), nullptr);
        EXPECT_EQ(w.template try_get<label>(e), nullptr);
        EXPECT_EQ(w.template try_get<stunned>(e), nullptr);
        EXPECT_FALSE((w.template has_any<burning, label, stunned>(e)));
        EXPECT_TRUE(w.empty(e));
        const auto fails = [&](auto call) { EXPECT_EQ(code_of(call), expected); };
        fails([&] { (void)w.template get<burning>(e); });
        fails([&] { w.set(e, burning{9}); });
        fails([&] { w.set(e, stunned{}); });
        fails([&] { w.set(e, burning{9}, place{9}); });
        fails([&] { w.template add<burning>(e); });
        fails([&] { w.template emplace<label>(e); });
        fails([&] { w.template get_or_emplace<label>(e); });
        fails([&] { w.template patch<burning>(e, [](burning&) {}); });
        fails([&] { w.template touch<burning>(e); });
        fails([&] { w.clone(e); });
        fails([&] { w.clone_many(2, e, burning{1}); });
        fails([&] { w.each_fragment(e, [](entity_type, void*) {}); });
        const auto finds_nothing = [&](auto call) {
            std::optional<bool> returned;
            const std::optional<errc> code = code_of([&] { returned = call(); });
            if (expected == errc::foreign_entity) {
                EXPECT_EQ(code, errc::foreign_entity);
            } else {
                EXPECT_EQ(code, std::nullopt);
                EXPECT_EQ(returned, false);
            }
        };
        finds_nothing([&] { return w.template remove<burning>(e); });
        finds_nothing([&] { return w.template remove<burning, place>(e); });
        finds_nothing([&] { return w.clear(e); });
        finds_nothing([&] { return w.destroy(e); });
        EXPECT_EQ(w.template count<burning>(), 1u);
        EXPECT_EQ(w.template count<label>(), 1u);
        EXPECT_EQ(w.template count<stunned>(), 1u);
        EXPECT_EQ(w.template get<burning>(living).heat, 2);
    }
    template <class T>
    std::vector<entity_type> entities_with() {
        std::vector<entity_type> all;
        here.template query<T>().each([&](entity_type e, T&) { all.push_back(e); });
        std::ranges::sort(all);
        return all;
    }
};
using some_layouts = testing::Types<layouts::bound, layouts::exact, test::wrapping>;
TYPED_TEST_SUITE(sparse_hostile, some_layouts, test::layout_names);

// ---- ids ---------------------------------------------------------------------------------------

TYPED_TEST(sparse_hostile, null_and_destroyed_ids_have_no_sparse_values) {
    auto& w = this->here;
    this->expect_dead({});
    const auto dead = w.spawn(burning{5}, label{}, stunned{});
    w.destroy(dead);
    this->expect_dead(dead);
}

TYPED_TEST(sparse_hostile, forged_ids_have_no_sparse_values) {
    using id_type = basic_id<TypeParam>;
    using rep = typename TypeParam::rep;
    const rep bits = this->living.value();
    const auto forged = [](rep value) { return id_type::from_value(static_cast<rep>(value)); };
    // Another version, another world, or bits that the layout does not use. No world has number 0.
    int foreign = 0;
    for (unsigned bit = TypeParam::key_bits; bit < 8 * sizeof(rep); ++bit) {
        const id_type e = forged(bits ^ static_cast<rep>(rep{1} << bit));
        if (e.world() == this->living.world() || e.world() == 0) {
            this->expect_dead(e);
        } else {
            this->expect_foreign(e);
            ++foreign;
        }
    }
    const bool one_flip_makes_0 = std::has_single_bit(this->living.world());
    EXPECT_EQ(foreign, static_cast<int>(TypeParam::world_bits) - (one_flip_makes_0 ? 1 : 0));
    // All bits set: the last world, if the layout has world bits.
    if (TypeParam::world_bits == 0)
        this->expect_dead(forged(static_cast<rep>(~rep{0})));
    else
        this->expect_foreign(forged(static_cast<rep>(~rep{0})));
    // A key below the first.
    if (TypeParam::first_key != 0)
        this->expect_dead(forged(static_cast<rep>(bits & ~rep{TypeParam::last_key})));
}

TYPED_TEST(sparse_hostile, random_bits_have_no_sparse_values) {
    using id_type = basic_id<TypeParam>;
    using rep = typename TypeParam::rep;
    auto& w = this->here;
    std::mt19937_64 random(7);
    for (int i = 0; i < 100000; ++i) {
        const auto e = id_type::from_value(static_cast<rep>(random()));
        if (e == this->living) continue;
        ASSERT_EQ(w.template has<burning>(e), w.template try_get<burning>(e) != nullptr);
        ASSERT_FALSE(w.template has<burning>(e));
    }
}

TYPED_TEST(sparse_hostile, ids_of_another_world_have_no_sparse_values) {
    if (TypeParam::world_bits == 0) GTEST_SKIP() << "ids of this layout do not name their world";
    sparse_world<TypeParam> other;
    const auto foreign = other.spawn(burning{7});
    this->expect_foreign(foreign);
    EXPECT_EQ(other.template get<burning>(foreign).heat, 7);
}

TYPED_TEST(sparse_hostile, a_reused_key_inherits_no_sparse_value_of_a_destroyed_entity) {
    auto& w = this->here;
    std::vector<basic_id<TypeParam>> past;
    for (int i = 0; i < 9; ++i) {
        const auto e = w.spawn();
        EXPECT_TRUE(w.empty(e));
        EXPECT_FALSE((w.template has_any<burning, label, stunned, counted>(e)));
        w.set(e, counted(i), stunned{});
        w.template emplace<burning>(e, i);
        EXPECT_EQ(w.template get<burning>(e).heat, i);
        for (const auto old : past)
            if (old != e) {
                EXPECT_FALSE(w.template has<burning>(old));
                EXPECT_FALSE(w.template remove<burning>(old));
            }
        past.push_back(e);
        EXPECT_EQ(counted::count.living, 1);
        w.destroy(e);
        EXPECT_EQ(counted::count.living, 0);
    }
    EXPECT_EQ(w.template count<burning>(), 1u);
}

TYPED_TEST(sparse_hostile, a_reused_key_inherits_no_slot_of_a_removed_value) {
    auto& w = this->here;
    for (int i = 0; i < 9; ++i) {
        const auto e = w.spawn();
        EXPECT_FALSE((w.template has_any<burning, label, stunned, counted>(e)));
        for (int again = 0; again < 2; ++again) {
            w.set(e, burning{i});
            EXPECT_EQ(w.template get<burning>(e).heat, i);
            EXPECT_TRUE(w.template remove<burning>(e));
            EXPECT_FALSE(w.template remove<burning>(e));
            EXPECT_TRUE(w.empty(e));
        }
        if (i % 2 == 0) w.set(e, counted(i));
        w.destroy(e);
        EXPECT_EQ(counted::count.living, 0);
        EXPECT_EQ(code_of([&] { w.set(e, burning{9}); }), errc::dead_entity);
        EXPECT_EQ(w.template count<burning>(), 1u);
    }
}

TYPED_TEST(sparse_hostile, an_entity_may_have_a_new_fragment_after_an_old_one_is_destroyed) {
    auto& w = this->here;
    const auto e = w.spawn(place{1});
    const auto before = w.template fragment<int>();
    w.define(before).sparse();
    w.set(e, before, 1);
    w.remove(e, before);
    w.destroy(before);
    const auto after = w.template fragment<int>();
    w.define(after).sparse();
    EXPECT_FALSE(w.has(e, after));
    w.set(e, after, 2);
    EXPECT_EQ(w.template get<int>(e, after), 2);
    w.collect_garbage();
    w.remove(e, after);
    w.collect_garbage();
    w.set(e, after, 3);
    EXPECT_EQ(w.template get<int>(e, after), 3);
    w.destroy(e);
    EXPECT_EQ(w.count(after), 0u);
}

TYPED_TEST(sparse_hostile, overflow_keys_have_sparse_values) {
    using id_type = basic_id<TypeParam>;
    auto& w = this->here;
    const std::uint64_t last = TypeParam::last_key;
    std::vector<id_type> overflow;
    for (const std::uint64_t key : {last / 2, last / 2 + 1, last / 2 + 511, last / 2 + 512,
                                    last / 3, std::uint64_t{70000}, std::uint64_t{5000}}) {
        const auto wanted = id_type::pack(key, TypeParam::first_version + 1, this->living.world());
        overflow.push_back(
            w.spawn_at(wanted, burning{static_cast<int>(key)}, counted(1), stunned{}));
    }
    for (const id_type e : overflow)
        EXPECT_EQ(w.template get<burning>(e).heat, static_cast<int>(e.key()));
    for (int i = 0; i < 6000; ++i) w.spawn(burning{-1});  // the dense array grows past some of them
    for (const id_type e : overflow) {
        EXPECT_EQ(w.template get<burning>(e).heat, static_cast<int>(e.key()));
        w.set(e, burning{3});
        EXPECT_TRUE(w.template remove<burning>(e));
        EXPECT_FALSE(w.template has<burning>(e));
        w.set(e, burning{4});
        EXPECT_EQ(w.template get<burning>(e).heat, 4);
    }
    w.template sort<burning>([](const burning& a, const burning& b) { return a.heat > b.heat; });
    w.collect_garbage();
    for (const id_type e : overflow) {
        EXPECT_EQ(w.template get<burning>(e).heat, 4);
        EXPECT_TRUE(w.template has<stunned>(e));
        EXPECT_TRUE(w.destroy(e));
        EXPECT_FALSE(w.template has<burning>(e));
    }
    EXPECT_EQ(w.template count<burning>(), 6001u);
    EXPECT_EQ(w.template count<stunned>(), 1u);
    EXPECT_EQ(counted::count.living, 0);
    w.collect_garbage();
    w.reset();
    EXPECT_EQ(w.template count<burning>(), 0u);
}

TYPED_TEST(sparse_hostile, keys_outside_of_the_range_of_a_world_have_sparse_values) {
    using id_type = basic_id<TypeParam>;
    sparse_world<TypeParam> w({.first_key = 1000, .last_key = 1999});
    const auto near = w.spawn(burning{1}, place{1});
    EXPECT_EQ(near.key(), 1000u);
    std::vector<id_type> outside;
    for (const std::uint64_t key : {999u, 998u, 1u, 2000u, 2001u, 300000u}) {
        const auto wanted = id_type::pack(key, TypeParam::first_version, near.world());
        outside.push_back(w.spawn_at(wanted, burning{static_cast<int>(key)}, label{"far"}));
    }
    for (int i = 0; i < 3; ++i) {
        for (const id_type e : outside) {
            EXPECT_EQ(w.template get<burning>(e).heat, static_cast<int>(e.key()));
            EXPECT_EQ(w.template get<label>(e).text, "far");
            EXPECT_FALSE(w.template has<stunned>(e));
            EXPECT_FALSE(w.empty(e));
        }
        w.collect_garbage();
        w.template sort<label>([](const label&, const label&) { return false; });
    }
    for (const id_type e : outside) {
        EXPECT_TRUE(w.template remove<burning>(e));
        w.collect_garbage();
        EXPECT_FALSE(w.template has<burning>(e));
        EXPECT_TRUE(w.destroy(e));
    }
    EXPECT_EQ(w.template count<burning>(), 1u);
    EXPECT_EQ(w.template count<label>(), 0u);
}

TYPED_TEST(sparse_hostile, world_owned_ids_have_sparse_values) {
    auto& w = this->here;
    const auto fragment = w.template component<burning>();  // world-owned, the last key
    w.set(fragment.id(), label{"of burning"}, place{3}, stunned{});
    EXPECT_EQ(w.template get<label>(fragment.id()).text, "of burning");
    w.set_single(burning{8});
    EXPECT_EQ(w.template single<burning>().heat, 8);
    EXPECT_EQ(w.template count<burning>(), 2u);
    const auto user = w.template fragment<int>("user");
    w.define(user).sparse();
    w.set(user.id(), user, 5);  // a value of itself
    w.set(this->living, user, 6);
    w.set(user.id(), label{});
    EXPECT_EQ(w.count(user), 2u);
    w.destroy(user.id());
    EXPECT_FALSE(w.has(this->living, user));
    EXPECT_EQ(w.template count<label>(), 2u);
    w.destroy(fragment.id());
    EXPECT_EQ(w.template count<label>(), 1u);
    EXPECT_FALSE(w.template has<burning>(this->living));
    EXPECT_FALSE(w.template has_single<burning>());
    w.set(this->living, burning{1});
    EXPECT_EQ(w.template get<burning>(this->living).heat, 1);
}

// ---- destroyed fragments and pending values ----------------------------------------------------

TYPED_TEST(sparse_hostile, a_fragment_with_pending_values_can_be_destroyed) {
    auto& w = this->here;
    const auto user = w.template fragment<counted>("user");
    w.define(user).sparse();
    const auto e = w.spawn();
    for (const bool commits : {false, true}) {
        const auto f = commits ? user : w.template fragment<counted>("other");
        if (!commits) w.define(f).sparse();
        w.defer();
        w.set(e, f, counted(1));
        w.set(this->living, f, counted(2));
        w.spawn(with(f, counted(3)), place{});
        w.destroy(f.id());
        if (commits)
            EXPECT_EQ(code_of([&] { w.commit(); }), std::nullopt);
        else
            w.cancel();
        EXPECT_EQ(counted::count.living, 0);
        EXPECT_EQ(w.alive(f.id()), !commits);
    }
}

TYPED_TEST(sparse_hostile, values_recorded_after_their_fragment_is_destroyed_are_refused) {
    auto& w = this->here;
    const auto user = w.template fragment<counted>("user");
    w.define(user).sparse();
    w.set(this->living, user, counted(0));
    const auto e = w.spawn();
    w.defer();
    w.destroy(user.id());
    w.set(e, user, counted(1));
    w.set(e, place{7});
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::dead_fragment);
    EXPECT_EQ(counted::count.living, 0);
    EXPECT_FALSE(w.template has<place>(e));
}

TYPED_TEST(sparse_hostile, pending_values_of_a_type_are_added_to_its_next_fragment) {
    auto& w = this->here;
    const auto query = w.template query<counted>();
    w.set(this->living, counted(1));
    const auto e = w.spawn();
    w.defer();
    w.destroy(w.template component<counted>().id());
    w.set(e, counted(2));
    w.set(e, place{3});
    w.spawn(counted(4), burning{});
    EXPECT_TRUE(w.commit());
    EXPECT_FALSE(w.template has<counted>(this->living));
    EXPECT_EQ(w.template get<counted>(e).value, 2);
    EXPECT_EQ(w.template get<place>(e).x, 3);
    EXPECT_EQ(w.template count<counted>(), 2u);
    EXPECT_EQ(query.count(), 2u);
    EXPECT_EQ(this->template entities_with<counted>().size(), 2u);
    w.destroy(e);
    EXPECT_EQ(counted::count.living, 1);
}

TYPED_TEST(sparse_hostile, cancelling_an_inner_scope_keeps_the_pending_values_of_the_outer_one) {
    auto& w = this->here;
    const auto e = w.spawn();
    w.defer();
    counted& outer = w.template emplace<counted>(e, 1);
    w.defer();
    w.template patch<counted>(e, [](counted& value) { value.value = 2; });
    w.template emplace<counted>(this->living, 3);
    w.set(e, burning{4}, stunned{});
    const auto made = w.spawn(counted(5), stunned{});
    w.cancel();
    EXPECT_FALSE(w.alive(made));
    EXPECT_EQ(outer.value, 1);
    EXPECT_EQ(counted::count.living, 1);
    w.defer();
    w.template patch<counted>(e, [](counted& value) { value.value += 10; });
    w.commit();
    EXPECT_TRUE(w.commit());
    EXPECT_EQ(w.template get<counted>(e).value, 11);
    EXPECT_FALSE(w.template has<burning>(e));
    EXPECT_FALSE(w.template has<counted>(this->living));
    EXPECT_EQ(counted::count.living, 1);
}

TYPED_TEST(sparse_hostile, destroying_a_world_destroys_pending_values) {
    {
        sparse_world<TypeParam> w;
        const auto e = w.spawn(counted(1), place{});
        w.defer();
        w.set(e, counted(2));
        w.defer();
        w.spawn(counted(3), stunned{});
        w.clone(e);
        w.template query<place>().set(counted(4));
    }
    EXPECT_EQ(counted::count.living, 0);
}

/// A layout with so few keys that their number limits the slots.
using few_keys = test::scarce<exhaustion::retire>;

// ---- slots -------------------------------------------------------------------------------------

TEST(sparse_few_keys, more_values_than_keys_may_be_pending) {
    sparse_world<few_keys> w;
    std::vector<basic_id<few_keys>> all;
    for (int i = 0; i < 40; ++i) all.push_back(w.spawn(burning{i}, place{i}));
    w.defer();
    for (int round = 0; round < 3; ++round)
        for (const auto e : all) w.set(e, burning{100 + round}, place{100 + round});
    EXPECT_TRUE(w.commit());
    for (const auto e : all) EXPECT_EQ(w.get<burning>(e).heat, 102);
}

TEST(sparse_few_keys, every_key_may_have_a_value) {
    sparse_world<few_keys> w;
    (void)w.component<place>();
    std::vector<basic_id<few_keys>> all;
    for (;;) {
        if (code_of([&] { all.push_back(w.spawn()); })) break;
    }
    for (const auto e : all) w.set(e, burning{1});
    w.set_single(burning{2});
    for (const auto e : all) w.set(e, burning{3});
    w.query<burning>().set(burning{4});
    EXPECT_EQ(w.count<burning>(), all.size() + 1);
}

}  // namespace
}  // namespace muster
