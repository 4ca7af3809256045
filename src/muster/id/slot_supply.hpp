// slot_supply: the half of a pool that issues keys: first the free ones, then fresh ones.
//
//     slot_array     the slots             free_list      keys to reuse
//     key_frontier   fresh keys            spent_keys     keys without versions
#pragma once

#include <muster/base/integer.hpp>
#include <muster/id/free_list.hpp>
#include <muster/id/id.hpp>
#include <muster/id/id_pool_options.hpp>
#include <muster/id/key_frontier.hpp>
#include <muster/id/slot_array.hpp>
#include <muster/id/slot_pool_errors.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// The keys whose versions have run out.
template <class Slot>
struct spent_keys {
    std::size_t retired = 0;
    tombstone_list<Slot> tombstones;
    bool has_started_over = false;  // ids may be issued twice: versions have restarted
};

/// `slot_pool` documents the functions that it offers.
template <class Layout, class Slot>
class slot_supply : public slot_array<Layout, Slot> {
    using base = slot_array<Layout, Slot>;

public:
    using id_type = basic_id<Layout>;
    using key_type = std::uint64_t;
    using version_type = std::uint64_t;
    using base::capacity;
    using base::dense;
    using base::dense_count;
    using base::dense_first_key;
    using base::find;
    using base::fresh_id;

    explicit slot_supply(const id_pool_options& options)
        : base(id_type::assemble(0, 0, Layout::world_bits == 0 ? 0 : options.world),
               larger(options.first_key, Layout::first_key),
               larger(options.first_version, Layout::first_version)),
          free_(options.reuse),
          frontier_(last_key_of<Layout>(options) - dense_first_key() + 1) {
        check_pool_range<Layout>(options.world, dense_first_key(), last_key_of<Layout>(options),
                                 base::first_version());
    }

    // ---- creating -----------------------------------------------------------------------------

    id_type create() {
        if (!free_.empty()) return reissue([](Slot&) {});
        if (!frontier_.is_ready()) find_fresh();
        return issue_fresh([](Slot&) {});
    }
    void create(std::span<id_type> out) {
        prepare(out.size());
        create_now(out, [](Slot&, std::size_t) {});
    }

    /// Whether `create_now` may be called: the next id needs neither memory nor the slow path.
    /// `init_slot(slot)` may set further fields of the id's slot.
    [[nodiscard]] bool is_ready() const noexcept {
        return free_.empty() ? frontier_.is_ready()
                             : !free_.has_unlinked() && base::is_dense(free_.head());
    }
    template <class InitSlot>
    id_type create_now(InitSlot init_slot) noexcept {
        return free_.empty() ? issue_fresh(init_slot)
                             : reissue_slot(dense()[free_.head() - dense_first_key()], init_slot);
    }

    /// Throws `errc::id_overflow` if fewer than `count` keys are left. Allocates nothing.
    void refuse_overflow(std::size_t count) const {
        if (count > available()) raise_no_key_left<Layout>(count, counts());
    }
    /// Throws `errc::id_overflow` if the range has fewer keys. Allocates nothing.
    void refuse_reserve(std::size_t count) const {
        if (count > frontier_.keys()) raise_no_key_left<Layout>(count, counts());
    }
    /// Does every part of the next `count` creations that may throw; they then cannot fail.
    void prepare(std::size_t count) {
        if (count <= free_.size() || (free_.empty() && count <= frontier_.ready())) return;
        prepare_fresh(count);
    }
    /// Creates ids for all of `out`, after `prepare(out.size())`. `init_slot(slot, i)` as above.
    template <class InitSlot>
    void create_now(std::span<id_type> out, InitSlot init_slot) noexcept {
        std::size_t at = 0;
        for (; at != out.size() && !free_.empty(); ++at)
            out[at] = reissue([&](Slot& slot) { init_slot(slot, at); });
        while (at != out.size()) {
            if (!frontier_.is_ready()) find_fresh();
            const std::size_t end = at + smaller(frontier_.ready(), out.size() - at);
            const id_type first = fresh_id(frontier_.fresh());
            id_type* const ids = out.data() + at;
            issue_run(end - at, [&init_slot, ids, first, at](Slot& slot, std::size_t i) {
                ids[i] = base::advanced(first, i);
                init_slot(slot, at + i);
            });
            at = end;
        }
    }

    // ---- the range ----------------------------------------------------------------------------

    [[nodiscard]] std::uint64_t index_of(key_type key) const noexcept {
        return key - dense_first_key();
    }
    /// Whether a key is in the range.
    [[nodiscard]] bool owns(key_type key) const noexcept {
        return index_of(key) < frontier_.keys();
    }
    /// Returns how many keys `create` can still issue.
    [[nodiscard]] std::uint64_t available() const noexcept {
        return free_.size() + frontier_.keys() - frontier_.issued();
    }
    /// Whether `create` can certainly issue so many keys, whatever other threads have reserved.
    [[nodiscard]] bool has_certainly(std::uint64_t count) const noexcept {
        const std::uint64_t left = available();
        return count <= left && frontier_.unknown() <= left - count;
    }
    [[nodiscard]] key_counts counts() const noexcept {
        return {dense_first_key(),
                dense_first_key() + frontier_.keys() - 1,
                available(),
                spent_.retired,
                spent_.tombstones.size(),
                frontier_.reserved()};
    }

