// layout: how an id's bits are divided, and what happens when the versions of a key run out.
//
//     bit   63          48 47          32 31                    0
//           [   world    ][  version    ][         key         ]      layouts::bound
//
// The key takes the lowest bits, followed by version and world; unused bits of issued ids are 0. A
// layout is a type without data: all its properties are compile-time constants.
#pragma once

#include <muster/base/config.hpp>
#include <muster/base/integer.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace MUSTER_NAMESPACE {

/// The fate of a key after its last version.
enum class MUSTER_API exhaustion : unsigned char {
    retire,     ///< the key is never used again: no id is ever issued twice
    wrap,       ///< versions start over: an old handle can become valid again
    tombstone,  ///< the key is parked; `recycle_tombstones()` restarts its versions
};

/// The order in which free keys are reused.
enum class reuse : unsigned char {
    lifo,  ///< the key freed last is first: its memory is still cached
    fifo,  ///< the key freed first is first: versions are used up evenly
};

/// The parameters of a layout. Keys start at `first_key`, versions at `first_version`.
struct MUSTER_API id_bits {
    unsigned key = 0;
    unsigned version = 0;
    unsigned world = 0;
    std::uint64_t first_key = 0;
    std::uint64_t first_version = 0;
    exhaustion on_exhaustion = exhaustion::retire;
};

namespace detail {

enum class layout_flaw : unsigned char {
    none,
    integer,
    too_wide,
    no_key,
    no_version,
    first_key,
    first_version
};

/// Returns the first flaw of a layout, so that the compiler reports one message, not six.
template <class Rep>
consteval layout_flaw find_flaw(const id_bits& bits) noexcept {
    if (!std::is_integral_v<Rep> || !std::is_unsigned_v<Rep> || std::is_same_v<Rep, bool> ||
        !std::is_same_v<Rep, std::remove_cv_t<Rep>> || sizeof(Rep) > sizeof(std::uint64_t))
        return layout_flaw::integer;
    const auto has = static_cast<std::uint64_t>(std::numeric_limits<Rep>::digits);
    if (std::uint64_t{bits.key} + bits.version + bits.world > has) return layout_flaw::too_wide;
    if (bits.key == 0) return layout_flaw::no_key;
    if (bits.version == 0) return layout_flaw::no_version;
    if (bits.first_key > low_bits(bits.key)) return layout_flaw::first_key;
    if (bits.first_version >= low_bits(bits.version)) return layout_flaw::first_version;
    return layout_flaw::none;
}

}  // namespace detail

template <class Rep, id_bits Bits>
struct MUSTER_API layout {
private:
    using flaw = detail::layout_flaw;
    static constexpr flaw found = detail::find_flaw<Rep>(Bits);
    static_assert(found != flaw::integer,
                  "muster::layout: an id must be an unsigned integer of at most 64 bits.");
    static_assert(
        found != flaw::too_wide,
        "muster::layout: the key, version and world bits together exceed the integer's width.");
    static_assert(found != flaw::no_key, "muster::layout: an id needs at least one key bit.");
    static_assert(found != flaw::no_version,
                  "muster::layout: an id needs at least one version bit to detect stale ids.");
    static_assert(found != flaw::first_key,
                  "muster::layout: first_key does not fit in the key bits.");
    static_assert(found != flaw::first_version,
                  "muster::layout: first_version leaves no version to issue: it must be below the "
                  "last version.");

public:
    using rep = Rep;

    static constexpr unsigned key_bits = Bits.key;
    static constexpr unsigned version_bits = Bits.version;
    static constexpr unsigned world_bits = Bits.world;
    static constexpr unsigned used_bits = Bits.key + Bits.version + Bits.world;

    static constexpr std::uint64_t first_key = Bits.first_key;
    static constexpr std::uint64_t last_key = detail::low_bits(Bits.key);
    static constexpr std::uint64_t first_version = Bits.first_version;
    static constexpr std::uint64_t last_version = detail::low_bits(Bits.version);
    static constexpr std::uint64_t last_world = Bits.world == 0 ? 0 : detail::low_bits(Bits.world);

    static constexpr exhaustion on_exhaustion = Bits.on_exhaustion;

    /// The highest version that is ever issued. Unless versions wrap, `last_version` marks slots
    /// that are out of use, so that an id with it is never alive.
    static constexpr std::uint64_t last_issued_version =
        on_exhaustion == exhaustion::wrap ? last_version : last_version - 1;

    /// 0 if no issued id can be 0, else all ones.
    static constexpr Rep null_value =
        Bits.world != 0 || Bits.first_key != 0 || Bits.first_version != 0
            ? Rep{0}
            : static_cast<Rep>(~std::uint64_t{0});
};

// Each preset is a type with a name of its own, which messages and backtraces show.
namespace layouts {

/// Ids contain the number of their world, so that worlds reject each other's ids. The default.
struct MUSTER_API bound : layout<std::uint64_t, id_bits{.key = 32, .version = 16, .world = 16}> {};
/// Four bytes; about a million entities, 4,095 uses of each key.
struct MUSTER_API compact : layout<std::uint32_t, id_bits{.key = 20, .version = 12}> {};
/// 53 bits, which a double represents exactly: for scripts whose numbers are doubles.
struct MUSTER_API exact
    : layout<std::uint64_t, id_bits{.key = 20, .version = 33, .first_key = 1, .first_version = 1}> {
};
/// 40 bits; keys and versions start at 1, so that 0 is never issued.
struct MUSTER_API packed
    : layout<std::uint64_t, id_bits{.key = 20, .version = 20, .first_key = 1, .first_version = 1}> {
};

}  // namespace layouts
}  // namespace MUSTER_NAMESPACE
