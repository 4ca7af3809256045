// Properties with shrinking: a failure prints the fewest bytes that reproduce it, and their operations.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/relation_stories.hpp"

namespace muster::test {
namespace {

template <class Layout>
void stories_agree() {
    rc::detail::checkGTest(
        [](const std::vector<std::uint8_t>& bytes) { run_relation_story<Layout>(bytes); });
}

TEST(relation_property, any_story_agrees_with_the_model_on_bound) {
    stories_agree<layouts::bound>();
}
TEST(relation_property, any_story_agrees_with_the_model_on_compact) {
    stories_agree<layouts::compact>();
}

}  // namespace
}  // namespace muster::test
