// small_list: a list that stores a few values without an allocation.
#pragma once

#include <muster/base/array_list.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

/// A list of at most `capacity` values, which are trivial. Up to `Few` values need no allocation.
template <class T, std::size_t Few = 8>
class small_list {
public:
    /// `std::bad_alloc` if `capacity` is above `Few`.
    explicit small_list(std::size_t capacity) {
        if (capacity > Few) many_.resize(capacity);
        data_ = capacity > Few ? many_.data() : few_;
    }
    small_list(const small_list&) = delete;
    small_list& operator=(const small_list&) = delete;

    /// The caller must not exceed the capacity.
    void push_back(const T& value) noexcept { data_[size_++] = value; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] T* data() noexcept { return data_; }
    [[nodiscard]] T* begin() noexcept { return data_; }
    [[nodiscard]] T* end() noexcept { return data_ + size_; }
    [[nodiscard]] const T* begin() const noexcept { return data_; }
    [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return data_[index]; }

private:
    T* data_;
    std::size_t size_ = 0;
    T few_[Few];  // the first `size_` are initialised
    array_list<T> many_;
};

}  // namespace MUSTER_NAMESPACE::detail
