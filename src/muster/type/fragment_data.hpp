// fragment_data: what a world knows of one fragment, above all where its values are.
//
//     bases         chunk 0     1        2        3                 limit: 4
//                  [ null ][ column ][ null ][ column ]
//                     |        |                  |
//              chunk 0 holds   x x x x            x x
//              no values       of row 0, 1, ...
//
// From a record (chunk, row) to a value are two steps: the base, and the row. A chunk that has the
// fragment but no memory for it, or a fragment without values, shows `no_values`.
#pragma once

#include <muster/base/raw_array.hpp>
#include <muster/type/type_info.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace muster::detail {

/// A fragment's number in its world, by registration.
enum class fragment_index : std::uint32_t {};
/// A chunk's number in its world; 0 stands for the entities without fragments.
enum class chunk_index : std::uint32_t {};

constexpr std::uint32_t to_int(fragment_index index) noexcept {
    return static_cast<std::uint32_t>(index);
}
constexpr std::uint32_t to_int(chunk_index index) noexcept {
    return static_cast<std::uint32_t>(index);
}

/// What a base shows where there is a fragment but no column in memory.
MUSTER_API inline std::byte no_values[1];

struct MUSTER_API fragment_data {
    constexpr fragment_data() noexcept = default;
    fragment_data(const fragment_data&) = delete;
    fragment_data& operator=(const fragment_data&) = delete;
    ~fragment_data();  // in the source: who includes this need not compile it

    std::uint32_t limit = 0;          // chunks from here on do not have it
    raw_array<std::byte*> bases;      // by chunk; null: that chunk does not have it
    const type_info* type = nullptr;  // null only in `no_fragment`
    fragment_index index{};
    std::byte id[8]{};                // its id, as the layout has it
    std::string_view name;            // for sentences
    std::vector<chunk_index> chunks;  // that have it, in the order of their making

    /// The column of that chunk, or null.
    [[nodiscard]] std::byte* base(chunk_index chunk) const noexcept {
        std::byte* const* const columns = bases.data();
        return to_int(chunk) < limit ? columns[to_int(chunk)] : nullptr;
    }
};

/// Stands for the fragment of a type that a world has not met: no chunk has it.
MUSTER_API extern const fragment_data no_fragment;

}  // namespace muster::detail
