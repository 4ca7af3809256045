// chunk_graph: the chunks of one world, by number and by fragments.
//
// A chunk stands for a set of fragments and, for those with `has_word`, a word each. A hash table
// finds the chunk of a set. Each chunk stores its transitions to other chunks as edges, so that
// repeating a change is O(1):
//
//     <>  --+position-->  <position>  --+velocity-->  <position, velocity>
//                               <------velocity-----
//
// An edge that adds or removes several fragments is named by the chunk of these fragments, which
// may never have rows. Chunks with sparse fragments never have any; no edge leads to them.
// Chunk 0 is the empty set. It has no rows, since entities without fragments are in no chunk.
// Chunk 1 has no rows either: see `away_index`.
//
// The graph counts epochs. A new epoch begins when anything changes that a transition depends on:
// traits, hooks, the first value of an untyped fragment, freed chunks. All edges are then out of
// date, and each chunk updates its flags when they are read next.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/hash_table.hpp>
#include <muster/base/slice.hpp>
#include <muster/storage/chunk_data.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API chunk_graph {
public:
    /// `id_type` describes an id. The graph holds at most `limit` chunks, including chunk 0, and a
    /// chunk at most `row_limit` rows.
    chunk_graph(const type_info& id_type, std::size_t limit, std::size_t row_limit);
    chunk_graph(const chunk_graph&) = delete;
    chunk_graph& operator=(const chunk_graph&) = delete;
    ~chunk_graph();

    [[nodiscard]] chunk_data& empty_chunk() const noexcept { return *by_index_[0]; }
    /// The chunk of entities whose rows are in other worlds. It has no fragments and no rows, is
    /// not in `all`, and no transition leads from or to it. The row of an entity in it is the
    /// number of the other world.
    static constexpr chunk_index away_index{1};
    [[nodiscard]] chunk_data& at(chunk_index index) const noexcept {
        return *by_index_[to_int(index)];
    }
    /// All chunk numbers are below this.
    [[nodiscard]] std::size_t end() const noexcept { return by_index_.size(); }
    [[nodiscard]] std::size_t row_limit() const noexcept { return row_limit_; }
    /// Returns the chunk with this number and serial, or null if it was freed.
    [[nodiscard]] chunk_data* find(chunk_index index, std::uint64_t serial) const noexcept;
    /// The words of fragments with `has_word`, in the order of fragments; missing words are 0.
    using word_list = slice<const std::uint64_t>;

    /// Returns the chunk of exactly these fragments, sorted by number, with these words, or null.
    [[nodiscard]] chunk_data* find(slice<fragment_data* const> set,
                                   word_list words = {}) const noexcept;

    /// Returns the chunk of exactly these fragments, sorted by number without duplicates, with
    /// these words; creates it if necessary. Creating throws `errc::limit` or `std::bad_alloc`,
    /// which change nothing. O(fragments).
    chunk_data& ensure(slice<fragment_data* const> set, word_list words = {});
    /// Returns the chunk of the same fragments with these words. Creates it as `ensure` does.
    chunk_data& regroup(const chunk_data& from, word_list words) {
        return ensure(from.fragments, words);
    }

    /// Makes `follower` follow the rows of all chunks, also of later ones; null: no one. The caller
    /// has made room in the chunks.
    void follow_all(row_follower* follower) noexcept;

    /// The current epoch. Never 0, never reused.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    /// Its low bits, never 0, in the position that they have in an `edge_key`.
    [[nodiscard]] std::uint64_t edge_epoch() const noexcept { return edge_epoch_; }
    /// Begins a new epoch. O(1), except for one call in 2^29.
    void invalidate() noexcept;
    /// Begins a new epoch, after traits have changed: queries start over, too.
    void invalidate_traits() noexcept {
        ++generation_;
        invalidate();
    }
    /// Returns the chunk with flags of the current epoch.
    chunk_data& refresh(chunk_data& chunk) const noexcept {
        if (chunk.traits_epoch != epoch_) [[unlikely]]
            update_traits(chunk);
        return chunk;
    }

    /// All chunks, in order of creation. In the places of freed chunks there is a chunk with the
    /// number 0, without fragments and rows.
    [[nodiscard]] const array_list<chunk_data*>& all() const noexcept { return order_.all(); }
    /// While it is unchanged, `all` only grows and the traits of chunks stay as they are. Never 0.
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

    /// Frees all chunks without rows, and memory that no row needs. Invalidates addresses of freed
    /// chunks.
    void collect_garbage() noexcept;
    /// Frees the chunks with this fragment, which must have no rows. O(their fragments), amortised.
    void forget_chunks_of(fragment_data& fragment) noexcept;

private:
    chunk_data& add(slice<fragment_data* const> set, word_list words, std::size_t hash);
    void update_traits(chunk_data& chunk) const noexcept;
    void erase_from_order(chunk_data& chunk) noexcept;
    void erase_from_chunks_of(fragment_data& fragment, std::uint32_t place) noexcept;
    void forget(chunk_data& chunk) noexcept;

    chunk_data away_;                   // chunk 1
    chunk_data gone_;                   // in `order_` in the places of freed chunks
    array_list<chunk_data*> by_index_;  // owned, except for chunk 1; null: the number is free
    std::uint64_t epoch_ = 1;
    std::uint64_t edge_epoch_ = std::uint64_t{1} << edge_key::epoch_shift;
    std::uint64_t generation_ = 1;
    array_list<chunk_index> free_;  // numbers to reuse
    hole_list<chunk_data*> order_{&gone_};
    hash_table<chunk_data, &chunk_data::hash> by_set_;
    const type_info& id_type_;
    std::size_t limit_;
    std::size_t row_limit_;
    std::uint64_t last_serial_ = 0;
    row_follower* follower_ = nullptr;  // of all chunks
};

}  // namespace MUSTER_NAMESPACE::detail
