// pool_sharing: lets several threads create ids of one slot_pool at once, without a lock. Meanwhile
// no key is freed: threads take free keys from the head of the free list, and fresh keys from a
// counter. `end` creates the slots of fresh keys.
//
//     free list   head -> 4 -> 1 -> 3     each thread advances the head by one key
//     fresh       ... 6 ] 7  8  9         each thread advances the counter by one; no slot yet
//
// Keys only leave the list, so a head never returns to an earlier key: no ABA.
#pragma once

#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/id/slot_pool.hpp>

#include <cstdint>
#include <string>

namespace muster::detail {

/// While it exists, the pool may be used only through this object, `find`, and `take_keys` and the
/// functions that go with it. `Slot` also has
///     Slot seen() const     a snapshot, while another thread may call `show`
///     void show(id)         stores this id; the slot was in the free list
template <class Layout, class Slot>
class pool_sharing {
    using pool_type = slot_pool<Layout, Slot>;

public:
    using id_type = basic_id<Layout>;

    explicit pool_sharing(pool_type& pool)
        : pool_(pool), first_limit_((unlink_free(pool), pool.sync_reserved(), pool.pool_end_)) {
        pool.claim_range(wanted_keys());
        free_.store_relaxed(pool.free_);
        head_.store_relaxed(pool.head_);
        fresh_.store_relaxed(pool.fresh_);
    }
    pool_sharing(const pool_sharing&) = delete;
    pool_sharing& operator=(const pool_sharing&) = delete;

    /// Creates an id that is alive for all threads. `errc::id_overflow` if no key is left.
    /// Lock-free. Any thread may call it.
    id_type create() {
        std::uint64_t left = free_.load();
        while (left != 0)
            if (free_.compare_exchange(left, left - 1)) return take_free();
        std::uint64_t index = fresh_.load();
        for (;;) {
            const std::uint64_t end = pool_.ahead_.skip(pool_.first_ + index, 1) - pool_.first_;
            if (end > pool_.pool_end_ || end > pool_.keys()) raise_overflow();
            if (fresh_.compare_exchange(index, end)) return fresh_id(end - 1);
        }
    }

    /// Whether this object has created the id and the id has no slot yet.
    [[nodiscard]] bool has(id_type e) const noexcept {
        const std::uint64_t index = e.key() - pool_.first_;
        return index >= pool_.fresh_ && index < fresh_.load() && fresh_id(index) == e &&
               !pool_.ahead_.contains(e.key());
    }

    /// Transfers the created ids to the pool. After `std::bad_alloc`, the pool has only the ids
    /// that had a slot; the rest are dead.
    void end() {
        pool_.free_ = free_.load();
        pool_.head_ = head_.load();
        const std::uint64_t from = pool_.fresh_;
        const std::uint64_t to = fresh_.load();
        return_reserve_end(to);
        pool_.set_limit();
        if (to == from) return;
        if (to > pool_.covered_) pool_.cover(to);
        for (std::uint64_t index = from; index < to; ++index)
            if (!pool_.ahead_.contains(pool_.first_ + index))
                pool_.main_[index] = Slot::live(fresh_id(index));
        while (!pool_.ahead_.empty() && pool_.ahead_.lowest() < pool_.first_ + to)
            pool_.ahead_.erase_lowest();
        pool_.fresh_ = to;
        pool_.set_limit();
    }

private:
    [[nodiscard]] id_type fresh_id(std::uint64_t index) const noexcept {
        return pool_type::advanced(pool_.first_id_, index);
    }

    /// Returns how many keys of the range to claim for this phase: most of them, except some that
    /// command buffers may take meanwhile. If buffers take keys, unused keys stay with the pool.
    /// The pool then claims more only when it needs them; otherwise no key would be left for
    /// buffers in the end.
    [[nodiscard]] std::uint64_t wanted_keys() const noexcept {
        constexpr std::uint64_t few = 256;  // smaller ranges are not worth dividing
        const std::uint64_t all = pool_.keys();
        const std::uint64_t open = pool_.open_keys();
        const std::uint64_t most = open - open / 32;
        if (all < few || first_limit_ >= open) return all;
        if (first_limit_ < most) return most;
        const std::uint64_t left = open - first_limit_;
        return first_limit_ - pool_.fresh_ < left ? first_limit_ + left / 2 : first_limit_;
    }

    [[noreturn]] MUSTER_COLD void raise_overflow() const {
        const std::uint64_t others = pool_.keys() - smaller(pool_.pool_end_, pool_.keys());
        raise(errc::id_overflow,
              text("no key is left for 1 more id: a parallel phase has used its share of the ",
                   pool_.keys(), " keys of the range ", pool_.range_text(),
                   others == 0
                       ? std::string()
                       : text("; ", others, " are reserved for command buffers until it ends")));
    }

    id_type take_free() noexcept {
        std::uint64_t key = head_.load();
        for (;;) {
            Slot& slot = *pool_.find(key);
            // Stale if another thread was faster, but then the exchange of the head fails.
            const Slot snapshot = slot.seen();
            if (!head_.compare_exchange(key, snapshot.next())) continue;
            const id_type made = pool_.make_id(key, snapshot.version());
            slot.show(made);
            return made;
        }
    }

    /// Removes the keys that `create_at` has claimed from the free list.
    static void unlink_free(pool_type& pool) {
        if (pool.unlinked_.empty()) return;
        const auto next_of = [&](std::uint64_t key) {
            const std::uint64_t* const claimed = pool.unlinked_.find(key);
            return claimed != nullptr ? *claimed : pool.find(key)->next();
        };
        const auto is_linked = [&](std::uint64_t key) {
            return pool.unlinked_.find(key) == nullptr;
        };
        std::uint64_t last = 0;
        std::uint64_t key = pool.head_;
        for (std::size_t found = 0; found < pool.free_; key = next_of(key)) {
            if (!is_linked(key)) continue;
            if (found++ == 0) {
                pool.head_ = key;
            } else {
                Slot& before = *pool.find(last);
                before = Slot::dead(last, key, before.version());
            }
            last = key;
        }
        if (pool.free_ != 0) pool.tail_ = last;
        while (!pool.unlinked_.empty()) pool.unlinked_.erase(pool.unlinked_.next(0));
        pool.is_stack_ = pool.reuse_ == reuse::lifo;
    }

    /// Opens unused keys to reservation again, unless another thread has reserved keys after them.
    void return_reserve_end(std::uint64_t used) noexcept {
        std::uint64_t reserve_end = pool_.pool_end_;
        const std::uint64_t needed = larger(first_limit_, used);
        if (pool_.reserve_end_.compare_exchange(reserve_end, needed)) pool_.pool_end_ = needed;
    }

    pool_type& pool_;
    const std::uint64_t first_limit_;
    atomic_word<std::uint64_t> free_;   // keys in the free list
    atomic_word<std::uint64_t> head_;   // of the free list
    atomic_word<std::uint64_t> fresh_;  // like the pool's
};

}  // namespace muster::detail
