// slot_pool: which keys are in use, at which version, and which key comes next. `id_pool` runs this
// algorithm over slots of one word, the world over its records.
//
// Each key has one slot (`slot_array.hpp`). A key is free (`free_list.hpp`), live, out of versions,
// reserved, or was never issued. The keys of the range form three regions, counted from `first`,
// the first key of the range:
//
//     first              fresh                covered                                    last
//       |  every key was   |  unused keys,       |  unused keys, except those issued       |
//       |  issued          |  except those       |  ahead; their slots are in the          |
//       |                  |  issued ahead       |  overflow of the array                  |
//       [------------- the slot array ------------]
//
// Without `create_at` and reserved keys, fresh == covered, and no key is issued ahead.
// `create_at` may claim any key of the layout. A key close to the array extends it; the slot of a
// distant key, or of a key outside the range, is in the overflow.
//
// Other threads may reserve keys at any time: see `key_frontier.hpp`. `pool_sharing.hpp` lets
// several threads create entities at once.
#pragma once

#include <muster/base/integer.hpp>
#include <muster/id/id.hpp>
#include <muster/id/id_pool_options.hpp>
#include <muster/id/slot_supply.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace MUSTER_NAMESPACE {

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
class slot_pool : private slot_supply<Layout, Slot> {
    template <class, class>
    friend class pool_sharing;
    template <class, class>
    friend class exact_ids;
    using base = slot_supply<Layout, Slot>;

public:
    using id_type = basic_id<Layout>;
    using key_type = std::uint64_t;
    using version_type = std::uint64_t;

    explicit slot_pool(const id_pool_options& options) : base(options) {}
    slot_pool(const slot_pool&) = delete;
    slot_pool& operator=(const slot_pool&) = delete;

    using base::alive;
    using base::available;
    using base::capacity;
    using base::create;
    using base::create_now;
    using base::dense;
    using base::dense_count;
    using base::dense_first_key;
    using base::find;
    using base::first_version;
    using base::has_certainly;
    using base::is_dense;
    using base::is_ready;
    using base::next_after;
    using base::next_living;
    using base::origin;
    using base::prepare;
    using base::refuse_overflow;
    using base::refuse_reserve;
    using base::reserve;
    using base::trim;
    using base::world;

    /// Undoes the last `create`, whose id no caller has seen. Unless versions wrap, the next
    /// `create` returns the same id.
    void undo_create(id_type e) noexcept {
        const std::uint64_t index = base::index_of(e.key());
        if (Layout::on_exhaustion == exhaustion::wrap) {
            destroy(e);  // the version does not show whether the key is new
        } else if (index + 1 == frontier().fresh() && e == base::fresh_id(index)) {
            base::exclude(index);
            frontier().undo_issue();
        } else {
            free_keys().undo_pop(e.key(), *find(e.key()), e.version());
        }
    }

    /// Throws the error of `create_at(wanted)`, if any; changes nothing. The message names `where`.
    void refuse_at(id_type wanted, const std::source_location* where = nullptr) const {
        refuse_impossible(wanted, world(), where);
        const key_type key = wanted.key();
        const Slot* const slot = find(key);
        if (frontier().is_reserved(base::index_of(key))) raise_reserved(wanted, where);
        if (slot != nullptr && slot->is_live(key))
            raise_taken(wanted, base::make_id(key, slot->version()), where);
        const version_type next = slot == nullptr ? first_version() : slot->version();
        if (wanted.version() < next) raise_stale(wanted, next, where);
    }
    id_type create_at(id_type wanted) {
        pass_reserve_end(wanted.key());
        refuse_at(wanted);
        const key_type key = wanted.key();
        Slot* slot = find(key);
        if (!base::owns(key)) {
            slot = &base::ensure(key);
            ++outside_;
        } else if (frontier().is_issued(base::index_of(key))) {
            free_keys().unlink(key, *slot);
        } else {
            slot = &claim_fresh(key);
        }
        *slot = Slot::live(wanted);
        return wanted;
    }

    // ---- destroying ---------------------------------------------------------------------------

    bool destroy(id_type e) noexcept {
        if (!is_dense(e.key())) [[unlikely]]
            return destroy_overflow(e);
        Slot& slot = dense()[base::index_of(e.key())];
        if (!slot.is(e, origin())) return false;
        retire_version(e.key(), slot, e.version(), true);
        return true;
    }

