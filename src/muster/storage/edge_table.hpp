// edge_table: where an entity goes from one chunk when fragments are added or removed.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>

namespace muster::detail {

struct chunk_data;

/// A step from one chunk to another. It stands for a set of fragments that are added or removed, and
/// that set has a chunk, too: its number and the direction are the key.
struct edge {
    static constexpr std::uint32_t dropped = ~std::uint32_t{0};

    std::uint64_t key;
    chunk_data* target;
    array_list<std::uint32_t> columns;  // for each column of the source: which of the target
    bool has_needed = false;  // the target has more than the source and what is added: see `needs`
    bool is_mixed = false;    // sparse fragments come or go, too: they are not in the target
    mutable bool is_told = false;  // a hook is to be called, or it is mixed: not the plain way

    static constexpr std::uint64_t key_of(chunk_index other, bool removes) noexcept {
        return std::uint64_t{to_int(other)} << 1 | (removes ? 1u : 0u);
    }
};

/// A hash table of edges by key: one load where there is no collision.
class MUSTER_API edge_table {
public:
    edge_table() noexcept;
    edge_table(const edge_table&) = delete;
    edge_table& operator=(const edge_table&) = delete;
    ~edge_table();

    [[nodiscard]] const edge* find(std::uint64_t key) const noexcept {
        for (std::uint64_t at = key & mask_;; at = (at + 1) & mask_) {
            const place& here = places_[at];
            if (here.key == key) [[likely]]
                return here.step;
            if (here.step == nullptr) return nullptr;
        }
    }

    /// The table owns `made`, whose key it does not have. `std::bad_alloc` changes nothing.
    void reserve_one();
    void insert(const edge* made) noexcept;
    void clear() noexcept;
    template <class Change>
    void each(Change change) {
        for (const place& one : room_)
            if (one.step != nullptr) change(*one.step);
    }

private:
    struct place {
        std::uint64_t key;
        const edge* step;
    };
    static constexpr place nothing{~std::uint64_t{0}, nullptr};  // no edge has this key

    // Keys are small and dense: their lowest bits are hash enough.
    const place* places_ = &nothing;  // mask_ + 1, at most half of them taken
    std::uint64_t mask_ = 0;
    std::size_t size_ = 0;
    array_list<place> room_;  // what places_ points to, but for `nothing`
};

}  // namespace muster::detail
