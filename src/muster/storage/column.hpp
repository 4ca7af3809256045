// column: the values of one fragment in one chunk, stored contiguously from a 64-byte boundary. The
// room `storage` owns columns, chunks, the graph that connects chunks, and sparse sets.
//
// A column has no size of its own: its chunk stores the number of rows. Only `resize` can fail.
#pragma once

#include <muster/base/copy_bytes.hpp>
#include <muster/base/slice.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace MUSTER_NAMESPACE::detail {

/// Addresses of the caller's arguments. An argument may lie in a column; a function that
/// reallocates the column updates the address.
using argument_addresses = slice<const void*>;

/// One cache line. Includes copies of the type's fields that every move reads.
struct MUSTER_API column {
    alignas(64) std::byte* data = no_values;
    std::size_t size = 0;  // of a value; this and the next two are copies from `type`
    void (*relocate_many)(void*, void*, std::size_t) noexcept = nullptr;
    void (*destroy_many)(void*, std::size_t) noexcept = nullptr;
    const type_info* type = nullptr;
    fragment_data* fragment = nullptr;  // null: the column of ids
    void* block = nullptr;              // the allocation that contains `data`

    column() = default;
    column(const type_info& values, fragment_data* owner) noexcept
        : size(values.size),
          relocate_many(values.relocate),
          destroy_many(values.destroy),
          type(&values),
          fragment(owner) {}

    [[nodiscard]] std::byte* at(std::size_t row) const noexcept { return data + row * size; }

    /// Reallocates the column for `capacity` values and moves the `used` existing values, as bytes
    /// and in place if possible. Updates `arguments`. Returns false, and changes nothing, if memory
    /// runs out.
    [[nodiscard]] bool resize(std::size_t used, std::size_t capacity,
                              argument_addresses arguments) noexcept;
    void free() noexcept;

    /// Moves the value at `row` to row `to_row` of `to`, a column of the same type; drops it if
    /// `to` is null. Then moves the value at `last` to `row`. Only for values that are moved as
    /// bytes and need no destructor.
    [[gnu::always_inline]] void take_bytes(std::size_t row, std::size_t last, const column* to,
                                           std::size_t to_row) const noexcept {
        // A constant size avoids a multiplication and a call of memcpy. The most common sizes come
        // first.
        if (size == 8)
            take<8>(row, last, to, to_row);
        else if (size == 4)
            take<4>(row, last, to, to_row);
        else if (size == 16)
            take<16>(row, last, to, to_row);
        else if (size == 12)
            take<12>(row, last, to, to_row);
        else if (size == 64)
            take<64>(row, last, to, to_row);
        else if (size == 24)
            take<24>(row, last, to, to_row);
        else if (size == 32)
            take<32>(row, last, to, to_row);
        else
            take_any(row, last, to, to_row);
    }

    /// Moves the value at `from` to `row`. Only for values that are moved as bytes.
    void put_bytes(std::size_t row, const void* from) const noexcept {
        copy_bytes(at(row), from, size);
    }

    /// Moves `count` values from `from` to `to`. Ends the lifetime of the values at `from`.
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
    template <std::size_t Size>
    [[gnu::always_inline]] void take(std::size_t row, std::size_t last, const column* to,
                                     std::size_t to_row) const noexcept {
        std::byte* const value = data + row * Size;
        if (to != nullptr) std::memcpy(to->data + to_row * Size, value, Size);
        if (row != last) std::memcpy(value, data + last * Size, Size);
    }
    void take_any(std::size_t row, std::size_t last, const column* to,
                  std::size_t to_row) const noexcept {
        if (to != nullptr) std::memcpy(to->at(to_row), at(row), size);
        if (row != last) std::memcpy(at(row), at(last), size);
    }
};

}  // namespace MUSTER_NAMESPACE::detail
