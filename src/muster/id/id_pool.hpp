// id_pool: issues ids and tracks which of them are alive. A world uses the same algorithm; a pool
// on its own provides safe handles for other storage.
//
// The pool is an array with one integer per key; `slot_pool.hpp` draws it.
#pragma once

#include <muster/id/living_iterator.hpp>
#include <muster/id/slot_pool.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE {

namespace detail {

/// A live slot holds its id. A dead slot holds a key of another slot, the next version, no world.
template <class Layout>
struct id_slot {
    using id_type = basic_id<Layout>;

    id_type word;

    [[nodiscard]] static id_slot live(id_type e) noexcept { return {e}; }
    [[nodiscard]] static id_slot dead(std::uint64_t, std::uint64_t next,
                                      std::uint64_t version) noexcept {
        return {id_type::assemble(next, version, 0)};
    }
    [[nodiscard]] bool is(id_type e, id_type) const noexcept { return word == e; }
    [[nodiscard]] bool is_live(std::uint64_t key) const noexcept { return word.key() == key; }
    [[nodiscard]] std::uint64_t version() const noexcept { return word.version(); }
    [[nodiscard]] std::uint64_t next() const noexcept { return word.key(); }
};

}  // namespace detail

/// A call that throws an `error` or `std::bad_alloc` has changed nothing. Const calls may run
/// concurrently on any threads; any other call must run alone. Neither copyable nor movable.
template <class Layout>
class id_pool : private detail::slot_pool<Layout, detail::id_slot<Layout>> {
    using base = detail::slot_pool<Layout, detail::id_slot<Layout>>;

public:
    using id_type = basic_id<Layout>;

    explicit id_pool(id_pool_options options = {}) : base(options) {}

    /// `id create()`: reuses a free key in the order of `id_pool_options::reuse` or, if there is
    /// none, takes the lowest unused key. `errc::id_overflow` if no key is left. O(1), amortised
    /// when the array grows.
    ///
    /// `void create(std::span<id> out)`: fills `out` with the ids that as many single calls would
    /// return, in that order. All or none.
    using base::create;

    /// `id create_at(id wanted)`: creates exactly this id, even if its key is outside the range. No
    /// other key changes its state. O(1), amortised when the array grows.
    ///   `errc::id_taken`         the key is in use
    ///   `errc::id_stale`         the key is past this version, retired or a tombstone
    ///   `errc::id_out_of_range`  such an id is never issued: null, a key or version below the
    ///                            layout's first, the version that marks tombstones, world 0, bits
    ///                            beyond the layout
    ///   `errc::foreign_entity`   the id belongs to another world
    /// When the id is destroyed, a key of the range returns to the free list. A key that was
    /// claimed from the list keeps its position there, unless the list has moved past it. A key
    /// outside the range is reused only by `create_at`.
    using base::create_at;

    /// `bool destroy(id)`: returns false if the id is not alive: dead, null, foreign or forged.
    /// When it returns, no copy of this id is alive. Never throws. O(1).
    using base::destroy;

    /// `bool alive(id)`: accepts any bits. Never throws. O(1): one load, or a few more for a key
    /// that `create_at` claimed far from the living keys.
    using base::alive;

    /// `std::size_t recycle_tombstones()`: frees the keys that are parked as tombstones, in the
    /// order they were parked, and restarts them at the first version. Returns how many. Afterwards
    /// dead ids can be issued again: call it when no old handle is left. Always 0 unless the layout
    /// uses `exhaustion::tombstone`. O(tombstones).
    using base::recycle_tombstones;

    /// The number of keys that will never be used again, of living ids, and of parked keys.
    using base::retired;
    using base::size;
    using base::tombstones;

    /// `std::size_t capacity()`: returns how many keys the array has room for.
    using base::capacity;

    /// `void reserve(std::size_t count)`: makes room for `count` ids in total, so that creating
    /// them does not allocate. `errc::id_overflow` if the range has fewer keys.
    using base::reserve;

    /// `std::uint64_t unused_version()`: returns a version above every version that this pool has
    /// issued, for `world_number::retire_versions`. O(capacity).
    using base::unused_version;

    /// The world number in every id; 0 if the layout has no world bits.
    using base::world;

    /// Iterates over the living ids in key order. The pool may change meanwhile: an iterator holds
    /// a key, not an address, and continues with the next key that is then alive. A loop that
    /// creates an id at each step ends only when no key is left. A step costs O(dead keys
    /// that it passes).
    using iterator = detail::living_iterator<base, id_type>;

    [[nodiscard]] iterator begin() const noexcept {
        return {*this, base::next_living(Layout::first_key)};
    }
    [[nodiscard]] iterator end() const noexcept { return {*this, id_type{}}; }
};

}  // namespace MUSTER_NAMESPACE
