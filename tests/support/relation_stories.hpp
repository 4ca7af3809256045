// relation_stories: random programs with relations beside all else that a world can do, compared with
// relation_model.hpp. The bytes choose the operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "byte_source.hpp"
#include "layouts.hpp"

namespace muster::test {

/// Runs a story and returns the number of operations. Throws `difference`, with the operations before
/// it. Defined for `layouts::bound` and `layouts::compact`.
template <class Layout>
std::size_t run_relation_story(std::span<const std::uint8_t> bytes);

}  // namespace muster::test
