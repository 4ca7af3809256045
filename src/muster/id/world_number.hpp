// world_number: a number that distinguishes the ids of one world from those of all other worlds in
// the process.
//
// At most one object holds a number at a time; 0 is never taken. Unused numbers come first, then
// released numbers, the oldest first. A number that is taken again starts above the highest version
// ever issued with it, so that no handle of a destroyed world becomes valid. A number without
// versions left is never taken again.
#pragma once

#include <muster/id/layout.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE {

/// Holds a number for its lifetime. Any thread may create or destroy objects at any time; only one
/// thread at a time may use an object.
class MUSTER_API world_number {
public:
    /// Takes a number that fits the layout: `wanted` or, if that is 0, the next number. O(log n) in
    /// all numbers that were ever used.
    ///   `errc::id_out_of_range`  `wanted` does not fit the layout's world bits
    ///   `errc::number_taken`     another object holds it
    ///   `errc::limit`            no number is left, or `wanted` has no version left
    /// Ids of a layout without world bits do not contain the number. Such worlds are numbered from
    /// 1 to 65535, and versions do not matter.
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
    /// Releases the number it held and takes over that of `other`.
    world_number& operator=(world_number&& other) noexcept;
    /// Releases the number.
    ~world_number();

    /// The number; 0 only in a moved-from object.
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

    /// The lowest version that ids of this number may start with
    /// (`id_pool_options::first_version`).
    [[nodiscard]] std::uint64_t first_version() const noexcept { return first_version_; }

    /// Records that versions below `unused` were issued (`id_pool::unused_version()`). Call it
    /// before the number is released. A lower value than before has no effect.
    void retire_versions(std::uint64_t unused) noexcept {
        if (shows_in_ids_ && unused > first_version_) first_version_ = unused;
    }

private:
    /// Takes a number up to `last` whose ids can start at a version up to `last_start`.
    world_number(std::uint64_t wanted, std::uint64_t last, std::uint64_t last_start);

    std::uint64_t value_;
    std::uint64_t first_version_;
    bool shows_in_ids_ = true;
};

}  // namespace MUSTER_NAMESPACE
