#include <muster/base/arena.hpp>
#include <muster/base/integer.hpp>

namespace MUSTER_NAMESPACE::detail {

namespace {

constexpr std::size_t first_size = 4096;
constexpr std::size_t largest_size = std::size_t{1} << 20;  // unless one value needs more

}  // namespace

void* arena::allocate_elsewhere(std::size_t size, std::size_t alignment) {
    if (size > SIZE_MAX / 2 - alignment) raise_out_of_memory();
    const std::size_t needed = size + alignment;
    std::uint32_t next = at_.block < count_ ? at_.block + 1 : at_.block;
    // Skipped blocks are used again after a rewind.
    while (next < count_ && blocks_[next].size < needed) ++next;
    if (next == count_) {
        if (count_ == blocks_.capacity()) blocks_.grow(larger(8, std::size_t{count_} * 2));
        std::size_t wanted = count_ == 0 ? first_size : blocks_[count_ - 1].size * 2;
        wanted = larger(smaller(wanted, largest_size), needed);
        auto* const made = static_cast<std::byte*>(std::malloc(wanted));
        if (made == nullptr) raise_out_of_memory();
        blocks_[count_++] = {made, wanted};
    }
    at_ = {next, 0};
    return allocate(size, alignment);
}

void arena::free() noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) std::free(blocks_[i].data);
    blocks_.trim(0);
    count_ = 0;
    at_ = {};
}

}  // namespace MUSTER_NAMESPACE::detail
