// exact_ids: creates many exact ids in a slot_pool, all or none. The pool is then as after a
// `create_at` for each of them, in their order.
//
//     wanted    8  9  10      3            12  15             2^31
//               next fresh    freed key    fresh keys ahead   outside of the array
//               one run       unlinked     in words of 64     a slot of its own
#pragma once

#include <muster/base/integer.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/id/slot_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace MUSTER_NAMESPACE::detail {

/// Only the pool's thread may use it. The keys must differ. Between `check` and `create`, the pool
/// must not create or destroy ids.
template <class Layout, class Slot>
class exact_ids {
    using pool_type = slot_pool<Layout, Slot>;

public:
    using id_type = basic_id<Layout>;

    exact_ids(pool_type& pool, std::span<const id_type> wanted) noexcept
        : pool_(pool), wanted_(wanted), run_(length_of_run()) {}

    /// Throws the error of `create_at` for an id that cannot be created, or `std::bad_alloc`.
    /// Creates nothing.
    void check() {
        for (std::size_t i = run_; i < wanted_.size(); ++i) {
            // No other thread may reserve a key after its check.
            pool_.pass_reserve_end(wanted_[i].key());
            if (is_fresh(i) && wanted_[i] == pool_.fresh_id(index_of(i))) [[likely]]
                continue;
            pool_.refuse_at(wanted_[i]);
        }
        if (run_ == 0) return;
        pool_.pass_reserve_end(wanted_[run_ - 1].key());
        const std::uint64_t taken = pool_.frontier().next_ahead() - pool_.frontier().fresh();
        if (taken < run_) pool_.refuse_at(wanted_[taken]);  // another thread has reserved it
    }

    /// Creates the ids, after `check`. `init_slot(slot, i)` sets further fields of the slot of
    /// `wanted[i]`. `std::bad_alloc` changes nothing.
    template <class InitSlot>
    void create(InitSlot init_slot) {
        prepare();
        done_ = run_;
        scope_guard rollback([&] { undo(); });
        for (; done_ < wanted_.size(); ++done_) claim(done_);
        close_group();
        rollback.dismiss();

        pool_.issue_run(run_, init_slot);
        for (std::size_t i = run_; i < wanted_.size(); ++i) {
            Slot living = Slot::live(wanted_[i]);
            init_slot(living, i);
            *pool_.find(wanted_[i].key()) = living;
            if (!pool_.owns(wanted_[i].key())) ++pool_.outside_;
        }
        pool_.set_limit();
    }

private:
    [[nodiscard]] std::uint64_t index_of(std::size_t i) const noexcept {
        return pool_.index_of(wanted_[i].key());
    }
    [[nodiscard]] bool is_fresh(std::size_t i) const noexcept {
        return pool_.owns(wanted_[i].key()) && !pool_.frontier().is_issued(index_of(i));
    }

    /// Returns how many of the first ids are those that a pool without free keys would issue next.
    [[nodiscard]] std::size_t length_of_run() const noexcept {
        const auto& frontier = pool_.frontier();
        const id_type first = pool_.fresh_id(frontier.fresh());
        const std::uint64_t end = frontier.next_ahead();  // also the end of the range
        const std::size_t most = smaller(wanted_.size(), end - frontier.fresh());
        std::size_t count = 0;
        while (count < most && wanted_[count] == pool_.advanced(first, count)) ++count;
        return count;
    }

    /// Makes room for the slots of fresh keys.
    void prepare() {
        if (run_ != 0) pool_.prepare(run_ + pool_.free_keys().size());
        if (run_ == wanted_.size()) return;
        // Like `create_at`: ids that are loaded in any order end up in the array.
        const std::uint64_t ample =
            smaller(2 * (pool_.size() + wanted_.size()) + 1024, pool_.frontier().keys());
        for (std::size_t i = run_; i < wanted_.size(); ++i)
            if (const std::uint64_t index = index_of(i);
                index >= pool_.dense_count() && index < ample && is_fresh(i))
                return pool_.cover(larger(ample, pool_.frontier().fresh() + run_));
    }

    /// Claims a key that is not in the run: the steps that may throw, which `undo` reverts.
    void claim(std::size_t i) {
        const std::uint64_t key = wanted_[i].key();
        if (pool_.owns(key) && pool_.frontier().is_issued(index_of(i)))
            return pool_.free_keys().unlink(key, *pool_.find(key));
        (void)pool_.ensure(key);
        if (!pool_.owns(key)) return;
        const std::uint64_t index = index_of(i);
        if (index / 64 != group_number_) close_group();
        group_number_ = index / 64;
        group_ |= std::uint64_t{1} << index % 64;
    }
    /// Issues the fresh keys of the current group of 64.
    void close_group() {
        if (group_ != 0) pool_.frontier().issue_ahead(group_number_, group_);
        group_ = 0;
    }

    void undo() noexcept {
        // Keys of a group that is not closed were not issued, and need no undo.
        while (done_-- != run_) {
            const std::uint64_t key = wanted_[done_].key();
            Slot& slot = *pool_.find(key);
            if (pool_.free_keys().is_unlinked(key))
                pool_.free_keys().insert(pool_, key, slot, slot.version());
            else if (pool_.owns(key) && pool_.frontier().is_ahead(index_of(done_)))
                pool_.frontier().undo_issue_ahead(index_of(done_));
        }
        pool_.set_limit();
    }

    pool_type& pool_;
    std::span<const id_type> wanted_;
    std::size_t run_;          // the first ids, which are the next fresh ones
    std::size_t done_ = 0;     // claimed ids
    std::uint64_t group_ = 0;  // fresh keys that are claimed, but not issued yet
    std::uint64_t group_number_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
