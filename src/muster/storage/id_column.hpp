// id_column: ids in memory, read and written by code that does not know their layout. Only the size
// of an id matters.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace MUSTER_NAMESPACE::detail {

template <class Rep>
[[nodiscard]] inline std::uint64_t read_id_as(const std::byte* from) noexcept {
    Rep value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
template <class Rep>
inline void write_id_as(std::byte* to, std::uint64_t id) noexcept {
    const auto value = static_cast<Rep>(id);
    std::memcpy(to, &value, sizeof value);
}

/// Reads an id of `size` bytes.
[[nodiscard]] inline std::uint64_t read_id(const std::byte* from, std::size_t size) noexcept {
    switch (size) {
    case 8: return read_id_as<std::uint64_t>(from);
    case 4: return read_id_as<std::uint32_t>(from);
    case 2: return read_id_as<std::uint16_t>(from);
    default: return read_id_as<std::uint8_t>(from);
    }
}
/// Writes an id of `size` bytes.
inline void write_id(std::byte* to, std::uint64_t id, std::size_t size) noexcept {
    switch (size) {
    case 8: return write_id_as<std::uint64_t>(to, id);
    case 4: return write_id_as<std::uint32_t>(to, id);
    case 2: return write_id_as<std::uint16_t>(to, id);
    default: return write_id_as<std::uint8_t>(to, id);
    }
}

/// A caller's array of ids.
struct id_span {
    std::byte* data = nullptr;
    std::size_t count = 0;
    std::size_t width = sizeof(std::uint64_t);

    [[nodiscard]] std::uint64_t at(std::size_t index) const noexcept {
        return read_id(data + index * width, width);
    }
    void set(std::size_t index, std::uint64_t id) const noexcept {
        write_id(data + index * width, id, width);
    }
    /// Copies all ids to `out`, which has room for them. Either may be null if there are none.
    void copy_to(id_span out) const noexcept {
        if (count != 0) std::memcpy(out.data, data, count * width);
    }
};

}  // namespace MUSTER_NAMESPACE::detail
