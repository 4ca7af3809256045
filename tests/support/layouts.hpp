// The layouts of the tests: the presets, and small layouts whose limits a test can reach.
#pragma once

#include <muster/base/text.hpp>
#include <muster/id/layout.hpp>

#include <cstdint>
#include <string>

namespace muster::test {

template <class Rep, id_bits Bits, exhaustion Policy>
using with_policy = layout<Rep, id_bits{Bits.key, Bits.version, Bits.world, Bits.first_key,
                                        Bits.first_version, Policy}>;

inline constexpr id_bits bound_bits{.key = 32, .version = 16, .world = 16};
inline constexpr id_bits compact_bits{.key = 20, .version = 12};
inline constexpr id_bits exact_bits{.key = 20, .version = 33, .first_key = 1, .first_version = 1};
inline constexpr id_bits packed_bits{.key = 20, .version = 20, .first_key = 1, .first_version = 1};

/// 256 ids, so that a test can visit them all.
inline constexpr id_bits nibble_bits{.key = 4, .version = 4};
/// Like `nibble_bits`, but counted from 1, as in the drawing of ECR.
inline constexpr id_bits nibble_from_1_bits{
    .key = 4, .version = 4, .first_key = 1, .first_version = 1};
/// With world bits, and one unused bit.
inline constexpr id_bits tiny_bound_bits{.key = 5, .version = 3, .world = 7};
/// The smallest layout: two keys and one version to issue.
inline constexpr id_bits least_bits{.key = 1, .version = 1};

template <exhaustion Policy>
using nibble = with_policy<std::uint8_t, nibble_bits, Policy>;
template <exhaustion Policy>
using nibble_from_1 = with_policy<std::uint8_t, nibble_from_1_bits, Policy>;
template <exhaustion Policy>
using tiny_bound = with_policy<std::uint16_t, tiny_bound_bits, Policy>;
template <exhaustion Policy>
using least = with_policy<std::uint8_t, least_bits, Policy>;

/// Names for typed tests: "u16_k5_v3_w7_retire".
struct layout_names {
    template <class Layout>
    static std::string GetName(int) {
        constexpr const char* policies[] = {"retire", "wrap", "tombstone"};
        return detail::text("u", 8 * sizeof(typename Layout::rep), "_k", Layout::key_bits, "_v",
                            Layout::version_bits, "_w", Layout::world_bits, "_from_",
                            Layout::first_key, "_",
                            policies[static_cast<int>(Layout::on_exhaustion)]);
    }
};

}  // namespace muster::test
