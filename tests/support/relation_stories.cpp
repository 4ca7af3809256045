#include "relation_story.hpp"

namespace muster::test {

template std::size_t run_relation_story<layouts::bound>(std::span<const std::uint8_t>);
template std::size_t run_relation_story<layouts::compact>(std::span<const std::uint8_t>);

}  // namespace muster::test
