// slot_pool: which keys are in use, at which version, and which key comes next. `id_pool` runs this
// algorithm over slots of one word, the world over its records.
//
// Each key has one slot, and the free list, the keys to reuse, is threaded through the slots:
//
//     key          0           1           2           3           4
//              [ 0  v2 ]   [ 4  v1 ]   [ 2  v0 ]   [ -  v7 ]   [ 3  v5 ]      head = 1
//                live      next: 4       live      last in     next: 3
//                          reused at               the list
//                          version 1
//
// A live slot contains its own key, and any other slot contains another key, so that one comparison
// with the whole id answers `alive`. A count determines the end of the free list; the slot of its
// last key contains any key but its own.
//
// The keys of the range form three regions. `fresh_` and `covered_` count from `first_`, the first
// key of the range:
//
//     first_             fresh_               covered_                                   last_
//       |  every key was   |  unused keys,       |  unused keys, except those in           |
//       |  issued          |  except `ahead_`    |  `ahead_`; their slots are `overflow_`  |
//       [------------------ main_ ---------------]
//
// Without `create_at` and reserved keys, fresh_ == covered_, and ahead_ and overflow_ are empty.
// `create_at` may claim any key of the layout. A key close to main_ extends it; the slot of
// a distant key, or of a key outside the range, is in overflow_. A key that is claimed while it is
// in the free list keeps its position there: `unlinked_` stores the next key of the list, since the
// slot now holds an id.
//
// Other threads may reserve keys at any time (`take_keys`). Keys from `reserve_end_` on are open; a
// thread that advances `reserve_end_` owns the keys that it passed. The pool itself advances it
// before it grows, and then finds out which keys other threads have taken. Those keys are in
// `ahead_` or below `fresh_`, and in `reserved_` until their ids become alive or are given up.
// `pool_sharing.hpp` lets several threads create entities at once.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/raw_array.hpp>
#include <muster/base/sparse_array.hpp>
#include <muster/base/text.hpp>
#include <muster/id/id.hpp>
#include <muster/id/id_pool_options.hpp>
#include <muster/id/key_set.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace muster {

namespace detail {

/// `Slot` is trivially copyable and has
///     static Slot live(id)                    a slot that holds `id`
///     static Slot dead(key, next, version)    a slot without an id: `next` is a key other than
///                                             `key`, `version` the next version of the key
///     bool is(id, origin) const               whether it holds exactly this id; `origin` is the id
///                                             with this world, key 0 and version 0
///     bool is_live(key) const                 whether it, the slot of `key`, holds an id
///     version() const, next() const           the arguments of `live` or `dead`
///
/// `id_pool`, which offers these functions to users, documents their effects, costs and errors.
template <class Layout, class Slot>
class slot_pool {
    template <class, class>
    friend class pool_sharing;

public:
    using id_type = basic_id<Layout>;
    using key_type = std::uint64_t;
    using version_type = std::uint64_t;

    explicit slot_pool(const id_pool_options& options)
        : origin_(id_type::assemble(0, 0, Layout::world_bits == 0 ? 0 : options.world)),
          first_(larger(options.first_key, Layout::first_key)),
          first_version_(larger(options.first_version, Layout::first_version)),
          last_(last_key_of<Layout>(options)),
          reuse_(options.reuse) {
        check_pool_range<Layout>(options.world, first_, last_, first_version_);
    }
    slot_pool(const slot_pool&) = delete;
    slot_pool& operator=(const slot_pool&) = delete;

    id_type create() {
        if (free_ != 0) return reissue([](Slot&) {});
        if (fresh_ >= limit_) find_fresh();
        return issue_fresh([](Slot&) {});
    }

    /// Whether `create_now` may be called: the next id needs neither memory nor the slow path.
    /// `init_slot(slot)` may set further fields of the id's slot.
    [[nodiscard]] bool is_ready() const noexcept {
        return free_ == 0 ? fresh_ < limit_ : unlinked_.empty() && head_ - first_ < covered_;
    }
    template <class InitSlot>
    id_type create_now(InitSlot init_slot) noexcept {
        return free_ == 0 ? issue_fresh(init_slot) : reissue_slot(main_[head_ - first_], init_slot);
    }

