#include <muster/base/integer.hpp>
#include <muster/storage/column.hpp>

#include <cstdlib>

namespace MUSTER_NAMESPACE::detail {

namespace {

constexpr std::size_t malloc_alignment = alignof(std::max_align_t);

std::byte* align(void* block, std::size_t alignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    return static_cast<std::byte*>(block) + ((alignment - address % alignment) % alignment);
}

/// Whether realloc is likely to avoid a copy. If it copies, the new block may be aligned
/// differently, which costs a second copy. It shrinks in place, and moves large blocks by remapping
/// their pages; these blocks start directly after a page boundary.
bool may_stay(const void* block, std::size_t used, std::size_t bytes) {
    if (block == nullptr) return false;
    const bool is_mapped = reinterpret_cast<std::uintptr_t>(block) % 4096 <= malloc_alignment;
    return bytes < used + used / 2 || (bytes >= std::size_t{128} * 1024 && is_mapped);
}

/// Redirects arguments that lie in the `bytes` bytes from `before` on to `now`.
void update_addresses(argument_addresses arguments, std::uintptr_t before, std::size_t bytes,
                      const std::byte* now) {
    for (const void*& argument : arguments) {
        const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(argument) - before;
        if (offset < bytes) argument = now + offset;
    }
}

}  // namespace

bool column::resize(std::size_t used, std::size_t capacity, argument_addresses arguments) noexcept {
    if (capacity == 0) {
        free();
        return true;
    }
    const std::size_t alignment = larger(64, type->alignment);
    const std::size_t slack = alignment - malloc_alignment;
    if (capacity > (SIZE_MAX / 2 - slack) / size) return false;
    const std::size_t bytes = capacity * size + slack;
    const auto before = reinterpret_cast<std::uintptr_t>(data);

    void* grown = nullptr;
    std::byte* moved = nullptr;
    if (relocate_many == nullptr && may_stay(block, used * size, bytes)) {
        const auto offset = static_cast<std::size_t>(data - static_cast<std::byte*>(block));
        // SAFETY: without `relocate_many`, values are moved as bytes, so realloc may move them.
        grown = std::realloc(block, bytes);
        if (grown == nullptr) return false;
        moved = align(grown, alignment);
        std::byte* const arrived = static_cast<std::byte*>(grown) + offset;
        if (moved != arrived) std::memmove(moved, arrived, used * size);
    } else {
        grown = std::malloc(bytes);
        if (grown == nullptr) return false;
        moved = align(grown, alignment);
        if (used != 0) relocate(moved, data, used);
        std::free(block);
    }
    update_addresses(arguments, before, used * size, moved);
    block = grown;
    data = moved;
    return true;
}

void column::free() noexcept {
    std::free(block);
    block = nullptr;
    data = no_values;
}

}  // namespace MUSTER_NAMESPACE::detail
