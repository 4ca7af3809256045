// Scopes: calls between defer() and commit() or cancel().
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster {
namespace {

using test::code_of;
using test::sentence_of;

struct place {
    int x = 0;
};
struct speed {
    int x = 0;
};
struct label {
    std::string text;
};
struct frozen {};
struct owned {
    std::unique_ptr<int> value;
};
struct alignas(128) wide {
    int x = 0;
};

template <class Layout>
class scope : public ::testing::Test {
public:
    basic_world<Layout> home;
};
TYPED_TEST_SUITE(scope, test::behavior_layouts, test::layout_names);

TYPED_TEST(scope, reports_when_the_outermost_scope_opens_and_closes) {
    auto& w = this->home;
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_TRUE(w.defer());
    EXPECT_FALSE(w.defer());
    EXPECT_EQ(w.depth(), 2u);
    EXPECT_FALSE(w.commit());
    EXPECT_TRUE(w.cancel());
    EXPECT_EQ(w.depth(), 0u);
}

TYPED_TEST(scope, shows_the_world_as_it_was_before) {
    auto& w = this->home;
    const auto e = w.spawn(place{1}, frozen{});
    const auto f = w.spawn();
    w.defer();
    w.set(e, place{2}, speed{3});
    EXPECT_TRUE(w.template remove<frozen>(e));
    EXPECT_FALSE(w.template remove<label>(e));
    EXPECT_TRUE(w.template add<place>(f));
    EXPECT_FALSE(w.template add<place>(e));
    EXPECT_FALSE(w.clear(f));
    EXPECT_TRUE(w.destroy(f));
    EXPECT_TRUE(w.destroy(f));
    EXPECT_EQ(w.template get<place>(e).x, 1);
    EXPECT_FALSE(w.template has<speed>(e));
    EXPECT_TRUE(w.template has<frozen>(e));
    EXPECT_TRUE(w.alive(f));
    EXPECT_EQ(w.size(), 2u);
    EXPECT_EQ(w.template query<place>().count(), 1u);
    w.commit();
    EXPECT_EQ(w.template get<place>(e).x, 2);
    EXPECT_EQ(w.template get<speed>(e).x, 3);
    EXPECT_FALSE(w.template has<frozen>(e));
    EXPECT_FALSE(w.alive(f));
}

TYPED_TEST(scope, returns_real_ids_that_are_alive_and_empty) {
    auto& w = this->home;
    w.defer();
    const auto a = w.spawn(place{1});
    const auto b = w.spawn();
    const auto c = w.clone(a, speed{2});
    EXPECT_TRUE(w.alive_all(a, b, c));
    EXPECT_TRUE(w.empty(a));
    EXPECT_TRUE(w.empty(c));
    w.set(b, place{5});
    w.commit();
    EXPECT_EQ(w.template get<place>(a).x, 1);
    EXPECT_EQ(w.template get<place>(b).x, 5);
    EXPECT_EQ(w.template get<place>(c).x, 1);
    EXPECT_EQ(w.template get<speed>(c).x, 2);
}

TYPED_TEST(scope, cancelling_destroys_everything_created_in_it) {
    auto& w = this->home;
    const auto e = w.spawn(place{1});
    w.defer();
    const auto a = w.spawn(label{"a text that is too long for its object"});
    const auto many = w.spawn_many(3, place{});
    const auto t = w.tag("t");
    const auto f = w.template fragment<std::string>("f");
    const auto [x, y] = w.template ids<2>();
    w.set(e, f, "another text that is too long for its object");
    w.set(e, t);
    w.set(e, x, 5);
    w.name(a, "a");
    w.cancel();
    EXPECT_FALSE(w.alive_any(a, many[0], many[2], t, f.id(), x, y));
    EXPECT_EQ(w.size(), 1u);
    EXPECT_TRUE(w.lookup("a").is_null());
    EXPECT_TRUE(w.lookup("t").is_null());
    EXPECT_EQ(code_of([&] { w.set(e, t); }), errc::dead_fragment);
}

TYPED_TEST(scope, cancelling_an_inner_scope_drops_only_its_own_changes) {
    auto& w = this->home;
    const auto e = w.spawn();
    w.defer();
    w.set(e, place{1});
    w.defer();
    w.set(e, place{2}, speed{2});
    const auto inner = w.spawn();
    w.cancel();
    EXPECT_FALSE(w.alive(inner));
    w.defer();
    w.set(e, label{"kept"});
    w.commit();
    EXPECT_TRUE(w.empty(e));
    w.commit();
    EXPECT_EQ(w.template get<place>(e).x, 1);
    EXPECT_FALSE(w.template has<speed>(e));
    EXPECT_EQ(w.template get<label>(e).text, "kept");
}

TYPED_TEST(scope, merges_many_changes_into_one_move) {
    auto& w = this->home;
    const auto e = w.spawn(place{1});
    w.defer();
    w.set(e, speed{1});
    w.set(e, label{"a"});
    w.template remove<place>(e);
    w.template add<frozen>(e);
    w.commit();
    // The commit created no intermediate chunk.
    std::size_t chunks = 0;
    w.query().each_chunk([&](basic_rows<TypeParam> rows) {
        ++chunks;
        EXPECT_EQ(rows.size(), 1u);
    });
    EXPECT_EQ(chunks, 1u);
    EXPECT_TRUE((w.template has_all<speed, label, frozen>(e)));
    EXPECT_FALSE(w.template has<place>(e));
}

TYPED_TEST(scope, accepts_move_only_and_over_aligned_components) {
    auto& w = this->home;
    const auto e = w.spawn();
    w.defer();
    w.set(e, owned{std::make_unique<int>(1)});
    w.set(e, owned{std::make_unique<int>(2)});
    const auto f = w.spawn(owned{std::make_unique<int>(3)}, wide{4});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w.template emplace<wide>(e, 5)) % 128, 0u);
    w.commit();
    EXPECT_EQ(*w.template get<owned>(e).value, 2);
    EXPECT_EQ(*w.template get<owned>(f).value, 3);
    EXPECT_EQ(w.template get<wide>(f).x, 4);
    EXPECT_EQ(w.template get<wide>(e).x, 5);
}

