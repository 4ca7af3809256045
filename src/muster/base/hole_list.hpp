// hole_list: a list in the order of insertion, any element of which is erased in O(1), amortised.
//
//     erase e1, e3      [ e0 ][ hole ][ e2 ][ hole ][ e4 ][ e5 ] ...
//     close up          [ e0 ][ e2 ][ e4 ][ e5 ] ...
//
// Short lists close up at once, long ones when holes are the majority. The owner of an element knows
// its place, and is told when it changes.
#pragma once

#include <muster/base/array_list.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

/// Loops over the list meet the holes: choose an element for them that loops may visit, or test it.
template <class T>
class hole_list {
public:
    constexpr hole_list() noexcept = default;
    /// `hole` stands for erased elements.
    explicit hole_list(T hole) noexcept : hole_(hole) {}

    /// The list with its holes, like the functions below.
    [[nodiscard]] const array_list<T>& all() const noexcept { return list_; }
    [[nodiscard]] const T* begin() const noexcept { return list_.begin(); }
    [[nodiscard]] const T* end() const noexcept { return list_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return list_.capacity(); }
    [[nodiscard]] const T& operator[](std::size_t place) const noexcept { return list_[place]; }

    /// The number of elements, without holes.
    [[nodiscard]] std::size_t count() const noexcept { return list_.size() - holes_; }
    [[nodiscard]] bool empty() const noexcept { return count() == 0; }
    /// The last element, which is never a hole. The list must not be empty.
    [[nodiscard]] const T& back() const noexcept { return list_.back(); }

    void reserve(std::size_t count) { list_.reserve(count); }
    /// Appends an element at the place `size()`. `std::bad_alloc` changes nothing.
    void push_back(const T& added) { list_.push_back(added); }
    /// Erases the element at this place. Calls `moved(element, place)` for each that gets another.
    template <class Moved>
    void erase(std::size_t place, Moved moved) noexcept {
        list_[place] = hole_;
        ++holes_;
        for (; list_.size() != 0 && list_.back() == hole_; list_.pop_back()) --holes_;
        if (holes_ * 2 > list_.size() || (holes_ != 0 && list_.size() <= few)) close_up(moved);
    }
    /// Erases all elements that satisfy `is_unwanted`; calls `moved` as `erase` does. O(n).
    template <class Predicate, class Moved>
    void erase_if(Predicate is_unwanted, Moved moved) noexcept {
        for (T& element : list_)
            if (!(element == hole_) && is_unwanted(element)) {
                element = hole_;
                ++holes_;
            }
        close_up(moved);
    }

private:
    static constexpr std::size_t few = 32;

    template <class Moved>
    void close_up(Moved moved) noexcept {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < list_.size(); ++i) {
            const T element = list_[i];
            if (element == hole_) continue;
            if (kept != i) {
                list_[kept] = element;
                moved(element, kept);
            }
            ++kept;
        }
        list_.resize(kept);
        holes_ = 0;
    }

    array_list<T> list_;
    T hole_{};
    std::size_t holes_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
