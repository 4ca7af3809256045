#include "world_story.hpp"

namespace muster::test {

using bytes = std::span<const std::uint8_t>;
template std::size_t run_world_story<scarce<exhaustion::retire>>(bytes);
template std::size_t run_world_story<scarce<exhaustion::tombstone>>(bytes);

}  // namespace muster::test
