// key_frontier: the keys of a range that were never issued, and their division among the pool and
// other threads. It counts keys from the first key of the range: a key is an *index* here.
//
//     0                  fresh_                      pool_end_         reserve_end_        keys_
//     |  every key was   |  unused keys of the pool, |  keys that other |  open: any thread  |
//     |  issued          |  except `ahead_`          |  threads took    |  may reserve them  |
//
// `ahead_` has the keys that were issued out of order, by `create_at` or to other threads.
//
// Other threads may reserve keys at any time (`take`). Keys from `reserve_end_` on are open; a
// thread that advances `reserve_end_` owns the keys that it passed. The pool itself advances it
// before it grows (`claim`), and then finds out which keys other threads have taken (`sync`). Those
// keys are in `ahead_` or below `fresh_`, and in `reserved_` until their ids become alive or are
// given up. The last keys of the range are never open: they belong to the pool.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/id/key_set.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Indices `first`, `first + 1`, ...
struct index_run {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

/// Only the pool's thread may call its functions, except `take` and `has_open`. A template, so that
/// programs without a pool do not compile it. A copy continues like the original if no other thread
/// reserves keys meanwhile.
template <class Key = std::uint64_t>
class key_frontier {
public:
    explicit key_frontier(std::uint64_t keys) noexcept : keys_(keys) {}
    key_frontier(const key_frontier& other)
        : fresh_(other.fresh_),
          limit_(other.limit_),
          keys_(other.keys_),
          ahead_(other.ahead_),
          reserved_(other.reserved_),
          pool_end_(other.pool_end_),
          reserve_end_(other.reserve_end_.load()) {}
    key_frontier& operator=(const key_frontier&) = delete;

    [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }
    /// All keys below it were issued.
    [[nodiscard]] std::uint64_t fresh() const noexcept { return fresh_; }
    /// How many keys were issued or reserved.
    [[nodiscard]] std::uint64_t issued() const noexcept { return fresh_ + ahead_.size(); }
    /// Whether a key was ever issued or reserved.
    [[nodiscard]] bool is_issued(std::uint64_t index) const noexcept {
        return index < fresh_ || ahead_.contains(index);
    }

    // ---- issuing in order ---------------------------------------------------------------------

    /// How many keys `issue` may issue: they need neither memory nor the slow path.
    [[nodiscard]] bool is_ready() const noexcept { return fresh_ < limit_; }
    [[nodiscard]] std::uint64_t ready() const noexcept {
        return fresh_ < limit_ ? limit_ - fresh_ : 0;
    }
    std::uint64_t issue() noexcept { return fresh_++; }
    void issue(std::uint64_t count) noexcept { fresh_ += count; }
    /// Reverts the last `issue`.
    void undo_issue() noexcept { --fresh_; }
    /// To call after every change but `issue`; there are slots for `capacity` keys.
    void set_limit(std::uint64_t capacity) noexcept {
        limit_ = smaller(smaller(capacity, keys_), pool_end_);
        if (!ahead_.empty()) limit_ = smaller(limit_, ahead_.lowest());
    }

    // ---- keys issued out of order -------------------------------------------------------------

    /// Issues a key from `fresh()` on. `std::bad_alloc` changes nothing.
    void issue_ahead(std::uint64_t index) { ahead_.insert(index); }
    /// Issues up to 64 keys from `fresh()` on, none of which was issued: `64 * group` and the number
    /// of each bit. `std::bad_alloc` changes nothing.
    void issue_ahead(std::uint64_t group, std::uint64_t bits) { ahead_.insert(group, bits); }
    /// Reverts `issue_ahead`.
    void undo_issue_ahead(std::uint64_t index) noexcept { ahead_.erase(index); }
    /// Returns the first key from `fresh()` on that was issued, or the end of the range.
    [[nodiscard]] std::uint64_t next_ahead() const noexcept {
        return ahead_.empty() ? keys_ : ahead_.lowest();
    }
    [[nodiscard]] bool is_ahead(std::uint64_t index) const noexcept {
        return ahead_.contains(index);
    }
    /// Whether the key at `fresh()` was issued; `pass_ahead` then skips it.
    [[nodiscard]] bool is_next_ahead() const noexcept {
        return !ahead_.empty() && ahead_.lowest() == fresh_;
    }
    void pass_ahead() noexcept {
        ++fresh_;
        ahead_.erase_lowest();
    }
    /// Returns the index after the next `count` keys from `from` on that were not issued.
    [[nodiscard]] std::uint64_t end_of(std::uint64_t from, std::uint64_t count) const noexcept {
        return ahead_.skip(from, count);
    }
    /// Issues all keys below `end`.
    void issue_until(std::uint64_t end) noexcept {
        while (!ahead_.empty() && ahead_.lowest() < end) ahead_.erase_lowest();
        fresh_ = end;
    }

    // ---- sharing the range with other threads -------------------------------------------------

    /// Reserves up to `count` consecutive keys; none if no key is open. Any thread, at any time.
    [[nodiscard]] index_run take(std::uint64_t count) noexcept {
        std::uint64_t from = reserve_end_.load();
        std::uint64_t taken = 0;
        do {
            taken = from < open() ? smaller(count, open() - from) : 0;
        } while (taken != 0 && !reserve_end_.compare_exchange(from, from + taken));
        return {from, taken};
    }
    /// At most this many keys were taken since `sync`.
    [[nodiscard]] std::uint64_t unknown() const noexcept {
        const std::uint64_t reserve_end = reserve_end_.load();
        return reserve_end > pool_end_ ? reserve_end - pool_end_ : 0;
    }
    /// Whether `take` finds a key.
    [[nodiscard]] bool has_open() const noexcept { return reserve_end_.load() < open(); }
    /// How many keys of the range, from the first on, other threads may reserve.
    [[nodiscard]] std::uint64_t open() const noexcept { return keys_ - keys_ / 16; }

