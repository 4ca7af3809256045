// key_set: an ordered set of keys, for the few that are used out of order.
#pragma once

#include <muster/base/sparse_array.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// A template, so that programs without a pool do not compile it.
template <class Key = std::uint64_t>
class key_set {
public:
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    [[nodiscard]] bool contains(std::uint64_t key) const noexcept {
        const std::uint64_t* group = groups_.find(key / 64);
        return group != nullptr && (*group >> key % 64 & 1) != 0;
    }

    /// The key must not be in the set. `std::bad_alloc` changes nothing.
    void insert(std::uint64_t key) {
        groups_.ensure(key / 64, 0) |= std::uint64_t{1} << key % 64;
        ++size_;
    }

    /// Inserts `64 * group` plus the number of each bit; none may be in the set. `std::bad_alloc`
    /// changes nothing.
    void insert(std::uint64_t group, std::uint64_t bits) {
        groups_.ensure(group, 0) |= bits;
        size_ += static_cast<std::size_t>(std::popcount(bits));
    }

    /// The key must be in the set.
    void erase(std::uint64_t key) noexcept {
        std::uint64_t& group = groups_[key / 64];
        group &= ~(std::uint64_t{1} << key % 64);
        if (group == 0) groups_.erase(key / 64);
        --size_;
    }

    /// Returns the lowest key; the set must not be empty.
    [[nodiscard]] std::uint64_t lowest() const noexcept {
        const std::uint64_t number = groups_.next(0);
        return number * 64 + static_cast<unsigned>(std::countr_zero(groups_[number]));
    }

    void erase_lowest() noexcept {
        const std::uint64_t number = groups_.next(0);
        std::uint64_t& group = groups_[number];
        group &= group - 1;
        if (group == 0) groups_.erase(number);
        --size_;
    }

    /// Returns the lowest key from `key` on, or `none`.
    static constexpr std::uint64_t none = ~std::uint64_t{0};
    [[nodiscard]] std::uint64_t next(std::uint64_t key) const noexcept {
        const std::uint64_t* group = groups_.find(key / 64);
        const std::uint64_t left = group == nullptr ? 0 : *group >> key % 64;
        if (left != 0) return key + static_cast<unsigned>(std::countr_zero(left));
        const std::uint64_t number = groups_.next(key / 64 + 1);
        if (number == groups_.none) return none;
        return number * 64 + static_cast<unsigned>(std::countr_zero(groups_[number]));
    }

    /// Returns the end of the shortest run from `key` on with `count` keys that are not in the set.
    [[nodiscard]] std::uint64_t skip(std::uint64_t key, std::uint64_t count) const noexcept {
        std::uint64_t end = key + count;
        for (std::uint64_t number = groups_.next(key / 64); number != groups_.none;
             number = groups_.next(number + 1))
            for (std::uint64_t left = groups_[number]; left != 0; left &= left - 1) {
                const std::uint64_t member =
                    number * 64 + static_cast<unsigned>(std::countr_zero(left));
                if (member < key) continue;
                if (member >= end) return end;
                ++end;
            }
        return end;
    }

private:
    sparse_array<Key> groups_;  // key / 64 -> one bit per key, never 0
    std::size_t size_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
