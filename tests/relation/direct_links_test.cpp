// Changes of links of which no one is notified take a path of their own. Each random program runs in
// two worlds, in one of which hooks of all relations prevent that path.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

struct many {
    int value = 0;
};
struct ordered {};
struct named {
    std::string text;
};
struct one {
    int value = 0;
};
struct upward {};
struct titled {
    std::string text;
};
struct body {
    int value = 0;
};
struct note {
    std::string text;
};
struct flag {};

template <class Layout>
struct linked_world {
    using id_type = basic_id<Layout>;
    basic_world<Layout> world;
    std::vector<id_type> all;

    explicit linked_world(bool is_observed) {
        world.template define<many>().relation();
        world.template define<ordered>().relation().acyclic();
        world.template define<named>().relation();
        world.template define<one>().relation().exclusive();
        world.template define<upward>().relation().exclusive().acyclic();
        world.template define<titled>().relation().exclusive();
        if (is_observed) observe<many, ordered, named, one, upward, titled, child_of_t>();
        for (int i = 0; i < 12; ++i)
            all.push_back(i % 3 == 0 ? world.spawn() : world.spawn(body{i}));
    }
    template <class... Rs>
    void observe() {
        (world.template on_relate<Rs>([] {}), ...);
    }
    template <class R>
    std::string relate(std::size_t from, std::size_t to, const R& value) {
        return result([&] { return world.template relate<R>(all[from], all[to], value); });
    }
    template <class R>
    std::string unrelate(std::size_t from, std::size_t to) {
        return result([&] { return world.template unrelate<R>(all[from], all[to]); });
    }
    template <class... Args>
    std::string spawn(Args&&... args) {
        return result([&] { return bool(all.emplace_back(world.spawn(args...))); });
    }
    std::string destroy(std::size_t which) {
        return result([&] { return world.destroy(all[which]); });
    }
    template <class Call>
    static std::string result(Call call) {
        try {
            return call() ? "true" : "false";
        } catch (const error& refused) {
            return std::to_string(static_cast<int>(refused.code()));
        }
    }
    /// Lists all links, with their values, at both ends.
    template <class R>
    std::string show() const {
        std::string text;
        for (const id_type e : all) {
            text += world.alive(e) ? '|' : '-';
            if (const body* const found = world.template try_get<body>(e))
                text += std::to_string(found->value);
            if (const note* const found = world.template try_get<note>(e)) text += found->text;
            text += world.template has<flag>(e) ? '!' : ' ';
            for (const id_type target : world.template targets<R>(e)) {
                text += std::to_string(target.key()) + ' ';
                if constexpr (requires(R value) { value.text; })
                    text += world.template link<R>(e, target).text;
                else if constexpr (requires(R value) { value.value; })
                    text += std::to_string(world.template link<R>(e, target).value);
            }
            text += '<';
            for (const id_type source : world.template sources<R>(e))
                text += std::to_string(source.key()) + ' ';
        }
        return text;
    }
    /// Lists levels, and entities in the order of a loop.
    [[nodiscard]] std::string show_rows() {
        std::string text;
        for (const id_type e : all) text += std::to_string(world.level(e)) + ' ';
        world.template query<const body>().each(
            [&](id_type e, const body&) { text += std::to_string(e.key()) + ' '; });
        return text;
    }
    [[nodiscard]] std::string show() {
        return show_rows() + show<many>() + show<ordered>() + show<named>() + show<one>() +
               show<upward>() + show<titled>() + show<child_of_t>();
    }
};

template <class Layout, class World>
std::string run_step(World& in, unsigned call, std::size_t from, std::size_t to, int value) {
    const std::string text = std::to_string(value);
    const auto target = in.all[to];
    switch (call) {
    case 0:
    case 1: return in.relate(from, to, many{value});
    case 2: return in.template unrelate<many>(from, to);
    case 3: return in.relate(from, to, ordered{});
    case 4: return in.template unrelate<ordered>(from, to);
    case 5: return in.relate(from, to, named{text});
    case 6: return in.template unrelate<named>(from, to);
    case 7:
    case 8: return in.relate(from, to, one{value});
    case 9: return in.template unrelate<one>(from, to);
    case 10:
    case 11: return in.relate(from, to, upward{});
    case 12: return in.relate(from, to, titled{text});
    case 13:
    case 14: return in.relate(from, to, child_of_t{});
    case 15: return in.template unrelate<child_of_t>(from, to);
    case 16: return in.spawn(body{value}, muster::to(child_of, target));
    case 17: return in.spawn(muster::to<one>(target, one{value}), flag{}, body{value});
    case 18: return in.spawn(muster::to<upward>(target));
    case 19: return in.spawn(body{value}, muster::to<titled>(target, titled{text}));
    case 20: return in.spawn(muster::to<many>(target, many{value}), note{text});
    case 21: return in.spawn(note{text}, flag{}, muster::to(child_of, target));
    default: return in.destroy(to);
    }
}

