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
            text += '|';
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
    [[nodiscard]] std::string show() const {
        return show<many>() + show<ordered>() + show<named>() + show<one>() + show<upward>() +
               show<titled>() + show<child_of_t>();
    }
};

template <class Layout, class World>
std::string run_step(World& in, unsigned call, std::size_t from, std::size_t to, int value) {
    const std::string text = std::to_string(value);
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
    default: return in.template unrelate<child_of_t>(from, to);
    }
}

template <class Layout>
struct direct_links : testing::Test {};
TYPED_TEST_SUITE(direct_links, behavior_layouts, layout_names);

TYPED_TEST(direct_links, have_the_effect_of_an_edit) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        linked_world<TypeParam> quiet(false), observed(true);
        std::mt19937 dice(seed);
        for (int step = 0; step < 300; ++step) {
            const unsigned call = dice() % 16;
            const std::size_t from = dice() % 12, to = dice() % 12;
            ASSERT_EQ((run_step<TypeParam>(quiet, call, from, to, step)),
                      (run_step<TypeParam>(observed, call, from, to, step)))
                << "seed " << seed << ", step " << step << ", call " << call;
            ASSERT_EQ(quiet.show(), observed.show())
                << "seed " << seed << ", step " << step << ", call " << call;
        }
    }
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
