// The lists of a query: empty lists, lists of dead fragments, and lists that name a fragment twice.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

struct place {
    int x = 0;
};
struct speed {
    int value = 0;
};
struct frozen {};

template <class Layout>
class query_list : public testing::Test {
protected:
    using id_type = basic_id<Layout>;
    using span_type = std::span<const id_type>;
    basic_world<Layout> own;
};
TYPED_TEST_SUITE(query_list, behavior_layouts, layout_names);

TYPED_TEST(query_list, any_of_an_empty_list_matches_nothing) {
    auto& w = this->own;
    const auto e = w.spawn(place{}, speed{});
    const typename TestFixture::span_type none;
    const auto q = w.template query<place>().any(none);
    EXPECT_EQ(q.count(), 0u);
    EXPECT_TRUE(q.empty());
    EXPECT_FALSE(q.matches(e));
    EXPECT_FALSE(w.query().any(none).matches(e));
    EXPECT_EQ(q.destroy(), 0u);
    EXPECT_TRUE(w.alive(e));
    EXPECT_NE(q.explain(e).find("it has none of an empty list"), std::string::npos) << q.explain(e);
    EXPECT_EQ(w.query().template any<place>().any(none).count(), 0u);
    EXPECT_EQ(w.query().any(none).template any<place>().count(), 0u);
    EXPECT_EQ(w.query().any(none).any(none).count(), 0u);
}

TYPED_TEST(query_list, any_of_an_empty_list_matches_no_sparse_component) {
    auto& w = this->own;
    w.template define<speed>().sparse();
    const auto e = w.spawn(speed{1});
    const typename TestFixture::span_type none;
    EXPECT_EQ(w.query().any(none).count(), 0u);
    EXPECT_EQ(w.template query<speed>().any(none).count(), 0u);
    EXPECT_FALSE(w.template query<speed>().any(none).matches(e));
    EXPECT_EQ(w.query().any(none).destroy(), 0u);
}

TYPED_TEST(query_list, an_empty_any_reaches_systems_that_use_the_query) {
    auto& w = this->own;
    w.spawn(place{});
    int calls = 0;
    const typename TestFixture::span_type none;
    auto s =
        w.system("s").query(w.template query<place>().any(none)).each([&](place&) { ++calls; });
    w.process(s);
    EXPECT_EQ(calls, 0);
}

TYPED_TEST(query_list, an_empty_with_requires_nothing_and_an_empty_without_excludes_nothing) {
    auto& w = this->own;
    w.spawn(place{});
    w.spawn(place{}, speed{});
    const typename TestFixture::span_type none;
    EXPECT_EQ(w.template query<place>().with(none).count(), 2u);
    EXPECT_EQ(w.template query<place>().without(none).count(), 2u);
}

TYPED_TEST(query_list, any_of_destroyed_fragments_matches_nothing) {
    auto& w = this->own;
    const auto f = w.template fragment<int>("f");
    const auto g = w.tag("g");
    const auto e = w.spawn(place{});
    w.set(e, f, 1);
    const auto both = w.template query<place>().any(f, g);
    const auto typed = w.template query<place>().template any<speed, frozen>();
    EXPECT_EQ(both.count(), 1u);
    w.destroy(f);
    w.destroy(g);
    w.destroy(w.template component<speed>());
    w.destroy(w.template component<frozen>());
    EXPECT_EQ(both.count(), 0u);
    EXPECT_EQ(typed.count(), 0u);
    EXPECT_EQ(both.destroy() + typed.destroy(), 0u);
    const std::vector<basic_id<TypeParam>> dead{f, g};
    EXPECT_EQ(w.query().any(dead).count(), 0u);
    EXPECT_EQ(w.query().any(basic_id<TypeParam>{}).count(), 0u);
    EXPECT_TRUE(w.alive(e));
}

TYPED_TEST(query_list, refuses_a_fragment_that_it_names_twice) {
    auto& w = this->own;
    const auto f = w.template fragment<int>("f");
    const basic_id<TypeParam> id_of_f = f;
    const basic_id<TypeParam> hidden = w.template component<prefab_t>();
    const auto twice = errc::given_twice;
    EXPECT_EQ(code_of([&] { (void)w.query().with(f, f); }), twice);
    EXPECT_EQ(code_of([&] { (void)w.query().without(f, id_of_f); }), twice);
    EXPECT_EQ(code_of([&] { (void)w.query().any(id_of_f, f); }), twice);
    EXPECT_EQ(code_of([&] { (void)w.query().with(prefab, hidden); }), twice);
    EXPECT_EQ(code_of([&] { (void)w.query().any(hidden, prefab); }), twice);
    EXPECT_EQ(code_of([&] { (void)w.system("s").with(f, f); }), twice);
    EXPECT_EQ(code_of([&] { (void)w.template observer<place>().without(f, f); }), twice);
    const std::vector<basic_id<TypeParam>> list{f, hidden, f};
    EXPECT_EQ(code_of([&] { (void)w.query().with(list); }), twice);
    EXPECT_EQ(code_of([&] { (void)w.query().without(list); }), twice);
    EXPECT_EQ(code_of([&] { (void)w.query().any(list); }), twice);
    EXPECT_EQ(sentence_of([&] { (void)w.query().any(f, f); }),
              "f is named twice: a list of a query names each fragment once");
    const auto dead = w.tag();
    w.destroy(dead);
    EXPECT_EQ(code_of([&] { (void)w.query().any(dead, dead); }), twice);
}

TYPED_TEST(query_list, several_lists_may_name_a_fragment) {
    auto& w = this->own;
    const auto f = w.template component<place>();
    w.spawn(place{});
    w.spawn(place{}, speed{});
    EXPECT_EQ(w.template query<place>().with(f).template with<place>().count(), 2u);
    const auto fast = w.template query<place>().template any<place, speed>().template any<speed>();
    EXPECT_EQ(fast.count(), 1u);
    EXPECT_EQ(w.template query<place>().without(f).count(), 0u);
}

TYPED_TEST(query_list, a_list_of_more_than_16_fragments_is_refused) {
    auto& w = this->own;
    std::vector<basic_id<TypeParam>> many(17);
    for (auto& f : many) f = w.tag();
    EXPECT_EQ(code_of([&] { (void)w.query().any(many); }), errc::limit);
    many.pop_back();
    EXPECT_EQ(w.query().any(many).count(), 0u);
}

}  // namespace
}  // namespace muster::test
