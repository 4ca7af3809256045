// fragment_data: the state of one fragment in a world, above all the addresses of its columns.
//
//     bases         chunk 7     8        9                 first: 7, limit: 3
//                  [ column ][ null ][ column ]
//                     |                  |
//                     x x x x            x x
//                     of row 0, 1, ...
//
// A record (chunk, row) leads to a value in two steps: the chunk's base, then the row. The base is
// `no_values` if the column has no memory yet, or if the fragment is a tag. A sparse fragment has
// bases only in chunks that represent a set of fragments and never have rows. The array starts at
// the first chunk of the fragment, so that many fragments with few chunks each stay small. If the
// number of this chunk is low, the array starts at chunk 0: then fast paths compare with
// `dense_end` only.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/hole_list.hpp>
#include <muster/base/raw_array.hpp>
#include <muster/type/boxed_value.hpp>
#include <muster/type/hook_list.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

class row_follower;
class sparse_set;
class value_participant;
struct fragment_data;

/// A fragment's number in its world, in the order of registration.
enum class fragment_index : std::uint32_t {};
/// A chunk's number in its world; 0 is the empty chunk, for entities without fragments.
enum class chunk_index : std::uint32_t {};

constexpr std::uint32_t to_int(fragment_index index) noexcept {
    return static_cast<std::uint32_t>(index);
}
constexpr std::uint32_t to_int(chunk_index index) noexcept {
    return static_cast<std::uint32_t>(index);
}

/// The identity of a fragment that a room owns, without a C++ type. A room has kinds of its own,
/// above 0, and defines the meaning of `a` and `b`.
struct fragment_key {
    std::uint32_t kind = 0;  // 0: the fragment has a C++ type or an id of the user
    std::uint64_t a = 0;
    std::uint64_t b = 0;

    friend bool operator==(const fragment_key&, const fragment_key&) noexcept = default;
};

/// The base of a fragment that a chunk has without a column in memory.
MUSTER_API inline std::byte no_values[1];

/// A user function that copies a component when the world clones an entity or fills defaults.
struct duplicate_function {
    boxed_value function;
    void (*call)(const void* function, void* to, const void* from) = nullptr;
};

/// Translates the ids in values of a cloned tree: the id of a prototype becomes that of its clone.
/// All other ids stay as they are.
struct id_map {
    std::uint64_t (*call)(const void* self, std::uint64_t e) noexcept = nullptr;
    const void* self = nullptr;

    [[nodiscard]] std::uint64_t operator()(std::uint64_t e) const noexcept { return call(self, e); }
};

/// A function that translates the ids in a value.
struct remap_function {
    boxed_value function;
    void (*call)(const void* function, void* value, const id_map& map) = nullptr;  // null: none

    void operator()(void* value, const id_map& map) const { call(function.room, value, map); }
};

/// A change that follows from the change of another fragment; see `catalog::imply`.
struct implied_change {
    fragment_data* fragment;
    bool is_on_removal = false;  // follows the removal of the other fragment; else its addition
    bool is_removal = false;     // removes `fragment`; else adds its default value
    std::uint32_t place = 0;     // in `fragment->implied_by`

    friend bool operator==(const implied_change& a, const implied_change& b) noexcept {
        return a.fragment == b.fragment && a.is_on_removal == b.is_on_removal &&
               a.is_removal == b.is_removal;
    }
};

/// Shows a value for living entities that do not have the fragment; see `world::get` of a const
/// type. `call` returns the value for this entity, or null. It must not throw or change the world.
struct fragment_fallback {
    const void* (*call)(void* context, std::uint64_t id) = nullptr;  // null: no fallback
    void* context = nullptr;
};

struct MUSTER_API fragment_data {
    constexpr fragment_data() noexcept = default;
    fragment_data(const fragment_data&) = delete;
    fragment_data& operator=(const fragment_data&) = delete;
    ~fragment_data();  // out of line, so that includers do not compile it

    // The members that reading a value needs are on the first cache line.
    alignas(64) std::uint32_t dense_end = 0;  // the number of bases if `first` is 0, else 0
    type_index value_type = no_type;          // `no_type`: a run-time type, or a tag
    fragment_index index{~std::uint32_t{0}};  // in `no_fragment`, the number of none
    std::uint32_t first = 0;                  // the chunk of the first base
    std::uintptr_t chunk_zero = 0;            // the address in `bases` of chunk 0, if it were there
    sparse_set* sparse_values = nullptr;  // its values, if it is sparse; null: they are in chunks
    fragment_fallback fallback;           // read only if an entity has no value
    std::uint32_t limit = 0;              // the number of bases
    hook_list hooks;                      // see `define`
    raw_array<std::byte*> bases;          // by chunk, from `first` on; null: the chunk lacks it
    const type_info* type = nullptr;      // null only in `no_fragment`
    chunk_index single_chunk{};           // the chunk of this fragment alone; 0: not looked up yet
    std::uint64_t id = 0;                 // its `basic_id::value`
    std::string_view name;                // for messages
    hole_list<chunk_index> chunks;        // chunks that have it, in order of creation; holes: 0

