// Long random stories about fragments, compared with the model, on every kind of record.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/fragment_story.hpp"
#include "support/scale.hpp"
#include "support/world_layouts.hpp"

namespace muster::test {
namespace {

template <class Layout>
class fragment_model_test : public testing::Test {};
using every_record =  // 8 bytes, 16 bytes, and keys that run out
    testing::Types<layouts::bound, layouts::exact, scarce<exhaustion::retire>>;
TYPED_TEST_SUITE(fragment_model_test, every_record, layout_names);

TYPED_TEST(fragment_model_test, agrees_over_random_operations_on_fragments) {
    std::size_t steps = 0;
    for (unsigned seed = 0; steps < 6'000u * scale(); ++seed) {
        std::mt19937_64 dice(seed);
        std::vector<std::uint8_t> bytes(8192);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(dice());
        ASSERT_NO_THROW(steps += fragment_stories::run_story<TypeParam>(bytes)) << "seed " << seed;
    }
    this->RecordProperty("steps", static_cast<int>(steps));
}

}  // namespace
}  // namespace muster::test
