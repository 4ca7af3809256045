// The order of the sources of an entity, and that of rows in a hierarchy.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/open_world.hpp"

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct label {
    std::string text;
};
struct likes {
    int strength = 0;
};
struct docked_at {};

template <class Layout>
struct link_orders : testing::Test {
    using id_type = basic_id<Layout>;
    open_world<Layout> world_;

    link_orders() {
        world_.template define<likes>().relation();
        world_.template define<docked_at>().relation().exclusive();
    }
    template <class R = child_of_t>
    std::vector<id_type> sources(id_type e) {
        std::vector<id_type> all;
        for (const auto source : std::as_const(world_).template sources<R>(e))
            all.push_back(source);
        return all;
    }
};
TYPED_TEST_SUITE(link_orders, behavior_layouts, layout_names);

TYPED_TEST(link_orders, a_child_is_placed_before_a_sibling) {
    auto& w = this->world_;
    const auto p = w.spawn();
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 20; ++i) all.push_back(w.spawn(to(child_of, p)));
    for (const std::size_t gone : {3u, 4u, 12u}) w.destroy(all[gone]);  // holes
    for (const std::size_t gone : {12u, 4u, 3u})
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(gone));
    std::mt19937 dice(1);
    for (int i = 0; i < 200; ++i) {
        const auto child = all[dice() % all.size()], sibling = all[dice() % all.size()];
        w.place_before(child, sibling);
        if (child != sibling) {
            std::erase(all, child);
            all.insert(std::ranges::find(all, sibling), child);
        }
        ASSERT_EQ(this->sources(p), all) << i;
    }
    w.destroy(all[2]);
    all.erase(all.begin() + 2);
    EXPECT_EQ(this->sources(p), all);
    for (const auto e : all) EXPECT_TRUE(w.unrelate(child_of, e, p));
}

TYPED_TEST(link_orders, place_before_takes_any_relation) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), x = w.spawn(), y = w.spawn(), z = w.spawn();
    for (const auto target : {a, b})
        for (const auto e : {x, y, z}) w.template relate<likes>(e, target);
    w.template unrelate<likes>(z, b);
    w.template place_before<likes>(z, x);
    EXPECT_EQ(this->template sources<likes>(a), (std::vector{z, x, y}));
    EXPECT_EQ(this->template sources<likes>(b), (std::vector{x, y}));
    w.template place_before<likes>(y, x);
    EXPECT_EQ(this->template sources<likes>(a), (std::vector{z, y, x}));
    EXPECT_EQ(this->template sources<likes>(b), (std::vector{y, x}));
    w.template unrelate<likes>(y, a);
    EXPECT_EQ(this->template sources<likes>(a), (std::vector{z, x}));
    for (const auto e : {x, y}) w.template relate<docked_at>(e, a);
    w.template place_before<docked_at>(y, x);
    EXPECT_EQ(this->template sources<docked_at>(a), (std::vector{y, x}));
    w.relate(child_of, x, a);
    w.relate(child_of, y, a);
    w.place_before(child_of, y, x);
    w.template place_before<child_of>(x, y);
    EXPECT_EQ(this->sources(a), (std::vector{x, y}));
}

