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
struct MUSTER_API column {
    alignas(64) std::byte* data = no_values;
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

    /// The value at `row` goes to row `to_row` of `to`, a column of the same type, or nowhere if that is
    /// null; the one at `last` takes its place. Only for values that are moved as bytes and need no
    /// destruction.
    [[gnu::always_inline]] void take_bytes(std::size_t row, std::size_t last, const column* to,
                                           std::size_t to_row) const noexcept {
        // A size that is known needs neither a multiplication nor a call. Most components have one of
        // the first.
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

    /// The value at `from` comes to `row`. Only for values that are moved as bytes.
    void put_bytes(std::size_t row, const void* from) const noexcept {
        if (size == 8)
            std::memcpy(data + row * 8, from, 8);
        else if (size == 4)
            std::memcpy(data + row * 4, from, 4);
        else if (size == 16)
            std::memcpy(data + row * 16, from, 16);
        else
            std::memcpy(at(row), from, size);
    }

    /// `to` takes over `count` values from `from`, which end.
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

}  // namespace muster::detail
