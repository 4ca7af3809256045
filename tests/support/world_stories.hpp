// world_stories: the stories of world_story.hpp, compiled once for all programs that run them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "byte_source.hpp"
#include "world_layouts.hpp"

namespace muster::test {

/// Runs a story and returns the number of steps. If it throws a `difference`, runs it again with a
/// log of all operations. Defined for the presets and for `scarce`.
template <class Layout>
std::size_t run_world_story(std::span<const std::uint8_t> bytes);

}  // namespace muster::test
