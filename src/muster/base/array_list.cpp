#include <muster/base/array_list.hpp>
#include <muster/base/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace MUSTER_NAMESPACE::detail {

void* move_elements(void* old, std::size_t used, std::size_t capacity, std::size_t size,
                    std::size_t alignment) {
    if (capacity == 0) {
        std::free(old);
        return nullptr;
    }
    if (capacity > PTRDIFF_MAX / size) raise_out_of_memory();
    void* made = nullptr;
    if (alignment <= alignof(std::max_align_t)) {
        made = std::realloc(old, capacity * size);
    } else if (made = std::aligned_alloc(alignment, capacity * size); made != nullptr) {
        if (used != 0) std::memcpy(made, old, used * size);
        std::free(old);
    }
    if (made == nullptr) raise_out_of_memory();
    return made;
}

void open_elements(void* at, std::size_t tail_count, std::size_t count, std::size_t size) noexcept {
    if (tail_count != 0)
        std::memmove(static_cast<std::byte*>(at) + count * size, at, tail_count * size);
}
void close_elements(void* at, std::size_t tail_count, std::size_t count,
                    std::size_t size) noexcept {
    if (tail_count != 0)
        std::memmove(at, static_cast<std::byte*>(at) + count * size, tail_count * size);
}

}  // namespace MUSTER_NAMESPACE::detail