TYPED_TEST(scope, values_can_be_written_before_the_commit) {
    auto& w = this->home;
    const auto e = w.spawn(place{1});
    w.defer();
    w.template emplace<speed>(e, 2).x = 3;
    w.template patch<place>(e, [](place& p) { p.x += 10; });
    w.template patch<place>(e, [](place& p) { p.x += 100; });
    w.template patch<speed>(e, [](speed& s) { s.x += 10; });
    EXPECT_EQ(w.template get<place>(e).x, 111);
    w.commit();
    EXPECT_EQ(w.template get<place>(e).x, 111);
    EXPECT_EQ(w.template get<speed>(e).x, 13);
}

TYPED_TEST(scope, refuses_a_patch_of_a_removed_component) {
    auto& w = this->home;
    const auto e = w.spawn(place{1}, frozen{});
    w.defer();
    w.template remove<place>(e);
    EXPECT_EQ(code_of([&] { w.template patch<place>(e, [](place& p) { p.x = 5; }); }),
              errc::missing_component);
    w.template touch<place>(e);
    w.commit();
    EXPECT_FALSE(w.template has<place>(e));
    w.set(e, owned{});
    w.defer();
    EXPECT_EQ(code_of([&] { w.template patch<owned>(e, [](owned&) {}); }), errc::not_copyable);
    w.cancel();
}

TYPED_TEST(scope, error_about_a_missing_component_mentions_the_pending_value) {
    auto& w = this->home;
    const auto e = w.spawn();
    w.defer();
    w.set(e, place{1});
    const std::string message = sentence_of([&] { (void)w.template get<place>(e); });
    EXPECT_NE(message.find("a value is pending and is added when the scope closes"),
              std::string::npos)
        << message;
    EXPECT_EQ(sentence_of([&] { (void)w.template get<speed>(e); }).find("recorded"),
              std::string::npos);
    w.cancel();
}

