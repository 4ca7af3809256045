// concurrent_id_pool: issues ids to many threads at once, without locks, and tracks living ids.
//
// Each key has a word, as in `id_pool`, and free keys form stacks that are threaded through the
// words. Unlike in `id_pool`, a free word does not contain its own version: it contains key and
// version of the entry below it. The head of a stack contains key and version of the top.
//
//             head [ 1  v3 ]     head [ empty ]          fresh_ = 5: keys from here on are unused
//                     |
//     index      0    |     1           2           3           4           5
//     word   [ 0  v2 ] > [ 4  v1 ]   [ 2  v0 ]   [ -  end ]  [ 3  v5 ]   [ 0  v0 ]
//              live      below: 4      live       below:     below: 3    untouched
//              at v2     at v1         at v0      nothing    at v5
//     note                  2                       0           1          how many are below
//
// An index is a key counted from the first key of the range. A live word contains its own index,
// and any other word contains another index, so that one comparison with the whole id answers
// `alive`.
//
//     create    top = head; below = word[top]; head: top -> below; word[top] = the id
//     destroy   word[key]: the id -> end; word[key] = head; head: value read -> key, next version
//
// (`x: a -> b` is a compare-exchange: it fails if x is not a.)
//
// There are several stacks, and each thread has a preferred stack. Threads that create and destroy
// then rarely write the same head, which would cost more than everything else. A thread whose stack
// is empty takes keys from the remaining stacks before it takes an unused key.
//
// Why this is correct:
//
// - One owner. Only a successful compare-exchange transfers a key: from a stack (or `fresh_`) to
//   the creating thread, from an id to the thread that destroys it, from that thread to a stack. In
//   between, no other thread writes the word of the key.
// - No ABA. The value that `create` writes to the head is correct if the top has not left the stack
//   since it was read. The head stores a tag, the version, with the key, and a key is pushed at
//   most once with each version. So if the head is unchanged, the top has been in the stack all the
//   time, and all entries below it are unchanged, too. For `exhaustion::retire` this is a proof. If
//   versions recur (`wrap`, `tombstone`), the tag is longer than the version: it also counts the
//   rounds of the key through its versions. It uses all bits that the head has left: 31 tag bits
//   for 32-bit keys, 43 for 20-bit keys. It fails only if a thread stalls within `create` while a
//   key is used 2^31 (2^43) times, and the key is on top at exactly that count when the thread
//   resumes.
// - No false overflow. `create` reports overflow if no unused key is left, which is permanent, and
//   all stacks were empty at one moment: it has found each of them empty twice, and unchanged. To
//   make changes visible, an empty head stores key and version of the entry that left last. (A
//   layout that uses all 64 bits stores the key only. There, at the last key, `id_overflow` can
//   occur although a key was free at each moment.)
// - No blocking. A thread that stops anywhere withholds at most the key that it creates or destroys
//   (or the keys, if it creates or recycles many).
// - No key without memory. The segment of a key is published before `fresh_` passes the key, and
//   the compare-exchange of `fresh_` never passes the last key.
//
// tests/models/concurrent_id_pool.pml describes this algorithm for a model checker.
//
// Memory order. Every change of a head is a read-modify-write that releases and acquires. A thread
// that takes a key thus sees its word, its segment, and everything that happened before the key was
// freed. Words are stored with release and loaded with acquire. Bulk `create` follows words before
// it can check that they are still valid, and must see the segments of the keys they name. Notes
// are relaxed where a head or a word, written after and read before them, orders them. Counters of
// rare events are relaxed: they order nothing.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/fwd.hpp>
#include <muster/id/id.hpp>
#include <muster/id/id_pool_options.hpp>
#include <muster/id/key_links.hpp>
#include <muster/id/key_stacks.hpp>
#include <muster/id/slot_pool_errors.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace MUSTER_NAMESPACE {

/// Any thread may call any function at any time, except the destructor and `unused_version`. No
/// call blocks on another thread, except inside `malloc` when the pool grows. A thread that reuses
/// a key sees everything that the destroying thread did before it destroyed the id. If one thread
/// makes all calls, the ids are those of an `id_pool`. Neither copyable nor movable.
template <class Layout>
class concurrent_id_pool {
    using links = detail::key_links<Layout>;

public:
    using id_type = basic_id<Layout>;

