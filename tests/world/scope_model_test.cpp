// Random scopes, loops and hooks, compared with the model, on layouts with ids of all shapes.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "support/layouts.hpp"
#include "support/scale.hpp"
#include "support/scope_story.hpp"

namespace muster::test {
namespace {

template <class Layout>
class scope_model_test : public testing::Test {
protected:
    static std::string run(std::uint64_t seed, int steps) {
        scopes::scope_story<Layout> story(seed);
        return story.run(steps);
    }
};
using three_layouts = testing::Types<layouts::bound, layouts::compact, layouts::exact>;
TYPED_TEST_SUITE(scope_model_test, three_layouts, layout_names);

TYPED_TEST(scope_model_test, agrees_over_random_operations) {
    for (std::uint64_t seed = 0; seed < 400u * scale(); ++seed) {
        ASSERT_NO_THROW(this->run(seed, 150)) << "seed " << seed;
        ASSERT_EQ(scopes::text::living, 0) << "seed " << seed;
    }
}

TYPED_TEST(scope_model_test, is_deterministic_for_a_seed) {
    for (std::uint64_t seed = 0; seed < 20u * scale(); ++seed)
        ASSERT_EQ(this->run(seed, 150), this->run(seed, 150)) << "seed " << seed;
}

}  // namespace
}  // namespace muster::test
