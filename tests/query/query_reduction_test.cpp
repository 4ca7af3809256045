// reduce: one value from all matching entities, on one thread.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

struct mass {
    double kg = 0;
};
struct label {
    std::string text;
};
struct frozen {};

template <class Layout>
class query_reduction : public testing::Test {
protected:
    using id_type = basic_id<Layout>;
    basic_world<Layout> w;
};
TYPED_TEST_SUITE(query_reduction, behavior_layouts, layout_names);

TYPED_TEST(query_reduction, reduce_passes_the_value_from_entity_to_entity) {
    for (const double kg : {1.0, 2.0, 4.0}) this->w.spawn(mass{kg});
    this->w.spawn(mass{8}, frozen{});
    const auto q = this->w.template query<const mass>();
    const auto add = [](double sum, const mass& m) { return sum + m.kg; };
    EXPECT_EQ(q.reduce(0.5, add), 15.5);
    EXPECT_EQ(q.template without<frozen>().reduce(0.0, add), 7);
    EXPECT_EQ(this->w.template query<mass>().template with<frozen>().reduce(0.0, add), 8);
}

TYPED_TEST(query_reduction, reduce_visits_entities_in_the_order_of_each) {
    std::string wanted;
    for (int i = 0; i < 100; ++i) {
        const auto e = this->w.spawn(label{std::to_string(i)});
        if (i % 3 == 0) this->w.set(e, mass{1});
        if (i % 5 == 0) this->w.template add<frozen>(e);
    }
    const auto q = this->w.template query<const label, const mass*>();
    q.each([&](const label& l, const mass* m) { wanted += (m != nullptr ? "+" : "-") + l.text; });
    EXPECT_EQ(q.reduce(std::string(),
                       [](std::string all, const label& l, const mass* m) {
                           return std::move(all) + (m != nullptr ? "+" : "-") + l.text;
                       }),
              wanted);
}

TYPED_TEST(query_reduction, the_function_may_take_the_entity_after_the_value) {
    using entity_type = typename TestFixture::id_type;
    const auto light = this->w.spawn(mass{1});
    const auto heavy = this->w.spawn(mass{9});
    (void)light;
    struct found {
        entity_type which;
        double kg = 0;
    };
    const found heaviest = this->w.template query<const mass>().reduce(
        found{}, [](const found& best, entity_type e, const mass& m) {
            return m.kg > best.kg ? found{e, m.kg} : best;
        });
    EXPECT_EQ(heaviest.which, heavy);
    EXPECT_EQ(this->w.template query<>().template with<mass>().reduce(
                  0, [](int count, entity_type e) { return count + (e ? 1 : 0); }),
              2);
}

TYPED_TEST(query_reduction, without_entities_reduce_returns_the_first_value) {
    const auto q = this->w.template query<const mass>();
    const auto never = [](double, const mass&) -> double { throw std::runtime_error("called"); };
    EXPECT_EQ(q.reduce(3.5, never), 3.5);
    this->w.destroy(this->w.spawn(mass{}));
    EXPECT_EQ(q.reduce(3.5, never), 3.5);
}

TYPED_TEST(query_reduction, a_function_may_change_the_value_in_place) {
    for (int i = 0; i < 64; ++i) this->w.spawn(mass{static_cast<double>(i % 4)});
    using histogram = std::array<int, 4>;
    const histogram counts = this->w.template query<const mass>().reduce(
        histogram{}, [](histogram& all, const mass& m) { ++all[static_cast<std::size_t>(m.kg)]; });
    EXPECT_EQ(counts, (histogram{16, 16, 16, 16}));
}

TYPED_TEST(query_reduction, the_value_may_be_move_only) {
    for (int i = 0; i < 5; ++i) this->w.spawn(mass{2});
    const std::unique_ptr<double> sum = this->w.template query<const mass>().reduce(
        std::make_unique<double>(0), [](std::unique_ptr<double> all, const mass& m) {
            *all += m.kg;
            return all;
        });
    EXPECT_EQ(*sum, 10);
}

TYPED_TEST(query_reduction, a_function_may_return_the_reference_that_it_takes) {
    for (const char* text : {"a", "b", "c"}) this->w.spawn(label{text});
    const std::string all = this->w.template query<const label>().reduce(
        std::string(">"), [](std::string&& before, const label& l) -> std::string&& {
            before += l.text;
            return std::move(before);
        });
    EXPECT_EQ(all, ">abc");
}

TYPED_TEST(query_reduction, functions_may_be_pointers_and_objects) {
    this->w.spawn(mass{3});
    const auto q = this->w.template query<const mass>();
    double (*add)(double, const mass&) = [](double sum, const mass& m) { return sum + m.kg; };
    EXPECT_EQ(q.reduce(1.0, add), 4);
    int calls = 0;
    auto counting = [calls](double sum, const mass&) mutable { return sum + ++calls; };
    EXPECT_EQ(q.reduce(0.0, counting), 1);
    EXPECT_EQ(q.reduce(0.0, counting), 2) << "reduce copied the function";
}

TYPED_TEST(query_reduction, the_function_may_write_components_and_change_the_world) {
    for (int i = 0; i < 10; ++i) this->w.spawn(mass{1});
    const double sum = this->w.template query<mass>().reduce(
        0.0, [&](double all, typename TestFixture::id_type e, mass& m) {
            this->w.template add<frozen>(e);
            return all + (m.kg *= 2);
        });
    EXPECT_EQ(sum, 20);
    EXPECT_EQ(this->w.template query<mass>().template with<frozen>().count(), 10u);
}

TYPED_TEST(query_reduction, recorded_changes_are_dropped_if_the_function_throws) {
    for (int i = 0; i < 10; ++i) this->w.spawn(mass{1});
    const auto fail = [&](double sum, typename TestFixture::id_type e, const mass&) {
        this->w.template add<frozen>(e);
        if (sum == 5) throw std::runtime_error("five");
        return sum + 1;
    };
    EXPECT_THROW((void)this->w.template query<const mass>().reduce(0.0, fail), std::runtime_error);
    EXPECT_EQ(this->w.depth(), 0u);
    EXPECT_EQ(this->w.template query<const mass>().template with<frozen>().count(), 0u);
}

TYPED_TEST(query_reduction, const_worlds_are_reduced) {
    this->w.spawn(mass{3});
    this->w.spawn(mass{4});
    const auto& seen = this->w;
    EXPECT_EQ(seen.template query<const mass>().reduce(
                  0.0, [](double sum, const mass& m) { return sum + m.kg; }),
              7);
}

TYPED_TEST(query_reduction, null_queries_and_queries_of_ended_worlds_throw) {
    basic_query<TypeParam, const mass> q;
    const auto add = [](double sum, const mass& m) { return sum + m.kg; };
    EXPECT_EQ(code_of([&] { (void)q.reduce(0.0, add); }), errc::null_handle);
    {
        basic_world<TypeParam> other;
        q = other.template query<const mass>();
    }
    EXPECT_EQ(code_of([&] { (void)q.reduce(0.0, add); }), errc::world_ended);
}

TYPED_TEST(query_reduction, queries_with_links_are_reduced) {
    struct part_of {};
    this->w.template define<part_of>().relation();
    const auto ship = this->w.spawn();
    for (const double kg : {1.0, 2.0, 3.0})
        this->w.template relate<part_of>(this->w.spawn(mass{kg}), ship);
    this->w.spawn(mass{100});
    EXPECT_EQ(this->w.template query<const mass>().template to<part_of>(ship).reduce(
                  0.0, [](double sum, const mass& m) { return sum + m.kg; }),
              6);
}

}  // namespace
}  // namespace muster::test