    /// Throws `errc::id_out_of_range` like `id_pool`, and `errc::limit` for `reuse::fifo`: a queue
    /// has two ends, and a single compare-exchange changes only one. The pool uses at most the
    /// first 2^40 keys of the range.
    explicit concurrent_id_pool(id_pool_options options = {})
        : slots_(links::end_at(0)),
          first_(larger(options.first_key, Layout::first_key)),
          keys_(smaller(detail::last_key_of<Layout>(options) - first_, links::last_index) + 1),
          first_version_(larger(options.first_version, Layout::first_version)),
          origin_(id_type::assemble(0, 0, Layout::world_bits == 0 ? 0 : options.world)) {
        detail::check_pool_range<Layout>(options.world, first_,
                                         detail::last_key_of<Layout>(options), first_version_);
        if (options.reuse == reuse::fifo)
            detail::raise(
                errc::limit,
                "a concurrent_id_pool reuses the key freed last; use id_pool for reuse::fifo");
    }
    concurrent_id_pool(const concurrent_id_pool&) = delete;
    concurrent_id_pool& operator=(const concurrent_id_pool&) = delete;
    ~concurrent_id_pool() = default;

    /// Reuses the key freed last in this thread's stack or, if that is empty, a key of another
    /// stack; otherwise takes the lowest unused key. `errc::id_overflow` if there was a moment
    /// without a free key; keys that another call is processing are not free. `std::bad_alloc`
    /// changes nothing. O(1): one compare-exchange, repeated if another thread was faster. Any
    /// thread may call it.
    id_type create() {
        do {
            if (link top = links::empty; stacks_.pop(slots_, top)) return revive(top);
            if (std::uint64_t index = 0; take_fresh(1, index) != 0) return begin(index);
        } while (!stacks_.is_none_free());
        raise_overflow(1);
    }

    /// Creates ids for all of `out`, or none: `errc::id_overflow`, `std::bad_alloc`. The ids are
    /// those of single calls, but ids of other threads may lie in between. While other threads
    /// create and destroy, timing decides whether it finds enough keys. If it fails because
    /// they took keys while it ran, it destroys the ids it has created. `out` then has null ids in
    /// their place, and their keys have used up a version. Otherwise, a call that fails has changed
    /// nothing. O(n), with fewer compare-exchanges than single calls. Any thread may call it.
    void create(std::span<id_type> out) {
        if (out.size() > keys_) raise_overflow(out.size());
        const std::uint64_t fresh = fresh_.load();
        const auto free = stacks_.count_free(slots_);
        if (out.size() > free.count + (keys_ - fresh) && free.is_steady) raise_overflow(out.size());
        if (out.size() > free.count)
            slots_.ensure(fresh, smaller(fresh + (out.size() - free.count), keys_));

        all_or_none taken{*this, out};
        while (true) {
            stacks_.pop_many(slots_, out.size() - taken.count,
                             [&](link top) noexcept { out[taken.count++] = revive(top); });
            std::uint64_t index = 0;
            const std::uint64_t got = take_fresh(out.size() - taken.count, index);
            for (const std::uint64_t end = index + got; index != end; ++index)
                out[taken.count++] = begin(index);
            if (taken.count == out.size()) return;
            if (stacks_.is_none_free()) raise_overflow(out.size());
        }
    }

    /// Returns false if the id is not alive: dead, null, foreign or forged. If several threads
    /// destroy the same id, it returns true to exactly one of them. When it returns, no copy of
    /// this id is alive. Never throws. Two compare-exchanges; repeats the second if another thread
    /// was faster. Any thread may call it.
    bool destroy(id_type e) noexcept {
        const std::uint64_t index = e.key() - first_;
        if (index >= keys_ || slots_.find(index) == nullptr) return false;
        const place at = slots_.at(index);
        at.note.expect_store();
        // One step takes the key from the id, so that only one thread succeeds. Until the key is in
        // a stack, its word equals no id.
        word expected = word_of(e);
        if (!at.word.compare_exchange(expected, links::end_at(index))) return false;
        retire_version(index, at, e.version());
        return true;
    }

    /// Accepts any bits: null, foreign, forged, out of range. Never throws. Two loads and a
    /// comparison. Any thread may call it; if another thread destroys the id, a result of
    /// true may be outdated when the caller reads it.
    [[nodiscard]] bool alive(id_type e) const noexcept {
        const std::uint64_t index = e.key() - first_;
        if (index >= keys_) return false;
        word* const found = slots_.find(index);
        return found != nullptr && detail::atomic_word_ref<word>(found).load() == word_of(e);
    }

    /// Frees the keys that are parked as tombstones, in the order they were parked, and restarts
    /// them at the first version. Returns how many. Afterwards dead ids can be issued again: call
    /// it when no old handle is left. Always 0 unless the layout uses `exhaustion::tombstone`.
    /// Never throws. O(tombstones). Any thread may call it.
    std::size_t recycle_tombstones() noexcept {
        if constexpr (Layout::on_exhaustion == exhaustion::tombstone)
            return recycle_parked();
        else
            return 0;
    }

