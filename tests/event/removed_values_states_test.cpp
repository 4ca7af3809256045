// removed_values: null handles, handles that move, pause, end in a phase or outlive their world, and those that are
// created while a value is removed.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/thread_executor.hpp"

namespace muster {
namespace {

using test::code_of;

struct number {
    int value = 0;
};
struct other_number {
    int value = 0;
};

std::vector<int> values_of(removed_values<number>& gone) {
    std::vector<int> seen;
    gone.each([&](number& last) { seen.push_back(last.value); });
    return seen;
}
using values = std::vector<int>;

TEST(removed_values_states, a_null_handle_is_empty_and_refuses) {
    removed_values<number> none;
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.size(), 0u);
    EXPECT_FALSE(none.connected());
    EXPECT_FALSE(none.pause());
    EXPECT_FALSE(none.resume());
    EXPECT_TRUE(none.clear());
    EXPECT_EQ(values_of(none), values{});
}

TEST(removed_values_states, a_handle_takes_its_values_along_when_it_moves) {
    world w;
    removed_values<number> gone;
    gone = w.removed_values<number>();
    EXPECT_TRUE(gone.connected());
    w.destroy(w.spawn(number{1}));
    removed_values<number> moved(std::move(gone));
    EXPECT_TRUE(gone.empty());  // NOLINT(bugprone-use-after-move): a null handle
    EXPECT_FALSE(gone.connected());
    w.destroy(w.spawn(number{2}));
    EXPECT_EQ(values_of(moved), (values{1, 2}));
}

TEST(removed_values_states, a_pause_lasts_until_the_handle_resumes) {
    world w;
    w.destroy(w.component<other_number>());  // leaves a hole among the fragments
    const entity unrelated = w.spawn(true);
    removed_values<number> gone = w.removed_values<number>();
    EXPECT_FALSE(gone.resume());
    EXPECT_TRUE(gone.pause());
    EXPECT_FALSE(gone.pause());
    EXPECT_FALSE(gone.connected());
    w.destroy(w.spawn(number{1}));
    EXPECT_TRUE(gone.resume());
    w.destroy(w.spawn(number{2}));
    EXPECT_EQ(values_of(gone), values{2});
    EXPECT_TRUE(w.alive(unrelated));
}

TEST(removed_values_states, the_values_end_with_their_world) {
    std::optional<world> w(std::in_place);
    removed_values<number> gone = w->removed_values<number>();
    w->destroy(w->spawn(number{7}));
    w.reset();
    EXPECT_FALSE(gone.connected());
    EXPECT_FALSE(gone.pause());
    EXPECT_TRUE(gone.empty());
    EXPECT_EQ(values_of(gone), values{});
    EXPECT_TRUE(gone.clear());
}

TEST(removed_values_states, a_phase_lets_a_handle_end_but_not_change) {
    world w;
    for (int i = 0; i < 8; ++i) w.spawn(number{i});
    w.destroy(w.component<other_number>());
    auto ended = std::make_unique<removed_values<number>>(w.removed_values<number>());
    removed_values<number> stays = w.removed_values<number>();
    w.destroy(w.spawn(number{50}));
    muster_tests::thread_executor threads(2);
    w.query<number>().par_each(threads, 1, [&](entity e, number& n) {
        if (n.value != 0) return;
        EXPECT_FALSE(stays.clear());
        EXPECT_FALSE(stays.pause());
        EXPECT_EQ(code_of([&] { (void)stays.begin(); }), errc::in_scope);
        ended.reset();
        w.destroy(e);
    });
    EXPECT_EQ(values_of(stays), (values{50, 0}));
    w.destroy_if([](entity) { return true; });
    EXPECT_EQ(stays.size(), 7u);
}

TEST(removed_values_states, a_handle_that_a_hook_creates_collects_from_then_on) {
    world w;
    std::optional<removed_values<number>> late;
    removed_values<number> early = w.removed_values<number>();
    const entity first = w.spawn(number{1});
    const entity second = w.spawn(number{2});
    connection hook = w.on_remove<number>([&] {
        if (!late) late.emplace(w.removed_values<number>());
    });
    w.remove<number>(first);
    w.remove<number>(second);
    EXPECT_EQ(values_of(early), (values{1, 2}));
    ASSERT_TRUE(late.has_value());
    const values seen = values_of(*late);
    EXPECT_EQ(seen.back(), 2);
    hook.disconnect();
}

TEST(removed_values_states, the_first_handle_may_be_created_by_a_hook) {
    for (const bool in_batch : {false, true}) {
        world w;
        std::optional<removed_values<number>> late;
        for (int i = 0; i < 3; ++i) w.spawn(number{i}, other_number{});
        const connection hook = w.on_remove<number>([&] {
            if (!late) late.emplace(w.removed_values<number>());
        });
        if (in_batch) {
            w.query<number>().remove<number>();
        } else {
            std::vector<entity> all;
            w.each([&](entity e, number&) { all.push_back(e); });
            for (const entity e : all) w.remove<number>(e);
        }
        EXPECT_TRUE(hook.connected());
        ASSERT_TRUE(late.has_value());
        EXPECT_LE(late->size(), 3u);
        w.destroy(w.spawn(number{9}));
        EXPECT_EQ(values_of(*late).back(), 9);
    }
}

}  // namespace
}  // namespace muster