    /// Whether `destroy_now` may be called: the id is alive, its slot is in the array, and its key
    /// has a next version. The free list must be a stack. Always false if versions wrap.
    [[nodiscard]] bool is_destroyed_easily(id_type e) const noexcept {
        return free_keys().is_stack() && is_dense(e.key()) &&
               dense()[base::index_of(e.key())].is(e, origin()) &&
               (Layout::on_exhaustion != exhaustion::wrap &&
                e.version() != Layout::last_issued_version);
    }
    void destroy_now(id_type e) noexcept {
        free_keys().push(e.key(), dense()[base::index_of(e.key())], e.version() + 1);
    }

    std::size_t recycle_tombstones() noexcept {
        const std::size_t count =
            spent().tombstones.recycle(*this, [&](key_type key, Slot& slot) noexcept {
                release(key, slot, first_version(), base::owns(key));
            });
        if (count != 0) spent().has_started_over = true;
        return count;
    }

    [[nodiscard]] std::size_t size() const noexcept {
        return frontier().issued() + outside_ - free_keys().size() - retired() - tombstones() -
               frontier().reserved();
    }
    [[nodiscard]] std::size_t retired() const noexcept { return spent().retired; }
    [[nodiscard]] std::size_t tombstones() const noexcept { return spent().tombstones.size(); }

    [[nodiscard]] version_type unused_version() const noexcept {
        if (spent().has_started_over) return Layout::last_issued_version + 1;
        version_type highest = first_version() + (has_reserved() ? 1u : 0u);
        base::each([&](key_type key, const Slot& slot) {
            const bool is_used = slot.is_live(key) || frontier().is_reserved(base::index_of(key));
            highest = larger(highest, slot.version() + (is_used ? 1u : 0u));
        });
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
        const index_run taken = frontier().take(count);
        return {dense_first_key() + taken.first, taken.count};
    }
    /// Whether `take_keys` finds a key.
    [[nodiscard]] bool has_open_keys() const noexcept { return frontier().has_open(); }
    /// Returns the id of a key from `take_keys`.
    [[nodiscard]] id_type id_of_taken(key_type key) const noexcept {
        return base::make_id(key, first_version());
    }
    /// Returns how many keys a thread takes at once: fewer, if the range is small.
    [[nodiscard]] std::size_t fair_count() const noexcept {
        return smaller(larger(frontier().keys() / 256, 1), 64);
    }

    /// Finds out which keys other threads have reserved. May throw `std::bad_alloc`.
    void sync_reserved() {
        frontier().sync();
        base::set_limit();
    }
    /// Whether the key is reserved, as of the last `sync_reserved`.
    [[nodiscard]] bool is_reserved(key_type key) const noexcept {
        return frontier().is_reserved(base::index_of(key));
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
        frontier().reserve(base::index_of(key));
        *find(key) = Slot::dead(key, other_key(key), reserved.made.version());
        reserved.is_done = true;
        return reserved.made;
    }
    /// Makes a reserved id alive; false if it is not reserved. `std::bad_alloc` changes nothing.
    bool claim_reserved(id_type e) {
        const key_type key = e.key();
        const std::uint64_t index = base::index_of(key);
        frontier().sync();
        base::set_limit();
        if (!frontier().is_reserved(index)) return false;
        Slot* slot = find(key);
        if (slot == nullptr) {
            const std::uint64_t wanted =
                smaller(larger(2 * size() + 1024, capacity() + 4096), frontier().keys());
            if (index < wanted) base::cover(wanted);
            slot = &base::ensure(key);
        }
        if (base::make_id(key, slot->version()) != e) return false;
        *slot = Slot::live(e);
        frontier().end_reservation(index);
        return true;
    }
    /// Frees a reserved id that no caller has seen; its version can be issued again. May throw
    /// `std::bad_alloc`.
    void give_up(id_type e) {
        if (!claim_reserved(e)) return;
        release(e.key(), *find(e.key()), e.version(), true);
    }
    /// Whether a thread has reserved ids that are neither alive nor given up.
    [[nodiscard]] bool has_reserved() const noexcept { return frontier().has_reserved(); }

    // ---- the whole state ----------------------------------------------------------------------