template <class Layout>
struct direct_links : testing::Test {};
TYPED_TEST_SUITE(direct_links, behavior_layouts, layout_names);

TYPED_TEST(direct_links, have_the_effect_of_an_edit) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        linked_world<TypeParam> quiet(false), observed(true);
        std::mt19937 dice(seed);
        for (int step = 0; step < 150; ++step) {
            const auto call = static_cast<unsigned>(dice() % 23);
            const std::size_t from = dice() % quiet.all.size(), to = dice() % quiet.all.size();
            ASSERT_EQ((run_step<TypeParam>(quiet, call, from, to, step)),
                      (run_step<TypeParam>(observed, call, from, to, step)))
                << "seed " << seed << ", step " << step << ", call " << call;
            ASSERT_EQ(quiet.show(), observed.show())
                << "seed " << seed << ", step " << step << ", call " << call;
        }
    }
}

TYPED_TEST(direct_links, of_new_entities_fill_chunks_of_any_size) {
    using id_type = basic_id<TypeParam>;
    basic_world<TypeParam> w;
    const id_type top = w.spawn();
    std::vector<id_type> all;
    for (int i = 0; i < 3000; ++i)
        all.push_back(w.spawn(body{i}, flag{}, muster::to(child_of, i < 2000 ? top : all[0])));
    EXPECT_EQ(w.children(top).size(), 2000u);
    EXPECT_EQ(w.children(all[0]).size(), 1000u);
    int next = 0;
    for (const id_type e : w.children(top)) {
        EXPECT_EQ(e, all[static_cast<std::size_t>(next)]);
        EXPECT_EQ(w.template get<body>(e).value, next++);
        EXPECT_TRUE(w.template has<flag>(e));
    }
    w.destroy(top);
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(direct_links, of_new_entities_are_recorded_in_a_scope) {
    using id_type = basic_id<TypeParam>;
    basic_world<TypeParam> w;
    const id_type top = w.spawn();
    const id_type first = w.spawn(body{1}, muster::to(child_of, top));
    w.defer();
    const id_type made = w.spawn(body{2}, muster::to(child_of, top));
    EXPECT_EQ(w.children(top).size(), 1u);
    w.commit();
    EXPECT_EQ(w.parent(made), top);
    EXPECT_EQ(w.children(top).size(), 2u);
    w.destroy(first);
    EXPECT_EQ(code_of([&] { (void)w.spawn(body{3}, muster::to(child_of, first)); }),
              errc::dead_entity);
    EXPECT_EQ(w.size(), 2u);
}

TYPED_TEST(direct_links, of_new_entities_end_with_hooks_of_their_values) {
    using id_type = basic_id<TypeParam>;
    basic_world<TypeParam> w;
    const id_type top = w.spawn();
    (void)w.spawn(body{1}, muster::to(child_of, top));
    int sum = 0;
    auto hook = w.template on_insert<body>([&](id_type e, body& made) {
        EXPECT_EQ(w.parent(e), top);
        sum += made.value;
    });
    (void)w.spawn(body{2}, muster::to(child_of, top));
    EXPECT_EQ(sum, 2);
    hook.disconnect();
    (void)w.spawn(body{4}, muster::to(child_of, top));
    EXPECT_EQ(sum, 2);
    EXPECT_EQ(w.children(top).size(), 3u);
}

TYPED_TEST(direct_links, begin_and_end_with_hooks) {
    linked_world<TypeParam> in(false);
    in.relate(1, 2, many{1});
    std::vector<std::size_t> seen;
    auto hook = in.world.template on_relate<many>([&] { seen.push_back(seen.size()); });
    in.relate(1, 3, many{2});
    EXPECT_EQ(seen.size(), 1u);
    hook.disconnect();
    in.relate(1, 4, many{3});
    EXPECT_EQ(seen.size(), 1u);
    EXPECT_EQ(in.world.template targets<many>(in.all[1]).size(), 3u);
}

}  // namespace
}  // namespace muster::test
