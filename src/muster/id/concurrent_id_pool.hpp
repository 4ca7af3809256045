// concurrent_id_pool: issues ids to many threads at once, without locks, and knows which of them are alive.
//
// A word for each key, as in `id_pool`, and the keys that wait for reuse are stacks that are threaded through
// these words. But a free word does not say its own version: it says key and version of the one below it, and
// the head of the stack says key and version of the top.
//
//             head [ 1  v3 ]     head [ empty ]          fresh_ = 5: keys from here on were never used
//                     |
//     index      0    |     1           2           3           4           5
//     word   [ 0  v2 ] > [ 4  v1 ]   [ 2  v0 ]   [ -  end ]  [ 3  v5 ]   [ 0  v0 ]
//              live      below: 4      live       below:     below: 3    untouched
//              at v2     at v1         at v0      nothing    at v5
//     note                  2                       0           1          how many are below
//
// An index is a key counted from the first one of the range. A live word says its own index, any other word
// says another one, so that one comparison with the whole id answers `alive`.
//
//     create    top = head; below = word[top]; head: top -> below; word[top] = the id
//     destroy   word[key]: the id -> end; word[key] = head; head: what was read -> key and next version
//
// (`x: a -> b` is a compare-exchange: it fails if x is not a.) There are several stacks, and each thread has
// one that it looks at first: two threads that create and destroy do not write the same head, which would cost
// more than all else. A thread whose stack is empty takes from the others before it takes a key that
// was never used.
//
// Why this is right:
//
// - One owner. A key is handed on only by a compare-exchange that succeeds: from a stack (or `fresh_`) to who
//   creates, from an id to the one thread that destroys it, from that thread to a stack. In between
//   nobody else writes its word.
// - No ABA. What `create` writes to the head is right if the top has not left the stack since it was read. A
//   tag, the version, goes with the key in the head, and a key is pushed with each version at most once: if the
//   head is what it was, the top has been in the stack all the while, and so has all below it, unchanged. For
//   `exhaustion::retire` this is a proof. Where versions come again (`wrap`, `tombstone`), the tag is
//   longer than the version: it also counts the rounds that the key has made, in all bits that the head has left,
//   31 bits of tag for keys of 32 bits, 43 for 20. It fails if one thread stands still within `create`
//   while one key is used 2^31 times (2^43), and is on top at just that count when the thread goes on.
// - No false alarm. That no key is left is said when no key is left that was never used, which stays so, and all
//   stacks were empty at one moment: each was found empty twice, and had not changed. To tell, an empty
//   head remembers the key and version that left last. (A layout that has not one bit left over of 64 remembers
//   the key only. There, at the last key, `id_overflow` can come although at each moment one was free.)
// - A thread that stops anywhere holds up nobody: at worst the key is in its hands that it creates or destroys
//   (or the keys, if it is creating or recycling many).
// - No key is handed out before its segment is published: that is done before `fresh_` moves, and fresh_
//   moves by a compare-exchange that never passes the last key.
//
// tests/models/concurrent_id_pool.pml is this algorithm for a model checker.
//
// Memory order. Every change of a head is a read-modify-write that releases and acquires: who takes a key sees
// its word and its segment, and all that was done before it was destroyed. Words are stored with release and
// loaded with acquire, since `create` for many follows words, and must see the segment of what they name, before
// it knows whether they still count. Notes are relaxed where a head or the word, written after and read before
// them, carries them. Counters of what happens seldom are relaxed: they order nothing.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/text.hpp>
#include <muster/base/thread_number.hpp>
#include <muster/base/word_segments.hpp>
#include <muster/fwd.hpp>
#include <muster/id/id.hpp>
#include <muster/id/id_pool_options.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace muster {

/// Any thread may call anything at any time, but the destructor, and `unused_version`; no call waits for
/// another (what `malloc` does where the pool grows is its own affair). What a thread did before it destroyed an
/// id is seen by the one that gets its key next. If one thread makes all calls, the ids are those of an
/// `id_pool`. Neither copied nor moved.
template <class Layout>
class concurrent_id_pool {
public:
    using id_type = basic_id<Layout>;