    /// Everything that determines the results of later calls: a pool that takes this state with
    /// `exchange` continues like the pool that saved it. Copies are independent.
    class pool_state {
        friend slot_pool;

    public:
        pool_state(const pool_state&) = default;
        pool_state& operator=(const pool_state&) = delete;
        ~pool_state() = default;

    private:
        using part = slot_supply<Layout, Slot>;
        pool_state(const part& supply, std::size_t outside) : supply_(supply), outside_(outside) {}

        part supply_;
        std::size_t outside_;
    };

    /// Copies the state: O(capacity). `std::bad_alloc`. Other threads may reserve keys meanwhile;
    /// those are not in the copy.
    [[nodiscard]] pool_state save() const { return pool_state(*this, outside_); }

    /// Exchanges the state with a saved one, so that a second call reverts the first. Slots move,
    /// with their memory. Ids from the time between `save` and `exchange` may be issued again. O(1).
    ///
    /// Keys that are reserved:
    /// - The state of this pool may be exchanged at any time, even while other threads reserve
    ///   keys: no key is issued that such a thread has. If a key was reserved with `take_keys`
    ///   after the save, and its id is neither alive nor given up, the pool skips unused keys and
    ///   does not continue exactly. Give up ids of `reserve_id` before: the state does not know
    ///   them.
    /// - A key that was reserved at the time of the save is reserved again.
    /// - Before it takes the state of another pool, this pool must not have reserved keys, and no
    ///   other thread may reserve any during the call.
    void exchange(pool_state& state) noexcept {
        base::exchange(state.supply_);
        std::swap(outside_, state.outside_);
    }

private:
    using base::free_keys;
    using base::frontier;
    using base::spent;

    /// Claims a key that is about to become alive, so that no other thread can reserve it.
    void pass_reserve_end(key_type key) {
        const std::uint64_t index = base::index_of(key);
        if (base::owns(key) && index >= frontier().pool_end() && index < frontier().open()) {
            frontier().claim(index + 1);
            base::set_limit();
        }
    }

    /// Claims, out of order, a key of the range that was never issued. Returns its slot.
    Slot& claim_fresh(key_type key) {
        const std::uint64_t index = base::index_of(key);
        if (index == frontier().fresh()) {
            if (!frontier().is_ready()) base::find_fresh();
            frontier().issue();
            base::include_until(frontier().fresh());
            return dense()[index];
        }
        // Covers about twice as many slots as living ids. Ids that are loaded in any order then end
        // up in the array, and a single distant key cannot inflate it.
        const std::uint64_t wanted = smaller(2 * size() + 1024, frontier().keys());
        if (index >= dense_count() && index < wanted) base::cover(wanted);
        Slot& slot = base::ensure(key);
        frontier().issue_ahead(index);
        base::set_limit();
        return slot;
    }

    [[gnu::noinline]] bool destroy_overflow(id_type e) noexcept {
        Slot* slot = find(e.key());
        if (slot == nullptr || !slot->is(e, origin())) return false;
        retire_version(e.key(), *slot, e.version(), base::owns(e.key()));
        return true;
    }

    /// Frees a key; `version` is its next version. A key outside the range is in no list: only
    /// `create_at` reuses it.
    void release(key_type key, Slot& slot, version_type version, bool in_range) noexcept {
        if (in_range && free_keys().is_stack()) [[likely]] {
            free_keys().push(key, slot, version);
        } else {
            release_otherwise(key, slot, version, in_range);
        }
    }
    [[gnu::noinline]] void release_otherwise(key_type key, Slot& slot, version_type version,
                                             bool in_range) noexcept {
        if (in_range) return free_keys().insert(*this, key, slot, version);
        --outside_;
        slot = Slot::dead(key, other_key(key), version);
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
        if (version != Layout::last_version && !base::make_id(key, version + 1).is_null())
            return version + 1;
        spent().has_started_over = true;
        return first_version();
    }

    MUSTER_COLD void retire_key(key_type key, Slot& slot) noexcept {
        if constexpr (Layout::on_exhaustion == exhaustion::retire) {
            slot = Slot::dead(key, other_key(key), Layout::last_version);
            ++spent().retired;
        } else {
            spent().tombstones.park(key, slot, Layout::last_version);
        }
    }

    std::size_t outside_ = 0;  // keys outside the range: alive, retired or parked
};

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
