// pool_sharing: a slot_pool whose ids several threads take at once, without a lock. Nothing is given
// back meanwhile: keys that wait are only taken from the head of their line, and fresh ones from a
// counter, for which slots are made at the end:
//
//     line      head -> 4 -> 1 -> 3         each thread moves the head on by one
//     fresh     ... 6 ] 7  8  9             each thread moves the counter on by one: no slot yet
//
// Since keys only leave the line, a head that was read twice has the same key behind it.
#pragma once

#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/id/slot_pool.hpp>

#include <cstdint>
#include <string>

namespace muster::detail {

/// While it is there, the pool must be left alone but for `find` and this. `Slot` also has
///     Slot seen() const     what it is, while another thread calls
///     void show(id)         it holds this id; it has waited in the line
template <class Layout, class Slot>
class pool_sharing {
    using pool_type = slot_pool<Layout, Slot>;

public:
    using id_type = basic_id<Layout>;

    explicit pool_sharing(pool_type& pool)
        : pool_(pool), first_limit_((leave_claimed(pool), pool.learn(), pool.known_)) {
        pool.annex(wanted_keys());
        free_.store_relaxed(pool.free_);
        head_.store_relaxed(pool.head_);
        fresh_.store_relaxed(pool.fresh_);
    }
    pool_sharing(const pool_sharing&) = delete;
    pool_sharing& operator=(const pool_sharing&) = delete;

    /// An id that is alive for all threads. Any thread, lock-free. `errc::id_overflow`.
    id_type create() {
        std::uint64_t left = free_.load();
        while (left != 0)
            if (free_.compare_exchange(left, left - 1)) return take_waiting();
        std::uint64_t index = fresh_.load();
        for (;;) {
            const std::uint64_t end = pool_.ahead_.skip(pool_.first_ + index, 1) - pool_.first_;
            if (end > pool_.known_ || end > pool_.keys()) raise_overflow();
            if (fresh_.compare_exchange(index, end)) return fresh_id(end - 1);
        }
    }

    /// Whether an id without a slot was made here.
    [[nodiscard]] bool has(id_type e) const noexcept {
        const std::uint64_t index = e.key() - pool_.first_;
        return index >= pool_.fresh_ && index < fresh_.load() && fresh_id(index) == e &&
               !pool_.ahead_.contains(e.key());
    }

    /// The pool has the ids that were made. `std::bad_alloc`: it has those that have a slot; the others
    /// never were.
    void end() {
        pool_.free_ = free_.load();
        pool_.head_ = head_.load();
        const std::uint64_t from = pool_.fresh_;
        const std::uint64_t to = fresh_.load();
        give_border_back(to);
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
        return pool_type::behind(pool_.first_id_, index);
    }

    /// How many keys of the range are to be nobody else's while this is there: most, but for some that
    /// command buffers can take meanwhile. If they did, what was not used here stays the pool's:
    /// then it takes no more before it needs them, or nothing would be left for buffers in the end.
    [[nodiscard]] std::uint64_t wanted_keys() const noexcept {
        constexpr std::uint64_t few = 256;  // these are not worth dividing
        const std::uint64_t all = pool_.keys();
        const std::uint64_t open = pool_.open_keys();
        const std::uint64_t most = open - open / 32;
        if (all < few || first_limit_ >= open) return all;
        if (first_limit_ < most) return most;
        const std::uint64_t left = open - first_limit_;
        return first_limit_ - pool_.fresh_ < left ? first_limit_ + left / 2 : first_limit_;
    }

    [[noreturn]] MUSTER_COLD void raise_overflow() const {
        const std::uint64_t others = pool_.keys() - smaller(pool_.known_, pool_.keys());
        raise(
            errc::id_overflow,
            text("no key is left for 1 more id: a parallel phase has used all that it may of the ",
                 pool_.keys(), " keys of the range ", pool_.range_text(),
                 others == 0 ? std::string()
                             : text("; ", others, " are kept for command buffers until it ends")));
    }

    id_type take_waiting() noexcept {
        std::uint64_t key = head_.load();
        for (;;) {
            Slot& slot = *pool_.find(key);
            // If another thread was faster, this is not what it was; but then the head is not, either.
            const Slot waiting = slot.seen();
            if (!head_.compare_exchange(key, waiting.next())) continue;
            const id_type made = pool_.make_id(key, waiting.version());
            slot.show(made);
            return made;
        }
    }

    /// Takes keys that were claimed while they waited out of the line: it has only keys that wait.
    static void leave_claimed(pool_type& pool) {
        if (pool.claimed_.empty()) return;
        const auto behind = [&](std::uint64_t key) {
            const std::uint64_t* const claimed = pool.claimed_.find(key);
            return claimed != nullptr ? *claimed : pool.find(key)->next();
        };
        const auto waits = [&](std::uint64_t key) { return pool.claimed_.find(key) == nullptr; };
        std::uint64_t last = 0;
        std::uint64_t key = pool.head_;
        for (std::size_t found = 0; found < pool.free_; key = behind(key)) {
            if (!waits(key)) continue;
            if (found++ == 0) {
                pool.head_ = key;
            } else {
                Slot& before = *pool.find(last);
                before = Slot::dead(last, key, before.version());
            }
            last = key;
        }
        if (pool.free_ != 0) pool.tail_ = last;
        while (!pool.claimed_.empty()) pool.claimed_.erase(pool.claimed_.next(0));
        pool.is_stack_ = pool.reuse_ == reuse::lifo;
    }

    /// What was not used is for anyone again, unless another has taken keys behind it.
    void give_border_back(std::uint64_t used) noexcept {
        std::uint64_t border = pool_.known_;
        const std::uint64_t needed = larger(first_limit_, used);
        if (pool_.border_.compare_exchange(border, needed)) pool_.known_ = needed;
    }

    pool_type& pool_;
    const std::uint64_t first_limit_;
    atomic_word<std::uint64_t> free_;   // keys in the line
    atomic_word<std::uint64_t> head_;   // of the line
    atomic_word<std::uint64_t> fresh_;  // as the pool's
};

}  // namespace muster::detail
