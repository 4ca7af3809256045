// column: the values of one fragment in one chunk, next to each other, from an address that is a
// multiple of 64. The room `storage` owns columns, chunks and the graph that connects chunks.
//
// Columns have no size of their own: their chunk knows how many rows there are. Nothing here can
// fail but `grow`.
#pragma once

#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace muster::detail {

/// Where an argument of the caller's is. It may be inside a column; who moves the column moves these.
using watched = std::span<const void*>;

struct column {
    std::byte* data = no_values;
    const type_info* type = nullptr;
    fragment_data* fragment = nullptr;  // null: the ids
    void* block = nullptr;              // what `data` is in, for freeing

    [[nodiscard]] std::byte* at(std::size_t row) const noexcept { return data + row * type->size; }

    /// Makes room for `capacity` values, of which `used` are there. Moves them: as bytes, in place
    /// where the system can. False if there is no memory; nothing has changed then.
    [[nodiscard]] bool resize(std::size_t used, std::size_t capacity, watched arguments) noexcept;
    void free() noexcept;

    /// `to` takes over the value at `from`, which ends.
    void relocate(std::byte* to, std::byte* from) const noexcept {
        if (type->relocate != nullptr)
            type->relocate(to, from, 1);
        else
            copy_bytes(to, from, type->size);
    }
    void destroy(std::byte* from, std::size_t count) const noexcept {
        if (type->destroy != nullptr) type->destroy(from, count);
    }

private:
    /// memcpy, without the call for the sizes that most components have.
    static void copy_bytes(std::byte* to, const std::byte* from, std::size_t size) noexcept {
        switch (size) {
        case 1: std::memcpy(to, from, 1); break;
        case 4: std::memcpy(to, from, 4); break;
        case 8: std::memcpy(to, from, 8); break;
        case 12: std::memcpy(to, from, 12); break;
        case 16: std::memcpy(to, from, 16); break;
        case 24: std::memcpy(to, from, 24); break;
        case 32: std::memcpy(to, from, 32); break;
        default: std::memcpy(to, from, size); break;
        }
    }
};

}  // namespace muster::detail
