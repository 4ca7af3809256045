// pool_sharing: lets several threads create ids of one slot_pool at once, without a lock. Meanwhile
// no key is freed: threads take free keys from the head of the free list, and fresh keys from a
// counter. `end` creates the slots of fresh keys.
//
//     free list   head -> 4 -> 1 -> 3     each thread advances the head by one key
//     fresh       ... 6 ] 7  8  9         each thread advances the counter by one; no slot yet
//
// Keys only leave the list, so a head never returns to an earlier key: no ABA.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/integer.hpp>
#include <muster/id/slot_pool.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

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
        : pool_(pool), frontier_(pool.frontier()), first_limit_(prepare(pool)) {
        frontier_.claim(frontier_.phase_share());
        free_.store_relaxed(pool.free_keys().size());
        head_.store_relaxed(pool.free_keys().head());
        fresh_.store_relaxed(frontier_.fresh());
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
            const std::uint64_t end = frontier_.end_of(index, 1);
            if (end > frontier_.pool_end() || end > frontier_.keys()) raise_overflow();
            if (fresh_.compare_exchange(index, end)) return pool_.fresh_id(end - 1);
        }
    }

    /// Whether this object has created the id and the id has no slot yet.
    [[nodiscard]] bool has(id_type e) const noexcept {
        const std::uint64_t index = pool_.index_of(e.key());
        return index >= frontier_.fresh() && index < fresh_.load() && pool_.fresh_id(index) == e &&
               !frontier_.is_ahead(index);
    }

    /// Transfers the created ids to the pool. After `std::bad_alloc`, the pool has only the ids
    /// that had a slot; the rest are dead.
    void end() {
        pool_.free_keys().resume(head_.load(), free_.load());
        const std::uint64_t from = frontier_.fresh();
        const std::uint64_t to = fresh_.load();
        frontier_.open_again(larger(first_limit_, to));
        pool_.set_limit();
        if (to == from) return;
        if (to > pool_.dense_count()) pool_.cover(to);
        for (std::uint64_t index = from; index < to; ++index)
            if (!frontier_.is_ahead(index))
                pool_.dense()[index] = Slot::live(pool_.fresh_id(index));
        frontier_.issue_until(to);
        pool_.set_limit();
    }

private:
    /// Makes the free list free of unlinked keys. Returns the end of the pool's keys.
    static std::uint64_t prepare(pool_type& pool) {
        pool.free_keys().drop_unlinked(pool);
        pool.frontier().sync();
        return pool.frontier().pool_end();
    }

    [[noreturn]] MUSTER_COLD void raise_overflow() const {
        raise_no_key_in_phase<Layout>(
            pool_.counts(), frontier_.keys() - smaller(frontier_.pool_end(), frontier_.keys()) +
                                frontier_.reserved());
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

    pool_type& pool_;
    key_frontier<>& frontier_;  // the pool's
    const std::uint64_t first_limit_;
    atomic_word<std::uint64_t> free_;   // keys in the free list
    atomic_word<std::uint64_t> head_;   // of the free list
    atomic_word<std::uint64_t> fresh_;  // like the pool's
};

}  // namespace MUSTER_NAMESPACE::detail
