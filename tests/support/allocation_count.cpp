// The linker redirects malloc and its like to the wrappers below; see tests/CMakeLists.txt.
#include "allocation_count.hpp"

#include <cstdlib>
#include <new>

using muster::test::blocks;

extern "C" {
void* __real_malloc(std::size_t size);
void* __wrap_malloc(std::size_t size) {
    ++blocks.allocated;
    blocks.bytes += size;
    return __real_malloc(size);
}
void* __real_calloc(std::size_t count, std::size_t size);
void* __wrap_calloc(std::size_t count, std::size_t size) {
    ++blocks.allocated;
    blocks.bytes += count * size;
    return __real_calloc(count, size);
}
void* __real_realloc(void* old, std::size_t size);
void* __wrap_realloc(void* old, std::size_t size) {
    ++blocks.allocated;
    blocks.bytes += size;
    if (old != nullptr) ++blocks.freed;
    return __real_realloc(old, size);
}
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
    ++blocks.allocated;
    blocks.bytes += size;
    return __real_aligned_alloc(alignment, size);
}
void __real_free(void* old);
void __wrap_free(void* old) {
    if (old != nullptr) ++blocks.freed;
    __real_free(old);
}
}

// libstdc++ is not wrapped, so that its `operator new` would not count. Not inline: g++ would report a
// mismatch of `new` and `free`.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (void* const made = std::malloc(size == 0 ? 1 : size)) return made;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto step = static_cast<std::size_t>(alignment);
    if (void* const made = std::aligned_alloc(step, (size + step - 1) / step * step)) return made;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* old) noexcept {
    std::free(old);
}
[[gnu::noinline]] void operator delete(void* old, std::size_t) noexcept {
    std::free(old);
}
[[gnu::noinline]] void operator delete(void* old, std::align_val_t) noexcept {
    std::free(old);
}
[[gnu::noinline]] void operator delete(void* old, std::size_t, std::align_val_t) noexcept {
    std::free(old);
}
