// slot_array: a slot for each key that a pool has used, and the ids in them.
//
// A live slot contains its own key, and any other slot contains another key, so that one comparison
// with the whole id answers `alive`:
//
//     key      first      first + 1    ...             first + covered
//              [ live ]   [ next: 4 ]  ...  [ live ]   |                    [ overflow ]
//              [------------------ main_ ---------------]
//
// The slots of distant keys, and of keys outside of the pool's range, are in `overflow_`.
#pragma once

#include <muster/base/integer.hpp>
#include <muster/base/raw_array.hpp>
#include <muster/base/sparse_array.hpp>
#include <muster/id/free_list.hpp>
#include <muster/id/id.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// `slot_pool.hpp` documents `Slot`. An *index* counts keys from `dense_first_key()`. A copy has
/// the slots of the original.
template <class Layout, class Slot>
class slot_array {
public:
    using id_type = basic_id<Layout>;
    using key_type = std::uint64_t;
    using version_type = std::uint64_t;

    /// `origin` is the id with the pool's world, key 0 and version 0.
    slot_array(id_type origin, key_type first, version_type first_version) noexcept
        : first_version_(first_version),
          origin_(origin),
          first_(first),
          first_id_(make_id(first, first_version)) {}
    slot_array(const slot_array& other)
        : overflow_(other.overflow_),
          first_version_(other.first_version_),
          origin_(other.origin_),
          first_(other.first_),
          covered_(other.covered_),
          first_id_(other.first_id_) {
        main_.grow(covered_);
        // SAFETY: slots are trivially copyable; memcpy must not read from null.
        if (covered_ != 0) std::memcpy(main_.data(), other.main_.data(), covered_ * sizeof(Slot));
    }
    slot_array& operator=(const slot_array&) = delete;
    ~slot_array() = default;

    // ---- lookup -------------------------------------------------------------------------------

    [[nodiscard]] bool alive(id_type e) const noexcept {
        // Both are read before the branch, so that the compiler hoists them out of a loop over many
        // ids. The loop body then has one load and no call.
        const bool is_overflow_empty = overflow_.empty();
        const Slot* const slots = main_.data();
        const key_type index = e.key() - first_;
        if (index < covered_) return slots[index].is(e, origin_);
        return !is_overflow_empty && alive_overflow(e);
    }

    /// Returns the slot of `key`, or null if it has none. Calls that grow or trim the array
    /// invalidate it.
    [[nodiscard]] Slot* find(key_type key) noexcept {
        Slot* const slots = main_.data();  // before the branch, as in `alive`
        const key_type index = key - first_;
        if (index < covered_) [[likely]]
            return slots + index;
        return find_overflow(key);
    }
    [[nodiscard]] const Slot* find(key_type key) const noexcept {
        const Slot* const slots = main_.data();
        const key_type index = key - first_;
        if (index < covered_) [[likely]]
            return slots + index;
        return find_overflow(key);
    }

    /// Whether the slot of `key` is in the array, as `dense()[key - dense_first_key()]`.
    [[nodiscard]] bool is_dense(key_type key) const noexcept { return key - first_ < covered_; }
    [[nodiscard]] Slot* dense() const noexcept { return main_.data(); }
    [[nodiscard]] key_type dense_first_key() const noexcept { return first_; }
    [[nodiscard]] std::size_t dense_count() const noexcept { return covered_; }

    /// Returns the lowest living id with a key from `key` on, or the null id. O(keys in between).
    [[nodiscard]] id_type next_living(key_type key) const noexcept {
        while (key != overflow_.none) {
            if (key - first_ < covered_) {
                const Slot slot = snapshot(main_[key - first_]);
                if (slot.is_live(key)) return make_id(key, slot.version());
                ++key;
            } else if (const Slot* const found = overflow_.find(key);
                       found != nullptr && snapshot(*found).is_live(key)) {
                return make_id(key, snapshot(*found).version());
            } else {
                // The next key is in overflow_ or starts the array, whichever is lower.
                const key_type overflow = overflow_.next(key + 1);
                key = key < first_ && covered_ != 0 ? smaller(overflow, first_) : overflow;
            }
        }
        return id_type{};
    }

    /// Returns the living id with the next higher key, or the null id.
    [[nodiscard]] id_type next_after(id_type e) const noexcept { return next_living(e.key() + 1); }

    /// Calls `callback(key, slot)` for each slot, in any order.
    template <class Callback>
    void each(Callback callback) const {
        for (std::size_t i = 0; i < covered_; ++i) callback(first_ + i, main_[i]);
        for (key_type key = overflow_.next(0); key != overflow_.none; key = overflow_.next(key + 1))
            callback(key, overflow_[key]);
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return main_.capacity(); }