    /// Whether `destroy_now` may be called: the id is alive, its slot is in the array, and its key
    /// has a next version. The free list must be a stack. Always false if versions wrap.
    [[nodiscard]] bool is_destroyed_easily(id_type e) const noexcept {
        return is_stack_ && is_dense(e.key()) && main_[e.key() - first_].is(e, origin_) &&
               (Layout::on_exhaustion != exhaustion::wrap &&
                e.version() != Layout::last_issued_version);
    }
    void destroy_now(id_type e) noexcept {
        push_free(e.key(), main_[e.key() - first_], e.version() + 1);
    }

    /// Does every part of the next `count` creations that may throw; they then cannot fail.
    void prepare(std::size_t count) {
        if (count <= free_ || (free_ == 0 && fresh_ < limit_ && count <= limit_ - fresh_)) return;
        prepare_fresh(count);
    }

    void create(std::span<id_type> out) {
        prepare(out.size());
        create_now(out, [](Slot&, std::size_t) {});
    }

    /// Creates ids for all of `out`, after `prepare(out.size())`. `init_slot(slot, i)` as above.
    template <class InitSlot>
    void create_now(std::span<id_type> out, InitSlot init_slot) noexcept {
        std::size_t at = 0;
        for (; at != out.size() && free_ != 0; ++at)
            out[at] = reissue([&](Slot& slot) { init_slot(slot, at); });
        while (at != out.size()) {
            if (fresh_ >= limit_) find_fresh();
            const std::size_t end = at + smaller(limit_ - fresh_, out.size() - at);
            issue_run(out, at, end, init_slot);
            at = end;
        }
    }

    /// Undoes the last `create`, whose id no caller has seen. Unless versions wrap, the next
    /// `create` returns the same id.
    void undo_create(id_type e) noexcept {
        const key_type index = e.key() - first_;
        if (Layout::on_exhaustion == exhaustion::wrap) {
            destroy(e);  // the version does not show whether the key is new
        } else if (index + 1 == fresh_ && e == advanced(first_id_, index)) {
            main_[index] = untouched(e.key());
            if (covered_ == fresh_) --covered_;
            --fresh_;
        } else {
            if (free_ == 0 && unlinked_.empty()) tail_ = e.key();
            push_free(e.key(), *find(e.key()), e.version());
        }
    }

    /// Throws the error of `create_at(wanted)`, if any; changes nothing.
    void refuse_at(id_type wanted) const {
        refuse_impossible(wanted);
        const key_type key = wanted.key();
        const Slot* const slot = find(key);
        if (reserved_.contains(key))
            raise(errc::id_taken,
                  text(to_string(wanted),
                       " cannot be created: a command buffer has reserved its key"));
        if (slot != nullptr && slot->is_live(key)) {
            const id_type living = make_id(key, slot->version());
            raise(wanted < living ? errc::id_stale : errc::id_taken,
                  wanted == living
                      ? text(to_string(wanted), " is already alive")
                      : text(to_string(wanted), " cannot be created: its key is in use by ",
                             to_string(living)));
        }
        const version_type next = slot == nullptr ? first_version_ : slot->version();
        if (wanted.version() < next || next > Layout::last_issued_version)
            raise_stale(wanted, next);
    }
    id_type create_at(id_type wanted) {
        pass_reserve_end(wanted.key());
        refuse_at(wanted);
        const key_type key = wanted.key();
        Slot* slot = find(key);
        if (!owns(key)) {
            slot = &overflow_.ensure(key, untouched(key));
            ++outside_;
        } else if (was_issued(key)) {
            unlink(key, *slot);
        } else {
            slot = &claim_fresh(key);
        }
        *slot = Slot::live(wanted);
        return wanted;
    }

    bool destroy(id_type e) noexcept {
        const key_type index = e.key() - first_;
        if (index >= covered_) [[unlikely]]
            return destroy_overflow(e);
        if (!main_[index].is(e, origin_)) return false;
        retire_version(e.key(), main_[index], e.version(), true);
        return true;
    }

    [[nodiscard]] bool alive(id_type e) const noexcept {
        // Both are read before the branch, so that the compiler hoists them out of a loop over many
        // ids. The loop body then has one load and no call.
        const bool is_overflow_empty = overflow_.empty();
        const Slot* const slots = main_.data();
        const key_type index = e.key() - first_;
        if (index < covered_) return slots[index].is(e, origin_);
        return !is_overflow_empty && alive_overflow(e);
    }