    // ---- memory -------------------------------------------------------------------------------

    void reserve(std::size_t count) {
        refuse_reserve(count);
        // Retired and parked keys occupy slots, too.
        const std::uint64_t wanted =
            smaller(count + spent_.retired + spent_.tombstones.size(), frontier_.keys());
        if (wanted > capacity()) frontier_.claim(frontier_.share(frontier_.fresh(), wanted));
        base::grow(wanted);
        set_limit();
    }
    /// Frees memory that no slot needs, if the allocator can.
    void trim() noexcept {
        base::trim();
        set_limit();
    }
    /// Makes room for the slots of the first `count` keys of the range, and creates them.
    void cover(std::uint64_t count) {
        grow(count);
        base::cover(count);
    }
    /// Exchanges everything with a copy of this supply, except which keys are open. O(1).
    void exchange(slot_supply& saved) noexcept {
        base::swap(saved);
        std::swap(free_, saved.free_);
        frontier_.exchange(saved.frontier_);
        std::swap(spent_, saved.spent_);
        set_limit();
    }
    /// To call after every change of the frontier but `issue`.
    void set_limit() noexcept { frontier_.set_limit(capacity()); }

    /// Called when the frontier is not ready: skips keys issued ahead and makes room for a key.
    MUSTER_COLD void find_fresh() {
        while (frontier_.is_next_ahead()) {
            if (frontier_.fresh() == dense_count()) cover(frontier_.fresh() + 1);
            frontier_.pass_ahead();
        }
        if (frontier_.fresh() == frontier_.keys()) raise_no_key_left<Layout>(1, counts());
        frontier_.claim(frontier_.share(frontier_.fresh() + 1, capacity()));
        if (frontier_.is_next_ahead()) return find_fresh();
        grow(frontier_.fresh() + 1);
        set_limit();
    }

protected:
    using free_type = free_list<Slot>;
    using frontier_type = key_frontier<>;
    using spent_type = spent_keys<Slot>;

    [[nodiscard]] free_type& free_keys() noexcept { return free_; }
    [[nodiscard]] const free_type& free_keys() const noexcept { return free_; }
    [[nodiscard]] frontier_type& frontier() noexcept { return frontier_; }
    [[nodiscard]] const frontier_type& frontier() const noexcept { return frontier_; }
    [[nodiscard]] spent_type& spent() noexcept { return spent_; }
    [[nodiscard]] const spent_type& spent() const noexcept { return spent_; }

    /// Issues the next `count` fresh keys, which are ready. `init_slot(slot, i)` as above.
    template <class InitSlot>
    void issue_run(std::size_t count, InitSlot init_slot) noexcept {
        Slot* const slots = dense() + frontier_.fresh();
        const id_type first = fresh_id(frontier_.fresh());
        for (std::size_t i = 0; i < count; ++i) {
            Slot slot = Slot::live(base::advanced(first, i));
            init_slot(slot, i);
            slots[i] = slot;
        }
        frontier_.issue(count);
        base::include_until(frontier_.fresh());
    }

private:
    template <class InitSlot>
    id_type issue_fresh(InitSlot init_slot) noexcept {
        const std::size_t index = frontier_.issue();
        base::include(index);
        const id_type made = fresh_id(index);
        Slot slot = Slot::live(made);
        init_slot(slot);
        dense()[index] = slot;
        return made;
    }

    template <class InitSlot>
    id_type reissue(InitSlot init_slot) noexcept {
        if (free_.has_unlinked()) [[unlikely]]
            free_.skip_unlinked();
        return reissue_slot(*find(free_.head()), init_slot);
    }
    /// Makes the head of the free list alive; `slot` is its slot.
    template <class InitSlot>
    id_type reissue_slot(Slot& slot, InitSlot init_slot) noexcept {
        const id_type made = base::make_id(free_.head(), slot.version());
        Slot living = Slot::live(made);
        init_slot(living);
        free_.pop(slot, living);
        return made;
    }

    MUSTER_COLD void prepare_fresh(std::size_t count) {
        const auto end_of_fresh = [&] {
            return frontier_.end_of(frontier_.fresh(), count - free_.size());
        };
        std::uint64_t end = 0;
        do {  // other threads may take keys in between
            refuse_overflow(count);
            end = end_of_fresh();
            frontier_.claim(end);
        } while (end_of_fresh() != end);
        grow(end);
        set_limit();
    }

    /// Makes room for at least `count` slots; repeated growth costs O(1) amortised per slot.
    void grow(std::uint64_t count) {
        if (count <= capacity()) return;
        const std::uint64_t ample = larger(larger(count, 64), capacity() * 2);
        frontier_.claim(frontier_.share(frontier_.fresh(), ample));
        base::grow(smaller(ample, frontier_.keys()));
    }

    free_list<Slot> free_;  // starts with its hot fields, next to those of `slot_array`
    key_frontier<> frontier_;
    spent_keys<Slot> spent_;
};

}  // namespace MUSTER_NAMESPACE::detail
