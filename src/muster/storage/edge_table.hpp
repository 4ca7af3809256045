// edge_table: where an entity goes from one chunk when fragments are added or removed.
#pragma once

#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster::detail {

struct chunk_data;

/// A step from one chunk to another. It stands for a set of fragments that are added or removed, and
/// that set has a chunk, too: its number and the direction are the key.
struct edge {
    static constexpr std::uint32_t dropped = ~std::uint32_t{0};

    std::uint64_t key;
    chunk_data* target;
    std::vector<std::uint32_t> columns;  // for each column of the source: which of the target

    static constexpr std::uint64_t key_of(chunk_index other, bool removes) noexcept {
        return std::uint64_t{to_int(other)} << 1 | (removes ? 1u : 0u);
    }
};

/// A hash table of edges by key: one probe where there is no collision.
class edge_table {
public:
    edge_table() = default;
    edge_table(const edge_table&) = delete;
    edge_table& operator=(const edge_table&) = delete;
    ~edge_table() { clear(); }

    [[nodiscard]] const edge* find(std::uint64_t key) const noexcept {
        if (places_.empty()) return nullptr;
        for (std::size_t at = place(key);; at = (at + 1) & (places_.size() - 1)) {
            const edge* const found = places_[at];
            if (found == nullptr || found->key == key) return found;
        }
    }

    /// The table owns `made`, whose key it does not have. `std::bad_alloc` changes nothing.
    void reserve_one();
    void insert(const edge* made) noexcept;
    void clear() noexcept;

private:
    [[nodiscard]] std::size_t place(std::uint64_t key) const noexcept {
        // The upper half of the product depends on all bits of the key.
        return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15u >> 32) & (places_.size() - 1);
    }

    std::vector<const edge*> places_;  // a power of two, at most half of them taken
    std::size_t size_ = 0;
};

}  // namespace muster::detail
