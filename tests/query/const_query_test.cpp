// Queries of a const world: what they show, and that they change nothing.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

struct place {
    int x = 0;
};
struct speed {
    int value = 0;
};
struct marked {
    int value = 0;
};
struct frozen {};
struct unused {
    int value = 0;
};
struct unused_sparse {
    int value = 0;
};
struct unused_hidden {};

template <class Layout>
class const_query : public testing::Test {
protected:
    using id_type = basic_id<Layout>;
    basic_world<Layout> own;
    const basic_world<Layout>& shown = own;
};
TYPED_TEST_SUITE(const_query, behavior_layouts, layout_names);

TYPED_TEST(const_query, shows_what_a_query_of_the_mutable_world_shows) {
    auto& w = this->own;
    w.template define<marked>().sparse();
    for (int i = 0; i < 200; ++i) {
        const auto e = w.spawn(place{i});
        if (i % 2 == 0) w.set(e, speed{i});
        if (i % 3 == 0) w.set(e, marked{i});
        if (i % 5 == 0) w.set(e, frozen{});
        if (i % 7 == 0) w.template remove<place>(e);
        if (i % 11 == 0) w.add(e, disabled);
    }
    const auto same = [](const auto& q, const auto& wanted) {
        std::vector<basic_id<TypeParam>> rows, expected;
        for (const auto& row : q) rows.push_back(std::get<0>(row));
        for (const auto& row : wanted) expected.push_back(std::get<0>(row));
        EXPECT_EQ(rows, expected);
        EXPECT_EQ(q.count(), wanted.count());
        EXPECT_EQ(q.first(), wanted.first());
        EXPECT_EQ(q.empty(), wanted.empty());
        for (const auto e : rows) EXPECT_TRUE(q.matches(e));
        EXPECT_EQ(q.explain(q.first()), wanted.explain(wanted.first()));
        std::size_t count = 0;
        q.each_chunk([&](basic_rows<const TypeParam> view) { count += view.size(); });
        EXPECT_EQ(count, wanted.count());
    };
    const auto& seen = this->shown;
    same(seen.template query<const place>(), w.template query<const place>());
    same(seen.query(), w.query());
    same(seen.template query<const place, const speed*>(),
         w.template query<const place, const speed*>());
    same(seen.template query<const marked>(), w.template query<const marked>());
    same(seen.template query<const place, const marked>().template without<frozen>(),
         w.template query<const place, const marked>().template without<frozen>());
    same(seen.template query<const place*>().template any<speed, marked>(),
         w.template query<const place*>().template any<speed, marked>());
    same(seen.query().with(disabled), w.query().with(disabled));
    const auto f = w.template component<frozen>();
    const std::vector<basic_id<TypeParam>> list{f};
    same(seen.query().with(list), w.query().with(list));
    same(seen.query().without(f), w.query().without(f));
}

TYPED_TEST(const_query, each_passes_const_components_and_the_entity) {
    auto& w = this->own;
    const auto a = w.spawn(place{1}, speed{10});
    const auto b = w.spawn(place{2});
    std::vector<std::tuple<basic_id<TypeParam>, int, int>> rows;
    this->shown.each([&](basic_id<TypeParam> e, const place& p, const speed* s) {
        rows.emplace_back(e, p.x, s == nullptr ? 0 : s->value);
    });
    EXPECT_EQ(rows.size(), 2u);
    const std::vector<std::tuple<basic_id<TypeParam>, int, int>> wanted{{a, 1, 10}, {b, 2, 0}};
    for (const auto& row : wanted) EXPECT_NE(std::find(rows.begin(), rows.end(), row), rows.end());
    for (auto [e, p] : this->shown.template query<const place>()) {
        static_assert(std::is_same_v<decltype(p), const place&>);
        EXPECT_EQ(&p, this->shown.template try_get<place>(e));
    }
}

TYPED_TEST(const_query, each_chunk_shows_spans_of_const_values) {
    MUSTER_ABOUT_CHUNKS();
    auto& w = this->own;
    const auto f = w.template fragment<int>("f");
    for (int i = 0; i < 3; ++i) w.set(w.spawn(place{i}), f, i);
    int sum = 0;
    const auto add = [&](basic_rows<const TypeParam> view) {
        const auto places = view.template components<place>();
        const auto by_id = view.template components<int>(basic_id<TypeParam>(f));
        const auto by_fragment = view.components(f);
        static_assert(std::is_same_v<decltype(places), const std::span<const place>>);
        static_assert(std::is_same_v<decltype(by_id), const std::span<const int>>);
        static_assert(std::is_same_v<decltype(by_fragment), const std::span<const int>>);
        EXPECT_TRUE(view.template has<place>());
        EXPECT_TRUE(view.has(f));
        for (std::size_t i = 0; i < view.size(); ++i)
            sum += places[i].x + by_id[i] + by_fragment[i];
    };
    this->shown.template query<const place>().each_chunk(add);
    EXPECT_EQ(sum, 9);
    w.template query<const place>().each_chunk(add);  // mutable rows convert
    EXPECT_EQ(sum, 18);
}