    /// `errc::id_out_of_range` as for `id_pool`; `errc::limit` for `reuse::fifo`, since a line has two ends,
    /// and here only one can be changed in one step. Of a range with more than 2^40 keys, the first 2^40 count.
    explicit concurrent_id_pool(id_pool_options options = {})
        : slots_(end_at(0)),
          first_(larger(options.first_key, Layout::first_key)),
          keys_(smaller(detail::last_key_of<Layout>(options) - first_, last_index) + 1),
          first_version_(larger(options.first_version, Layout::first_version)),
          origin_(id_type::assemble(0, 0, Layout::world_bits == 0 ? 0 : options.world)) {
        detail::check_pool_range<Layout>(options.world, first_,
                                         detail::last_key_of<Layout>(options), first_version_);
        if (options.reuse == reuse::fifo)
            detail::raise(errc::limit,
                          "a concurrent_id_pool gives out the key that was freed last: reuse::fifo "
                          "needs an id_pool");
    }
    concurrent_id_pool(const concurrent_id_pool&) = delete;
    concurrent_id_pool& operator=(const concurrent_id_pool&) = delete;
    ~concurrent_id_pool() = default;

    /// The key that this thread freed last; or else one that another freed; or else the lowest that was never
    /// used. `errc::id_overflow` if there was a moment without a free key, where those that another call has in
    /// its hands are not free; `std::bad_alloc` has changed nothing. O(1): one compare-exchange, which is
    /// tried again when another thread came first. From any thread.
    id_type create() {
        do {
            if (link top = empty; pop(top)) return revive(top);
            if (std::uint64_t index = 0; take_fresh(1, index) != 0) return begin(index);
        } while (!none_waits());
        raise_overflow(1);
    }

    /// Ids for all of `out`, or none: `errc::id_overflow`, `std::bad_alloc`. They are those that single calls
    /// would give, but others' may be in between. Whether it finds enough keys while other threads create and
    /// destroy is a matter of timing; where they took some while it ran, those it had are destroyed again,
    /// `out` has null ids in their places, and a version of these keys is spent. Else what fails has changed
    /// nothing. O(n), with fewer compare-exchanges than single calls. From any thread.
    void create(std::span<id_type> out) {
        if (out.size() > keys_) raise_overflow(out.size());
        const std::uint64_t fresh = fresh_.load();
        const waiting_count waiting = count_waiting();
        if (out.size() > waiting.count + (keys_ - fresh) && waiting.is_steady)
            raise_overflow(out.size());
        if (out.size() > waiting.count)
            slots_.ensure(fresh, smaller(fresh + (out.size() - waiting.count), keys_));

        all_or_none taken{*this, out};
        while (true) {
            for (unsigned i = 0; i != stack_count; ++i)
                take_waiting(nth_stack(i), out, taken.count);
            std::uint64_t index = 0;
            const std::uint64_t got = take_fresh(out.size() - taken.count, index);
            for (const std::uint64_t end = index + got; index != end; ++index)
                out[taken.count++] = begin(index);
            if (taken.count == out.size()) return;
            if (none_waits()) raise_overflow(out.size());
        }
    }

    /// False if it is not alive: dead, null, foreign or forged; of several threads that destroy one id, one
    /// gets true. Two compare-exchanges, of which the second is tried again when another thread came first.
    /// Never throws. From any thread; no copy of this id is alive any more when it returns.
    bool destroy(id_type e) noexcept {
        const std::uint64_t index = e.key() - first_;
        if (index >= keys_ || slots_.find(index) == nullptr) return false;
        const place at = slots_.at(index);
        at.note.expect_store();
        // The key leaves the id's hands in one step, and what the slot says until it is in the stack is
        // nobody's id.
        word expected = word_of(e);
        if (!at.word.compare_exchange(expected, end_at(index))) return false;
        spend(index, at, e.version());
        return true;
    }

