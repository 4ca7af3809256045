// Runs long random stories against the model, on every layout, exhaustion policy and reuse order.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/id_story.hpp"
#include "support/layouts.hpp"
#include "support/scale.hpp"

namespace muster::test {
namespace {

template <class Layout>
class id_pool_model : public testing::Test {};

template <class Rep, id_bits Bits>
struct policies {
    using retire = with_policy<Rep, Bits, exhaustion::retire>;
    using wrap = with_policy<Rep, Bits, exhaustion::wrap>;
    using tombstone = with_policy<Rep, Bits, exhaustion::tombstone>;
};
using bound = policies<std::uint64_t, bound_bits>;
using compact = policies<std::uint32_t, compact_bits>;
using exact = policies<std::uint64_t, exact_bits>;
using packed = policies<std::uint64_t, packed_bits>;
using tiny = policies<std::uint16_t, tiny_bound_bits>;
using nibbles = policies<std::uint8_t, nibble_bits>;
static_assert(std::is_base_of_v<bound::retire, layouts::bound>);
static_assert(std::is_base_of_v<exact::retire, layouts::exact>);

using every_layout_and_policy =
    testing::Types<bound::retire, bound::wrap, bound::tombstone, compact::retire, compact::wrap,
                   compact::tombstone, exact::retire, exact::wrap, exact::tombstone, packed::retire,
                   packed::wrap, packed::tombstone, tiny::retire, tiny::wrap, tiny::tombstone,
                   nibbles::retire, nibbles::wrap, nibbles::tombstone>;
TYPED_TEST_SUITE(id_pool_model, every_layout_and_policy, layout_names);

TYPED_TEST(id_pool_model, agrees_over_random_operations) {
    std::size_t steps = 0;
    for (unsigned seed = 0; steps < 60'000u * scale(); ++seed) {
        std::mt19937_64 dice(seed);
        std::vector<std::uint8_t> bytes(4096);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(dice());
        byte_source from(bytes);
        id_pool_options options = story_options<TypeParam>(from);
        options.reuse = seed % 2 == 0 ? reuse::lifo : reuse::fifo;
        ASSERT_NO_THROW(steps += run_id_story<TypeParam>(options, bytes)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace muster::test
