// id_pool_options: how a pool of ids starts, and what is wrong with options that do not fit its layout.
#pragma once

#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/id/id.hpp>
#include <muster/id/layout.hpp>

#include <cstdint>

namespace muster {

/// How a pool starts. A value that does not fit the layout is `errc::id_out_of_range`.
struct id_pool_options {
    /// The number in every id; ignored by layouts without world bits. Nobody else is asked whether
    /// it is in use: see `world_number`.
    std::uint64_t world = 1;
    /// The keys that `create` gives out, both included. The defaults are those of the layout.
    std::uint64_t first_key = 0;
    std::uint64_t last_key = ~std::uint64_t{0};
    muster::reuse reuse = muster::reuse::lifo;
    /// No key starts below this version: for a world number that was used before.
    std::uint64_t first_version = 0;
};

namespace detail {

/// The last key of the range: the layout's, unless the options say another.
template <class Layout>
[[nodiscard]] constexpr std::uint64_t last_key_of(const id_pool_options& options) noexcept {
    return options.last_key == ~std::uint64_t{0} ? Layout::last_key : options.last_key;
}

/// `errc::id_out_of_range` if a pool of this layout cannot start so.
template <class Layout>
void check_pool_range(std::uint64_t owner, std::uint64_t first, std::uint64_t last,
                      std::uint64_t first_version) {
    if (Layout::world_bits != 0 && owner > Layout::last_world)
        raise_does_not_fit("world", owner, Layout::world_bits);
    if (Layout::world_bits != 0 && owner == 0)
        raise(errc::id_out_of_range, "world 0 is no world: numbers start at 1");
    if (first > Layout::last_key) raise_does_not_fit("key", first, Layout::key_bits);
    if (last > Layout::last_key) raise_does_not_fit("key", last, Layout::key_bits);
    if (first > last)
        raise(errc::id_out_of_range, text("the key range ", first, " to ", last, " is empty"));
    if (first_version >= Layout::last_version)
        raise(errc::id_out_of_range, text("versions cannot start at ", first_version,
                                          ": the first must be below ", Layout::last_version));
}

}  // namespace detail
}  // namespace muster
