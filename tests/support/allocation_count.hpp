// allocation_count: how many blocks of memory the program has allocated and freed, and of how many bytes. It counts in programs that
// link allocation_count.cpp and wrap malloc and its like; see tests/CMakeLists.txt.
#pragma once

#include <cstddef>

namespace muster::test {

/// Blocks since the program started. A block that `realloc` grows counts as freed and allocated.
struct allocation_count {
    std::size_t allocated = 0;
    std::size_t freed = 0;
    std::size_t bytes = 0;  // that were requested, freed or not
    [[nodiscard]] std::size_t living() const noexcept { return allocated - freed; }
};
inline allocation_count blocks;

}  // namespace muster::test
