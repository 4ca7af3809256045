#include <muster/change/gate.hpp>

#include <gtest/gtest.h>

#include <string>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;
using test::sentence_of;

TEST(gate, is_idle_at_first) {
    const gate tested;
    EXPECT_TRUE(tested.is_idle());
    EXPECT_EQ(tested.depth(), 0u);
    EXPECT_FALSE(tested.is_changing());
    EXPECT_FALSE(tested.is_parallel());
    EXPECT_FALSE(tested.is_deferred("set"));
    EXPECT_FALSE(tested.is_recording("set"));
    EXPECT_EQ(code_of([&] { tested.refuse_in_change("set"); }), std::nullopt);
    EXPECT_EQ(code_of([&] { tested.refuse_in_phase("set"); }), std::nullopt);
    EXPECT_EQ(code_of([&] { tested.refuse_in_scope("set"); }), std::nullopt);
}

TEST(gate, takes_sixteen_bytes) {
    static_assert(sizeof(gate) == 16);
}

TEST(gate, depth_counts_the_open_scopes) {
    gate tested;
    for (unsigned i = 1; i <= 1000; ++i) {
        tested.open_scope();
        ASSERT_EQ(tested.depth(), i);
        ASSERT_TRUE(tested.is_deferred("set"));
        ASSERT_FALSE(tested.is_changing());
        ASSERT_FALSE(tested.is_parallel());
    }
    for (unsigned i = 1000; i-- != 0;) {
        tested.close_scope();
        ASSERT_EQ(tested.depth(), i);
    }
    EXPECT_TRUE(tested.is_idle());
}

TEST(gate, a_scope_refuses_only_calls_that_cannot_be_deferred) {
    gate tested;
    tested.open_scope();
    EXPECT_TRUE(tested.is_recording("set"));
    EXPECT_EQ(code_of([&] { tested.refuse_in_change("set"); }), std::nullopt);
    EXPECT_EQ(code_of([&] { tested.refuse_in_phase("set"); }), std::nullopt);
    EXPECT_EQ(code_of([&] { tested.refuse_in_scope("reset"); }), errc::in_scope);
    EXPECT_EQ(sentence_of([&] { tested.refuse_in_scope("reset"); }),
              "reset is not possible in a scope (in a loop, a callback or a hook, or after "
              "defer()): do it after the scope closes");
}

TEST(gate, a_change_refuses_every_other_change) {
    gate tested;
    {
        const busy_guard busy(tested);
        EXPECT_FALSE(tested.is_idle());
        EXPECT_TRUE(tested.is_changing());
        EXPECT_FALSE(tested.is_parallel());
        EXPECT_EQ(tested.depth(), 0u);
        EXPECT_EQ(code_of([&] { (void)tested.is_deferred("set"); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { (void)tested.is_recording("set"); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { tested.refuse_in_change("set"); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { tested.refuse_in_scope("set"); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { tested.refuse_in_phase("set"); }), std::nullopt);
        EXPECT_EQ(sentence_of([&] { tested.refuse_in_change("set"); }),
                  "set is not possible here: the world is in the middle of another change (in a "
                  "component's copy constructor or destructor)");
    }
    EXPECT_TRUE(tested.is_idle());
}

TEST(gate, changes_nest) {
    gate tested;
    tested.open_scope();
    {
        const busy_guard outer(tested);
        {
            const busy_guard inner(tested);
            EXPECT_TRUE(tested.is_changing());
        }
        EXPECT_TRUE(tested.is_changing());
        EXPECT_EQ(tested.depth(), 1u);
    }
    EXPECT_FALSE(tested.is_changing());
    EXPECT_TRUE(tested.is_deferred("set"));
}

TEST(gate, a_change_that_is_not_wanted_has_no_effect) {
    gate tested;
    tested.begin_change(false);
    EXPECT_TRUE(tested.is_idle());
    tested.begin_change(true);
    tested.end_change(false);
    EXPECT_TRUE(tested.is_changing());
    tested.end_change(true);
    EXPECT_TRUE(tested.is_idle());
}

TEST(gate, a_parallel_phase_records_every_change) {
    gate tested;
    tested.begin_phase();
    EXPECT_TRUE(tested.is_parallel());
    EXPECT_TRUE(tested.is_recording("set"));
    EXPECT_EQ(tested.depth(), 0u);
    for (const auto& refuse :
         {&gate::refuse_in_change, &gate::refuse_in_phase, &gate::refuse_in_scope}) {
        EXPECT_EQ(code_of([&] { (tested.*refuse)("define"); }), errc::in_scope);
        EXPECT_EQ(sentence_of([&] { (tested.*refuse)("define"); }),
                  "define is not possible in a parallel phase, which permits only reading, "
                  "spawn, destroy, set, add, emplace, patch, touch, remove and clear: do it after "
                  "the phase");
    }
    EXPECT_EQ(code_of([&] { (void)tested.is_deferred("define"); }), errc::in_scope);
    tested.end_phase();
    EXPECT_TRUE(tested.is_idle());
}

TEST(gate, a_phase_keeps_the_scopes_and_changes_around_it) {
    gate tested;
    tested.open_scope();
    tested.begin_phase();
    EXPECT_EQ(tested.depth(), 1u);
    tested.end_phase();
    EXPECT_EQ(tested.depth(), 1u);
    EXPECT_FALSE(tested.is_parallel());
    EXPECT_FALSE(tested.is_changing());
}

TEST(gate, hooks_of_entities_close_the_fast_paths_but_defer_nothing) {
    gate tested;
    tested.set_entity_hooks(true);
    tested.set_entity_hooks(true);
    EXPECT_FALSE(tested.is_idle());
    EXPECT_EQ(tested.depth(), 0u);
    EXPECT_FALSE(tested.is_changing());
    EXPECT_FALSE(tested.is_parallel());
    EXPECT_FALSE(tested.is_deferred("set"));
    EXPECT_FALSE(tested.is_recording("set"));
    EXPECT_EQ(code_of([&] { tested.refuse_in_scope("reset"); }), std::nullopt);
    tested.set_entity_hooks(false);
    EXPECT_TRUE(tested.is_idle());
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
