// Random programs with relations, compared with a naive model: links in their order, values, levels and
// queries agree after any mix of scopes, hooks that throw, clones, batches, buffers, phases and resets.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <vector>

#include "support/relation_stories.hpp"
#include "support/scale.hpp"

namespace muster::test {
namespace {

template <class Layout>
struct relation_model : testing::Test {};
using two_layouts = testing::Types<layouts::bound, layouts::compact>;
TYPED_TEST_SUITE(relation_model, two_layouts, layout_names);

TYPED_TEST(relation_model, agrees_with_random_programs) {
    const char* const start = std::getenv("MUSTER_TEST_SEED");  // the first seed of a long run
    std::size_t steps = 0;
    for (unsigned seed = start != nullptr ? static_cast<unsigned>(std::atoi(start)) : 0;
         steps < 12'000u * scale(); ++seed) {
        std::mt19937 dice(seed);
        std::vector<std::uint8_t> bytes(900);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(dice());
        ASSERT_NO_THROW(steps += run_relation_story<TypeParam>(bytes)) << "seed " << seed;
    }
    // A long run says what it has done.
    if (scale() != 1) std::printf("%zu operations\n", steps);
}

}  // namespace
}  // namespace muster::test
