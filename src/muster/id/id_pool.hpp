// id_pool: issues ids and knows which of them are alive. The world has one inside; by itself it
// serves who has own storage and wants handles that never lie.
//
// One array, one integer per key; `slot_pool.hpp` draws it.
#pragma once

#include <muster/id/living_iterator.hpp>
#include <muster/id/slot_pool.hpp>

#include <cstddef>
#include <cstdint>

namespace muster {

namespace detail {

/// A live slot is its id. A dead one has another key in the key's place, the version that comes
/// next, and no world.
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

/// A call that fails with an `error` or `std::bad_alloc` has changed nothing. Const calls may run
/// side by side from any threads; any other call must run alone. Neither copied nor moved.
template <class Layout>
class id_pool : private detail::slot_pool<Layout, detail::id_slot<Layout>> {
    using base = detail::slot_pool<Layout, detail::id_slot<Layout>>;

public:
    using id_type = basic_id<Layout>;

    explicit id_pool(id_pool_options options = {}) : base(options) {}

    /// `id create()`: the key that waits first, or else the lowest that was never used. O(1),
    /// amortised where the array grows. `errc::id_overflow` when no key is left.
    ///
    /// `void create(std::span<id> out)`: fills `out` with the ids that as many single calls would
    /// give, in that order. All or none.
    using base::create;

    /// `id create_at(id wanted)`: exactly this id, whether its key is in the pool's range or not;
    /// keys in between stay as they are. O(1), amortised where the array grows.
    ///   `errc::id_taken`         the key is in use
    ///   `errc::id_stale`         the key is past this version, is retired or a tombstone
    ///   `errc::id_out_of_range`  no such id is ever issued: null, a key or version below the
    ///                            layout's first, the version that marks tombstones, world 0, bits
    ///                            beyond the layout
    ///   `errc::foreign_entity`   the id belongs to another world
    /// When the id dies, a key of the range goes to the others that wait for reuse (one that was
    /// claimed while it waited has kept its place, unless the line has passed it); a key outside the
    /// range waits for the next `create_at`.
    using base::create_at;

    /// `bool destroy(id)`: false if it is not alive: dead, null, foreign or forged. O(1), never
    /// throws. The version is spent at once: no copy of this id is alive any more.
    using base::destroy;

    /// `bool alive(id)`: for any bits at all. O(1), one load, for keys of the range that were not
    /// claimed far from the others (those: a few loads more). Never throws.
    using base::alive;

    /// `std::size_t recycle_tombstones()`: makes the keys that are parked as tombstones usable again,
    /// from the first version on, as if they were freed now in the order they were parked; how many.
    /// From then on ids that were dead can be issued again: call it when no old handle is left.
    /// Always 0 unless the layout says `exhaustion::tombstone`. O(tombstones).
    using base::recycle_tombstones;

    /// How many ids are alive; how many keys will never be used again; how many are parked.
    using base::retired;
    using base::size;
    using base::tombstones;

    /// `std::size_t capacity()`: how many keys the array has room for.
    using base::capacity;

    /// `void reserve(std::size_t count)`: makes room for `count` ids in all, so that creating them
    /// does not allocate. `errc::id_overflow` if the range has fewer keys.
    using base::reserve;

    /// `std::uint64_t unused_version()`: no id of this pool has had this version or a later one.
    /// What `world_number` wants to know at the end. O(capacity).
    using base::unused_version;

    /// The number in every id; 0 if the layout has no world bits.
    using base::world;

    /// Over the living ids, by key. The pool may change meanwhile: an iterator holds a key, not an
    /// address, and goes on with the next key that is alive by then (so that a loop which creates an
    /// id at each step ends only when no key is left). A step costs the dead keys it passes.
    using iterator = detail::living_iterator<base, id_type>;

    [[nodiscard]] iterator begin() const noexcept {
        return {*this, base::next_living(Layout::first_key)};
    }
    [[nodiscard]] iterator end() const noexcept { return {*this, id_type{}}; }
};

}  // namespace muster
