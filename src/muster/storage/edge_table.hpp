// edge_table: the transitions from one chunk when fragments are added or removed.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>

namespace muster::detail {

struct chunk_data;

/// A transition from one chunk to another, caused by a set of fragments that is added or removed.
/// The set has a chunk of its own, whose number forms the key together with the direction.
struct edge {
    static constexpr std::uint32_t dropped = ~std::uint32_t{0};

    std::uint64_t key;
    chunk_data* target;
    array_list<std::uint32_t> columns;  // for each source column: the target column, or `dropped`
    bool has_needed = false;            // the target also has fragments that the added ones need
    bool has_sparse_part = false;       // sparse fragments change, too; the target lacks them
    mutable bool has_notices = false;   // notifies hooks or observers, or has a sparse part

    static constexpr std::uint64_t key_of(chunk_index other, bool removes) noexcept {
        return std::uint64_t{to_int(other)} << 1 | (removes ? 1u : 0u);
    }
};

/// A hash table of edges by key: one load if there is no collision.
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

    /// `insert` takes ownership of an edge whose key is new. Call `reserve_one` first; its
    /// `std::bad_alloc` changes nothing.
    void reserve_one();
    void insert(const edge* made) noexcept;
    void clear() noexcept;
    template <class Change>
    void each(Change change) {
        for (const place& slot : room_)
            if (slot.step != nullptr) change(*slot.step);
    }

private:
    struct place {
        std::uint64_t key;
        const edge* step;
    };
    static constexpr place nothing{~std::uint64_t{0}, nullptr};  // no edge has this key

    // Keys are small and dense, so their lowest bits serve as the hash.
    const place* places_ = &nothing;  // mask_ + 1 places, at most half full
    std::uint64_t mask_ = 0;
    std::size_t size_ = 0;
    array_list<place> room_;  // the memory of places_; empty if that is `nothing`
};

}  // namespace muster::detail
