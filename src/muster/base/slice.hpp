// slice: the part of `std::span` that the library needs for internal lists. Every user compiles
// public headers: a conversion to `std::span` evaluates the concepts of iterators and ranges for
// each type, which takes as long as parsing some thousand lines. Public calls take `std::span`.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

/// Refers to `size` adjacent objects that another object owns.
template <class T>
class slice {
public:
    constexpr slice() noexcept = default;
    constexpr slice(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t Size>
    constexpr slice(T (&all)[Size]) noexcept : data_(all), size_(Size) {}
    /// Refers to the elements of a list with `data` and `size`, such as a `std::vector`.
    template <class List>
        requires requires(List& all) { slice(all.data(), all.size()); }
    constexpr slice(List&& all) noexcept : data_(all.data()), size_(all.size()) {}

    [[nodiscard]] constexpr T* data() const noexcept { return data_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr T* begin() const noexcept { return data_; }
    [[nodiscard]] constexpr T* end() const noexcept { return data_ + size_; }
    [[nodiscard]] constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }
    [[nodiscard]] constexpr T& front() const noexcept { return data_[0]; }
    [[nodiscard]] constexpr T& back() const noexcept { return data_[size_ - 1]; }
    [[nodiscard]] constexpr slice first(std::size_t count) const noexcept { return {data_, count}; }
    [[nodiscard]] constexpr slice subspan(std::size_t first) const noexcept {
        return {data_ + first, size_ - first};
    }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