    /// Returns how many ids are alive. Exact while no other thread is in a call, else approximate:
    /// an id that is being destroyed still counts. It adds up the counts in the stacks' tops, so
    /// that creating and destroying maintain no counter. O(1), repeated if a stack changes
    /// meanwhile. Any thread may call it.
    [[nodiscard]] std::size_t size() const noexcept {
        // This order prevents counting a key as dead twice if its state changes meanwhile, except
        // for tombstones that are being recycled.
        const std::uint64_t out_of_use = retired() + tombstones();
        const std::uint64_t dead = stacks_.count_free(slots_).count + out_of_use;
        const std::uint64_t issued = fresh_.load();
        return static_cast<std::size_t>(issued < dead ? 0 : issued - dead);
    }

    /// The numbers of keys that will never be used again and of parked keys. O(1). Any thread may
    /// call these functions.
    [[nodiscard]] std::size_t retired() const noexcept { return retired_.load_relaxed(); }
    [[nodiscard]] std::size_t tombstones() const noexcept { return tombstones_.load_relaxed(); }

    /// Returns how many keys there is room for. O(1). Any thread may call it.
    [[nodiscard]] std::size_t capacity() const noexcept {
        return static_cast<std::size_t>(smaller(slots_.capacity(), keys_));
    }

    /// Makes room for `count` ids in total, so that creating them does not allocate.
    /// `errc::id_overflow` if the range has fewer keys; `std::bad_alloc` keeps the room that was
    /// allocated. Any thread may call it.
    void reserve(std::size_t count) {
        if (count > keys_) raise_overflow(count);
        // Retired and parked keys occupy slots, too.
        slots_.ensure(0, smaller(count + retired() + tombstones(), keys_));
    }

    /// Returns a version above every version that this pool has issued, for
    /// `world_number::retire_versions`. O(keys). Any thread may call it, but not while another
    /// thread creates or destroys.
    [[nodiscard]] std::uint64_t unused_version() const noexcept {
        if (started_over_.load_relaxed() != 0 || retired() + tombstones() != 0)
            return Layout::last_issued_version + 1;
        std::uint64_t highest = stacks_.highest_version(first_version_);
        const std::uint64_t issued = fresh_.load();
        for (std::uint64_t index = 0; index != issued; ++index) {
            const word word_here = slots_.at(index).word.load();
            if (links::has_index(word_here, index))
                highest = larger(highest, id_of(word_here).version() + 1);
            else if (!links::is_end(word_here))
                highest = larger(highest, links::version_of(word_here));
        }
        return highest;
    }

    /// The world number in every id; 0 if the layout has no world bits.
    [[nodiscard]] std::uint64_t world() const noexcept { return origin_.world(); }

private:
    static constexpr std::uint64_t smaller(std::uint64_t a, std::uint64_t b) noexcept {
        return detail::smaller(a, b);
    }
    static constexpr std::uint64_t larger(std::uint64_t a, std::uint64_t b) noexcept {
        return detail::larger(a, b);
    }

    // ---- words and links ----------------------------------------------------------------------

    using word = typename links::word;
    using link = typename links::link;
    using place = typename links::place;
    static constexpr bool versions_recur = links::versions_recur;

    [[nodiscard]] word word_of(id_type e) const noexcept {
        return static_cast<word>(e.value() - first_);
    }
    [[nodiscard]] id_type id_of(word live) const noexcept {
        return id_type::from_value(static_cast<typename Layout::rep>(live + first_));
    }
    [[nodiscard]] word live_word(std::uint64_t index, std::uint64_t version) const noexcept {
        return static_cast<word>(origin_.value() | version << Layout::key_bits | index);
    }

    // ---- create -------------------------------------------------------------------------------

    /// Makes a key alive that was taken from a stack.
    id_type revive(link taken) noexcept {
        const std::uint64_t index = links::index_of(taken);
        const place at = slots_.at(index);
        if constexpr (versions_recur) at.note.store_relaxed(links::rounds_of(taken));
        const word live = live_word(index, links::version_of(taken));
        at.word.store(live);
        return id_of(live);
    }

    /// Makes a key alive that was never used.
    id_type begin(std::uint64_t index) noexcept {
        const word live = live_word(index, first_version_);
        slots_.at(index).word.store(live);
        return id_of(live);
    }

    /// Takes up to `count` unused keys, from `index` on. Returns how many; fewer only at the end.
    std::uint64_t take_fresh(std::uint64_t count, std::uint64_t& index) {
        index = fresh_.load();
        while (true) {
            const std::uint64_t got = smaller(count, keys_ - index);
            if (got == 0) return 0;
            slots_.ensure(index, index + got);
            if (fresh_.compare_exchange(index, index + got)) return got;
        }
    }

    /// Guards bulk `create`: on exit, destroys the ids created so far, unless `out` is full.
    struct all_or_none {
        concurrent_id_pool& pool;
        std::span<id_type> out;
        std::size_t count = 0;

