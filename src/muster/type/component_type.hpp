// component_type: a kind of values that no C++ type names, for `world::fragment`.
#pragma once

#include <muster/type/type_info.hpp>

#include <cstddef>

namespace muster {

/// What editors, scripts and network code know of a component at run time. Without operations the values
/// are plain bytes: copied as bytes, zero at first. All operations work on `count` values that stand
/// next to each other; the first two must not throw.
struct component_type {
    std::size_t size = 0;       ///< of a value; 0: a tag
    std::size_t alignment = 1;  ///< a power of two
    /// `to` takes over the values at `from`, which end. Null: as bytes.
    void (*relocate)(void* to, void* from, std::size_t count) noexcept = nullptr;
    /// Null: there is nothing to do.
    void (*destroy)(void* at, std::size_t count) noexcept = nullptr;
    /// `to[i]` becomes a copy of `from[i * step]`. May throw, when it has destroyed what it made. Null: as
    /// bytes or, if `relocate` or `destroy` is given, not at all.
    void (*copy)(void* to, const void* from, std::size_t count, std::size_t step) = nullptr;
    /// Default values. May throw, as `copy`. Null: zeros or, if `destroy` or `relocate` is given, none.
    void (*construct)(void* at, std::size_t count) = nullptr;
    /// Values cannot be moved: `relocate` is not used, and the fragment is sparse.
    bool pinned = false;
};

namespace detail {
/// `errc::bad_type` for what cannot be.
MUSTER_API type_info describe(const component_type& type);
}  // namespace detail

}  // namespace muster
