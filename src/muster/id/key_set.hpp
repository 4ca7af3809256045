// key_set: an ordered set of keys, 64 to a node, for the few keys that are used out of order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>

namespace muster::detail {

class key_set {
public:
    [[nodiscard]] bool empty() const noexcept { return groups_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    [[nodiscard]] bool contains(std::uint64_t key) const noexcept {
        const auto group = groups_.find(key / 64);
        return group != groups_.end() && (group->second >> key % 64 & 1) != 0;
    }

    /// The key must not be in the set. `std::bad_alloc` changes nothing.
    void insert(std::uint64_t key) {
        groups_[key / 64] |= std::uint64_t{1} << key % 64;
        ++size_;
    }

    /// The set must not be empty.
    [[nodiscard]] std::uint64_t lowest() const noexcept {
        const auto& [group, members] = *groups_.begin();
        return group * 64 + static_cast<unsigned>(std::countr_zero(members));
    }

    void erase_lowest() noexcept {
        const auto group = groups_.begin();
        group->second &= group->second - 1;
        if (group->second == 0) groups_.erase(group);
        --size_;
    }

    /// Where a run from `key` on ends that holds `count` keys which are not in the set.
    [[nodiscard]] std::uint64_t skip(std::uint64_t key, std::uint64_t count) const noexcept {
        std::uint64_t end = key + count;
        for (auto group = groups_.lower_bound(key / 64); group != groups_.end(); ++group)
            for (std::uint64_t left = group->second; left != 0; left &= left - 1) {
                const std::uint64_t member =
                    group->first * 64 + static_cast<unsigned>(std::countr_zero(left));
                if (member < key) continue;
                if (member >= end) return end;
                ++end;
            }
        return end;
    }

private:
    std::map<std::uint64_t, std::uint64_t> groups_;  // key / 64 -> one bit per key, never 0
    std::size_t size_ = 0;
};

}  // namespace muster::detail
