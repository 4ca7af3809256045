#include <muster/base/error.hpp>
#include <muster/system/system_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/numbered.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

class system_order_of : public testing::Test {
protected:
    system_registry systems;
    system_data top;

    /// Adds a system as the last member of a group.
    system_data& add(std::string_view name, system_data* group = nullptr) {
        system_data& made = systems.add(name);
        system_links& to = group != nullptr ? group->links : top.links;
        made.links.group = group;
        made.links.previous = to.last_member;
        (to.last_member != nullptr ? to.last_member->links.next : to.first_member) = &made;
        to.last_member = &made;
        return made;
    }
    void order(system_data& system, std::string_view other, bool is_before) {
        system.constraints.push_back({systems.keep_name(other), is_before});
    }
    void after(system_data& system, std::string_view other) { order(system, other, false); }
    void before(system_data& system, std::string_view other) { order(system, other, true); }

    std::string names(system_data& root) {
        std::string all;
        system_order made(systems, root);
        for (const system_plan::step& step : made.steps())
            if (step.system != &root) (all += step.system->name) += ' ';
        return all;
    }
    std::size_t work() { return system_order(systems, top).work(); }
};

TEST_F(system_order_of, a_step_ends_after_its_last_member) {
    system_data& a = add("a");
    system_data& b = add("b", &a);
    add("c", &b);
    add("d");
    system_order made(systems, top);
    ASSERT_EQ(made.steps().size(), 5u);
    const std::size_t ends[] = {5, 4, 4, 4, 5};
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(made.steps()[i].end, ends[i]) << i;
}

TEST_F(system_order_of, a_constraint_orders_the_members_of_the_first_common_group) {
    system_data& outer = add("outer");
    system_data& left = add("left", &outer);
    system_data& right = add("right", &outer);
    after(add("l", &left), "r");
    add("r", &right);
    EXPECT_EQ(names(top), "outer right r left l ");
    EXPECT_EQ(names(outer), "right r left l ");
    EXPECT_EQ(names(left), "l ");  // "r" runs in another call
}

TEST_F(system_order_of, the_wrong_constraint_of_the_first_system_is_reported) {
    system_data& first = add("first");
    system_data& second = add("second");
    after(second, "missing");
    before(first, "absent");
    try {
        (void)names(top);
        FAIL();
    } catch (const error& caught) {
        EXPECT_EQ(caught.code(), errc::unknown_system);
        EXPECT_NE(std::string_view(caught.what()).find("absent"), std::string_view::npos);
    }
}

TEST_F(system_order_of, a_member_cannot_be_ordered_with_its_groups) {
    system_data& outer = add("outer");
    system_data& inner = add("inner", &outer);
    after(add("leaf", &inner), "outer");
    EXPECT_THROW((void)names(top), error);
    EXPECT_THROW((void)names(outer), error);
    EXPECT_THROW((void)names(inner), error);  // "outer" does not run, but contains it
}

/// Compares with repeatedly taking the first system that nothing blocks.
TEST_F(system_order_of, random_constraints_give_the_order_of_a_naive_search) {
    std::mt19937 dice(1);
    for (int round = 0; round < 200; ++round) {
        top.links = {};
        const int count = 2 + static_cast<int>(dice() % 12);
        std::vector<system_data*> all;
        const std::string prefix = std::to_string(round) + "_";
        for (int i = 0; i < count; ++i) all.push_back(&add(prefix + std::to_string(i)));
        std::vector<std::vector<bool>> needs(all.size(), std::vector<bool>(all.size()));
        std::vector<std::size_t> rank(all.size());
        for (std::size_t i = 0; i < rank.size(); ++i) rank[i] = i;
        std::ranges::shuffle(rank, dice);  // so that there is no cycle
        for (int i = static_cast<int>(dice() % 20); i > 0; --i) {
            std::size_t a = dice() % all.size();
            std::size_t b = dice() % all.size();
            if (rank[a] == rank[b]) continue;
            if (rank[a] > rank[b]) std::swap(a, b);
            needs[b][a] = true;
            if (dice() % 2 == 0)
                after(*all[b], all[a]->name);
            else
                before(*all[a], all[b]->name);
        }
        std::string expected;
        std::vector<bool> is_done(all.size());
        for (std::size_t done = 0; done < all.size(); ++done) {
            std::size_t next = 0;
            const auto is_blocked = [&](std::size_t at) {
                for (std::size_t i = 0; i < all.size(); ++i)
                    if (needs[at][i] && !is_done[i]) return true;
                return false;
            };
            while (is_done[next] || is_blocked(next)) ++next;
            is_done[next] = true;
            (expected += all[next]->name) += ' ';
        }
        EXPECT_EQ(names(top), expected) << "round " << round;
    }
}

// ---- growth: twice the systems need at most a bit more than twice the work ---------------------

TEST_F(system_order_of, work_for_a_reversed_chain_grows_with_its_length) {
    const auto extend = [&](int from, int to) {
        for (int i = from; i < to; ++i) after(add(std::to_string(i)), std::to_string(i + 1));
    };
    extend(0, 1000);
    system_data* last = &add("1000");
    const std::size_t once = work();
    after(*last, "1001");
    extend(1001, 2000);
    add("2000");
    EXPECT_LE(work(), once * 2 + 100);
    EXPECT_TRUE(names(top).starts_with("2000 1999 "));
}

TEST_F(system_order_of, work_for_nested_groups_grows_with_their_number) {
    system_data* group = nullptr;
    const auto nest = [&](int from, int to) {
        for (int i = from; i < to; ++i) {
            group = &add(test::numbered("g", i), group);
            add(test::numbered("a", i), group);
            // Leads from the deepest group to the outermost one.
            after(add(test::numbered("b", i), group), test::numbered("a", i % 7));
        }
    };
    nest(0, 500);
    const std::size_t once = work();
    nest(500, 1000);
    EXPECT_LE(work(), once * 5 / 2);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