    /// For any bits at all: null, foreign, forged, out of range. Two loads and a comparison. Never throws. From
    /// any thread: what is true may be false when the caller looks at it, if another thread destroys the id.
    [[nodiscard]] bool alive(id_type e) const noexcept {
        const std::uint64_t index = e.key() - first_;
        if (index >= keys_) return false;
        word* const found = slots_.find(index);
        return found != nullptr && detail::atomic_word_ref<word>(found).load() == word_of(e);
    }

    /// Makes the keys that are parked as tombstones usable again, from the first version on, as if they were
    /// freed now in the order they were parked; how many. From then on ids that were dead can be issued again: call
    /// it when no old handle is left. Always 0 unless the layout says `exhaustion::tombstone`.
    /// O(tombstones). Never throws. From any thread.
    std::size_t recycle_tombstones() noexcept {
        if constexpr (Layout::on_exhaustion == exhaustion::tombstone)
            return recycle_parked();
        else
            return 0;
    }

    /// How many ids are alive: exact while no other thread is in a call, else what was so at about that time
    /// (an id that is being destroyed still counts). Costs creating and destroying nothing: it is
    /// made of what the tops of the stacks know. O(1), tried again when a key came or went meanwhile.
    /// From any thread.
    [[nodiscard]] std::size_t size() const noexcept {
        // In this order, a key that goes from one to the other is not counted twice, but for tombstones that
        // are recycled right now.
        const std::uint64_t out_of_use = retired() + tombstones();
        const std::uint64_t dead = count_waiting().count + out_of_use;
        const std::uint64_t issued = fresh_.load();
        return static_cast<std::size_t>(issued < dead ? 0 : issued - dead);
    }

    /// How many keys will never be used again; how many are parked. O(1), from any thread.
    [[nodiscard]] std::size_t retired() const noexcept { return retired_.load_relaxed(); }
    [[nodiscard]] std::size_t tombstones() const noexcept { return tombstones_.load_relaxed(); }

    /// How many keys there is room for. O(1), from any thread.
    [[nodiscard]] std::size_t capacity() const noexcept {
        return static_cast<std::size_t>(smaller(slots_.capacity(), keys_));
    }

    /// Makes room for `count` ids in all, so that creating them does not allocate. `errc::id_overflow` if the
    /// range has fewer keys; `std::bad_alloc` keeps the room there is. From any thread.
    void reserve(std::size_t count) {
        if (count > keys_) raise_overflow(count);
        // Keys that are out of use take room, too.
        slots_.ensure(0, smaller(count + retired() + tombstones(), keys_));
    }

    /// No id of this pool has had this version or a later one. What `world_number` wants to know at the end.
    /// O(keys). From any thread, but not while another creates or destroys.
    [[nodiscard]] std::uint64_t unused_version() const noexcept {
        if (started_over_.load_relaxed() != 0 || retired() + tombstones() != 0)
            return Layout::last_issued_version + 1;
        std::uint64_t highest = first_version_;
        for (const stack& each : stacks_)
            if (const link top = each.head.load(); !is_empty(top))
                highest = larger(highest, version_of(top));
        const std::uint64_t issued = fresh_.load();
        for (std::uint64_t index = 0; index != issued; ++index) {
            const word said = slots_.at(index).word.load();
            if (says(said, index))
                highest = larger(highest, id_of(said).version() + 1);
            else if (!is_end(said))
                highest = larger(highest, version_of(said));
        }
        return highest;
    }

    /// The number in every id; 0 if the layout has no world bits.
    [[nodiscard]] std::uint64_t world() const noexcept { return origin_.world(); }

private:
    static constexpr std::uint64_t smaller(std::uint64_t a, std::uint64_t b) noexcept {
        return detail::smaller(a, b);
    }
    static constexpr std::uint64_t larger(std::uint64_t a, std::uint64_t b) noexcept {
        return detail::larger(a, b);
    }

    // ---- words and links ----------------------------------------------------------------------

    static constexpr bool versions_recur = Layout::on_exhaustion != exhaustion::retire;

