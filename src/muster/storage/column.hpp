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

/// One cache line: what every move needs of the type is here, too.
struct alignas(64) column {
    std::byte* data = no_values;
    std::size_t size = 0;  // of a value; this and the next two are those of `type`
    void (*relocate_many)(void*, void*, std::size_t) noexcept = nullptr;
    void (*destroy_many)(void*, std::size_t) noexcept = nullptr;
    const type_info* type = nullptr;
    fragment_data* fragment = nullptr;  // null: the ids
    void* block = nullptr;              // what `data` is in, for freeing

    column() = default;
    column(const type_info& values, fragment_data* owner) noexcept
        : size(values.size),
          relocate_many(values.relocate),
          destroy_many(values.destroy),
          type(&values),
          fragment(owner) {}

    [[nodiscard]] std::byte* at(std::size_t row) const noexcept { return data + row * size; }

    /// Makes room for `capacity` values, of which `used` are there. Moves them: as bytes, in place
    /// where the system can. False if there is no memory; nothing has changed then.
    [[nodiscard]] bool resize(std::size_t used, std::size_t capacity, watched arguments) noexcept;
    void free() noexcept;

    /// `to` takes over the value at `from`, which ends.
    void relocate(std::byte* to, std::byte* from) const noexcept {
        if (relocate_many == nullptr) [[likely]]
            copy_bytes(to, from);
        else
            relocate_many(to, from, 1);
    }
    /// The same for `count` values that stand next to each other.
    void relocate(std::byte* to, std::byte* from, std::size_t count) const noexcept {
        if (relocate_many == nullptr)
            std::memcpy(to, from, count * size);
        else
            relocate_many(to, from, count);
    }
    void destroy(std::byte* from, std::size_t count) const noexcept {
        if (destroy_many != nullptr) destroy_many(from, count);
    }

private:
    /// memcpy of one value, without the call for the sizes that most components have.
    void copy_bytes(std::byte* to, const std::byte* from) const noexcept {
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
};

}  // namespace muster::detail
