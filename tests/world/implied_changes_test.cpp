// A small room of states that exclude each other: an entity is idle, running or dead. Gaining one
// state removes the others, losing `running` makes the entity idle, and `dead` leaves a grave.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/room_world.hpp"

namespace muster::test {
namespace {

using detail::fragment_data;

struct idle {};
struct running {
    int speed = 0;
};
struct dead {
    std::string cause = "unknown";
};
struct grave {
    int number = 7;
};
struct position {
    int x = 0;
};

template <class Layout>
struct states_of : room_world<Layout> {
    states_of() {
        auto& parts = this->parts();
        fragment_data& i = parts.template ensure_fragment<idle>();
        fragment_data& r = parts.template ensure_fragment<running>();
        fragment_data& d = parts.template ensure_fragment<dead>();
        fragment_data& g = parts.template ensure_fragment<grave>();
        const auto imply = [&](fragment_data& of, std::vector<detail::implied_change> rules) {
            parts.catalog.imply(of.id, rules);
        };
        imply(i, {{&r, false, true}, {&d, false, true}});
        imply(r, {{&i, false, true}, {&d, false, true}, {&i, true, false}});
        imply(d, {{&i, false, true}, {&r, false, true}, {&g, false, false}});
    }
    [[nodiscard]] std::string show(basic_id<Layout> e) const {
        std::string made;
        if (this->template has<idle>(e)) made += "idle ";
        if (const running* r = this->template try_get<running>(e))
            made += "running " + std::to_string(r->speed) + " ";
        if (const dead* d = this->template try_get<dead>(e)) made += "dead of " + d->cause + " ";
        if (const grave* g = this->template try_get<grave>(e))
            made += "grave " + std::to_string(g->number) + " ";
        if (const position* p = this->template try_get<position>(e))
            made += "at " + std::to_string(p->x);
        return made;
    }
};

template <class Layout>
struct implied_changes : testing::Test {
    states_of<Layout> owner;
};
TYPED_TEST_SUITE(implied_changes, behavior_layouts, layout_names);

TYPED_TEST(implied_changes, happen_with_a_direct_change) {
    auto& w = this->owner;
    const auto e = w.spawn(position{1}, idle{});
    w.set(e, running{3});
    EXPECT_EQ(w.show(e), "running 3 at 1");
    w.set(e, dead{"age"});
    EXPECT_EQ(w.show(e), "dead of age grave 7 at 1");
    w.template remove<dead>(e);
    EXPECT_EQ(w.show(e), "grave 7 at 1");
    w.set(e, running{1});
    w.template remove<running>(e);
    EXPECT_EQ(w.show(e), "idle grave 7 at 1");
    w.set(e, running{2});
    w.clear(e);
    EXPECT_EQ(w.show(e), "");
}

TYPED_TEST(implied_changes, follow_the_order_of_the_call) {
    auto& w = this->owner;
    EXPECT_EQ(w.show(w.spawn(running{1}, dead{"x"})), "dead of x grave 7 ");
    EXPECT_EQ(w.show(w.spawn(dead{"x"}, running{1})), "running 1 grave 7 ");
    const auto e = w.spawn();
    w.set(e, dead{"x"}, running{1});
    EXPECT_EQ(w.show(e), "running 1 grave 7 ");
    w.set(e, running{2}, idle{});
    EXPECT_EQ(w.show(e), "idle grave 7 ");
    EXPECT_EQ(w.show(w.clone(e, running{5})), "running 5 grave 7 ");
    for (const auto made : w.clone_many(3, e)) EXPECT_EQ(w.show(made), "idle grave 7 ");
    for (const auto made : w.spawn_many(3, idle{}, grave{2}))
        EXPECT_EQ(w.show(made), "idle grave 2 ");
    for (const auto made : w.spawn_many(3, position{2}, dead{"y"}))
        EXPECT_EQ(w.show(made), "dead of y grave 7 at 2");
}

TYPED_TEST(implied_changes, happen_to_all_entities_of_a_batch) {
    auto& w = this->owner;
    const auto a = w.spawn(idle{}, position{1});
    const auto b = w.spawn(position{2});
    w.template query<position>().set(running{4});
    EXPECT_EQ(w.show(a), "running 4 at 1");
    EXPECT_EQ(w.show(b), "running 4 at 2");
    w.template clear<running>();
    EXPECT_EQ(w.show(a), "idle at 1");
    EXPECT_EQ(w.show(b), "idle at 2");
}

TYPED_TEST(implied_changes, are_seen_by_hooks_and_observers) {
    auto& w = this->owner;
    std::string log;
    w.template define<idle>().on_remove([&] { log += "-idle "; });
    w.template define<running>().on_insert([&] { log += "+running "; });
    w.template define<grave>().on_insert(
        [&](auto, grave& g) { log += "+grave " + std::to_string(g.number) + " "; });
    const auto e = w.spawn(idle{});
    w.set(e, running{});
    w.set(e, dead{});
    EXPECT_EQ(log, "-idle +running +grave 7 ");
}

TYPED_TEST(implied_changes, of_a_destroyed_fragment_are_forgotten) {
    auto& w = this->owner;
    const auto e = w.spawn(running{1});
    const auto f = w.template component<running>();
    w.destroy(f.id());
    EXPECT_EQ(w.show(e), "");  // the end of a fragment implies nothing
    w.set(e, idle{});
    w.set(e, running{2});  // a fragment anew, without rules
    EXPECT_EQ(w.show(e), "idle running 2 ");
}

/// The result is the same whether calls are direct or recorded, and whether a fragment is sparse.
TYPED_TEST(implied_changes, give_one_result_however_they_are_applied) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        states_of<TypeParam> direct, deferred, sparse;
        if (!sparse.parts().template ensure_fragment<grave>().sparse_values)
            sparse.template define<grave>().sparse();
        if (!sparse.parts().template ensure_fragment<running>().sparse_values)
            sparse.template define<running>().sparse();
        const auto run = [seed](auto& w) {
            std::mt19937 random(seed);
            std::vector<basic_id<TypeParam>> all;
            for (int i = 0; i < 3; ++i) all.push_back(w.spawn());
            for (int i = 0; i < 12; ++i) {
                const auto e = all[random() % all.size()];
                const int value = static_cast<int>(random() % 9);
                switch (random() % 10) {
                case 0: w.set(e, idle{}); break;
                case 1: w.set(e, running{value}); break;
                case 2: w.set(e, dead{"x"}, position{value}); break;
                case 3: w.set(e, idle{}, running{value}); break;
                case 4: w.template remove<running>(e); break;
                case 5: w.template remove<dead, grave>(e); break;
                case 6: w.clear(e); break;
                case 7: all.push_back(w.spawn(running{value}, idle{})); break;
                case 8: all.push_back(w.clone(e, dead{"y"})); break;
                default: w.template add<dead>(e);
                }
            }
            return all;
        };
        const auto expected = run(direct);
        deferred.defer();
        const auto recorded = run(deferred);
        deferred.commit();
        const auto mixed = run(sparse);
        ASSERT_EQ(expected.size(), recorded.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_EQ(direct.show(expected[i]), deferred.show(recorded[i])) << "seed " << seed;
            ASSERT_EQ(direct.show(expected[i]), sparse.show(mixed[i])) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace muster::test