    // More slots than this no memory holds; the bits are better used for tags.
    static constexpr unsigned index_bits = Layout::key_bits < 40 ? Layout::key_bits : 40;
    static constexpr std::uint64_t last_index = detail::low_bits(index_bits);

    // A link is an index and a tag: the version, and above it the rounds of a key whose versions recur. The tag
    // with all bits set is no key's: it marks the end of a stack. (Where versions never recur, it is the
    // last version, which is not issued.)
    static constexpr unsigned spare_bits = 64 - index_bits - Layout::version_bits;
    static constexpr unsigned tag_bits =
        Layout::version_bits + (versions_recur && spare_bits != 0 ? spare_bits - 1 : 0);
    static constexpr std::uint64_t end_tag = detail::low_bits(tag_bits);
    using link = std::uint64_t;

    // The head of an empty stack: what left last, with a bit that no other link has, or, where there is none,
    // with the tag that no key has.
    static constexpr link empty = spare_bits != 0 ? link{1} << 63 : end_tag << index_bits;
    static constexpr unsigned stack_count = 8;
    struct alignas(64) stack {  // on a line of its own
        detail::atomic_word<link> head{empty};
    };

    // A live word is its id, with the index in place of the key. Others are links, to another index than their
    // own. What the layout's integer cannot hold, because of the rounds, is kept in 64 bits.
    using word = std::conditional_t<versions_recur, std::uint64_t, typename Layout::rep>;

    // Of a key that waits: how many are below it. Of a live or a parked one, where versions recur: its rounds.
    using note =
        std::conditional_t<versions_recur || (index_bits > 32), std::uint64_t, std::uint32_t>;

    using slots = detail::word_segments<word, note, index_bits>;
    using place = typename slots::place;

    static constexpr link make_link(std::uint64_t index, std::uint64_t tag) noexcept {
        return index | tag << index_bits;
    }
    static constexpr std::uint64_t index_of(link to) noexcept { return to & last_index; }
    static constexpr std::uint64_t tag_of(link to) noexcept { return to >> index_bits; }
    static constexpr std::uint64_t version_of(link to) noexcept {
        return tag_of(to) & Layout::last_version;
    }
    static constexpr std::uint64_t rounds_of(link to) noexcept {
        return tag_of(to) >> Layout::version_bits;
    }
    static constexpr bool is_end(link to) noexcept { return tag_of(to) == end_tag; }
    static constexpr bool is_empty(link head) noexcept { return (head & empty) == empty; }

    /// What the slot of `index` says when no key is below it, or when it is in the hands of one thread.
    static constexpr word end_at(std::uint64_t index) noexcept {
        return static_cast<word>(make_link(index ^ 1, end_tag));
    }
    /// What it says when `below` is below it.
    static constexpr word word_above(link below, std::uint64_t index) noexcept {
        return is_empty(below) || is_end(below) ? end_at(index) : static_cast<word>(below);
    }
    /// What the head becomes when `last` leaves, which stood on `below`.
    static constexpr link head_after(link last, link below) noexcept {
        return is_end(below) ? last | empty : below;
    }
    static constexpr bool says(word said, std::uint64_t index) noexcept {
        return (said & Layout::last_key) == index;
    }

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

    /// The stack that this thread looks at first, and those it looks at then.
    [[nodiscard]] stack& nth_stack(unsigned n) noexcept {
        return stacks_[(detail::thread_number() + n) % stack_count];
    }

    /// Takes the top of the first stack that has one; false if it finds none.
    bool pop(link& top) noexcept {
        if (pop_from(nth_stack(0), top)) [[likely]]
            return true;
        return pop_elsewhere(top);
    }
    [[gnu::noinline]] bool pop_elsewhere(link& top) noexcept {
        for (unsigned i = 1; i != stack_count; ++i)
            if (pop_from(nth_stack(i), top)) return true;
        return false;
    }
    bool pop_from(stack& from, link& top) noexcept {
        top = from.head.load();
        while (!is_empty(top)) {
            const link below = slots_.at(index_of(top)).word.load();
            if (from.head.compare_exchange(top, head_after(top, below))) return true;
        }
        return false;
    }