TYPED_TEST(const_query, opens_no_scope) {
    auto& w = this->own;
    w.spawn(place{});
    this->shown.each([&](const place&) { EXPECT_EQ(this->shown.depth(), 0u); });
    this->shown.template query<const place>().each_chunk(
        [&](const auto&) { EXPECT_EQ(this->shown.depth(), 0u); });
    for (const auto& row : this->shown.template query<const place>()) {
        (void)row;
        EXPECT_EQ(this->shown.depth(), 0u);
    }
}

TYPED_TEST(const_query, creates_no_fragments) {
    auto& w = this->own;
    w.spawn(place{});
    const auto next = w.spawn();
    w.destroy(next);
    const auto& seen = this->shown;
    EXPECT_EQ(seen.template query<const unused>().count(), 0u);
    EXPECT_EQ(seen.template query<const place>().template with<unused>().count(), 0u);
    EXPECT_EQ(seen.template query<const place>().template without<unused>().count(), 1u);
    EXPECT_EQ(seen.template query<const place>().template any<unused>().count(), 0u);
    EXPECT_EQ((seen.template query<const place, const unused*>().count()), 1u);
    EXPECT_EQ(seen.template query<const place>().without(disabled).count(), 1u);
    EXPECT_FALSE(seen.template query<const unused>().matches(next));
    int calls = 0;
    seen.each([&](const place&, const unused* u) { calls += u == nullptr ? 1 : 100; });
    seen.each([&](const unused&) { ++calls; });
    for (const auto& row : seen.template query<const unused>()) (void)row, ++calls;
    EXPECT_EQ(calls, 1);
    // The first use of a type takes the highest free key: no other type has taken it.
    basic_world<TypeParam> other;
    other.spawn(place{});
    EXPECT_EQ(w.template component<unused>().id().key(),
              other.template component<unused>().id().key());
}

TYPED_TEST(const_query, sees_a_type_that_the_world_uses_later) {
    auto& w = this->own;
    const auto& seen = this->shown;
    const auto plain = seen.template query<const unused>();
    const auto sparse = seen.template query<const unused_sparse>();
    const auto hidden = seen.template query<const place>();
    const auto named = seen.template query<const place>().template with<unused_hidden>();
    const auto optional = seen.template query<const place, const unused_sparse*>();
    w.spawn(place{});
    EXPECT_EQ(plain.count() + sparse.count() + named.count(), 0u);
    EXPECT_EQ(hidden.count(), 1u);
    w.spawn(unused{});
    w.template define<unused_sparse>().sparse();
    w.template define<unused_hidden>().hidden();
    w.spawn(unused_sparse{});
    w.spawn(place{}, unused_hidden{});
    w.spawn(place{}, unused_sparse{5});
    EXPECT_EQ(plain.count(), 1u);
    EXPECT_EQ(sparse.count(), 2u);
    EXPECT_EQ(hidden.count(), 2u);
    EXPECT_EQ(named.count(), 1u);
    int sum = 0;
    optional.each(
        [&](const place&, const unused_sparse* s) { sum += s == nullptr ? 1 : s->value; });
    EXPECT_EQ(sum, 6);
}

TYPED_TEST(const_query, sees_the_world_as_it_is_before_an_open_scope) {
    auto& w = this->own;
    w.spawn(place{});
    w.each([&](place&) {
        w.spawn(place{});
        EXPECT_EQ(this->shown.template query<const place>().count(), 1u);
    });
    EXPECT_EQ(this->shown.template query<const place>().count(), 2u);
}

TYPED_TEST(const_query, keeps_the_chunks_of_an_outer_loop) {
    MUSTER_ABOUT_CHUNKS();
    auto& w = this->own;
    w.spawn(place{});
    w.spawn(place{}, speed{});
    std::size_t rows = 0;
    auto outer = w.template query<place>();
    outer.each([&](place&) {
        ++rows;
        (void)w.template chunk<place, marked>();  // the list of chunks grows
        (void)w.template chunk<place, unused>();
        EXPECT_EQ(this->shown.template query<const place>().count(), 2u);
    });
    EXPECT_EQ(rows, 2u);
}

TYPED_TEST(const_query, an_exception_leaves_the_loop) {
    auto& w = this->own;
    w.spawn(place{});
    w.spawn(place{});
    int calls = 0;
    EXPECT_THROW(this->shown.each([&](const place&) {
        ++calls;
        throw 1;
    }),
                 int);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(this->shown.depth(), 0u);
}

TYPED_TEST(const_query, copies_of_a_query_are_refined_independently) {
    auto& w = this->own;
    w.spawn(place{});
    w.spawn(place{}, speed{});
    const muster::basic_query<const TypeParam, const place> q =
        this->shown.template query<const place>();
    const auto fast = q.template with<speed>();
    EXPECT_EQ(q.count(), 2u);
    EXPECT_EQ(fast.count(), 1u);
    EXPECT_EQ(fast.template without<speed>().count(), 0u);
}

TYPED_TEST(const_query, works_on_a_default_layout_alias) {
    const world w;
    const muster::const_query<const place> q = w.query<const place>();
    EXPECT_TRUE(q.empty());
}

}  // namespace
}  // namespace muster::test
