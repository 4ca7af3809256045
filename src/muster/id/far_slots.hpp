// far_slots: slots for keys that lie far from the others, in pages of 64, so that an exact id near
// the end of the key range costs a page and not an array that reaches there.
#pragma once

#include <cstdint>
#include <map>

namespace muster::detail {

template <class Slot>
class far_slots {
public:
    static constexpr std::uint64_t page_size = 64;

    struct page {
        Slot slots[page_size];
    };

    [[nodiscard]] bool empty() const noexcept { return pages_.empty(); }

    /// The slot of `key`, or null if there is no page for it. O(log pages).
    [[nodiscard]] Slot* find(std::uint64_t key) noexcept {
        const auto found = pages_.find(key / page_size);
        return found == pages_.end() ? nullptr : &found->second.slots[key % page_size];
    }
    [[nodiscard]] const Slot* find(std::uint64_t key) const noexcept {
        return const_cast<far_slots*>(this)->find(key);  // SAFETY: find changes nothing
    }

    /// The slot of `key`; where a page has to be made for it, `fill(key)` gives the value of each
    /// of its slots. `std::bad_alloc` changes nothing.
    template <class Fill>
    Slot& ensure(std::uint64_t key, Fill fill) {
        const auto [at, made] = pages_.try_emplace(key / page_size);
        if (made)
            for (std::uint64_t i = 0; i < page_size; ++i)
                at->second.slots[i] = fill(key / page_size * page_size + i);
        return at->second.slots[key % page_size];
    }

    /// Calls `taker(key, slot)` for every slot from `begin` up to, not including, `end`, and drops
    /// the pages that lie wholly between `lowest` and `end`.
    template <class Taker>
    void take(std::uint64_t lowest, std::uint64_t begin, std::uint64_t end, Taker taker) noexcept {
        auto at = pages_.lower_bound(begin / page_size);
        while (at != pages_.end() && at->first * page_size < end) {
            const std::uint64_t base = at->first * page_size;
            for (std::uint64_t i = 0; i < page_size; ++i)
                if (base + i >= begin && base + i < end) taker(base + i, at->second.slots[i]);
            const auto taken = at++;
            if (base >= lowest && end - base >= page_size) pages_.erase(taken);
        }
    }

    /// The first key from `key` on that has a slot, or `none`.
    [[nodiscard]] std::uint64_t next(std::uint64_t key, std::uint64_t none) const noexcept {
        const auto at = pages_.lower_bound(key / page_size);
        if (at == pages_.end()) return none;
        return at->first == key / page_size ? key : at->first * page_size;
    }

    /// Calls `look(key, slot)` for every slot.
    template <class Look>
    void each(Look look) const noexcept {
        for (const auto& [number, held] : pages_)
            for (std::uint64_t i = 0; i < page_size; ++i)
                look(number * page_size + i, held.slots[i]);
    }

private:
    std::map<std::uint64_t, page> pages_;  // key / page_size -> its slots
};

}  // namespace muster::detail