    std::size_t recycle_tombstones() noexcept {
        const std::size_t count = tombstones_;
        // The newest key is first. Reverses the list, to free keys in the order they were parked.
        key_type oldest = tombstone_head_;
        for (std::size_t i = 0; i < count; ++i) {
            const key_type key = tombstone_head_;
            Slot& slot = *find(key);
            tombstone_head_ = slot.next();
            slot = Slot::dead(key, i == 0 ? other(key) : oldest, Layout::last_version);
            oldest = key;
        }
        for (; tombstones_ != 0; --tombstones_) {
            const key_type key = oldest;
            Slot& slot = *find(key);
            oldest = slot.next();
            release(key, slot, first_version_, owns(key));
        }
        if (count != 0) started_over_ = true;
        return count;
    }

    [[nodiscard]] std::size_t size() const noexcept {
        return fresh_ + ahead_.size() + outside_ - free_ - retired_ - tombstones_ -
               reserved_.size();
    }
    [[nodiscard]] std::size_t retired() const noexcept { return retired_; }
    [[nodiscard]] std::size_t tombstones() const noexcept { return tombstones_; }

    [[nodiscard]] std::size_t capacity() const noexcept { return main_.capacity(); }

    void reserve(std::size_t count) {
        if (count > keys()) raise_overflow(count);
        // Retired and parked keys occupy slots, too.
        const std::uint64_t wanted = smaller(count + retired_ + tombstones_, keys());
        if (wanted > main_.capacity()) claim_range(share(fresh_, wanted));
        main_.grow(wanted);
        set_limit();
    }

    /// Frees memory that no slot needs, if the allocator can.
    void trim() noexcept {
        main_.trim(covered_);
        set_limit();
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
                const Slot& slot = main_[key - first_];
                if (slot.is_live(key)) return make_id(key, slot.version());
                ++key;
            } else if (const Slot* slot = overflow_.find(key);
                       slot != nullptr && slot->is_live(key)) {
                return make_id(key, slot->version());
            } else {
                // The next key is in overflow_ or starts the array, whichever is lower.
                const key_type overflow = overflow_.next(key + 1);
                key = key < first_ && covered_ != 0 ? smaller(overflow, first_) : overflow;
            }
        }
        return id_type{};
    }

    [[nodiscard]] version_type unused_version() const noexcept {
        if (started_over_) return Layout::last_issued_version + 1;
        const bool has_reserved = !reserved_.empty() || reserve_end_.load() > pool_end_;
        version_type highest = first_version_ + (has_reserved ? 1u : 0u);
        const auto callback = [&](key_type key, const Slot& slot) {
            const bool is_used = slot.is_live(key) || reserved_.contains(key);
            highest = larger(highest, slot.version() + (is_used ? 1u : 0u));
        };
        for (std::size_t i = 0; i < covered_; ++i) callback(first_ + i, main_[i]);
        for (key_type key = overflow_.next(0); key != overflow_.none; key = overflow_.next(key + 1))
            callback(key, overflow_[key]);
        return highest;
    }

    // ---- reserved ids: not alive yet ----------------------------------------------------------

    /// Reserves up to `count` consecutive keys, for ids of the first version. Returns none if no
    /// key is open: the last keys of the range belong to the pool. Any thread, at any time.
    struct key_run {
        key_type first;
        std::uint64_t count;
    };
    [[nodiscard]] key_run take_keys(std::uint64_t count) noexcept {
        std::uint64_t from = reserve_end_.load();
        std::uint64_t taken = 0;
        do {
            taken = from < open_keys() ? smaller(count, open_keys() - from) : 0;
        } while (taken != 0 && !reserve_end_.compare_exchange(from, from + taken));
        return {first_ + from, taken};
    }
    /// Whether `take_keys` finds a key.
    [[nodiscard]] bool has_open_keys() const noexcept { return reserve_end_.load() < open_keys(); }
    /// Returns the id of a key from `take_keys`.
    [[nodiscard]] id_type id_of_taken(key_type key) const noexcept {
        return make_id(key, first_version_);
    }
    /// Returns how many keys a thread takes at once: fewer, if the range is small.
    [[nodiscard]] std::size_t fair_count() const noexcept {
        return smaller(larger(keys() / 256, 1), 64);
    }
    /// Returns how many keys `create` can still issue.
    [[nodiscard]] std::uint64_t available() const noexcept {
        return free_ + keys() - fresh_ - ahead_.size();
    }
    /// Reserves the id that `create` would return. Throws like `create`. This and all functions
    /// below are for the thread that owns the pool.
    id_type reserve_id() {
        struct guard {  // undoes the creation, unless the id was reserved
            slot_pool& pool;
            id_type made;
            bool is_done = false;
            ~guard() {
                if (!is_done) pool.undo_create(made);
            }
        };
        guard reserved{*this, create()};
        const key_type key = reserved.made.key();
        reserved_.insert(key);
        *find(key) = Slot::dead(key, other(key), reserved.made.version());
        reserved.is_done = true;
        return reserved.made;
    }
    /// Makes a reserved id alive; false if it is not reserved. `std::bad_alloc` changes nothing.
    bool claim_reserved(id_type e) {
        const key_type key = e.key();
        sync_reserved();
        if (!reserved_.contains(key)) return false;
        Slot* slot = find(key);
        if (slot == nullptr) {
            const std::uint64_t dense =
                smaller(larger(2 * size() + 1024, main_.capacity() + 4096), keys());
            if (key - first_ < dense) cover(dense);
            slot = key - first_ < covered_ ? &main_[key - first_]
                                           : &overflow_.ensure(key, untouched(key));
        }
        if (make_id(key, slot->version()) != e) return false;
        *slot = Slot::live(e);
        reserved_.erase(key);
        return true;
    }
    /// Frees a reserved id that no caller has seen; its version can be issued again. May throw
    /// `std::bad_alloc`.
    void give_up(id_type e) {
        if (!claim_reserved(e)) return;
        release(e.key(), *find(e.key()), e.version(), true);
    }

    [[nodiscard]] std::uint64_t world() const noexcept { return origin_.world(); }
    [[nodiscard]] id_type origin() const noexcept { return origin_; }
    [[nodiscard]] version_type first_version() const noexcept { return first_version_; }

