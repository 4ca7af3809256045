// edge_table: the transitions of one chunk for single changes, and for sets of fragments.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/storage/transition.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// The key of an edge:
///
///     bit  63      35   34      33       32     1    0
///          [ epoch ][ set ][ present ][ number ][ removes ]
///
/// The number is that of a fragment or, with `set`, that of the chunk of all fragments to put or
/// remove. `present`: the fragment is sparse, and the entity has it. With both, the number is that
/// of a chunk of the same fragments with other words. An edge of an earlier epoch has another key,
/// so it is not found.
struct edge_key {
    static constexpr unsigned epoch_shift = 35;
    static constexpr std::uint64_t step_mask = (std::uint64_t{1} << epoch_shift) - 1;

    static constexpr std::uint64_t of(std::uint64_t epoch, fragment_index fragment,
                                      bool removes) noexcept {
        return epoch | std::uint64_t{to_int(fragment)} << 1 | (removes ? 1u : 0u);
    }
    static constexpr std::uint64_t of_present(std::uint64_t epoch, fragment_index fragment,
                                              bool removes) noexcept {
        return of(epoch, fragment, removes) | std::uint64_t{1} << 33;
    }
    static constexpr std::uint64_t of_set(std::uint64_t epoch, chunk_index set,
                                          bool removes) noexcept {
        return epoch | std::uint64_t{1} << 34 | std::uint64_t{to_int(set)} << 1 |
               (removes ? 1u : 0u);
    }
    static constexpr std::uint64_t of_group(std::uint64_t epoch, chunk_index group) noexcept {
        return of_set(epoch, group, false) | std::uint64_t{1} << 33;
    }
};

/// A hash table of transitions by key: one load if there is no collision.
class MUSTER_API edge_table {
public:
    edge_table() noexcept;
    edge_table(const edge_table&) = delete;
    edge_table& operator=(const edge_table&) = delete;
    ~edge_table();

    [[nodiscard]] transition* find(std::uint64_t key) const noexcept {
        for (std::uint64_t at = key & mask_;; at = (at + 1) & mask_) {
            const place& here = places_[at];
            if (here.key == key) [[likely]]
                return here.step;
            if (here.step == nullptr) return nullptr;
        }
    }

    /// `insert` adds an edge, or replaces the edge of an earlier epoch. Call `reserve_one` with the
    /// same key first; its `std::bad_alloc` changes nothing.
    void reserve_one(std::uint64_t key);
    void insert(std::uint64_t key, const transition_ref& made) noexcept;
    void clear() noexcept;

private:
    struct place {
        std::uint64_t key;
        transition* step;  // owned
    };
    static constexpr place nothing{~std::uint64_t{0}, nullptr};  // no edge has this key

    void put(const place& added) noexcept;
    static void release(const place& dropped) noexcept;

    // Numbers are small and dense, so the lowest bits of a key serve as the hash.
    const place* places_ = &nothing;  // mask_ + 1 places, at most half full
    std::uint64_t mask_ = 0;
    std::size_t size_ = 0;
    array_list<place> room_;  // the memory of places_; empty if that is `nothing`
};

}  // namespace MUSTER_NAMESPACE::detail
