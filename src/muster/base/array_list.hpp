// array_list: the part of `std::vector` that the library needs, for trivially copyable values.
// Every user compiles public headers: array_list costs a tenth of a vector's compile time per type,
// and its type-independent part is compiled once.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <initializer_list>

namespace MUSTER_NAMESPACE::detail {

/// Returns memory for `capacity` elements of `size` bytes, moves the first `used` elements there as
/// bytes, and frees `old`. If `capacity` is 0, frees `old` and returns null. `std::bad_alloc`
/// changes nothing.
[[nodiscard]] MUSTER_API void* move_elements(void* old, std::size_t used, std::size_t capacity,
                                             std::size_t size, std::size_t alignment);
/// Opens or closes a gap of `count` elements at `at`, and shifts the `tail_count` elements after it.
MUSTER_API void open_elements(void* at, std::size_t tail_count, std::size_t count,
                              std::size_t size) noexcept;
MUSTER_API void close_elements(void* at, std::size_t tail_count, std::size_t count,
                               std::size_t size) noexcept;

/// Functions behave as in `std::vector`. Those that grow the list may throw `std::bad_alloc`; they
/// then change nothing.
template <class T>
class array_list {
public:
    using value_type = T;

    constexpr array_list() noexcept = default;
    explicit array_list(std::size_t count, const T& value = T()) { resize(count, value); }
    array_list(const T* first, const T* last) { assign(first, last); }
    array_list(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
    array_list(const array_list& other) { assign(other.begin(), other.end()); }
    array_list(array_list&& other) noexcept { swap(other); }
    array_list& operator=(array_list other) noexcept {
        swap(other);
        return *this;
    }
    ~array_list() {
        if (data_ != nullptr) (void)move_elements(bytes(0), 0, 0, element, alignof(T));
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] T* data() noexcept { return data_; }
    [[nodiscard]] const T* data() const noexcept { return data_; }
    [[nodiscard]] T* begin() noexcept { return data_; }
    [[nodiscard]] const T* begin() const noexcept { return data_; }
    [[nodiscard]] T* end() noexcept { return data_ + size_; }
    [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return data_[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data_[index]; }
    [[nodiscard]] T& front() noexcept { return data_[0]; }
    [[nodiscard]] const T& front() const noexcept { return data_[0]; }
    [[nodiscard]] T& back() noexcept { return data_[size_ - 1]; }
    [[nodiscard]] const T& back() const noexcept { return data_[size_ - 1]; }

    void reserve(std::size_t count) {
        if (count > capacity_) move(count);
    }
    void push_back(const T& value) {
        const T kept = value;  // `value` may be an element, which `move` relocates
        if (size_ == capacity_) [[unlikely]]
            move(size_ < 4 ? 4 : 2 * size_);
        data_[size_++] = kept;
    }
    void pop_back() noexcept { --size_; }
    void clear() noexcept { size_ = 0; }
    void resize(std::size_t count, const T& value = T()) {
        const T kept = value;
        reserve(count);
        for (std::size_t i = size_; i < count; ++i) data_[i] = kept;
        size_ = count;
    }
    void assign(std::size_t count, const T& value) {
        const T kept = value;
        reserve(count);
        clear();
        resize(count, kept);
    }
    /// The values must not be elements of this list.
    void assign(const T* first, const T* last) {
        const auto count = static_cast<std::size_t>(last - first);
        reserve(count);
        for (size_ = 0; size_ < count; ++size_) data_[size_] = first[size_];
    }
    void insert(const T* at, const T& value) {
        const T kept = value;
        insert(at, &kept, &kept + 1);
    }
    /// The values must not be elements of this list.
    void insert(const T* at, const T* first, const T* last) {
        const auto count = static_cast<std::size_t>(last - first);
        const std::size_t index = size_ == 0 ? 0 : static_cast<std::size_t>(at - data_);
        if (capacity_ - size_ < count) move(size_ + count < 2 * size_ ? 2 * size_ : size_ + count);
        if (count == 0) return;
        open_elements(bytes(index), size_ - index, count, element);
        for (std::size_t i = 0; i < count; ++i) data_[index + i] = first[i];
        size_ += count;
    }
    void erase(const T* at) noexcept { erase(at, at + 1); }
    void erase(const T* first, const T* last) noexcept {
        const auto count = static_cast<std::size_t>(last - first);
        const auto index = static_cast<std::size_t>(first - data_);
        close_elements(bytes(index), size_ - index - count, count, element);
        size_ -= count;
    }
    /// Erases the elements that satisfy `is_unwanted`, keeps the order, returns the number erased.
    template <class Predicate>
    std::size_t erase_if(Predicate is_unwanted) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < size_; ++i)
            if (!is_unwanted(data_[i])) data_[kept++] = data_[i];
        const std::size_t erased = size_ - kept;
        size_ = kept;
        return erased;
    }
    void erase_value(const T& unwanted) noexcept {
        const T kept = unwanted;
        erase_if([&](const T& candidate) { return candidate == kept; });
    }
    void swap(array_list& other) noexcept {
        const auto exchange = [](auto& left, auto& right) {
            const auto kept = left;
            left = right;
            right = kept;
        };
        exchange(data_, other.data_);
        exchange(size_, other.size_);
        exchange(capacity_, other.capacity_);
    }

    friend bool operator==(const array_list& a, const array_list& b) noexcept {
        if (a.size_ != b.size_) return false;
        for (std::size_t i = 0; i < a.size_; ++i)
            if (!(a.data_[i] == b.data_[i])) return false;
        return true;
    }

private:
    static constexpr std::size_t element = sizeof(T);  // NOLINT(bugprone-sizeof-expression)

    [[nodiscard]] void* bytes(std::size_t index) const noexcept {
        return static_cast<void*>(data_ + index);
    }
    void move(std::size_t capacity) {
        static_assert(__is_trivially_copyable(T));
        // SAFETY: trivially copyable values may be moved as bytes.
        data_ = static_cast<T*>(move_elements(bytes(0), size_, capacity, element, alignof(T)));
        capacity_ = capacity;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
