// copy_bytes: copies the bytes of one value.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <cstring>

namespace MUSTER_NAMESPACE::detail {

/// Copies `size` bytes. Most components have one of the listed sizes, which need no call.
inline void copy_bytes(void* to, const void* from, std::size_t size) noexcept {
    if (size == 8)
        std::memcpy(to, from, 8);
    else if (size == 4)
        std::memcpy(to, from, 4);
    else if (size == 16)
        std::memcpy(to, from, 16);
    else if (size == 12)
        std::memcpy(to, from, 12);
    else
        std::memcpy(to, from, size);
}

}  // namespace MUSTER_NAMESPACE::detail
