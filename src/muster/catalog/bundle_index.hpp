// bundle_index: the chunks of lists of fragments that the program uses: lists of C++ types, which
// have numbers, and recently used lists of fragments.
#pragma once

#include <muster/base/integer.hpp>
#include <muster/base/raw_array.hpp>
#include <muster/base/slice.hpp>
#include <muster/storage/chunk_data.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// By the number of the list of types; see `find_list_index`.
class bundle_index {
public:
    struct entry {
        chunk_data* chunk;        // of exactly these types; null: not looked up yet
        chunk_data* spawned;      // the same chunk, if `spawn` may take the fast path
        std::uint8_t columns[8];  // the columns of the first types of the list, in that chunk
    };

    bundle_index() {
        entries_.grow(8);
        entries_[count_++] = {};
    }

    /// Returns an entry without a chunk for an unknown list.
    [[nodiscard]] const entry& find(list_index list) const noexcept {
        const auto at = static_cast<std::size_t>(list);
        return entries_[at < count_ ? at : 0];
    }
    /// Returns the entry of a list. `std::bad_alloc` changes nothing.
    entry& ensure(list_index list) {
        const auto at = static_cast<std::size_t>(list);
        if (at >= entries_.capacity()) entries_.grow(larger(at + 1, entries_.capacity() * 2));
        while (count_ <= at) entries_[count_++] = {};
        return entries_[at];
    }
    /// Forgets all chunks. O(1).
    void clear() noexcept { count_ = 1; }

private:
    std::size_t count_ = 0;  // entries in use, the first for `no_list`
    raw_array<entry> entries_;
};

/// Recently used sets of fragments, each in the order in which it was passed.
class recent_sets {
    static constexpr std::size_t most = 6;  // larger sets are looked up in the graph

public:
    struct entry {
        std::size_t size = 0;
        fragment_data* fragments[most]{};
        chunk_data* chunk = nullptr;
        chunk_data* spawned = nullptr;  // the same chunk, if `spawn` may take the fast path
    };

    /// Returns an entry without a chunk for an unknown set.
    [[nodiscard]] const entry& find(slice<fragment_data* const> set) const noexcept {
        const entry& known = entries_[place_of(set)];
        if (known.size != set.size()) return nothing();
        for (std::size_t i = 0; i < set.size(); ++i)
            if (set[i] != known.fragments[i]) return nothing();
        return known;
    }
    void put(slice<fragment_data* const> set, chunk_data& chunk, chunk_data* spawned) noexcept {
        entry& made = entries_[place_of(set)];
        if (set.size() > most) return;
        for (std::size_t i = 0; i < set.size(); ++i) made.fragments[i] = set[i];
        made.size = set.size();
        made.chunk = &chunk;
        made.spawned = spawned;
    }
    void clear() noexcept {
        for (entry& known : entries_) known = entry{};
    }

private:
    static constexpr std::size_t count = 8;
    /// The entry of unknown sets: the last, which no set has.
    [[nodiscard]] const entry& nothing() const noexcept { return entries_[count]; }

    [[nodiscard]] static std::size_t place_of(slice<fragment_data* const> set) noexcept {
        std::size_t hash = set.size();
        for (const fragment_data* fragment : set) hash = hash * 31 + to_int(fragment->index);
        return hash % count;
    }

    entry entries_[count + 1];
};

}  // namespace MUSTER_NAMESPACE::detail