    // ---- ids ----------------------------------------------------------------------------------

    [[nodiscard]] std::uint64_t world() const noexcept { return origin_.world(); }
    [[nodiscard]] id_type origin() const noexcept { return origin_; }
    [[nodiscard]] version_type first_version() const noexcept { return first_version_; }

    /// Like `id_type::assemble` with this world, but faster.
    [[nodiscard]] id_type make_id(key_type key, version_type version) const noexcept {
        return id_type::from_value(
            static_cast<typename Layout::rep>(origin_.value() | version << Layout::key_bits | key));
    }
    /// Returns the first id of the key at `index`.
    [[nodiscard]] id_type fresh_id(std::uint64_t index) const noexcept {
        return advanced(first_id_, index);
    }
    /// Returns the id whose key is higher by `count`.
    [[nodiscard]] static id_type advanced(id_type e, std::uint64_t count) noexcept {
        return id_type::from_value(static_cast<typename Layout::rep>(e.value() + count));
    }
    /// Returns the slot of a key that was never used.
    [[nodiscard]] Slot untouched(key_type key) const noexcept {
        return Slot::dead(key, other_key(key), first_version_);
    }

    // ---- growth -------------------------------------------------------------------------------

    /// Makes room for at least `count` slots. `std::bad_alloc` changes nothing.
    void grow(std::size_t count) { main_.grow(count); }
    /// Frees memory that no slot needs, if the allocator can.
    void trim() noexcept { main_.trim(covered_); }

    /// Includes the slots below `end`; the caller initialises the new ones. There must be room.
    void include_until(std::size_t end) noexcept { covered_ = larger(covered_, end); }
    void include(std::size_t index) noexcept {
        if (index == covered_) covered_ = index + 1;
    }
    /// Resets a slot that was just included.
    void exclude(std::size_t index) noexcept {
        main_[index] = untouched(first_ + index);
        if (covered_ == index + 1) --covered_;
    }
    /// Moves the slots of the first `count` keys into the array. There must be room.
    void cover(std::uint64_t count) noexcept {
        const key_type begin = first_ + covered_;
        for (std::size_t i = covered_; i < count; ++i) main_[i] = untouched(first_ + i);
        for (key_type key = overflow_.next(begin); key < first_ + count;
             key = overflow_.next(key + 1)) {
            main_[key - first_] = overflow_[key];
            overflow_.erase(key);
        }
        covered_ = count;
    }
    /// Returns the slot of `key`, in the overflow if it is not in the array. `std::bad_alloc`.
    Slot& ensure(key_type key) {
        return is_dense(key) ? main_[key - first_] : overflow_.ensure(key, untouched(key));
    }

    void swap(slot_array& other) noexcept {
        overflow_.swap(other.overflow_);
        std::swap(covered_, other.covered_);
        std::swap(main_, other.main_);
        // Threads that reserve keys read the rest: it must not be written if it is the same.
        if (first_id_ == other.first_id_) return;
        std::swap(first_version_, other.first_version_);
        std::swap(origin_, other.origin_);
        std::swap(first_, other.first_);
        std::swap(first_id_, other.first_id_);
    }

private:
    /// A copy of a slot that another thread may fill; see `pool_sharing`.
    [[nodiscard]] static Slot snapshot(const Slot& slot) noexcept {
        if constexpr (requires { slot.seen(); })
            return slot.seen();
        else
            return slot;
    }

    // Pure where possible, so that loops keep the fields of the pool in registers.
    [[gnu::noinline]] Slot* find_overflow(key_type key) noexcept { return overflow_.find(key); }
    [[gnu::pure, gnu::noinline]] const Slot* find_overflow(key_type key) const noexcept {
        return overflow_.find(key);
    }
    [[gnu::pure, gnu::noinline]] bool alive_overflow(id_type e) const noexcept {
        const Slot* slot = overflow_.find(e.key());
        return slot != nullptr && slot->is(e, origin_);
    }

    // The fields that every call reads come last, next to those of `slot_supply`.
    sparse_array<Slot> overflow_;  // slots of keys that main_ does not cover
    version_type first_version_;
    id_type origin_;  // key 0, version 0 of this world
    key_type first_;
    std::size_t covered_ = 0;  // slots of main_ that are initialised
    raw_array<Slot> main_;
    id_type first_id_;  // the first id of the pool
};

}  // namespace MUSTER_NAMESPACE::detail
