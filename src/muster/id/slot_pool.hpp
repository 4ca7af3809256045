// slot_pool: which keys are in use, at which version, and which come next. The one place for this
// algorithm: `id_pool` runs it over slots of one word, the world over its records.
//
// One slot per key, and the line of keys that wait for reuse is threaded through the slots
// themselves:
//
//     key          0           1           2           3           4
//              [ 0  v2 ]   [ 4  v1 ]   [ 2  v0 ]   [ -  v7 ]   [ 3  v5 ]      head = 1
//                live      next: 4       live      last in     next: 3
//                          comes as                the line
//                          version 1
//
// A live slot says its own key, any other slot says another one, so that one comparison with the
// whole id answers `alive`. The end of the line is known by counting it; a slot that is last says
// any key but its own.
//
// Three regions hold the slots. `fresh_` and `covered_` count from `first_`, the first key of the
// range:
//
//     first_             fresh_               covered_                                     last_
//       |  every key was   |  untouched keys,    |  untouched keys, but for those in         |
//       |  issued          |  but for `ahead_`   |  `ahead_`, whose slots are in `far_`       |
//       [------------------ main_ ---------------]
//
// Without `create_at`, fresh_ == covered_ and the other two are empty. `create_at` may claim any
// key of the layout: one that is close extends main_, one far away or outside the range has its
// slot in far_. A key of the range that is claimed while it waits in the line keeps its place there:
// `claimed_` remembers where the line goes on, since the slot now holds an id.
//
// Other threads may reserve ids at any time (`take_keys`): keys from `border_` on are nobody's yet, and
// whoever moves the border has what it passed. The pool itself moves it before it grows, and learns then
// which keys others have taken: they are in `ahead_` or below `fresh_`, and in `reserved_` until their ids
// come alive or are given up. While several threads make entities, see `pool_sharing.hpp`.
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
///     static Slot dead(key, next, version)    one that holds none: `next` is another key than `key`,
///                                             `version` the one that comes next
///     bool is(id, origin) const               whether it holds exactly this id, of the world that
///                                             `origin` has, an id with key and version 0
///     bool is_live(key) const                 whether, being the slot of `key`, it holds an id
///     version() const, next() const           what `live` or `dead` was given
///
/// What each call does, costs and reports is said in `id_pool`, which offers them to users.
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

    /// Whether `create_now` may be called: the next id needs no memory and no second look. `settle(slot)`
    /// may add to what the id's slot holds.
    [[nodiscard]] bool is_ready() const noexcept {
        return free_ == 0 ? fresh_ < limit_ : claimed_.empty() && head_ - first_ < covered_;
    }
    template <class Settle>
    id_type create_now(Settle settle) noexcept {
        return free_ == 0 ? issue_fresh(settle) : reissue_slot(main_[head_ - first_], settle);
    }

    /// Whether `destroy_now` may be called for this id: it is alive, its slot is in the array, and its key
    /// goes to the head of the line.
    [[nodiscard]] bool is_destroyed_easily(id_type e) const noexcept {
        return is_stack_ && is_near(e.key()) && main_[e.key() - first_].is(e, origin_) &&
               (Layout::on_exhaustion != exhaustion::wrap &&
                e.version() != Layout::last_issued_version);
    }
    void destroy_now(id_type e) noexcept {
        push_free(e.key(), main_[e.key() - first_], e.version() + 1);
    }

    /// Does all that can fail in the next `count` creations: those will not.
    void prepare(std::size_t count) {
        if (count <= free_ || (free_ == 0 && fresh_ < limit_ && count <= limit_ - fresh_)) return;
        prepare_fresh(count);
    }

    void create(std::span<id_type> out) {
        prepare(out.size());
        create_now(out, [](Slot&, std::size_t) {});
    }

    /// Ids for all of `out`; `prepare` was called for them. `settle(slot, i)` as above.
    template <class Settle>
    void create_now(std::span<id_type> out, Settle settle) noexcept {
        std::size_t at = 0;
        for (; at != out.size() && free_ != 0; ++at)
            out[at] = reissue([&](Slot& slot) { settle(slot, at); });
        while (at != out.size()) {
            if (fresh_ >= limit_) find_fresh();
            const std::size_t end = at + smaller(limit_ - fresh_, out.size() - at);
            issue_run(out, at, end, settle);
            at = end;
        }
    }

    /// The last id that was created, which nobody has seen, was not: the next one is the same.
    void take_back(id_type e) noexcept {
        const key_type index = e.key() - first_;
        if (Layout::on_exhaustion == exhaustion::wrap) {
            destroy(e);  // a version does not tell whether the key is new
        } else if (index + 1 == fresh_ && e == behind(first_id_, index)) {
            main_[index] = untouched(e.key());
            if (covered_ == fresh_) --covered_;
            --fresh_;
        } else {
            if (free_ == 0 && claimed_.empty()) tail_ = e.key();
            push_free(e.key(), *find(e.key()), e.version());
        }
    }

    /// All that is wrong with an id that `create_at` is to make.
    void refuse_at(id_type wanted) const {
        refuse_impossible(wanted);
        const key_type key = wanted.key();
        const Slot* const slot = find(key);
        if (reserved_.contains(key))
            raise(errc::id_taken, text(to_string(wanted),
                                       " cannot be made: a command buffer has reserved its key"));
        if (slot != nullptr && slot->is_live(key)) {
            const id_type living = make_id(key, slot->version());
            raise(wanted < living ? errc::id_stale : errc::id_taken,
                  wanted == living
                      ? text(to_string(wanted), " is alive already")
                      : text(to_string(wanted), " cannot be made: its key is in use by ",
                             to_string(living)));
        }
        const version_type next = slot == nullptr ? first_version_ : slot->version();
        if (wanted.version() < next || next > Layout::last_issued_version)
            raise_stale(wanted, next);
    }
    id_type create_at(id_type wanted) {
        pass_border(wanted.key());
        refuse_at(wanted);
        const key_type key = wanted.key();
        Slot* slot = find(key);
        if (!owns(key)) {
            slot = &far_.ensure(key, untouched(key));
            ++outside_;
        } else if (was_issued(key)) {
            leave_line(key, *slot);
        } else {
            slot = &claim_fresh(key);
        }
        *slot = Slot::live(wanted);
        return wanted;
    }

    bool destroy(id_type e) noexcept {
        const key_type index = e.key() - first_;
        if (index >= covered_) [[unlikely]]
            return destroy_far(e);
        if (!main_[index].is(e, origin_)) return false;
        spend(e.key(), main_[index], e.version(), true);
        return true;
    }

    [[nodiscard]] bool alive(id_type e) const noexcept {
        // Both are asked before the branch: they do not change in a loop over many ids, whose inner
        // part is left without a call and with one load.
        const bool nothing_far = far_.empty();
        const Slot* const slots = main_.data();
        const key_type index = e.key() - first_;
        if (index < covered_) return slots[index].is(e, origin_);
        return !nothing_far && alive_far(e);
    }

    std::size_t recycle_tombstones() noexcept {
        const std::size_t count = tombstones_;
        // The list has the newest first. Turned round, they are freed in the order they were parked.
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
        // Keys that are out of use take room, too.
        const std::uint64_t wanted = smaller(count + retired_ + tombstones_, keys());
        if (wanted > main_.capacity()) annex(share(fresh_, wanted));
        main_.grow(wanted);
        set_limit();
    }

    /// Gives back room that no slot needs, where there is memory to do so.
    void trim() noexcept {
        main_.trim(covered_);
        set_limit();
    }

    /// The slot of `key`, or null if it has none. Ends with the next call that creates.
    [[nodiscard]] Slot* find(key_type key) noexcept {
        Slot* const slots = main_.data();  // before the branch, as in `alive`
        const key_type index = key - first_;
        if (index < covered_) [[likely]]
            return slots + index;
        return find_far(key);
    }
    [[nodiscard]] const Slot* find(key_type key) const noexcept {
        const Slot* const slots = main_.data();
        const key_type index = key - first_;
        if (index < covered_) [[likely]]
            return slots + index;
        return find_far(key);
    }

    /// Whether the slot of `key` is in the array; `near()[key - near_key()]` is it then.
    [[nodiscard]] bool is_near(key_type key) const noexcept { return key - first_ < covered_; }
    [[nodiscard]] Slot* near() const noexcept { return main_.data(); }
    [[nodiscard]] key_type near_key() const noexcept { return first_; }
    [[nodiscard]] std::size_t near_count() const noexcept { return covered_; }

    /// The lowest living id whose key is `key` or above, or the null id. O(keys in between).
    [[nodiscard]] id_type next_living(key_type key) const noexcept {
        while (key != far_.none) {
            if (key - first_ < covered_) {
                const Slot& slot = main_[key - first_];
                if (slot.is_live(key)) return make_id(key, slot.version());
                ++key;
            } else if (const Slot* slot = far_.find(key); slot != nullptr && slot->is_live(key)) {
                return make_id(key, slot->version());
            } else {
                // Whichever comes next: a key in far_, or the array.
                const key_type far = far_.next(key + 1);
                key = key < first_ && covered_ != 0 ? smaller(far, first_) : far;
            }
        }
        return id_type{};
    }

    [[nodiscard]] version_type unused_version() const noexcept {
        if (started_over_) return Layout::last_issued_version + 1;
        const bool has_reserved = !reserved_.empty() || border_.load() > known_;
        version_type highest = first_version_ + (has_reserved ? 1u : 0u);
        const auto look = [&](key_type key, const Slot& slot) {
            const bool is_used = slot.is_live(key) || reserved_.contains(key);
            highest = larger(highest, slot.version() + (is_used ? 1u : 0u));
        };
        for (std::size_t i = 0; i < covered_; ++i) look(first_ + i, main_[i]);
        for (key_type key = far_.next(0); key != far_.none; key = far_.next(key + 1))
            look(key, far_[key]);
        return highest;
    }

    // ---- ids that are not alive yet -----------------------------------------------------------

    /// Keys that nobody else gets, at most `count`, for ids of the first version: any thread may call it,
    /// at any time. None if there are no more: the last of the range are kept for the pool.
    struct key_run {
        key_type first;
        std::uint64_t count;
    };
    [[nodiscard]] key_run take_keys(std::uint64_t count) noexcept {
        std::uint64_t from = border_.load();
        std::uint64_t taken = 0;
        do {
            taken = from < open_keys() ? smaller(count, open_keys() - from) : 0;
        } while (taken != 0 && !border_.compare_exchange(from, from + taken));
        return {first_ + from, taken};
    }
    /// Whether it finds some.
    [[nodiscard]] bool has_open_keys() const noexcept { return border_.load() < open_keys(); }
    /// The id that such a key has.
    [[nodiscard]] id_type id_of_taken(key_type key) const noexcept {
        return make_id(key, first_version_);
    }
    /// How many keys a thread takes at once: few, where there are not many.
    [[nodiscard]] std::size_t fair_count() const noexcept {
        return smaller(larger(keys() / 256, 1), 64);
    }
    /// How many keys `create` finds.
    [[nodiscard]] std::uint64_t available() const noexcept {
        return free_ + keys() - fresh_ - ahead_.size();
    }
    /// An id that `create` would have given; it is reserved. All further calls are the pool's thread's.
    id_type reserve_id() {
        struct guard {
            slot_pool& pool;
            id_type made;
            bool is_done = false;
            ~guard() {
                if (!is_done) pool.take_back(made);
            }
        };
        guard one{*this, create()};
        const key_type key = one.made.key();
        reserved_.insert(key);
        *find(key) = Slot::dead(key, other(key), one.made.version());
        one.is_done = true;
        return one.made;
    }
    /// A reserved id comes alive; false if it is not one. `std::bad_alloc` changes nothing.
    bool claim_reserved(id_type e) {
        const key_type key = e.key();
        learn();
        if (!reserved_.contains(key)) return false;
        Slot* slot = find(key);
        if (slot == nullptr) {
            const std::uint64_t near =
                smaller(larger(2 * size() + 1024, main_.capacity() + 4096), keys());
            if (key - first_ < near) cover(near);
            slot =
                key - first_ < covered_ ? &main_[key - first_] : &far_.ensure(key, untouched(key));
        }
        if (make_id(key, slot->version()) != e) return false;
        *slot = Slot::live(e);
        reserved_.erase(key);
        return true;
    }
    /// A reserved id that nobody has seen waits for its use again.
    void give_up(id_type e) {
        if (!claim_reserved(e)) return;
        release(e.key(), *find(e.key()), e.version(), true);
    }

    [[nodiscard]] std::uint64_t world() const noexcept { return origin_.world(); }
    [[nodiscard]] id_type origin() const noexcept { return origin_; }
    [[nodiscard]] version_type first_version() const noexcept { return first_version_; }

