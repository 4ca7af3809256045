// Modules: set up once in a world.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

template <class Layout>
class modules : public testing::Test {
public:
    basic_world<Layout> world_;
};
TYPED_TEST_SUITE(modules, behavior_layouts, layout_names);

std::vector<std::string> ended;

template <class Layout>
struct clock_module {
    explicit clock_module(basic_world<Layout>& w) {
        w.system("tick").execute([this] { ++ticks; });
    }
    ~clock_module() { ended.push_back("clock"); }
    int ticks = 0;
};
template <class Layout>
struct physics {
    explicit physics(basic_world<Layout>& w, float g = 9.8f)
        : gravity(g), clock(w.template use<clock_module<Layout>>()) {
        w.system("move").execute([] {});
        w.spawn(1);
    }
    ~physics() { ended.push_back("physics"); }
    float gravity;
    clock_module<Layout>& clock;
};
template <class Layout>
struct first_of_circle;
template <class Layout>
struct second {
    explicit second(basic_world<Layout>& w) { w.template use<first_of_circle<Layout>>(); }
};
template <class Layout>
struct first_of_circle {
    explicit first_of_circle(basic_world<Layout>& w) {
        w.system("of the circle").execute([] {});
        w.template use<second<Layout>>();
    }
};
template <class Layout>
struct failing {
    failing(basic_world<Layout>& w, bool fails) {
        w.system("before").execute([] {});
        w.template use<clock_module<Layout>>();
        w.system("after").execute([] {});
        w.spawn(2.5);
        if (fails) throw std::runtime_error("no physics");
    }
};

TYPED_TEST(modules, a_module_is_set_up_once) {
    auto& w = this->world_;
    EXPECT_FALSE(w.template has_module<physics<TypeParam>>());
    physics<TypeParam>& made = w.template use<physics<TypeParam>>(1.5f);
    EXPECT_TRUE(w.template has_module<physics<TypeParam>>());
    EXPECT_EQ(made.gravity, 1.5f);
    EXPECT_EQ(&w.template use<physics<TypeParam>>(3.0f), &made);
    EXPECT_EQ(&w.template use<physics<TypeParam>>(), &made);
    EXPECT_EQ(made.gravity, 1.5f);
    EXPECT_EQ(w.size(), 1u);
    basic_world<TypeParam> other;
    EXPECT_FALSE(other.template has_module<physics<TypeParam>>());
    EXPECT_EQ(other.template use<physics<TypeParam>>().gravity, 9.8f);
}

TYPED_TEST(modules, a_missing_dependency_is_built_first_and_lives_longer) {
    ended.clear();
    {
        basic_world<TypeParam> w;
        physics<TypeParam>& made = w.template use<physics<TypeParam>>();
        EXPECT_TRUE(w.template has_module<clock_module<TypeParam>>());
        EXPECT_EQ(&made.clock, &w.template use<clock_module<TypeParam>>());
        const std::vector<std::string_view> order = w.system_order();
        EXPECT_EQ(order, (std::vector<std::string_view>{"tick", "move"}));
        w.process_all();
        EXPECT_EQ(made.clock.ticks, 1);
        EXPECT_TRUE(ended.empty());
    }
    EXPECT_EQ(ended, (std::vector<std::string>{"physics", "clock"}));
}

TYPED_TEST(modules, a_circle_is_named_and_leaves_nothing) {
    auto& w = this->world_;
    EXPECT_EQ(code_of([&] { w.template use<second<TypeParam>>(); }), errc::module_circle);
    const std::string why = sentence_of([&] { w.template use<first_of_circle<TypeParam>>(); });
    EXPECT_EQ(why.find("modules use each other in a circle: "), 0u) << why;
    EXPECT_LT(why.find("first_of_circle"), why.find("second")) << why;
    EXPECT_LT(why.find("second"), why.rfind("first_of_circle")) << why;
    EXPECT_FALSE(w.template has_module<first_of_circle<TypeParam>>());
    EXPECT_FALSE(w.template has_module<second<TypeParam>>());
    EXPECT_TRUE(w.system_order().empty());
}

TYPED_TEST(modules, a_failed_module_leaves_none_of_its_systems_and_may_be_used_again) {
    auto& w = this->world_;
    w.system("old").execute([] {});
    EXPECT_THROW(w.template use<failing<TypeParam>>(true), std::runtime_error);
    EXPECT_FALSE(w.template has_module<failing<TypeParam>>());
    EXPECT_TRUE(w.template has_module<clock_module<TypeParam>>());
    EXPECT_EQ(w.system_order(), (std::vector<std::string_view>{"old", "tick"}));
    EXPECT_EQ(w.size(), 1u) << "entities stay";
    w.template use<failing<TypeParam>>(false);
    EXPECT_EQ(w.system_order(), (std::vector<std::string_view>{"old", "tick", "before", "after"}));
}

TYPED_TEST(modules, the_first_use_is_refused_in_a_scope_and_later_ones_are_not) {
    auto& w = this->world_;
    w.defer();
    EXPECT_EQ(code_of([&] { w.template use<clock_module<TypeParam>>(); }), errc::in_scope);
    w.commit();
    EXPECT_FALSE(w.template has_module<clock_module<TypeParam>>());
    w.template use<clock_module<TypeParam>>();
    w.defer();
    EXPECT_EQ(w.template use<clock_module<TypeParam>>().ticks, 0);
    w.commit();
}

TYPED_TEST(modules, an_immediate_system_may_use_a_module) {
    auto& w = this->world_;
    w.system("setup").immediate([&] { w.template use<physics<TypeParam>>(2.0f); });
    w.process_all();
    w.process_all();
    EXPECT_EQ(w.template use<physics<TypeParam>>().gravity, 2.0f);
    EXPECT_EQ(w.template use<physics<TypeParam>>().clock.ticks, 1);
}

TYPED_TEST(modules, reset_keeps_modules_and_their_systems) {
    auto& w = this->world_;
    physics<TypeParam>& made = w.template use<physics<TypeParam>>();
    w.reset();
    EXPECT_EQ(w.size(), 0u);
    EXPECT_EQ(&w.template use<physics<TypeParam>>(), &made);
    w.process_all();
    EXPECT_EQ(made.clock.ticks, 1);
}

TYPED_TEST(modules, a_module_is_not_the_extension_of_its_type) {
    struct thing {
        explicit thing(basic_world<TypeParam>&) {}
    };
    auto& w = this->world_;
    thing& extension = w.template extension<thing>();
    EXPECT_FALSE(w.template has_module<thing>());
    EXPECT_NE(&w.template use<thing>(), &extension);
    EXPECT_EQ(w.template find_extension<thing>(), &extension);
}

TYPED_TEST(modules, a_module_in_a_module_that_fails_keeps_its_systems_if_it_was_there) {
    struct outer {
        explicit outer(basic_world<TypeParam>& w) {
            w.system("outer");
            try {
                w.template use<failing<TypeParam>>(true);
            } catch (const std::runtime_error&) {
                w.system("without");
            }
        }
    };
    this->world_.template use<outer>();
    EXPECT_EQ(this->world_.system_order(),
              (std::vector<std::string_view>{"outer", "tick", "without"}));
}

}  // namespace
}  // namespace muster::test
