// arena: memory for values that are freed together. It allocates from large blocks and reuses them.
#pragma once

#include <muster/base/raw_array.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// A bump allocator: `rewind` frees everything since a position at once. Runs no destructors.
class MUSTER_API arena {
public:
    struct position {
        std::uint32_t block = 0;  // blocks after it are unused
        std::size_t used = 0;     // bytes of that block
    };

    arena() = default;
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;
    ~arena() { free(); }

    /// Returns uninitialised memory. `std::bad_alloc` changes nothing. O(1) within a block.
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) {
        if (at_.block < count_) [[likely]] {
            const block& here = blocks_[at_.block];
            const auto address = reinterpret_cast<std::uintptr_t>(here.data);
            const std::size_t from = ((address + at_.used + alignment - 1) & -alignment) - address;
            if (from <= here.size && size <= here.size - from) [[likely]] {
                at_.used = from + size;
                return here.data + from;
            }
        }
        return allocate_elsewhere(size, alignment);
    }

    [[nodiscard]] position now() const noexcept { return at_; }
    /// Frees everything allocated since `to` and keeps the blocks.
    void rewind(position to) noexcept { at_ = to; }
    /// Returns all blocks to the system; invalidates every allocation.
    void free() noexcept;

private:
    struct block {
        std::byte* data;
        std::size_t size;
    };
    MUSTER_COLD void* allocate_elsewhere(std::size_t size, std::size_t alignment);

    position at_;
    std::uint32_t count_ = 0;  // of blocks
    raw_array<block> blocks_;
};

}  // namespace MUSTER_NAMESPACE::detail
