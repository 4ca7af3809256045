#include "world_story.hpp"

namespace muster::test {

template std::size_t run_world_story<layouts::bound>(std::span<const std::uint8_t>);
template std::size_t run_world_story<layouts::compact>(std::span<const std::uint8_t>);
template std::size_t run_world_story<layouts::exact>(std::span<const std::uint8_t>);
template std::size_t run_world_story<layouts::packed>(std::span<const std::uint8_t>);

}  // namespace muster::test
