// key_stacks: the free keys of a `concurrent_id_pool`, which draws the stacks and proves that they
// are correct.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/thread_number.hpp>
#include <muster/id/key_links.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// Any thread may call any function at any time. `slots` are those of the pool.
template <class Layout>
class key_stacks {
    using links = key_links<Layout>;
    using slots_type = typename links::slots;
    using place = typename links::place;
    using note = typename links::note;
    static constexpr unsigned stack_count = 8;

public:
    using link = typename links::link;

    /// Pops the first stack that is not empty; false if it finds none.
    bool pop(const slots_type& slots, link& top) noexcept {
        if (pop_from(nth(0), slots, top)) [[likely]]
            return true;
        return pop_elsewhere(slots, top);
    }

    /// Calls `take(top)` for up to `count` keys, until the stacks are empty. Returns how many.
    template <class Take>
    std::size_t pop_many(const slots_type& slots, std::size_t count, Take take) noexcept {
        std::size_t taken = 0;
        for (unsigned i = 0; i != stack_count; ++i)
            taken += pop_many_from(nth(i), slots, count - taken, take);
        return taken;
    }

    /// Pushes a key that this thread owns, to the preferred stack of the thread.
    void push(const slots_type& slots, std::uint64_t index, place at, std::uint64_t tag) noexcept {
        stack& to = nth(0);
        link top = to.head.load();
        do {
            // If the top is removed meanwhile, its note can be anything, but the exchange fails.
            at.note.store_relaxed(links::is_empty(top) ? note{0} : note_above(slots, top));
            at.word.store(links::word_above(top, index));
        } while (!to.head.compare_exchange(top, links::make_link(index, tag)));
    }

    /// Whether all stacks were empty at one moment during this call.
    [[nodiscard]] bool is_none_free() const noexcept {
        link seen[stack_count];
        for (unsigned i = 0; i != stack_count; ++i)
            if (seen[i] = stacks_[i].head.load(); !links::is_empty(seen[i])) return false;
        return are_heads(seen);
    }

    /// The number of free keys; exact while no other thread is in a call. Steady: each head was the
    /// same when read again.
    struct free_count {
        std::uint64_t count = 0;
        bool is_steady = false;
    };
    [[nodiscard]] free_count count_free(const slots_type& slots) const noexcept {
        free_count found;
        link seen[stack_count];
        for (unsigned i = 0; i != stack_count; ++i)
            found.count += count_in(stacks_[i], slots, seen[i]);
        found.is_steady = are_heads(seen);
        return found;
    }

    /// Returns the highest version that a top waits for, or `lowest`.
    [[nodiscard]] std::uint64_t highest_version(std::uint64_t lowest) const noexcept {
        for (const stack& each : stacks_)
            if (const link top = each.head.load(); !links::is_empty(top))
                lowest = larger(lowest, links::version_of(top));
        return lowest;
    }

private:
    struct alignas(64) stack {  // on its own cache line
        atomic_word<link> head{links::empty};
    };

    /// Returns the n-th stack in the order in which this thread tries them.
    [[nodiscard]] stack& nth(unsigned n) noexcept {
        return stacks_[(thread_number() + n) % stack_count];
    }

    [[gnu::noinline]] bool pop_elsewhere(const slots_type& slots, link& top) noexcept {
        for (unsigned i = 1; i != stack_count; ++i)
            if (pop_from(nth(i), slots, top)) return true;
        return false;
    }
    static bool pop_from(stack& from, const slots_type& slots, link& top) noexcept {
        top = from.head.load();
        while (!links::is_empty(top)) {
            const link below = slots.at(links::index_of(top)).word.load();
            if (from.head.compare_exchange(top, links::head_after(top, below))) return true;
        }
        return false;
    }
    template <class Take>
    static std::size_t pop_many_from(stack& from, const slots_type& slots, std::size_t count,
                                     Take take) noexcept {
        std::size_t taken = 0;
        link top = from.head.load();
        while (taken != count && !links::is_empty(top)) {
            // At most 64 at once: the longer the run, the likelier another thread interferes.
            const std::uint64_t most = smaller(count - taken, 64);
            std::uint64_t run = 0;
            link last = top, below = top;
            for (; run != most && !links::is_end(below); ++run) {
                last = below;
                below = slots.at(links::index_of(below)).word.load();
            }
            // The words read above can be trusted only if this succeeds.
            if (!from.head.compare_exchange(top, links::head_after(last, below))) continue;
            for (taken += run; run != 0; --run) {
                below = slots.at(links::index_of(top)).word.load();
                take(top);
                top = below;
            }
            top = from.head.load();
        }
        return taken;
    }

    [[nodiscard]] static note note_above(const slots_type& slots, link top) noexcept {
        return static_cast<note>(slots.at(links::index_of(top)).note.load_relaxed() + 1);
    }

    [[nodiscard]] bool are_heads(const link (&seen)[stack_count]) const noexcept {
        for (unsigned i = 0; i != stack_count; ++i)
            if (stacks_[i].head.load() != seen[i]) return false;
        return true;
    }
    /// Returns the number of keys in a stack, and in `top` the head it was computed for.
    [[nodiscard]] static std::uint64_t count_in(const stack& candidate, const slots_type& slots,
                                                link& top) noexcept {
        top = candidate.head.load();
        while (!links::is_empty(top)) {
            const std::uint64_t below = slots.at(links::index_of(top)).note.load();
            // Acquiring the note keeps this load after it. The tag ensures that an unchanged head
            // has been on top in between.
            const link again = candidate.head.load();
            if (again == top) return below + 1;
            top = again;
        }
        return 0;
    }

    stack stacks_[stack_count];
};

}  // namespace MUSTER_NAMESPACE::detail
