// The layouts for tests of worlds: the presets of the library, and others, which the object library
// `world_layouts` instantiates.
#pragma once

#include "layouts.hpp"

namespace muster::test {

/// Records of 16 bytes.
using wide_versions = layout<std::uint64_t, id_bits{.key = 24, .version = 40}>;
/// Keys and versions run out soon.
template <exhaustion Policy>
using scarce = layout<std::uint16_t, id_bits{.key = 7, .version = 4, .on_exhaustion = Policy}>;
/// Versions of two bits that wrap: an id is issued again after its key was destroyed three times.
using wrapping =
    layout<std::uint32_t, id_bits{.key = 20, .version = 2, .on_exhaustion = exhaustion::wrap}>;

}  // namespace muster::test
