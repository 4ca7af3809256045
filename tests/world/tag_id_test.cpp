// tag_id: what `w.tag()` returns. It is an id wherever an id is taken.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

struct place {
    int x = 0;
};

template <class Layout>
class tag_ids : public testing::Test {
protected:
    basic_world<Layout> own;
};
TYPED_TEST_SUITE(tag_ids, behavior_layouts, layout_names);

TYPED_TEST(tag_ids, a_tag_converts_to_an_id_and_compares_with_it) {
    auto& w = this->own;
    const auto enemy = w.tag("enemy");
    static_assert(std::is_same_v<decltype(enemy), const basic_tag_id<TypeParam>>);
    static_assert(sizeof(enemy) == sizeof(basic_id<TypeParam>));
    static_assert(std::is_trivially_copyable_v<basic_tag_id<TypeParam>>);
    static_assert(!std::is_convertible_v<basic_id<TypeParam>, basic_tag_id<TypeParam>>);
    const basic_id<TypeParam> plain = enemy;
    EXPECT_EQ(plain, enemy);
    EXPECT_EQ(enemy, w.lookup("enemy"));
    EXPECT_NE(enemy, w.tag("enemy"));
    EXPECT_EQ(basic_tag_id<TypeParam>(plain), enemy);
    EXPECT_TRUE(basic_tag_id<TypeParam>().is_null());
    EXPECT_EQ(enemy.key(), plain.key());
    EXPECT_EQ(to_string(enemy), to_string(plain));
    std::ostringstream out;
    out << enemy;
    EXPECT_EQ(out.str(), to_string(plain));
    const std::vector<basic_id<TypeParam>> list{enemy, plain};
    EXPECT_EQ(std::unordered_set<basic_id<TypeParam>>(list.begin(), list.end()).size(), 1u);
}

TYPED_TEST(tag_ids, a_tag_is_a_fragment_in_every_call) {
    auto& w = this->own;
    const auto enemy = w.tag("enemy");
    const auto cold = w.tag("cold");
    const auto e = w.spawn(place{1}, with(enemy));
    w.set(e, cold);
    EXPECT_TRUE(w.has(e, enemy) && w.has_all(e, enemy, cold) && w.has_any(e, cold));
    EXPECT_FALSE(w.has_none(e, enemy, cold));
    EXPECT_FALSE(w.add(e, enemy));
    w.touch(e, enemy);
    EXPECT_EQ(w.query().with(enemy).without(w.tag()).any(cold, enemy).count(), 1u);
    EXPECT_EQ(w.query().with(cold).set(w.tag()) + w.count(cold), 2u);
    EXPECT_EQ(w.query().with(cold).remove(cold, enemy), 1u);
    w.set(e, with(enemy), with(cold));
    EXPECT_TRUE(w.remove(e, enemy, cold));
    EXPECT_EQ(code_of([&] { w.set(e, enemy, 5); }), errc::type_mismatch);
    int calls = 0;
    const auto inserted = w.on_insert(enemy, [&](basic_id<TypeParam>, void* value) {
        EXPECT_EQ(value, nullptr);
        ++calls;
    });
    const auto removed = w.on_remove(enemy, [&](basic_id<TypeParam>) { ++calls; });
    EXPECT_TRUE(inserted.connected() && removed.connected());
    w.define(enemy).needs(cold).hidden().on_set([&](basic_id<TypeParam>) { ++calls; });
    auto seen = w.observer().added(enemy).with(cold);
    w.set(e, enemy);
    EXPECT_TRUE(w.has(e, cold));
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(seen.size(), 1u);
    basic_command_buffer<TypeParam> buffer{w};
    buffer.remove(e, enemy);
    buffer.add(buffer.spawn(place{}), enemy);
    buffer.set(e, cold);
    w.submit(buffer);
    EXPECT_EQ(calls, 5);
    auto builder = w.builder();
    builder.set(enemy);
    EXPECT_TRUE(w.has(builder.spawn(), enemy));
    EXPECT_TRUE(builder.remove(enemy));
    EXPECT_EQ(w.clear_fragment(enemy), 2u);
    w.system("s").group(enemy).each([&](place&) { ++calls; });
    w.process(enemy);
    EXPECT_TRUE(w.destroy(enemy));
    EXPECT_FALSE(w.alive(enemy));
    EXPECT_EQ(w.destroy(cold, cold), 1u);
}

TYPED_TEST(tag_ids, a_tag_may_be_the_entity_that_changes) {
    auto& w = this->own;
    const auto enemy = w.tag("enemy");
    const auto saved = w.tag("saved");
    const auto cost = w.template fragment<int>("cost");
    const basic_id<TypeParam> plain = w.template ids<1>()[0];
    w.set(enemy, saved);
    w.set(enemy, cost, 5);
    w.set(enemy, plain, true);
    w.set(enemy, place{1});
    w.set(cost, plain, false);
    w.set(cost, cost, 6);
    w.set(enemy, enemy);
    w.set(basic_id<TypeParam>(enemy), plain, false);
    w.name(enemy, "foe");
    EXPECT_EQ(w.name(enemy), "foe");
    EXPECT_TRUE(w.has(enemy, saved) && w.has(enemy, enemy) && w.template has<place>(enemy));
    EXPECT_TRUE(w.has(basic_id<TypeParam>(enemy), plain));
    EXPECT_EQ(w.get(enemy, cost) + w.get(cost, cost), 11);
    EXPECT_FALSE(w.template get<bool>(enemy, plain));
    EXPECT_TRUE(w.remove(enemy, saved) && w.remove(enemy, cost));
}

}  // namespace
}  // namespace muster::test
