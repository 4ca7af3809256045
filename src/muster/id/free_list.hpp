// free_list: the keys to reuse. The list is threaded through their slots, so it needs no memory:
//
//     key          0           1           2           3           4
//              [ 0  v2 ]   [ 4  v1 ]   [ 2  v0 ]   [ -  v7 ]   [ 3  v5 ]      head = 1, size = 3
//                live      next: 4       live      last in     next: 3        tail = 3
//                          reused at               the list
//                          version 1
//
// A count determines the end of the list: the slot of its last key contains any key but its own.
//
// A key that `create_at` claims while it is in the list is *unlinked*: its slot now holds an id, so
// `unlinked_` stores the next key. The key keeps its position in the list, and returns to it when it
// is released, unless the head has moved past it.
//
// tombstone_list: keys without versions, until all of them are recycled.
#pragma once

#include <muster/base/config.hpp>
#include <muster/base/sparse_array.hpp>
#include <muster/id/layout.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// Returns any key except `key`: the slot of a key that no list contains must not hold its own key.
[[nodiscard]] constexpr std::uint64_t other_key(std::uint64_t key) noexcept {
    return key ^ 1;
}

/// `slot_pool.hpp` documents `Slot`. The calls that need more slots than that of the key take
/// `slots`, where `slots.find(key)` returns the address of a slot. A copy continues like the
/// original, with a copy of the slots.
template <class Slot>
class free_list {
public:
    explicit free_list(reuse order) noexcept : is_stack_(order == reuse::lifo), order_(order) {}

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    /// The key that is reused next; the list must not be empty or have unlinked keys.
    [[nodiscard]] std::uint64_t head() const noexcept { return head_; }

    /// Whether `push` may be called: keys enter and leave at the head only.
    [[nodiscard]] bool is_stack() const noexcept { return is_stack_; }
    /// Whether the head may be unlinked: `skip_unlinked` must run before `pop`.
    [[nodiscard]] bool has_unlinked() const noexcept { return !unlinked_.empty(); }

    /// Removes the head and replaces its slot, `slot`.
    void pop(Slot& slot, const Slot& living) noexcept {
        head_ = slot.next();
        slot = living;
        --count_;  // last: after the store of a slot, the compiler would load it again
    }
    /// Reverts `pop`, or inserts a key that was never in the list; it is reused next.
    void undo_pop(std::uint64_t key, Slot& slot, std::uint64_t version) noexcept {
        const bool is_list_empty = count_ == 0 && unlinked_.empty();
        if (is_list_empty) tail_ = key;
        slot = Slot::dead(key, is_list_empty ? other_key(key) : head_, version);
        head_ = key;
        ++count_;
    }

    /// Inserts a key at the head and writes its slot; `version` is its next version. Only for a
    /// stack, which has no unlinked keys.
    void push(std::uint64_t key, Slot& slot, std::uint64_t version) noexcept {
        slot = Slot::dead(key, count_ == 0 ? other_key(key) : head_, version);
        head_ = key;
        ++count_;
    }
    /// Inserts a key where the order of reuse demands, and writes its slot.
    template <class Slots>
    void insert(Slots& slots, std::uint64_t key, Slot& slot, std::uint64_t version) noexcept {
        const bool is_list_empty = count_ == 0 && unlinked_.empty();
        std::uint64_t next = other_key(key);
        ++count_;
        if (const std::uint64_t* saved_next = unlinked_.find(key)) {
            next = *saved_next;  // the key kept its position in the list
            unlinked_.erase(key);
            update_is_stack();
        } else if (is_list_empty) {
            head_ = tail_ = key;
        } else if (order_ == reuse::lifo) {
            next = head_;
            head_ = key;
        } else {
            link_after_tail(slots, key);
            tail_ = key;
        }
        slot = Slot::dead(key, next, version);
    }

    /// Prevents the list from issuing a key that is about to become alive. `slot` is its slot.
    /// `std::bad_alloc` changes nothing.
    void unlink(std::uint64_t key, const Slot& slot) {
        unlinked_.ensure(key, slot.next());
        is_stack_ = false;
        --count_;
    }
    [[nodiscard]] bool is_unlinked(std::uint64_t key) const noexcept {
        return unlinked_.find(key) != nullptr;
    }
    MUSTER_COLD void skip_unlinked() noexcept {
        while (const std::uint64_t* next = unlinked_.find(head_)) {
            const std::uint64_t passed = head_;
            head_ = *next;
            unlinked_.erase(passed);
        }
        update_is_stack();
    }
    /// Removes all unlinked keys for good: they lose their position. O(size + unlinked keys).
    template <class Slots>
    void drop_unlinked(Slots& slots) {
        if (unlinked_.empty()) return;
        std::uint64_t last = 0;
        std::uint64_t key = head_;
        for (std::size_t found = 0; found < count_;) {
            if (const std::uint64_t* next = unlinked_.find(key)) {
                key = *next;
                continue;
            }
            if (found++ == 0)
                head_ = key;
            else
                set_next(slots, last, key);
            last = key;
            key = slots.find(key)->next();
        }
        if (count_ != 0) tail_ = last;
        while (!unlinked_.empty()) unlinked_.erase(unlinked_.next(0));
        update_is_stack();
    }

    /// Continues after other threads have popped keys: `head` and `count` are what they left.
    void resume(std::uint64_t head, std::size_t count) noexcept {
        head_ = head;
        count_ = count;
    }

private:
    void update_is_stack() noexcept { is_stack_ = order_ == reuse::lifo && unlinked_.empty(); }

    template <class Slots>
    static void set_next(Slots& slots, std::uint64_t key, std::uint64_t next) noexcept {
        Slot& slot = *slots.find(key);
        slot = Slot::dead(key, next, slot.version());
    }
    template <class Slots>
    void link_after_tail(Slots& slots, std::uint64_t key) noexcept {
        if (std::uint64_t* next = unlinked_.find(tail_))
            *next = key;
        else
            set_next(slots, tail_, key);
    }

    // Every call reads the first three; the pool places them on a hot cache line.
    std::size_t count_ = 0;
    std::uint64_t head_ = 0;
    bool is_stack_;  // the list is used only at its head
    reuse order_;
    std::uint64_t tail_ = 0;                // only maintained for reuse::fifo
    sparse_array<std::uint64_t> unlinked_;  // claimed keys of the list -> next key
};

template <class Slot>
class tombstone_list {
public:
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

    /// Inserts a key and writes its slot; `version` is the version that marks tombstones.
    void park(std::uint64_t key, Slot& slot, std::uint64_t version) noexcept {
        slot = Slot::dead(key, count_ == 0 ? other_key(key) : head_, version);
        head_ = key;
        ++count_;
    }

    /// Calls `release(key, slot)` for each key, in the order they were parked, and becomes empty.
    template <class Slots, class Release>
    std::size_t recycle(Slots& slots, Release release) noexcept {
        const std::size_t count = count_;
        // The newest key is first. Reverses the list, to free keys in the order they were parked.
        std::uint64_t oldest = head_;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t key = head_;
            Slot& slot = *slots.find(key);
            head_ = slot.next();
            slot = Slot::dead(key, i == 0 ? other_key(key) : oldest, slot.version());
            oldest = key;
        }
        for (; count_ != 0; --count_) {
            const std::uint64_t key = oldest;
            Slot& slot = *slots.find(key);
            oldest = slot.next();
            release(key, slot);
        }
        return count;
    }

private:
    std::size_t count_ = 0;
    std::uint64_t head_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
