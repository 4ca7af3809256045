// The layouts that worlds are tested on: the presets, which the library has, and own ones, which
// world_layouts.cpp instantiates.
#pragma once

#include "layouts.hpp"

namespace muster::test {

/// Records of 16 bytes.
using wide_versions = layout<std::uint64_t, id_bits{.key = 24, .version = 40}>;
/// Keys and versions run out soon.
template <exhaustion Policy>
using scarce = layout<std::uint16_t, id_bits{.key = 7, .version = 4, .on_exhaustion = Policy}>;

}  // namespace muster::test
