// component_type: describes a component without a C++ type, for `world::fragment`.
#pragma once

#include <muster/type/type_info.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE {

/// A component that editors, scripts or network code define at run time. Without operations, values
/// are plain bytes: copied as bytes and initially zero. All operations work on `count` adjacent
/// values; `relocate` and `destroy` must not throw.
struct component_type {
    std::size_t size = 0;       ///< of a value; 0: a tag
    std::size_t alignment = 1;  ///< a power of two
    /// Moves the values at `from` to `to` and destroys them at `from`. Null: copies the bytes.
    void (*relocate)(void* to, void* from, std::size_t count) noexcept = nullptr;
    /// Destroys the values. Null: they need no destruction.
    void (*destroy)(void* at, std::size_t count) noexcept = nullptr;
    /// Constructs `to[i]` as a copy of `from[i * step]`. May throw, after it has destroyed the
    /// copies it made. Null: copies the bytes; if `relocate`, `destroy` or `pinned` is set, values
    /// cannot be copied.
    void (*copy)(void* to, const void* from, std::size_t count, std::size_t step) = nullptr;
    /// Constructs default values. May throw like `copy`. Null: zeros; if `relocate`, `destroy` or
    /// `pinned` is set, there is no default.
    void (*construct)(void* at, std::size_t count) = nullptr;
    /// Values cannot be moved: `relocate` is never called, and the fragment is sparse.
    bool pinned = false;
};

namespace detail {
/// Throws `errc::bad_type` if no type can be as described.
MUSTER_API type_info describe(const component_type& type);
}  // namespace detail

}  // namespace MUSTER_NAMESPACE
