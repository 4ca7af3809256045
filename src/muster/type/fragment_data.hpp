// fragment_data: what a world knows of one fragment, above all where its values are.
//
//     bases         chunk 0     1        2        3                 limit: 4
//                  [ null ][ column ][ null ][ column ]
//                     |        |                  |
//              chunk 0 holds   x x x x            x x
//              no values       of row 0, 1, ...
//
// From a record (chunk, row) to a value are two steps: the base, and the row. A chunk that has the
// fragment but no memory for it, or a fragment without values, shows `no_values`. Of a sparse fragment
// only chunks have a base that stand for a set of fragments and never have rows.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/raw_array.hpp>
#include <muster/type/boxed_value.hpp>
#include <muster/type/hook_list.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::detail {

class sparse_set;

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

/// How a component is copied where the world does it: a function of the user's.
struct duplicate_function {
    boxed_value function;
    void (*call)(const void* function, void* to, const void* from) = nullptr;
};

struct MUSTER_API fragment_data {
    constexpr fragment_data() noexcept = default;
    fragment_data(const fragment_data&) = delete;
    fragment_data& operator=(const fragment_data&) = delete;
    ~fragment_data();  // in the source: who includes this need not compile it

    std::uint32_t limit = 0;          // chunks from here on do not have it
    type_index value_type = no_type;  // of its values; `no_type`: no C++ type, or a tag
    raw_array<std::byte*> bases;      // by chunk; null: that chunk does not have it
    sparse_set* beside = nullptr;     // where its values are if it is sparse: no chunk has it then
    const type_info* type = nullptr;  // null only in `no_fragment`
    hook_list hooks;                  // see `define`
    fragment_index index{};
    chunk_index alone{};             // the chunk of just this fragment; 0: not looked for yet
    std::uint64_t id = 0;            // as `basic_id::value` says it
    std::string_view name;           // for sentences
    array_list<chunk_index> chunks;  // that have it, in the order of their making

    bool is_own = false;     // the world made it, for a C++ type
    bool is_open = false;    // its type is that of its first value; none has had it yet
    bool is_unique = false;  // see `define`; this and all below
    bool is_hidden = false;
    bool is_internal = false;
    bool says_sparse = false;  // `define` did; its type may, too
    bool destroys_owners = false;
    array_list<fragment_data*> needs;  // by number
    boxed_value default_value;
    duplicate_function duplicate;

    const type_info* own_type = nullptr;  // owned: `type`, if it was made at run time
    array_list<char> own_name;            // what `name` shows, unless it is kept elsewhere

    /// The column of that chunk, or null.
    [[nodiscard]] std::byte* base(chunk_index chunk) const noexcept {
        std::byte* const* const columns = bases.data();
        return to_int(chunk) < limit ? columns[to_int(chunk)] : nullptr;
    }

    /// Whether the values of both are of one type.
    [[nodiscard]] bool holds_like(const fragment_data& other) const noexcept;
    [[nodiscard]] bool can_copy() const noexcept {
        return type->can_copy() || duplicate.call != nullptr;
    }
    [[nodiscard]] bool can_start() const noexcept {
        return default_value ? can_copy() : type->can_construct();
    }
    /// Copies of one value, as a clone has them. May throw; then none is left.
    void copy_value(void* to, const void* from, std::size_t count) const;
    /// The values that it starts with where none is given. May throw; then none is left.
    void start_values(void* at, std::size_t count) const;
};

/// Stands for the fragment of a type that a world has not met: no chunk has it.
MUSTER_API extern const fragment_data no_fragment;

/// `one` or, if it is not `wanted`, `other`; without a branch, which would be left in loops.
inline const fragment_data* choose(bool wanted, const fragment_data* one,
                                   const fragment_data* other) noexcept {
    const auto mask = std::uintptr_t{0} - std::uintptr_t{wanted};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it is one of the two
    return reinterpret_cast<const fragment_data*>(
        (reinterpret_cast<std::uintptr_t>(one) & mask) |
        (reinterpret_cast<std::uintptr_t>(other) & ~mask));
}

}  // namespace muster::detail