        all_or_none(concurrent_id_pool& from, std::span<id_type> to) noexcept
            : pool(from), out(to) {}
        all_or_none(const all_or_none&) = delete;
        all_or_none& operator=(const all_or_none&) = delete;
        ~all_or_none() {
            if (count == out.size()) return;
            for (; count != 0; --count) {
                pool.destroy(out[count - 1]);
                out[count - 1] = id_type{};
            }
        }
    };

    // ---- destroy ------------------------------------------------------------------------------

    /// Frees, parks or retires a key that this thread owns and whose id had this version.
    void retire_version(std::uint64_t index, place at, std::uint64_t version) noexcept {
        if constexpr (!versions_recur) {
            if (version == Layout::last_issued_version) [[unlikely]]
                retired_.fetch_add_relaxed(1);
            else
                push(index, at, version + 1);
        } else {
            // Relaxed: the note was written before the word, which this thread has acquired.
            const std::uint64_t rounds = at.note.load_relaxed();
            const std::uint64_t next = (version + 1) | rounds << Layout::version_bits;
            if (Layout::on_exhaustion == exhaustion::tombstone
                    ? version == Layout::last_issued_version
                    : is_round_over(index, version, next)) [[unlikely]]
                end_round(index, at, rounds);
            else
                push(index, at, next);
        }
    }

    /// Under `wrap`, a round ends after the last version, before a version that would form the null
    /// id, or before the end tag. (So the last version is skipped in the last round that the tag
    /// can count; without bits for rounds, in every round.)
    [[nodiscard]] bool is_round_over(std::uint64_t index, std::uint64_t version,
                                     std::uint64_t next) const noexcept {
        return version == Layout::last_version || next == links::end_tag ||
               id_of(live_word(index, version + 1)).is_null();
    }

    MUSTER_COLD void end_round(std::uint64_t index, place at, std::uint64_t rounds) noexcept {
        if constexpr (Layout::on_exhaustion == exhaustion::tombstone)
            park(index, at);
        else
            restart(index, at, rounds);
    }

    void restart(std::uint64_t index, place at, std::uint64_t rounds) noexcept {
        started_over_.store_relaxed(1);
        push(index, at, (first_version_ | (rounds + 1) << Layout::version_bits) & links::end_tag);
    }

    void push(std::uint64_t index, place at, std::uint64_t tag) noexcept {
        stacks_.push(slots_, index, at, tag);
    }

    // ---- tombstones ---------------------------------------------------------------------------
    // A separate stack, only pushed to or taken as a whole. ABA harms neither: links need no tag.

    void park(std::uint64_t index, place at) noexcept {
        // Counted before the key can be recycled; otherwise the count could fall below 0.
        tombstones_.fetch_add_relaxed(1);
        link top = parked_.load();
        do {
            at.word.store(links::word_above(top, index));
        } while (!parked_.compare_exchange(top, links::make_link(index, 0)));
    }

    std::size_t recycle_parked() noexcept {
        link top = parked_.exchange(links::make_link(0, links::end_tag));
        // The newest key is first. Reverses the stack, to free keys in the order they were parked.
        link oldest = links::make_link(0, links::end_tag);
        while (!links::is_end(top)) {
            const place at = slots_.at(links::index_of(top));
            const link below = at.word.load();
            at.word.store(links::word_above(oldest, links::index_of(top)));
            oldest = top;
            top = below;
        }
        std::size_t count = 0;
        for (; !links::is_end(oldest); ++count) {
            const std::uint64_t index = links::index_of(oldest);
            const place at = slots_.at(index);
            oldest = at.word.load();
            restart(index, at, at.note.load_relaxed());
        }
        tombstones_.fetch_sub(count);
        return count;
    }

    // ---- errors -------------------------------------------------------------------------------

    [[noreturn]] MUSTER_COLD void raise_overflow(std::uint64_t wanted) const {
        const std::uint64_t left = keys_ - fresh_.load() + stacks_.count_free(slots_).count;
        detail::raise_no_key_left<Layout>(
            wanted, {first_, first_ + keys_ - 1, left, retired(), tombstones()});
    }

    // Every call reads these; only a new segment writes them.
    typename links::slots slots_;
    std::uint64_t first_;          // key of index 0
    std::uint64_t keys_;           // number of keys in the range
    std::uint64_t first_version_;  // of unused keys
    id_type origin_;               // key 0, version 0 of this world
    detail::key_stacks<Layout> stacks_;
    alignas(64) detail::atomic_word<std::uint64_t> fresh_;  // all indices below it were issued
    detail::atomic_word<link> parked_{links::make_link(0, links::end_tag)};
    detail::atomic_word<std::size_t> retired_;
    detail::atomic_word<std::size_t> tombstones_;
    detail::atomic_word<unsigned char> started_over_;  // some key has restarted its versions
};

}  // namespace MUSTER_NAMESPACE
