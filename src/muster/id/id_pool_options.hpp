// id_pool_options: the options of an id pool, and their checks against its layout.
#pragma once

#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/id/id.hpp>
#include <muster/id/layout.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE {

/// The options of a pool. A pool throws `errc::id_out_of_range` if a value does not fit its layout.
struct id_pool_options {
    /// The world number in every id; ignored by layouts without world bits. The pool does not check
    /// that the number is unique: see `world_number`.
    std::uint64_t world = 1;
    /// The first and the last key that `create` issues. The defaults are those of the layout.
    std::uint64_t first_key = 0;
    std::uint64_t last_key = ~std::uint64_t{0};
    muster::reuse reuse = muster::reuse::lifo;
    /// The lowest version of every key, for a world number that was used before.
    std::uint64_t first_version = 0;
};

namespace detail {

/// Returns the last key of the range: the layout's, unless the options set another.
template <class Layout>
[[nodiscard]] constexpr std::uint64_t last_key_of(const id_pool_options& options) noexcept {
    return options.last_key == ~std::uint64_t{0} ? Layout::last_key : options.last_key;
}

/// Throws `errc::id_out_of_range` if a pool of this layout cannot have these options.
template <class Layout>
void check_pool_range(std::uint64_t owner, std::uint64_t first, std::uint64_t last,
                      std::uint64_t first_version) {
    if (Layout::world_bits != 0 && owner > Layout::last_world)
        raise_does_not_fit("world", owner, Layout::world_bits);
    if (Layout::world_bits != 0 && owner == 0)
        raise(errc::id_out_of_range, "0 is not a world number: numbers start at 1");
    if (first > Layout::last_key) raise_does_not_fit("key", first, Layout::key_bits);
    if (last > Layout::last_key) raise_does_not_fit("key", last, Layout::key_bits);
    if (first > last)
        raise(errc::id_out_of_range, text("the key range ", first, " to ", last, " is empty"));
    if (first_version >= Layout::last_version)
        raise(errc::id_out_of_range, text("versions cannot start at ", first_version,
                                          ": the first must be below ", Layout::last_version));
}

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