    /// Whether there was a moment during this call in which all stacks were empty.
    [[nodiscard]] bool none_waits() const noexcept {
        link seen[stack_count];
        for (unsigned i = 0; i != stack_count; ++i)
            if (seen[i] = stacks_[i].head.load(); !is_empty(seen[i])) return false;
        return are_heads(seen);
    }
    [[nodiscard]] bool are_heads(const link (&seen)[stack_count]) const noexcept {
        for (unsigned i = 0; i != stack_count; ++i)
            if (stacks_[i].head.load() != seen[i]) return false;
        return true;
    }

    /// The key that was taken from the stack comes alive.
    id_type revive(link taken) noexcept {
        const std::uint64_t index = index_of(taken);
        const place at = slots_.at(index);
        if constexpr (versions_recur) at.note.store_relaxed(rounds_of(taken));
        const word live = live_word(index, version_of(taken));
        at.word.store(live);
        return id_of(live);
    }

    /// So does one that was never used.
    id_type begin(std::uint64_t index) noexcept {
        const word live = live_word(index, first_version_);
        slots_.at(index).word.store(live);
        return id_of(live);
    }

    /// Up to `count` keys that were never used, from `index` on; how many. Fewer only if no more are left.
    std::uint64_t take_fresh(std::uint64_t count, std::uint64_t& index) {
        index = fresh_.load();
        while (true) {
            const std::uint64_t got = smaller(count, keys_ - index);
            if (got == 0) return 0;
            slots_.ensure(index, index + got);
            if (fresh_.compare_exchange(index, index + got)) return got;
        }
    }

    /// Fills `out`, from `count` on, with keys that wait, until it is full or none does.
    void take_waiting(stack& from, std::span<id_type> out, std::size_t& count) noexcept {
        link top = from.head.load();
        while (count != out.size() && !is_empty(top)) {
            // Not too many at once: the more, the likelier another thread comes first.
            const std::uint64_t most = smaller(out.size() - count, 64);
            std::uint64_t run = 0;
            link last = top, below = top;
            for (; run != most && !is_end(below); ++run) {
                last = below;
                below = slots_.at(index_of(below)).word.load();
            }
            // Until this succeeds, what was read may be anything.
            if (!from.head.compare_exchange(top, head_after(last, below))) continue;
            for (; run != 0; --run) {
                below = slots_.at(index_of(top)).word.load();
                out[count++] = revive(top);
                top = below;
            }
            top = from.head.load();
        }
    }

    /// Destroys what `create` for many had when it could not have all.
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

