#include <muster/storage/transition.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(transition_ref, is_empty_at_first) {
    const transition_ref none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.get(), nullptr);
    const transition_ref null(nullptr);
    EXPECT_FALSE(null);
}

TEST(transition_ref, counts_the_owners) {
    const transition_ref first(new transition);
    EXPECT_TRUE(first);
    EXPECT_EQ(first->references, 1u);
    {
        const transition_ref second = first;  // NOLINT(performance-unnecessary-copy-initialization)
        EXPECT_EQ(second.get(), first.get());
        EXPECT_EQ(first->references, 2u);
        const transition_ref third(first.get());
        EXPECT_EQ(first->references, 3u);
    }
    EXPECT_EQ(first->references, 1u);
}

TEST(transition_ref, a_moved_owner_is_empty) {
    transition_ref first(new transition);
    transition* const made = first.get();
    const transition_ref second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): the state is specified
    EXPECT_EQ(second.get(), made);
    EXPECT_EQ(made->references, 1u);
}

TEST(transition_ref, assignment_releases_the_former_transition) {
    const transition_ref kept(new transition);
    transition_ref tested = kept;
    const transition_ref other(new transition);
    tested = other;
    EXPECT_EQ(kept->references, 1u);
    EXPECT_EQ(other->references, 2u);
    tested = {};
    EXPECT_EQ(other->references, 1u);
    EXPECT_FALSE(tested);
}

TEST(transition_ref, self_assignment_keeps_the_transition) {
    transition_ref tested(new transition);
    const transition_ref& alias = tested;
    tested = alias;
    EXPECT_EQ(tested->references, 1u);
    transition_ref copy = tested;
    tested = std::move(copy);
    EXPECT_EQ(tested->references, 1u);
}

TEST(transition_ref, the_last_owner_frees_the_transition) {
    // The address sanitizer reports a transition that is freed too early, too late or twice.
    std::vector<transition_ref> owners;
    owners.emplace_back(new transition);
    owners[0].get()->columns = {1, 2, 3};
    for (int i = 0; i < 100; ++i) owners.push_back(owners.front());
    EXPECT_EQ(owners[0]->references, 101u);
    while (owners.size() > 1) {
        owners.erase(owners.begin());
        ASSERT_EQ(owners[0]->references, owners.size());
        ASSERT_EQ(owners[0]->columns.size(), 3u);
    }
}

TEST(transition, calls_hooks_before_or_after_the_move) {
    transition step;
    EXPECT_FALSE(step.calls_hooks());
    step.calls_before = true;
    EXPECT_TRUE(step.calls_hooks());
    step.calls_before = false;
    step.calls_after = true;
    EXPECT_TRUE(step.calls_hooks());
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
