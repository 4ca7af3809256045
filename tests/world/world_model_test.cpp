// Long random stories, compared with the model, on every layout and with every kind of component.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/scale.hpp"
#include "support/world_stories.hpp"

namespace muster::test {
namespace {

template <class Layout>
class world_model_test : public testing::Test {};
using every_layout =
    testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed,
                   scarce<exhaustion::retire>, scarce<exhaustion::tombstone>>;
TYPED_TEST_SUITE(world_model_test, every_layout, layout_names);

TYPED_TEST(world_model_test, agrees_over_random_operations) {
    std::size_t steps = 0;
    for (unsigned seed = 0; steps < 12'000u * scale(); ++seed) {
        std::mt19937_64 dice(seed);
        std::vector<std::uint8_t> bytes(8192);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(dice());
        ASSERT_NO_THROW(steps += run_world_story<TypeParam>(bytes)) << "seed " << seed;
    }
    this->RecordProperty("steps", static_cast<int>(steps));
}

}  // namespace
}  // namespace muster::test
