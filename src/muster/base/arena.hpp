// arena: memory for values that end together: taken from large blocks, which are kept and used again.
#pragma once

#include <muster/base/raw_array.hpp>

#include <cstddef>
#include <cstdint>

namespace muster::detail {

/// Gives out room in a line; what was given out since a position is taken back at once. Runs no
/// destructors.
class MUSTER_API arena {
public:
    struct position {
        std::uint32_t block = 0;  // behind which nothing is given out
        std::size_t used = 0;     // bytes of it
    };

    arena() = default;
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;
    ~arena() { free(); }

    /// `std::bad_alloc` changes nothing. O(1) but for new blocks.
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
    /// Takes back what was given out since.
    void rewind(position to) noexcept { at_ = to; }
    /// Gives all memory back; nothing may be in use.
    void free() noexcept;

private:
    struct block {
        std::byte* data;
        std::size_t size;
    };
    MUSTER_COLD void* allocate_elsewhere(std::size_t size, std::size_t alignment);

    position at_;
    std::uint32_t count_ = 0;  // blocks
    raw_array<block> blocks_;
};

}  // namespace muster::detail
