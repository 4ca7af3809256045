// Properties with shrinking: a failure prints the fewest bytes that reproduce it, and their
// operations.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/world_stories.hpp"

namespace muster::test {
namespace {

template <class Layout>
void stories_agree() {
    rc::detail::checkGTest(
        [](const std::vector<std::uint8_t>& bytes) { run_world_story<Layout>(bytes); });
}

TEST(world_property, any_story_agrees_with_the_model_on_bound) {
    stories_agree<layouts::bound>();
}
TEST(world_property, any_story_agrees_with_the_model_on_compact) {
    stories_agree<layouts::compact>();
}
TEST(world_property, any_story_agrees_with_the_model_on_exact) {
    stories_agree<layouts::exact>();
}
TEST(world_property, any_story_agrees_with_the_model_on_packed) {
    stories_agree<layouts::packed>();
}
TEST(world_property, any_story_agrees_with_the_model_where_keys_are_scarce) {
    stories_agree<scarce<exhaustion::retire>>();
}

}  // namespace
}  // namespace muster::test