private:
    /// Like `id_type::assemble` with this world, but faster.
    [[nodiscard]] id_type make_id(key_type key, version_type version) const noexcept {
        return id_type::from_value(
            static_cast<typename Layout::rep>(origin_.value() | version << Layout::key_bits | key));
    }
    /// Returns the id whose key is higher by `count`.
    [[nodiscard]] static id_type advanced(id_type e, std::uint64_t count) noexcept {
        return id_type::from_value(static_cast<typename Layout::rep>(e.value() + count));
    }

    /// Returns any key except `key`.
    static constexpr key_type other(key_type key) noexcept { return key ^ 1; }

    [[nodiscard]] Slot untouched(key_type key) const noexcept {
        return Slot::dead(key, other(key), first_version_);
    }
    [[nodiscard]] std::uint64_t keys() const noexcept { return last_ - first_ + 1; }
    [[nodiscard]] bool owns(key_type key) const noexcept { return key - first_ <= last_ - first_; }

    /// Whether a key of the range was ever issued.
    [[nodiscard]] bool was_issued(key_type key) const noexcept {
        return key - first_ < fresh_ || ahead_.contains(key);
    }

    // ---- keys beyond main_ --------------------------------------------------------------------
    // Pure where possible, so that loops keep the fields of the pool in registers.

    [[gnu::noinline]] Slot* find_overflow(key_type key) noexcept { return overflow_.find(key); }
    [[gnu::pure, gnu::noinline]] const Slot* find_overflow(key_type key) const noexcept {
        return overflow_.find(key);
    }

    [[gnu::pure, gnu::noinline]] bool alive_overflow(id_type e) const noexcept {
        const Slot* slot = overflow_.find(e.key());
        return slot != nullptr && slot->is(e, origin_);
    }

    [[gnu::noinline]] bool destroy_overflow(id_type e) noexcept {
        Slot* slot = overflow_.find(e.key());
        if (slot == nullptr || !slot->is(e, origin_)) return false;
        retire_version(e.key(), *slot, e.version(), owns(e.key()));
        return true;
    }

    // ---- keys that were never used ------------------------------------------------------------

    template <class InitSlot>
    id_type issue_fresh(InitSlot init_slot) noexcept {
        const std::size_t index = fresh_++;
        if (index == covered_) covered_ = fresh_;
        const id_type made = advanced(first_id_, index);
        Slot slot = Slot::live(made);
        init_slot(slot);
        main_[index] = slot;
        return made;
    }

    template <class InitSlot>
    void issue_run(std::span<id_type> out, std::size_t begin, std::size_t end,
                   InitSlot init_slot) noexcept {
        id_type* const ids = out.data();
        Slot* const slots = main_.data() + fresh_ - begin;
        const id_type first = advanced(first_id_, fresh_);
        for (std::size_t i = begin; i < end; ++i) {
            const id_type made = advanced(first, i - begin);
            Slot slot = Slot::live(made);
            init_slot(slot, i);
            ids[i] = made;
            slots[i] = slot;
        }
        fresh_ += end - begin;
        covered_ = larger(covered_, fresh_);
    }

    MUSTER_COLD void prepare_fresh(std::size_t count) {
        std::uint64_t end = 0;
        do {  // other threads may take keys in between
            if (count > available()) raise_overflow(count);
            end = ahead_.skip(first_ + fresh_, count - free_) - first_;
            claim_range(end);
        } while (ahead_.skip(first_ + fresh_, count - free_) - first_ != end);
        grow(end);
        set_limit();
    }

    /// Called when `fresh_` reaches `limit_`: skips keys in `ahead_` and makes room for a key.
    MUSTER_COLD void find_fresh() {
        while (!ahead_.empty() && ahead_.lowest() == first_ + fresh_) {
            if (fresh_ == covered_) cover(fresh_ + 1);
            ++fresh_;
            ahead_.erase_lowest();
        }
        if (fresh_ == keys()) raise_overflow(1);
        claim_range(share(fresh_ + 1, main_.capacity()));
        if (!ahead_.empty() && ahead_.lowest() == first_ + fresh_) return find_fresh();
        grow(fresh_ + 1);
        set_limit();
    }

    void set_limit() noexcept {
        limit_ = smaller(smaller(main_.capacity(), keys()), pool_end_);
        if (!ahead_.empty()) limit_ = smaller(limit_, ahead_.lowest() - first_);
    }

    /// Makes room for at least `count` slots; repeated growth costs O(1) amortised per slot.
    void grow(std::uint64_t count) {
        if (count <= main_.capacity()) return;
        const std::uint64_t ample = larger(larger(count, 64), main_.capacity() * 2);
        claim_range(share(fresh_, ample));
        main_.grow(smaller(ample, keys()));
    }

    // ---- keys that other threads have reserved ------------------------------------------------

    /// How many keys of the range, from the first on, other threads may reserve.
    [[nodiscard]] std::uint64_t open_keys() const noexcept { return keys() - keys() / 16; }
    /// Returns how many keys the pool should own if it needs `needed` and has room for `ample`.
    /// Leaves keys for other threads as long as possible.
    [[nodiscard]] std::uint64_t share(std::uint64_t needed, std::uint64_t ample) const noexcept {
        constexpr std::uint64_t few = 256;  // smaller ranges are not worth dividing
        const std::uint64_t open = open_keys();
        const std::uint64_t most = open - open / 16;
        ample = larger(needed, smaller(ample, keys()));
        if (ample <= most || keys() < few || needed >= open) return ample;
        return smaller(ample, larger(most, needed + (open - needed) / 2));
    }
    /// Records which keys other threads have taken.
    void sync_reserved() {
        const std::uint64_t reserve_end = reserve_end_.load();
        for (; pool_end_ < reserve_end; ++pool_end_) {
            if (!reserved_.contains(first_ + pool_end_)) reserved_.insert(first_ + pool_end_);
            ahead_.insert(first_ + pool_end_);
        }
        set_limit();
    }
    /// Claims the first `count` keys of the range for the pool, except those already taken.
    void claim_range(std::uint64_t count) {
        for (;;) {
            sync_reserved();
            std::uint64_t reserve_end = pool_end_;
            if (reserve_end >= count) return;
            if (reserve_end_.compare_exchange(reserve_end, count)) break;
        }
        pool_end_ = count;
    }
    /// Claims a key that is about to become alive, so that no other thread can reserve it.
    void pass_reserve_end(key_type key) {
        if (owns(key) && key - first_ >= pool_end_ && key - first_ < open_keys())
            claim_range(key - first_ + 1);
    }

    /// Moves the slots of the first `count` keys of the range into main_.
    void cover(std::uint64_t count) {
        grow(count);
        const key_type begin = first_ + covered_;
        for (std::size_t i = covered_; i < count; ++i) main_[i] = untouched(first_ + i);
        for (key_type key = overflow_.next(begin); key < first_ + count;
             key = overflow_.next(key + 1)) {
            main_[key - first_] = overflow_[key];
            overflow_.erase(key);
        }
        covered_ = count;
    }

    /// Claims, out of order, a key of the range that was never issued. Returns its slot.
    Slot& claim_fresh(key_type key) {
        const std::uint64_t index = key - first_;
        if (index == fresh_) {
            if (fresh_ >= limit_) find_fresh();
            ++fresh_;
            covered_ = larger(covered_, fresh_);
            return main_[index];
        }
        // Covers about twice as many slots as living ids. Ids that are loaded in any order then end
        // up in the array, and a single distant key cannot inflate it.
        const std::uint64_t dense = smaller(2 * size() + 1024, keys());
        if (index >= covered_ && index < dense) cover(dense);
        Slot& slot = index < covered_ ? main_[index] : overflow_.ensure(key, untouched(key));
        ahead_.insert(key);
        set_limit();
        return slot;
    }

    // ---- the free list ------------------------------------------------------------------------

    template <class InitSlot>
    id_type reissue(InitSlot init_slot) noexcept {
        if (!unlinked_.empty()) [[unlikely]]
            skip_unlinked();
        return reissue_slot(*find(head_), init_slot);
    }

    /// Makes the head of the free list alive; `slot` is its slot.
    template <class InitSlot>
    id_type reissue_slot(Slot& slot, InitSlot init_slot) noexcept {
        const id_type made = make_id(head_, slot.version());
        head_ = slot.next();
        Slot living = Slot::live(made);
        init_slot(living);
        slot = living;
        --free_;
        return made;
    }

    /// Frees a key; `version` is its next version. A key outside the range is in no list: only
    /// `create_at` reuses it.
    void release(key_type key, Slot& slot, version_type version, bool in_range) noexcept {
        if (in_range && is_stack_) [[likely]] {
            push_free(key, slot, version);
        } else {
            release_otherwise(key, slot, version, in_range);
        }
    }

    void push_free(key_type key, Slot& slot, version_type version) noexcept {
        slot = Slot::dead(key, free_ == 0 ? other(key) : head_, version);
        head_ = key;
        ++free_;
    }

    [[gnu::noinline]] void release_otherwise(key_type key, Slot& slot, version_type version,
                                             bool in_range) noexcept {
        key_type next = other(key);
        if (!in_range) {
            --outside_;
        } else {
            const bool is_list_empty = free_ == 0 && unlinked_.empty();
            ++free_;
            if (const key_type* saved_next = unlinked_.find(key)) {
                next = *saved_next;  // the key kept its position in the list
                unlinked_.erase(key);
                is_stack_ = reuse_ == reuse::lifo && unlinked_.empty();
            } else if (is_list_empty) {
                head_ = tail_ = key;
            } else if (reuse_ == reuse::lifo) {
                next = head_;
                head_ = key;
            } else {
                link_after_tail(key);
                tail_ = key;
            }
        }
        slot = Slot::dead(key, next, version);
    }

    void link_after_tail(key_type key) noexcept {
        if (key_type* next = unlinked_.find(tail_)) {
            *next = key;
        } else {
            Slot& last = *find(tail_);
            last = Slot::dead(tail_, key, last.version());
        }
    }

    /// Prevents the free list from issuing a key that is about to become alive.
    void unlink(key_type key, const Slot& slot) {
        unlinked_.ensure(key, slot.next());
        is_stack_ = false;
        --free_;
    }

    MUSTER_COLD void skip_unlinked() noexcept {
        while (const key_type* next = unlinked_.find(head_)) {
            const key_type passed = head_;
            head_ = *next;
            unlinked_.erase(passed);
        }
        is_stack_ = reuse_ == reuse::lifo && unlinked_.empty();
    }

    // ---- versions that run out ----------------------------------------------------------------

    /// Frees the key of an id that is destroyed, or retires the key after its last version.
    void retire_version(key_type key, Slot& slot, version_type version, bool in_range) noexcept {
        if constexpr (Layout::on_exhaustion == exhaustion::wrap) {
            release(key, slot, version_after(key, version), in_range);
        } else {
            if (version == Layout::last_issued_version) [[unlikely]]
                retire_key(key, slot);
            else
                release(key, slot, version + 1, in_range);
        }
    }

    version_type version_after(key_type key, version_type version) noexcept {
        if (version != Layout::last_version && !make_id(key, version + 1).is_null())
            return version + 1;
        started_over_ = true;
        return first_version_;
    }

    MUSTER_COLD void retire_key(key_type key, Slot& slot) noexcept {
        if constexpr (Layout::on_exhaustion == exhaustion::retire) {
            slot = Slot::dead(key, other(key), Layout::last_version);
            ++retired_;
        } else {
            slot = Slot::dead(key, tombstones_ == 0 ? other(key) : tombstone_head_,
                              Layout::last_version);
            tombstone_head_ = key;
            ++tombstones_;
        }
    }

    // ---- errors -------------------------------------------------------------------------------

    [[nodiscard]] std::string range_text() const { return text(first_, " to ", last_); }

    void refuse_impossible(id_type wanted) const {
        const char* why = nullptr;
        if (wanted.is_null())
            why = "it is the null id";
        else if (id_type::assemble(wanted.key(), wanted.version(), wanted.world()) != wanted)
            why = "it has bits outside of its layout";
        else if (wanted.key() < Layout::first_key)
            why = "its key is below the first key";
        else if (wanted.version() < Layout::first_version)
            why = "its version is below the first version";
        else if (wanted.version() > Layout::last_issued_version)
            why = "its version is reserved for tombstones";
        else if (Layout::world_bits != 0 && wanted.world() == 0)
            why = "0 is not a world number";
        if (why != nullptr)
            raise(errc::id_out_of_range, text(to_string(wanted), " can never be alive: ", why));
        if (wanted.world() != world())
            raise(errc::foreign_entity, text(to_string(wanted), " belongs to world W:",
                                             wanted.world(), ", not to W:", world()));
    }

    [[noreturn]] MUSTER_COLD void raise_stale(id_type wanted, version_type next) const {
        const std::string key = text(to_string(wanted), " cannot be created: key ", wanted.key());
        if (next <= Layout::last_issued_version)
            raise(errc::id_stale, text(key, " is already at version ", next));
        if (Layout::on_exhaustion == exhaustion::retire)
            raise(errc::id_stale, text(key, " is retired: it has no versions left"));
        raise(errc::id_stale,
              text(key, " is a tombstone: recycle_tombstones() makes it usable again"));
    }

    [[noreturn]] MUSTER_COLD void raise_overflow(std::uint64_t wanted) const {
        std::string sentence =
            text("no key is left for ", wanted, wanted == 1 ? " more id" : " ids", ": the range ",
                 range_text(), " has ", keys(), keys() == 1 ? " key, " : " keys, ", available(),
                 " of them free");
        if (retired_ != 0) sentence += text(", ", retired_, " retired");
        if (tombstones_ != 0)
            sentence += text(", ", tombstones_, " tombstones that recycle_tombstones() would free");
        raise(errc::id_overflow, sentence);
    }

    // The fields that every call reads come first, on one or two cache lines.
    id_type origin_;  // key 0, version 0 of this world
    key_type first_;
    version_type first_version_;
    std::size_t covered_ = 0;  // slots of main_ that are initialised
    raw_array<Slot> main_;
    id_type first_id_ = make_id(first_, first_version_);  // the first id of the pool
    std::size_t fresh_ = 0;  // keys below first_ + fresh_ were all issued
    std::size_t limit_ = 0;  // below it, fresh keys need no slow path
    std::size_t free_ = 0;   // keys in the free list
    key_type head_ = 0;
    key_type tail_ = 0;  // only maintained for reuse::fifo
    key_type last_;
    muster::reuse reuse_;
    bool is_stack_ = reuse_ == reuse::lifo;   // the free list is used only at its head
    bool started_over_ = false;               // ids may be issued twice: versions have restarted
    sparse_array<key_type> unlinked_;         // claimed keys of the free list -> next key
    key_set<> ahead_;                         // keys issued from first_ + fresh_ on
    key_set<> reserved_;                      // issued keys whose ids are not alive yet
    std::uint64_t pool_end_ = 0;              // keys below it belong to the pool or are reserved
    atomic_word<std::uint64_t> reserve_end_;  // like pool_end_, plus the keys taken since
    sparse_array<Slot> overflow_;             // slots of keys that main_ does not cover
    std::size_t outside_ = 0;                 // keys outside the range: alive, retired or parked
    std::size_t retired_ = 0;
    std::size_t tombstones_ = 0;
    key_type tombstone_head_ = 0;
};

}  // namespace detail
}  // namespace muster