    bool is_world_owned = false;  // the world created it: for a C++ type, or for a key
    bool is_untyped = false;      // its first value will set the type
    bool is_unique = false;       // see `define`, also for the members below
    bool is_hidden = false;
    bool is_internal = false;
    bool is_defined_sparse = false;  // set by `define`; its type may be sparse, too
    bool destroys_owners = false;
    bool has_word = false;               // groups its entities by a word: see `chunk_data::words`
    array_list<implied_change> implied;  // changes that follow from adding or removing it
    array_list<fragment_data*> implied_by;  // the owners of the rules that concern this fragment
    row_follower* follower = nullptr;       // watches the rows of its chunks; see `catalog::follow`
    fragment_data* alias = nullptr;         // stands for it in `has` and `remove`; null: none
    value_participant* participant = nullptr;  // takes part in changes; see `catalog::take_part`
    bool tracks_writes = false;                // `written` is in use
    std::uint8_t resolver = 0;                 // of terms that only read it: a `resolver_index`
    bool holds_guests = false;         // marks entities of other worlds, which cannot lose it
    raw_array<std::uint64_t> written;  // by chunk, as `bases`: the tick of the last write
    std::uint64_t implied_epoch = 0;   // the epoch of `implies_sparse`, a cached result
    bool implies_sparse = false;       // see `catalog::implies_sparse`
    std::uint32_t order = 0;           // its place in `fragment_table::all`
    // The pending changes of this fragment are among these entries of the journal, if it is in this
    // epoch; see `journal::mark`.
    std::uint32_t pending_epoch = 0;
    std::uint32_t first_pending = 0;
    std::uint32_t last_pending = 0;
    // Its place in the list of the evaluation that has met it last. The list tells whether the place
    // is valid: the element there then names this fragment.
    std::uint32_t outcome = 0;  // of changes
    std::uint32_t loss = 0;     // of destroyed fragments
    boxed_value default_value;
    duplicate_function duplicate;
    remap_function remap;  // see `define`
    /// Returns the entity whose value the fallback shows, or the null id. Not null if the fallback is
    /// inheritance.
    std::uint64_t (*inherited_from)(void* context, std::uint64_t id) = nullptr;
    const detail::codec* codec = nullptr;  // see `define`; null: none

    const type_info* own_type = nullptr;  // owned; equals `type` if that was defined at run time
    array_list<char> own_name;            // the text of `name`, unless it is stored elsewhere
    fragment_key key{};                   // see `catalog::ensure_internal`
    std::size_t key_hash = 0;

    /// Returns the fragment's column in the chunk, or null if the chunk lacks it.
    [[nodiscard]] std::byte* base(chunk_index chunk) const noexcept {
        return base(chunk, chunk_zero, dense_end);
    }
    /// Like `base`, for a caller that has loaded these members.
    [[nodiscard]] std::byte* base(chunk_index chunk, std::uintptr_t zero,
                                  std::uint32_t dense) const noexcept {
        if (to_int(chunk) < dense) [[likely]]
            return base_there(chunk, zero);
        return to_int(chunk) - first < limit ? base_there(chunk, zero) : nullptr;
    }
    /// Like `base`, for a chunk that has the fragment.
    [[nodiscard]] static std::byte* base_there(chunk_index chunk, std::uintptr_t zero) noexcept {
        // SAFETY: the element is in `bases`, as `chunk_zero` shows.
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        return *reinterpret_cast<std::byte* const*>(zero + to_int(chunk) * sizeof(void*));
    }
    /// Makes room for the base of a chunk. `std::bad_alloc` changes nothing.
    void reserve_base(chunk_index chunk);
    /// Sets the base of a chunk, for which there is room.
    void set_base(chunk_index chunk, std::byte* base) noexcept {
        const std::uint32_t at = to_int(chunk) - first;
        for (; limit <= at; ++limit) {
            bases[limit] = nullptr;
            if (tracks_writes) written[limit] = 0;
        }
        bases[at] = base;
        update_dense_end();
    }

    /// Whether this is the world's fragment of a C++ type.
    [[nodiscard]] bool is_of_type() const noexcept {
        return is_world_owned && value_type != no_type;
    }
    /// Whether both fragments have values of the same type.
    [[nodiscard]] bool has_same_type(const fragment_data& other) const noexcept;
    /// Whether other changes follow when an entity loses it.
    [[nodiscard]] bool implies_on_removal() const noexcept;
    [[nodiscard]] bool can_copy() const noexcept {
        return type->can_copy() || duplicate.call != nullptr;
    }
    [[nodiscard]] bool has_default() const noexcept {
        return default_value ? can_copy() : type->can_construct();
    }
    /// Makes `count` copies of a value, as for clones. May throw, after destroying those it made.
    void copy_value(void* to, const void* from, std::size_t count) const;
    /// Constructs `count` default values. May throw, after destroying the values it made.
    void default_construct(void* at, std::size_t count) const;

private:
    void grow_bases(std::size_t count);
    void update_dense_end() noexcept { dense_end = first == 0 ? limit : 0; }
    /// Call this after `bases` or `first` has changed.
    void update_chunk_zero() noexcept {
        chunk_zero = reinterpret_cast<std::uintptr_t>(bases.data()) - first * sizeof(void*);
    }
};

static_assert(offsetof(fragment_data, fallback) + sizeof(fragment_fallback) <= 64,
              "a missing value costs no further cache line");

/// Represents the fragment of any type that a world has not used yet; no chunk has it.
MUSTER_API extern const fragment_data no_fragment;

/// Returns `fragment` if `wanted`, else `other`. Branchless, so that loops can hoist it.
inline const fragment_data* select_branchless(bool wanted, const fragment_data* fragment,
                                              const fragment_data* other) noexcept {
    const auto mask = std::uintptr_t{0} - std::uintptr_t{wanted};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it is one of the two
    return reinterpret_cast<const fragment_data*>(
        (reinterpret_cast<std::uintptr_t>(fragment) & mask) |
        (reinterpret_cast<std::uintptr_t>(other) & ~mask));
}

}  // namespace MUSTER_NAMESPACE::detail
