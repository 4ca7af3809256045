// world_number: the number that tells one world's ids from another's, given out process-wide.
//
// A number is held by one living object at a time and is never 0. Numbers that were never used come
// first, then those given back, oldest first. A number that comes back starts above the highest
// version it ever issued, so that no handle of a dead world comes alive; when no version is left,
// it never comes back.
#pragma once

#include <muster/id/layout.hpp>

#include <cstdint>

namespace muster {

/// Holds a number from its making to its end. Any thread may make and end one at any time; a single
/// object is used by one thread at a time.
class MUSTER_API world_number {
public:
    /// Takes a number that fits the layout: `wanted`, or the next one if that is 0. O(log n), or
    /// O(n) of all numbers once each has been used.
    ///   `errc::id_out_of_range`  `wanted` does not fit the layout's world bits
    ///   `errc::number_taken`     a living world has it
    ///   `errc::limit`            all are taken or spent, or the one wanted has no version left
    /// A layout without world bits cannot tell worlds apart: its worlds are numbered from 1 to
    /// 65535, but their ids do not show it, and versions do not matter.
    template <class Layout>
    [[nodiscard]] static world_number take(std::uint64_t wanted = 0) {
        if constexpr (Layout::world_bits == 0) {
            world_number made(wanted, 0xFFFF, ~std::uint64_t{0});
            made.first_version_ = 0;
            made.shows_in_ids_ = false;
            return made;
        } else {
            return world_number(wanted, Layout::last_world, Layout::last_version - 1);
        }
    }

    world_number(world_number&& other) noexcept;
    /// Gives back the number it had.
    world_number& operator=(world_number&& other) noexcept;
    /// Gives the number back.
    ~world_number();

    /// The number; 0 only after it was moved away.
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

    /// The lowest version that ids of this number may start with
    /// (`id_pool_options::first_version`).
    [[nodiscard]] std::uint64_t first_version() const noexcept { return first_version_; }

    /// Says that versions below `unused` were issued (`id_pool::unused_version()`). Say it before
    /// the number goes back; a lower value than was said before changes nothing.
    void spend(std::uint64_t unused) noexcept {
        if (shows_in_ids_ && unused > first_version_) first_version_ = unused;
    }

private:
    /// A number up to `last` whose ids can start at a version up to `last_start`.
    world_number(std::uint64_t wanted, std::uint64_t last, std::uint64_t last_start);

    std::uint64_t value_;
    std::uint64_t first_version_;
    bool shows_in_ids_ = true;
};

}  // namespace muster