    /// The key, which had this version, is in this thread's hands, and goes on from there.
    void spend(std::uint64_t index, place at, std::uint64_t version) noexcept {
        if constexpr (!versions_recur) {
            if (version == Layout::last_issued_version) [[unlikely]]
                retired_.fetch_add_relaxed(1);
            else
                push(index, at, version + 1);
        } else {
            // Written before the word from which this thread knows that the id was alive.
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

    /// Under `wrap`: after the last version, before one that would give the null id, and before the tag that
    /// marks the end. (So the last version is left out in the last of the rounds that the tag can count; where
    /// no bit is left to count them, in each.)
    [[nodiscard]] bool is_round_over(std::uint64_t index, std::uint64_t version,
                                     std::uint64_t next) const noexcept {
        return version == Layout::last_version || next == end_tag ||
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
        push(index, at, (first_version_ | (rounds + 1) << Layout::version_bits) & end_tag);
    }

    void push(std::uint64_t index, place at, std::uint64_t tag) noexcept {
        stack& to = nth_stack(0);
        link top = to.head.load();
        do {
            // If the top leaves the stack meanwhile, its note can be anything; then the exchange fails.
            at.note.store_relaxed(is_empty(top) ? note{0} : note_above(top));
            at.word.store(word_above(top, index));
        } while (!to.head.compare_exchange(top, make_link(index, tag)));
    }

    [[nodiscard]] note note_above(link top) const noexcept {
        return static_cast<note>(slots_.at(index_of(top)).note.load_relaxed() + 1);
    }

    /// How many keys wait; exact where no other thread is in a call. Steady: each stack was found the same twice.
    struct waiting_count {
        std::uint64_t count = 0;
        bool is_steady = false;
    };
    [[nodiscard]] waiting_count count_waiting() const noexcept {
        waiting_count found;
        link seen[stack_count];
        for (unsigned i = 0; i != stack_count; ++i) found.count += count_in(stacks_[i], seen[i]);
        found.is_steady = are_heads(seen);
        return found;
    }
    /// How many are in one stack, when `top` was its head.
    [[nodiscard]] std::uint64_t count_in(const stack& one, link& top) const noexcept {
        top = one.head.load();
        while (!is_empty(top)) {
            const std::uint64_t below = slots_.at(index_of(top)).note.load();
            // The note was loaded with acquire, so this is not loaded before it. By its tag, the same top
            // has been there in between.
            const link again = one.head.load();
            if (again == top) return below + 1;
            top = again;
        }
        return 0;
    }

    // ---- tombstones ---------------------------------------------------------------------------
    // A second stack, that is only pushed to, or taken as a whole: neither is harmed by a top that left
    // and came again, so that its links need no tag.

    void park(std::uint64_t index, place at) noexcept {
        // Counted before it can be recycled, so that the count never falls below 0.
        tombstones_.fetch_add_relaxed(1);
        link top = parked_.load();
        do {
            at.word.store(word_above(top, index));
        } while (!parked_.compare_exchange(top, make_link(index, 0)));
    }

    std::size_t recycle_parked() noexcept {
        link top = parked_.exchange(make_link(0, end_tag));
        // The newest is first. Turned round, they are freed in the order they were parked.
        link oldest = make_link(0, end_tag);
        while (!is_end(top)) {
            const place at = slots_.at(index_of(top));
            const link below = at.word.load();
            at.word.store(word_above(oldest, index_of(top)));
            oldest = top;
            top = below;
        }
        std::size_t count = 0;
        for (; !is_end(oldest); ++count) {
            const std::uint64_t index = index_of(oldest);
            const place at = slots_.at(index);
            oldest = at.word.load();
            restart(index, at, at.note.load_relaxed());
        }
        tombstones_.fetch_sub(count);
        return count;
    }

    // ---- errors -------------------------------------------------------------------------------

    [[noreturn]] MUSTER_COLD void raise_overflow(std::uint64_t wanted) const {
        const std::uint64_t left = keys_ - fresh_.load() + count_waiting().count;
        std::string sentence =
            detail::text("no key is left for ", wanted, wanted == 1 ? " more id" : " ids",
                         ": the range ", first_, " to ", first_ + keys_ - 1, " has ", keys_,
                         keys_ == 1 ? " key, " : " keys, ", left, " of them free");
        if (const std::size_t count = retired(); count != 0)
            sentence += detail::text(", ", count, " retired");
        if (const std::size_t count = tombstones(); count != 0)
            sentence +=
                detail::text(", ", count, " tombstones that recycle_tombstones() would free");
        detail::raise(errc::id_overflow, sentence);
    }

    // What every call reads and none writes, but where a segment comes.
    slots slots_;
    std::uint64_t first_;          // key of index 0
    std::uint64_t keys_;           // of the range
    std::uint64_t first_version_;  // of a key that was never used
    id_type origin_;               // key 0, version 0 of this world
    stack stacks_[stack_count];
    alignas(64) detail::atomic_word<std::uint64_t> fresh_;  // indices below it were all issued
    detail::atomic_word<link> parked_{make_link(0, end_tag)};
    detail::atomic_word<std::size_t> retired_;
    detail::atomic_word<std::size_t> tombstones_;
    detail::atomic_word<unsigned char> started_over_;  // versions came again
};

}  // namespace muster