TYPED_TEST(link_orders, place_before_refuses_strangers) {
    auto& w = this->world_;
    const auto p = w.spawn(), q = w.spawn();
    const auto a = w.spawn(to(child_of, p)), b = w.spawn(to(child_of, q));
    const auto gone = w.spawn(to(child_of, p));
    w.destroy(gone);
    EXPECT_EQ(code_of([&] { w.place_before(a, b); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { w.place_before(p, q); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { w.place_before(a, p); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { w.place_before(a, gone); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { w.place_before(gone, a); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { w.place_before(a, basic_id<TypeParam>{}); }), errc::dead_entity);
    if constexpr (TypeParam::world_bits != 0) {
        basic_world<TypeParam> other;
        const auto stranger = other.spawn();
        EXPECT_EQ(code_of([&] { w.place_before(a, stranger); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] { w.place_before(stranger, a); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] {
                      w.template sort_sources<child_of>(stranger, [](auto, auto) { return true; });
                  }),
                  errc::foreign_entity);
    }
    w.defer();
    EXPECT_EQ(code_of([&] { w.place_before(a, a); }), errc::in_scope);
    EXPECT_EQ(code_of([&] { w.arrange(child_of); }), errc::in_scope);
    EXPECT_EQ(
        code_of([&] { w.template sort_sources<child_of>(p, [](auto, auto) { return true; }); }),
        errc::in_scope);
    w.commit();
    EXPECT_EQ(code_of([&] { w.template place_before<position>(a, b); }), errc::not_a_relation);
    EXPECT_EQ(code_of([&] { w.template arrange<docked_at>(); }), errc::not_a_relation);
    EXPECT_EQ(
        code_of([&] { w.template sort_sources<child_of>(gone, [](auto, auto) { return true; }); }),
        errc::dead_entity);
    w.place_before(a, a);
}

TYPED_TEST(link_orders, sources_are_sorted) {
    auto& w = this->world_;
    const auto p = w.spawn();
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 50; ++i)
        all.push_back(w.spawn(position{i * 7 % 10}, to(child_of, p), to<likes>(p)));
    for (int i = 0; i < 5; ++i) {
        w.destroy(all[static_cast<std::size_t>(i) * 3]);
        all.erase(all.begin() + i * 3);
    }
    const auto less = [&](auto a, auto b) {
        return w.template get<position>(a).x < w.template get<position>(b).x;
    };
    const auto before = all;
    std::list sorted(all.begin(), all.end());
    sorted.sort(less);  // stable
    all.assign(sorted.begin(), sorted.end());
    w.template sort_sources<child_of>(p, less);
    EXPECT_EQ(this->sources(p), all);
    EXPECT_EQ(this->template sources<likes>(p), before);
    w.template sort_sources<likes>(p, less);
    EXPECT_EQ(this->template sources<likes>(p), all);
    for (const auto e : all) EXPECT_TRUE(w.template unrelate<likes>(e, p));
    int left = 20;
    EXPECT_THROW(w.sort_sources(child_of, p,
                                [&](auto a, auto b) {
                                    if (left-- == 0) throw std::runtime_error("tired");
                                    return b < a;
                                }),
                 std::runtime_error);
    EXPECT_EQ(this->sources(p), all);
    EXPECT_EQ(code_of([&] {
                  w.sort_sources(child_of, p, [&](auto a, auto) {
                      w.destroy(a);
                      return false;
                  });
              }),
              errc::in_scope);
    std::mt19937 dice(2);
    w.template sort_sources<child_of_t>(p, [&](auto, auto) { return dice() % 2 == 0; });
    auto found = this->sources(p);
    std::ranges::sort(found);
    std::ranges::sort(all);
    EXPECT_EQ(found, all);
    w.template sort_sources<child_of>(w.spawn(), less);
}

TYPED_TEST(link_orders, rows_are_arranged_by_their_parents) {
    MUSTER_ABOUT_CHUNKS();
    auto& w = this->world_;
    std::mt19937 dice(4);
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 600; ++i) {
        all.push_back(i % 3 == 0 ? w.spawn(position{i}, label{std::to_string(i)})
                                 : w.spawn(position{i}));
        if (i < 3) continue;
        const std::size_t above = i < 300 ? static_cast<std::size_t>(i) - 3 : dice() % 300;
        w.relate(child_of, all.back(), all[above]);
    }
    for (int i = 0; i < 300; ++i)
        (void)code_of([&] { w.relate(child_of, all[dice() % 600], all[dice() % 600]); });
    std::map<basic_id<TypeParam>, std::vector<basic_id<TypeParam>>> children;
    for (const auto e : all) children[e] = this->sources(e);
    w.arrange(child_of);
    EXPECT_EQ(wrong_level<child_of_t>(w), "");
    auto& parts = w.parts();
    for (int i = 0; i < 600; ++i) {
        const auto e = all[static_cast<std::size_t>(i)];
        EXPECT_EQ(w.template get<position>(e).x, i);
        if (i % 3 == 0) EXPECT_EQ(w.template get<label>(e).text, std::to_string(i));
        EXPECT_EQ(this->sources(e), children[e]);
    }
    const auto key = [&](auto e) {
        const auto parent = w.parent(e);
        const detail::location at = parts.entities.locate(parent.value());
        const auto siblings = this->sources(parent);
        return std::tuple(w.level(e), parts.graph.at(at.chunk).order, at.row,
                          std::ranges::find(siblings, e) - siblings.begin());
    };
    std::size_t compared = 0;
    for (const detail::chunk_data* chunk : parts.graph.all())
        for (std::size_t row = 1; row < chunk->size; ++row) {
            const auto a = detail::to_id<TypeParam>(chunk->id_at(row - 1));
            const auto b = detail::to_id<TypeParam>(chunk->id_at(row));
            if (!w.parent(a) || !w.parent(b)) continue;
            EXPECT_LT(key(a), key(b));
            ++compared;
        }
    EXPECT_GT(compared, 400u);
    w.template arrange<child_of>();
    w.template arrange<child_of_t>();
}

}  // namespace
}  // namespace muster::test
