// raw_array: memory for trivially copyable values that grows by `realloc`, in place where possible.
#pragma once

#include <muster/base/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace MUSTER_NAMESPACE::detail {

/// Owns uninitialised memory; the user tracks which elements have a value.
template <class T>
class raw_array {
    static_assert(__is_trivially_copyable(T));  // the standard trait costs compile time per type
    static_assert(alignof(T) <= alignof(std::max_align_t));

public:
    raw_array() = default;
    raw_array(raw_array&& other) noexcept : data_(other.data_), capacity_(other.capacity_) {
        other.data_ = nullptr;
        other.capacity_ = 0;
    }
    raw_array& operator=(raw_array&& other) noexcept {
        T* const data = data_;
        const std::size_t capacity = capacity_;
        data_ = other.data_;
        capacity_ = other.capacity_;
        other.data_ = data;
        other.capacity_ = capacity;
        return *this;
    }
    ~raw_array() { std::free(static_cast<void*>(data_)); }

    [[nodiscard]] T* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] T& operator[](std::size_t index) const noexcept { return data_[index]; }

    /// Makes room for `count` elements. `std::bad_alloc` changes nothing. May move elements.
    void grow(std::size_t count) {
        if (count <= capacity_) return;
        // NOLINTBEGIN(bugprone-sizeof-expression): T may be a pointer
        if (count > SIZE_MAX / sizeof(T)) raise_out_of_memory();
        // SAFETY: T is trivially copyable, so realloc may move it; it aligns to max_align_t.
        void* grown = std::realloc(static_cast<void*>(data_), count * sizeof(T));
        // NOLINTEND(bugprone-sizeof-expression)
        if (grown == nullptr) raise_out_of_memory();
        data_ = static_cast<T*>(grown);
        capacity_ = count;
    }

    /// Frees the memory beyond `count` elements, if the allocator can. May move elements.
    void trim(std::size_t count) noexcept {
        if (count >= capacity_) return;
        if (count == 0) {
            std::free(static_cast<void*>(data_));
            data_ = nullptr;
            capacity_ = 0;
            // NOLINTNEXTLINE(bugprone-sizeof-expression)
        } else if (void* const less = std::realloc(static_cast<void*>(data_), count * sizeof(T))) {
            data_ = static_cast<T*>(less);
            capacity_ = count;
        }
    }

private:
    T* data_ = nullptr;
    std::size_t capacity_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