TYPED_TEST(scope, drops_changes_of_destroyed_entities) {
    auto& w = this->home;
    const auto e = w.spawn(place{});
    w.defer();
    w.destroy(e);
    w.set(e, speed{});
    const auto young = w.spawn(label{"young"});
    w.destroy(young);
    w.commit();
    EXPECT_FALSE(w.alive_any(e, young));
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(scope, applies_barriers_in_recorded_order) {
    auto& w = this->home;
    const auto t = w.tag("t");
    const auto a = w.spawn();
    const auto b = w.spawn();
    w.set(a, t);
    w.defer();
    w.set(b, t);
    EXPECT_EQ(w.clear_fragment(t), 1u);
    w.set(b, t);
    w.commit();
    EXPECT_FALSE(w.has(a, t));
    EXPECT_TRUE(w.has(b, t));
    w.defer();
    w.destroy(t);
    w.set(a, t);  // the scope still shows `t` alive
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::dead_fragment);
    EXPECT_FALSE(w.alive(t));
    EXPECT_TRUE(w.empty(a));
    EXPECT_EQ(w.depth(), 0u);
}

TYPED_TEST(scope, registers_a_type_anew_after_it_was_destroyed_in_it) {
    auto& w = this->home;
    const auto a = w.spawn(label{"a"});
    w.defer();
    w.destroy(w.template component<label>());
    w.set(a, label{"a text that is too long for its object"});
    w.commit();
    EXPECT_EQ(w.template get<label>(a).text, "a text that is too long for its object");
}

TYPED_TEST(scope, fixes_the_type_of_pending_values_until_it_closes) {
    auto& w = this->home;
    const auto e = w.spawn();
    const auto f = w.spawn();
    w.defer();
    w.set(e, f, 5);
    EXPECT_EQ(code_of([&] { w.set(e, f, 2.5); }), errc::type_mismatch);
    w.cancel();
    w.set(e, f, 2.5);  // cancelling leaves the id untyped
    EXPECT_EQ(w.template get<double>(e, f), 2.5);
}

TYPED_TEST(scope, clones_include_recorded_changes) {
    auto& w = this->home;
    const auto p = w.spawn(place{1}, frozen{});
    w.defer();
    w.set(p, label{"new"});
    w.template remove<frozen>(p);
    const auto c = w.clone(p);
    w.set(p, label{"later"});
    w.destroy(p);
    const auto both = w.clone_many(2, p, speed{4});
    w.commit();
    EXPECT_FALSE(w.alive(p));
    EXPECT_EQ(w.template get<place>(c).x, 1);
    EXPECT_EQ(w.template get<label>(c).text, "new");
    EXPECT_FALSE(w.template has<frozen>(c));
    EXPECT_EQ(w.template get<label>(both[1]).text, "later");
    EXPECT_EQ(w.template get<speed>(both[1]).x, 4);
}

TYPED_TEST(scope, fills_rows_at_once_and_adds_them_on_commit) {
    auto& w = this->home;
    w.template define<place>().needs(frozen{});
    std::vector<basic_id<TypeParam>> made;
    w.defer();
    w.spawn_rows(
        3,
        [&](basic_rows<TypeParam> rows) {
            EXPECT_TRUE(rows.template has<frozen>());
            EXPECT_FALSE(rows.template has<speed>());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                rows.template components<label>()[i].text = std::string(40, 'a');
                rows.template components<place>()[i].x = static_cast<int>(i);
                made.push_back(rows.entities()[i]);
            }
        },
        place{}, label{"x"});
    EXPECT_TRUE(w.empty(made[0]));
    w.commit();
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(w.template get<place>(made[i]).x, static_cast<int>(i));
        EXPECT_EQ(w.template get<label>(made[i]).text, std::string(40, 'a'));
        EXPECT_TRUE(w.template has<frozen>(made[i]));
    }
    w.defer();
    const auto fill = [](basic_rows<TypeParam>) { throw std::runtime_error("no"); };
    EXPECT_THROW(w.spawn_rows(2, fill, label{"a text that is too long for its object"}),
                 std::runtime_error);
    w.commit();
    EXPECT_EQ(w.size(), 3u);
}

