// chunk_graph: the chunks of one world, by number and by fragments, and the edges between them.
//
// A chunk stands for a set of fragments. A hash table finds the chunk of a set. An edge stores the
// transition from a chunk when a set is added or removed, so that repeating it is O(1):
//
//     <>  --+position-->  <position>  --+velocity-->  <position, velocity>
//                               <------velocity-----
//
// The set that an edge adds or removes is itself named by a chunk, which may never have rows.
// Chunks with sparse fragments never have any; no edge leads to them.
// Chunk 0 is the empty set. It has no rows, since entities without fragments are in no chunk.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/storage/chunk_data.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace muster::detail {

/// Adds the fragments that `added` needs, transitively, to a sorted set. `added` must be part of
/// the set.
MUSTER_API void complete(array_list<fragment_data*>& set, array_list<fragment_data*> added);

class MUSTER_API chunk_graph {
public:
    /// `id_type` describes an id. The graph holds at most `limit` chunks, including chunk 0.
    chunk_graph(const type_info& id_type, std::size_t limit);
    chunk_graph(const chunk_graph&) = delete;
    chunk_graph& operator=(const chunk_graph&) = delete;
    ~chunk_graph();

    [[nodiscard]] chunk_data& empty_chunk() const noexcept { return *by_index_[0]; }
    [[nodiscard]] chunk_data& at(chunk_index index) const noexcept {
        return *by_index_[to_int(index)];
    }
    /// All chunk numbers are below this.
    [[nodiscard]] std::size_t end() const noexcept { return by_index_.size(); }
    /// Returns the chunk with this number and serial, or null if it was freed.
    [[nodiscard]] chunk_data* find(chunk_index index, std::uint64_t serial) const noexcept;

    /// Returns the chunk of exactly these fragments, sorted by number without duplicates; creates
    /// it if necessary. Creating throws `errc::limit` or `std::bad_alloc`, which change nothing.
    /// O(fragments).
    chunk_data& ensure(std::span<fragment_data* const> set);

    /// Returns the transition from `from` that adds the fragments of `more` and those that the new
    /// ones need, or removes the fragments of `less`. The first call may throw like `ensure`; later
    /// calls are O(1).
    const edge& with(chunk_data& from, const chunk_data& more) {
        const edge* const known = from.edges.find(edge::key_of(more.index, false));
        return known != nullptr ? *known : add_edge(from, more, false);
    }
    const edge& without(chunk_data& from, const chunk_data& less) {
        const edge* const known = from.edges.find(edge::key_of(less.index, true));
        return known != nullptr ? *known : add_edge(from, less, true);
    }

    /// Updates chunks after traits have changed. Drops all edges, since their targets may differ
    /// now.
    void invalidate_traits() noexcept;
    /// Updates the flags of chunks and edges after hooks have changed. Keeps all edges.
    void refresh_hook_flags() noexcept;

    /// All chunks, in order of creation.
    [[nodiscard]] const array_list<chunk_data*>& all() const noexcept { return order_; }
    /// While it is unchanged, `all` only grows and the traits of chunks stay as they are. Never 0.
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

    /// Frees chunks without rows that have `fragment`. Null: frees all chunks without rows, and
    /// memory that no row needs. Invalidates addresses of freed chunks, and all edges.
    void collect_garbage(const fragment_data* fragment = nullptr) noexcept;

private:
    const edge& add_edge(chunk_data& from, const chunk_data& other, bool removes);
    chunk_data& add(std::span<fragment_data* const> set, std::size_t hash);
    void forget(chunk_data& chunk) noexcept;
    [[nodiscard]] std::size_t find_place(std::span<fragment_data* const> set,
                                         std::size_t hash) const noexcept;
    void rehash(std::size_t places);

    array_list<chunk_data*> by_index_;  // owned; null: the number is free
    array_list<chunk_index> free_;      // numbers to reuse
    array_list<chunk_data*> order_;
    array_list<chunk_data*> places_;  // hash table; a power of two, at most half full
    const type_info& id_type_;
    std::size_t limit_;
    std::uint64_t last_serial_ = 0;
    std::uint64_t generation_ = 1;
};

}  // namespace muster::detail
