// Makes allocations fail when `muster::test::allocations` strikes. The linker redirects malloc and its
// like to the wrappers below; see tests/CMakeLists.txt.
#include "support/trouble.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

extern "C" {
void* __real_malloc(std::size_t size);
void* __wrap_malloc(std::size_t size) {
    return muster::test::allocations.strikes() ? nullptr : __real_malloc(size);
}
void* __real_calloc(std::size_t count, std::size_t size);
void* __wrap_calloc(std::size_t count, std::size_t size) {
    return muster::test::allocations.strikes() ? nullptr : __real_calloc(count, size);
}
void* __real_realloc(void* old, std::size_t size);
void* __wrap_realloc(void* old, std::size_t size) {
    return muster::test::allocations.strikes() ? nullptr : __real_realloc(old, size);
}
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
    return muster::test::allocations.strikes() ? nullptr : __real_aligned_alloc(alignment, size);
}
}

// Not inline: g++ would warn that `free` does not match `new`.
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