TYPED_TEST(scope, is_closed_only_by_its_opener) {
    auto& w = this->home;
    w.spawn(place{});
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::unbalanced_scope);
    EXPECT_EQ(code_of([&] { w.cancel(); }), errc::unbalanced_scope);
    w.template query<place>().each([&](place&) {
        EXPECT_EQ(code_of([&] { w.commit(); }), errc::unbalanced_scope);
        EXPECT_FALSE(w.defer());
        EXPECT_FALSE(w.commit());
    });
    {
        const basic_deferred<TypeParam> changes(w);
        EXPECT_EQ(code_of([&] { w.cancel(); }), errc::unbalanced_scope);
    }
    const std::string message = sentence_of([&] { w.commit(); });
    const std::string place = "scope_test.cpp:" + std::to_string(__LINE__ - 1);
    EXPECT_EQ(message, "commit() without defer(): no scope is open (commit at " + place + ")");
}

TYPED_TEST(scope, may_outlive_the_loop_it_was_opened_in) {
    auto& w = this->home;
    const auto e = w.spawn(place{});
    w.template query<place>().each([&](place&) {
        w.defer();
        w.set(e, speed{1});
    });
    EXPECT_EQ(w.depth(), 1u);
    EXPECT_FALSE(w.template has<speed>(e));
    EXPECT_TRUE(w.commit());
    EXPECT_TRUE(w.template has<speed>(e));
}

TYPED_TEST(scope, is_dropped_when_its_world_is_destroyed) {
    auto value = std::make_shared<int>(1);
    struct holder {
        std::shared_ptr<int> value;
    };
    {
        basic_world<TypeParam> w;
        w.defer();
        w.spawn(holder{value});
        w.defer();
    }
    EXPECT_EQ(value.use_count(), 1);
}

TYPED_TEST(scope, object_closes_at_the_end_of_its_block) {
    auto& w = this->home;
    const auto e = w.spawn();
    {
        const basic_deferred<TypeParam> changes(w);
        w.set(e, place{1});
        EXPECT_TRUE(w.empty(e));
    }
    EXPECT_EQ(w.template get<place>(e).x, 1);
    try {
        const basic_deferred<TypeParam> changes(w);
        w.set(e, place{2});
        throw std::runtime_error("out");
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(w.template get<place>(e).x, 1);
    basic_deferred<TypeParam> changes(w);
    w.set(e, place{3});
    changes.commit();
    EXPECT_EQ(w.template get<place>(e).x, 3);
    changes.cancel();
    EXPECT_EQ(w.depth(), 0u);
}

TYPED_TEST(scope, reserves_rows_on_commit) {
    MUSTER_ABOUT_CHUNKS();
    auto& w = this->home;
    w.spawn(place{});
    w.defer();
    w.template reserve<place>(1000);
    w.template reserve<speed>(1000);
    w.reserve(2000);
    w.commit();
    const place* const first = w.template chunk<place>().template components<place>().data();
    w.spawn_many(999, place{});
    EXPECT_EQ(w.template chunk<place>().template components<place>().data(), first);
}

TYPED_TEST(scope, records_more_changes_than_one_block_holds) {
    auto& w = this->home;
    std::vector<basic_id<TypeParam>> all;
    w.defer();
    for (int i = 0; i < 20'000; ++i) all.push_back(w.spawn(place{i}, label{std::to_string(i)}));
    for (int i = 0; i < 20'000; i += 2) w.destroy(all[static_cast<std::size_t>(i)]);
    for (int i = 1; i < 20'000; i += 2) w.set(all[static_cast<std::size_t>(i)], speed{-i});
    w.commit();
    EXPECT_EQ(w.size(), 10'000u);
    for (std::size_t i = 1; i < all.size(); i += 2) {
        ASSERT_EQ(w.template get<label>(all[i]).text, std::to_string(i));
        ASSERT_EQ(w.template get<speed>(all[i]).x, -static_cast<int>(i));
    }
}

}  // namespace
}  // namespace muster