private:
    /// What `id_type::assemble` gives for this world, with less work.
    [[nodiscard]] id_type make_id(key_type key, version_type version) const noexcept {
        return id_type::from_value(
            static_cast<typename Layout::rep>(origin_.value() | version << Layout::key_bits | key));
    }
    /// The id with a key that is higher by `count`.
    [[nodiscard]] static id_type behind(id_type e, std::uint64_t count) noexcept {
        return id_type::from_value(static_cast<typename Layout::rep>(e.value() + count));
    }

    /// Any key but this one.
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
    // Pure where they can be, so that loops keep what they know of the pool in registers.

    [[gnu::noinline]] Slot* find_far(key_type key) noexcept { return far_.find(key); }
    [[gnu::pure, gnu::noinline]] const Slot* find_far(key_type key) const noexcept {
        return far_.find(key);
    }

    [[gnu::pure, gnu::noinline]] bool alive_far(id_type e) const noexcept {
        const Slot* slot = far_.find(e.key());
        return slot != nullptr && slot->is(e, origin_);
    }

    [[gnu::noinline]] bool destroy_far(id_type e) noexcept {
        Slot* slot = far_.find(e.key());
        if (slot == nullptr || !slot->is(e, origin_)) return false;
        spend(e.key(), *slot, e.version(), owns(e.key()));
        return true;
    }

    // ---- keys that were never used ------------------------------------------------------------

    template <class Settle>
    id_type issue_fresh(Settle settle) noexcept {
        const std::size_t index = fresh_++;
        if (index == covered_) covered_ = fresh_;
        const id_type made = behind(first_id_, index);
        Slot slot = Slot::live(made);
        settle(slot);
        main_[index] = slot;
        return made;
    }

    template <class Settle>
    void issue_run(std::span<id_type> out, std::size_t begin, std::size_t end,
                   Settle settle) noexcept {
        id_type* const ids = out.data();
        Slot* const slots = main_.data() + fresh_ - begin;
        const id_type first = behind(first_id_, fresh_);
        for (std::size_t i = begin; i < end; ++i) {
            const id_type made = behind(first, i - begin);
            Slot slot = Slot::live(made);
            settle(slot, i);
            ids[i] = made;
            slots[i] = slot;
        }
        fresh_ += end - begin;
        covered_ = larger(covered_, fresh_);
    }

    MUSTER_COLD void prepare_fresh(std::size_t count) {
        std::uint64_t end = 0;
        do {  // others may have taken keys in between
            if (count > available()) raise_overflow(count);
            end = ahead_.skip(first_ + fresh_, count - free_) - first_;
            annex(end);
        } while (ahead_.skip(first_ + fresh_, count - free_) - first_ != end);
        grow(end);
        set_limit();
    }

    /// Called when `fresh_` has come to `limit_`: passes what `create_at` claimed, makes room for one
    /// more.
    MUSTER_COLD void find_fresh() {
        while (!ahead_.empty() && ahead_.lowest() == first_ + fresh_) {
            if (fresh_ == covered_) cover(fresh_ + 1);
            ++fresh_;
            ahead_.erase_lowest();
        }
        if (fresh_ == keys()) raise_overflow(1);
        annex(share(fresh_ + 1, main_.capacity()));
        if (!ahead_.empty() && ahead_.lowest() == first_ + fresh_) return find_fresh();
        grow(fresh_ + 1);
        set_limit();
    }

    void set_limit() noexcept {
        limit_ = smaller(smaller(main_.capacity(), keys()), known_);
        if (!ahead_.empty()) limit_ = smaller(limit_, ahead_.lowest() - first_);
    }

    /// Room for `count` slots and more, so that growing step by step costs O(1) a step.
    void grow(std::uint64_t count) {
        if (count <= main_.capacity()) return;
        const std::uint64_t ample = larger(larger(count, 64), main_.capacity() * 2);
        annex(share(fresh_, ample));
        main_.grow(smaller(ample, keys()));
    }

    // ---- keys that others have reserved -------------------------------------------------------

    /// How many keys of the range others may reserve.
    [[nodiscard]] std::uint64_t open_keys() const noexcept { return keys() - keys() / 16; }
    /// How many keys the pool should have that needs `needed` and has room for `ample`: not so many that
    /// nothing is left for others, before it has to be.
    [[nodiscard]] std::uint64_t share(std::uint64_t needed, std::uint64_t ample) const noexcept {
        constexpr std::uint64_t few = 256;  // these are not worth dividing
        const std::uint64_t open = open_keys();
        const std::uint64_t most = open - open / 16;
        ample = larger(needed, smaller(ample, keys()));
        if (ample <= most || keys() < few || needed >= open) return ample;
        return smaller(ample, larger(most, needed + (open - needed) / 2));
    }
    /// Finds out which keys others have taken.
    void learn() {
        const std::uint64_t border = border_.load();
        for (; known_ < border; ++known_) {
            if (!reserved_.contains(first_ + known_)) reserved_.insert(first_ + known_);
            ahead_.insert(first_ + known_);
        }
        set_limit();
    }
    /// The first `count` keys of the range are nobody else's from now on, but for those that are taken.
    void annex(std::uint64_t count) {
        for (;;) {
            learn();
            std::uint64_t border = known_;
            if (border >= count) return;
            if (border_.compare_exchange(border, count)) break;
        }
        known_ = count;
    }
    /// A key that is to be made alive, wherever it is, is nobody else's.
    void pass_border(key_type key) {
        if (owns(key) && key - first_ >= known_ && key - first_ < open_keys())
            annex(key - first_ + 1);
    }

    /// Brings the slots of the first `count` keys of the range into main_.
    void cover(std::uint64_t count) {
        grow(count);
        const key_type begin = first_ + covered_;
        for (std::size_t i = covered_; i < count; ++i) main_[i] = untouched(first_ + i);
        for (key_type key = far_.next(begin); key < first_ + count; key = far_.next(key + 1)) {
            main_[key - first_] = far_[key];
            far_.erase(key);
        }
        covered_ = count;
    }

    /// Takes a key of the range that was never issued out of order; its slot.
    Slot& claim_fresh(key_type key) {
        const std::uint64_t index = key - first_;
        if (index == fresh_) {
            if (fresh_ >= limit_) find_fresh();
            ++fresh_;
            covered_ = larger(covered_, fresh_);
            return main_[index];
        }
        // Up to about twice as many slots as living ids: so a load in any order ends up in the
        // array, and one key cannot make it much larger than it has to be.
        const std::uint64_t near = smaller(2 * size() + 1024, keys());
        if (index >= covered_ && index < near) cover(near);
        Slot& slot = index < covered_ ? main_[index] : far_.ensure(key, untouched(key));
        ahead_.insert(key);
        set_limit();
        return slot;
    }

    // ---- keys that wait for reuse -------------------------------------------------------------

    template <class Settle>
    id_type reissue(Settle settle) noexcept {
        if (!claimed_.empty()) [[unlikely]]
            pass_claimed();
        return reissue_slot(*find(head_), settle);
    }

    /// The first in the line, whose slot this is, comes alive.
    template <class Settle>
    id_type reissue_slot(Slot& slot, Settle settle) noexcept {
        const id_type made = make_id(head_, slot.version());
        head_ = slot.next();
        Slot living = Slot::live(made);
        settle(living);
        slot = living;
        --free_;
        return made;
    }

    /// Lets a key that is not alive wait for its next use, at this version. A key outside the range
    /// is in no line: it waits for `create_at`.
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
            const bool line_is_empty = free_ == 0 && claimed_.empty();
            ++free_;
            if (const key_type* behind = claimed_.find(key)) {
                next = *behind;  // it kept its place
                claimed_.erase(key);
                is_stack_ = reuse_ == reuse::lifo && claimed_.empty();
            } else if (line_is_empty) {
                head_ = tail_ = key;
            } else if (reuse_ == reuse::lifo) {
                next = head_;
                head_ = key;
            } else {
                link_behind_tail(key);
                tail_ = key;
            }
        }
        slot = Slot::dead(key, next, version);
    }

    void link_behind_tail(key_type key) noexcept {
        if (key_type* behind = claimed_.find(tail_)) {
            *behind = key;
        } else {
            Slot& last = *find(tail_);
            last = Slot::dead(tail_, key, last.version());
        }
    }

    /// The key is about to be alive: the line must not give it out.
    void leave_line(key_type key, const Slot& slot) {
        claimed_.ensure(key, slot.next());
        is_stack_ = false;
        --free_;
    }

    MUSTER_COLD void pass_claimed() noexcept {
        while (const key_type* behind = claimed_.find(head_)) {
            const key_type passed = head_;
            head_ = *behind;
            claimed_.erase(passed);
        }
        is_stack_ = reuse_ == reuse::lifo && claimed_.empty();
    }

    // ---- versions that run out ----------------------------------------------------------------

    /// The id in this slot dies.
    void spend(key_type key, Slot& slot, version_type version, bool in_range) noexcept {
        if constexpr (Layout::on_exhaustion == exhaustion::wrap) {
            release(key, slot, version_after(key, version), in_range);
        } else {
            if (version == Layout::last_issued_version) [[unlikely]]
                put_away(key, slot);
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

    MUSTER_COLD void put_away(key_type key, Slot& slot) noexcept {
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
            why = "it has bits beyond its layout";
        else if (wanted.key() < Layout::first_key)
            why = "its key is below the first one";
        else if (wanted.version() < Layout::first_version)
            why = "its version is below the first one";
        else if (wanted.version() > Layout::last_issued_version)
            why = "its version is the one that marks tombstones";
        else if (Layout::world_bits != 0 && wanted.world() == 0)
            why = "no world has the number 0";
        if (why != nullptr)
            raise(errc::id_out_of_range, text(to_string(wanted), " can never be alive: ", why));
        if (wanted.world() != world())
            raise(errc::foreign_entity, text(to_string(wanted), " belongs to world W:",
                                             wanted.world(), ", not to W:", world()));
    }

    [[noreturn]] MUSTER_COLD void raise_stale(id_type wanted, version_type next) const {
        const std::string key = text(to_string(wanted), " cannot be made: key ", wanted.key());
        if (next <= Layout::last_issued_version)
            raise(errc::id_stale, text(key, " is at version ", next, " already"));
        if (Layout::on_exhaustion == exhaustion::retire)
            raise(errc::id_stale, text(key, " is retired: all its versions are spent"));
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

    // What every call reads comes first, on one or two cache lines.
    id_type origin_;  // key 0, version 0 of this world
    key_type first_;
    version_type first_version_;
    std::size_t covered_ = 0;  // slots in main_ that have a value
    raw_array<Slot> main_;
    id_type first_id_ = make_id(first_, first_version_);  // of a fresh pool
    std::size_t fresh_ = 0;  // keys below first_ + fresh_ were all issued
    std::size_t limit_ = 0;  // up to here, fresh keys need no second look
    std::size_t free_ = 0;   // keys that wait in the line
    key_type head_ = 0;
    key_type tail_ = 0;  // only kept for reuse::fifo
    key_type last_;
    muster::reuse reuse_;
    bool is_stack_ = reuse_ == reuse::lifo;  // keys are freed and taken at the head, nothing else
    bool started_over_ = false;              // versions wrapped or were recycled: ids came twice
    sparse_array<key_type> claimed_;         // keys that left the line, and the key behind each
    key_set<> ahead_;                        // keys issued from first_ + fresh_ on
    key_set<> reserved_;       // keys of those, or below them, whose ids are not alive yet
    std::uint64_t known_ = 0;  // keys below this are the pool's, or in the two above
    atomic_word<std::uint64_t> border_;  // the same, but for what others took since
    sparse_array<Slot> far_;             // the slots of keys that main_ does not cover
    std::size_t outside_ = 0;            // keys outside the range, alive or put away
    std::size_t retired_ = 0;
    std::size_t tombstones_ = 0;
    key_type tombstone_head_ = 0;
};

}  // namespace detail
}  // namespace muster