    /// All keys below it belong to the pool or are known to be reserved.
    [[nodiscard]] std::uint64_t pool_end() const noexcept { return pool_end_; }
    /// Records which keys other threads have taken. After `std::bad_alloc`, the last of them are not
    /// recorded yet.
    void sync() {
        const std::uint64_t reserve_end = reserve_end_.load();
        for (; pool_end_ < reserve_end; ++pool_end_) {
            // After `exchange`, the pool itself may have claimed or issued keys from here on.
            if (pool_end_ >= open() || ahead_.contains(pool_end_)) continue;
            const bool is_new = !reserved_.contains(pool_end_);
            if (is_new) reserved_.insert(pool_end_);
            // A key that is only in one of the sets would count as a living one.
            scope_guard undo([&] {
                if (is_new) reserved_.erase(pool_end_);
            });
            ahead_.insert(pool_end_);
            undo.dismiss();
        }
    }
    /// Claims the first `count` keys of the range for the pool, except those already taken.
    void claim(std::uint64_t count) {
        for (;;) {
            sync();
            std::uint64_t reserve_end = pool_end_;
            if (reserve_end >= count) return;
            if (reserve_end_.compare_exchange(reserve_end, count)) break;
        }
        pool_end_ = count;
    }
    /// Returns how many keys the pool should own if it needs `needed` and has room for `ample`.
    /// Leaves keys for other threads as long as possible.
    [[nodiscard]] std::uint64_t share(std::uint64_t needed, std::uint64_t ample) const noexcept {
        const std::uint64_t most = open() - open() / 16;
        ample = larger(needed, smaller(ample, keys_));
        if (ample <= most || keys_ < few || needed >= open()) return ample;
        return smaller(ample, larger(most, needed + (open() - needed) / 2));
    }
    /// Returns how many keys to claim for a parallel phase: most of them, except some that command
    /// buffers may take meanwhile. If buffers take keys, unused keys stay with the pool. The pool
    /// then claims more only when it needs them; otherwise no key would be left for buffers in the
    /// end.
    [[nodiscard]] std::uint64_t phase_share() const noexcept {
        const std::uint64_t most = open() - open() / 32;
        if (keys_ < few || pool_end_ >= open()) return keys_;
        if (pool_end_ < most) return most;
        const std::uint64_t left = open() - pool_end_;
        return pool_end_ - fresh_ < left ? pool_end_ + left / 2 : pool_end_;
    }
    /// Opens keys from `end` on to reservation again, unless another thread has reserved later keys.
    /// The pool must not have used them.
    void open_again(std::uint64_t end) noexcept {
        std::uint64_t reserve_end = pool_end_;
        if (reserve_end_.compare_exchange(reserve_end, end)) pool_end_ = end;
    }

    // ---- reserved keys: issued, not alive yet -------------------------------------------------

    [[nodiscard]] std::size_t reserved() const noexcept { return reserved_.size(); }
    [[nodiscard]] bool is_reserved(std::uint64_t index) const noexcept {
        return reserved_.contains(index);
    }
    /// Whether any key is reserved, also by threads that have taken keys since `sync`.
    [[nodiscard]] bool has_reserved() const noexcept {
        return !reserved_.empty() || reserve_end_.load() > pool_end_;
    }
    void reserve(std::uint64_t index) { reserved_.insert(index); }
    void end_reservation(std::uint64_t index) noexcept { reserved_.erase(index); }

    // ---- state --------------------------------------------------------------------------------

    /// Exchanges everything with a saved frontier, except `reserve_end_`: it never goes back, since
    /// another thread may own keys below it. O(1).
    void exchange(key_frontier& saved) noexcept {
        const std::uint64_t end = pool_end_;
        // Without reservations from the saved end on, the keys in between are the pool's: nobody
        // else took them. Otherwise `sync` treats all of them as reserved, which loses keys but
        // never issues one twice.
        const bool is_ours = reserved_.next(saved.pool_end_) == reserved_.none;
        const std::uint64_t next_end = is_ours ? larger(end, saved.pool_end_) : saved.pool_end_;
        raise_reserve_end(next_end);
        pool_end_ = next_end;
        saved.pool_end_ = end;
        std::swap(fresh_, saved.fresh_);
        std::swap(limit_, saved.limit_);
        // Other threads read it, so it must not be written for a state of the same range.
        if (keys_ != saved.keys_) std::swap(keys_, saved.keys_);
        std::swap(ahead_, saved.ahead_);
        std::swap(reserved_, saved.reserved_);
    }

private:
    static constexpr std::uint64_t few = 256;  // smaller ranges are not worth dividing

    /// Raises `reserve_end_` to `end`, for the keys of a frontier that was saved elsewhere.
    void raise_reserve_end(std::uint64_t end) noexcept {
        std::uint64_t reserve_end = reserve_end_.load();
        while (reserve_end < end && !reserve_end_.compare_exchange(reserve_end, end)) {
        }
    }

    // Every creation reads the first two; the pool places them on a hot cache line.
    std::uint64_t fresh_ = 0;                 // keys below it were all issued
    std::uint64_t limit_ = 0;                 // below it, fresh keys need no slow path
    std::uint64_t keys_;                      // in the range
    key_set<Key> ahead_;                      // keys issued from fresh_ on
    key_set<Key> reserved_;                   // issued keys whose ids are not alive yet
    std::uint64_t pool_end_ = 0;              // keys below it belong to the pool or are reserved
    atomic_word<std::uint64_t> reserve_end_;  // like pool_end_, plus the keys taken since
};

}  // namespace MUSTER_NAMESPACE::detail
