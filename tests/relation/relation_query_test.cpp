// Queries by relation: any target, one target, subtrees, joins.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

struct health {
    int points = 0;
};
struct rank {
    int value = 0;
};
struct burning {  // sparse
    int left = 0;
};
struct likes {
    int strength = 0;
};
struct docked_at {};

}  // namespace
}  // namespace muster::test

template <>
struct muster::component_traits<muster::test::burning> {
    static constexpr bool sparse = true;
};

namespace muster::test {
namespace {

template <class Query>
auto list_of(const Query& query) {
    std::vector<typename Query::id_type> all;
    query.each([&](typename Query::id_type e, auto&...) { all.push_back(e); });
    return all;
}

template <class Layout>
struct relation_query : testing::Test {
    using id_type = basic_id<Layout>;
    basic_world<Layout> world_;
    relation_query() {
        world_.template define<likes>().relation();
        world_.template define<docked_at>().relation().exclusive();
    }
    template <class... Ids>
    static std::vector<id_type> ids(Ids... all) {
        return {all...};
    }
};
TYPED_TEST_SUITE(relation_query, behavior_layouts, layout_names);

// ---- any target --------------------------------------------------------------------------------

TYPED_TEST(relation_query, a_relation_in_a_list_of_a_query_means_any_target) {
    auto& w = this->world_;
    const auto owes = w.template relation<int>("owes");
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2}), ship = w.spawn(health{3});
    w.template relate<likes>(bob, eve);
    w.template relate<docked_at>(eve, ship);
    w.relate(owes, ship, bob, 5);
    w.relate(child_of, ship, bob);
    const auto all = w.template query<const health>();
    EXPECT_EQ(list_of(all.template with<likes>()), this->ids(bob));
    EXPECT_EQ(list_of(all.template with<docked_at>()), this->ids(eve));
    EXPECT_EQ(list_of(all.with(owes)), this->ids(ship));
    EXPECT_EQ(list_of(all.template with<child_of_t>()), this->ids(ship));
    EXPECT_EQ(all.template without<likes>().count(), 2u);
    EXPECT_EQ(all.template without<docked_at>().without(owes).first(), bob);
    EXPECT_EQ((all.template any<likes, docked_at>().count()), 2u);
    EXPECT_EQ(w.template query<>().template with<likes>().count(), 1u);
    EXPECT_TRUE(all.template with<likes>().matches(bob));
    EXPECT_FALSE(all.template with<likes>().matches(eve));
    w.template unrelate<likes>(bob);
    EXPECT_TRUE(all.template with<likes>().empty());
}

TYPED_TEST(relation_query, a_list_names_a_relation_before_its_definition) {
    auto& w = this->world_;
    struct knows {};
    const auto any = w.template query<const health>().template with<knows>();
    const auto none = w.template query<const health>().template without<knows>();
    const auto shown = w.template query<knows*>();
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2});
    EXPECT_TRUE(any.empty());
    w.template define<knows>().relation();
    w.template relate<knows>(bob, eve);
    EXPECT_EQ(list_of(any), this->ids(bob));
    EXPECT_EQ(list_of(none), this->ids(eve));
    // A query that shows the type as a component finds none.
    shown.each([](knows* value) { EXPECT_EQ(value, nullptr); });
}

TYPED_TEST(relation_query, a_relation_is_no_component_of_a_query) {
    auto& w = this->world_;
    EXPECT_EQ(code_of([&] { (void)w.template query<likes>(); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { (void)w.template query<const docked_at*>(); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.each([](const likes&) {}); }), errc::type_mismatch);
    const auto& read = w;
    EXPECT_EQ(code_of([&] { (void)read.template query<const likes>(); }), errc::type_mismatch);
}

TYPED_TEST(relation_query, explain_names_the_relation) {
    auto& w = this->world_;
    const auto bob = w.spawn(health{1}), eve = w.spawn(health{2});
    w.template relate<likes>(bob, eve);
    w.template relate<docked_at>(bob, eve);
    const auto q = w.template query<const health>().template with<likes>();
    EXPECT_NE(q.explain(bob).find("::likes"), std::string::npos) << q.explain(bob);
    EXPECT_NE(q.explain(eve).find("likes, which is required"), std::string::npos) << q.explain(eve);
    EXPECT_EQ(q.explain(eve).find("links"), std::string::npos) << q.explain(eve);
}

}  // namespace
}  // namespace muster::test
