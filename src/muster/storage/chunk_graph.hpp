// chunk_graph: the chunks of one world, by number and by what they have, and the steps between them.
//
// A chunk stands for a set of fragments. Sets are found by hash; the step "this chunk and that set" is
// remembered as an edge, so that adding or removing is O(1) from the second time on:
//
//     <>  --+position-->  <position>  --+velocity-->  <position, velocity>
//                               <------velocity-----
//
// The set that an edge adds or removes is named by its own chunk, which may stay without rows forever; so
// does one that has a sparse fragment. Edges lead to chunks without these.
// Chunk 0 is the empty set: it has no rows, since entities without fragments are in no chunk.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/storage/chunk_data.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace muster::detail {

/// Adds to a sorted set what those of `added`, which are in it, need, and what that needs.
MUSTER_API void complete(array_list<fragment_data*>& set, array_list<fragment_data*> added);

class MUSTER_API chunk_graph {
public:
    /// `id_type` tells how large an id is. At most `limit` chunks, chunk 0 among them.
    chunk_graph(const type_info& id_type, std::size_t limit);
    chunk_graph(const chunk_graph&) = delete;
    chunk_graph& operator=(const chunk_graph&) = delete;
    ~chunk_graph();

    [[nodiscard]] chunk_data& nowhere() const noexcept { return *by_index_[0]; }
    [[nodiscard]] chunk_data& at(chunk_index index) const noexcept {
        return *by_index_[to_int(index)];
    }
    /// Numbers from here on are of no chunk.
    [[nodiscard]] std::size_t end() const noexcept { return by_index_.size(); }
    /// The chunk with this number, if it still is the one with this serial; else null.
    [[nodiscard]] chunk_data* find(chunk_index index, std::uint64_t serial) const noexcept;

    /// The chunk of exactly these fragments, sorted by number, each once. O(fragments). A new one can
    /// be `errc::limit` or `std::bad_alloc`, which change nothing.
    chunk_data& ensure(std::span<fragment_data* const> set);

    /// The step from `from` when the fragments of `more` are added, with what the new ones need, or those
    /// of `less` removed. O(1) once it was made; the first time can fail as `ensure` does.
    const edge& with(chunk_data& from, const chunk_data& more) {
        const edge* const known = from.edges.find(edge::key_of(more.index, false));
        return known != nullptr ? *known : add_edge(from, more, false);
    }
    const edge& without(chunk_data& from, const chunk_data& less) {
        const edge* const known = from.edges.find(edge::key_of(less.index, true));
        return known != nullptr ? *known : add_edge(from, less, true);
    }

    /// What fragments mean has changed: forgets all edges, which may lead elsewhere now.
    void note_meaning() noexcept;
    /// Other hooks than before have to be told. Forgets nothing.
    void note_hooks() noexcept;

    /// All chunks in the order of their making.
    [[nodiscard]] const array_list<chunk_data*>& all() const noexcept { return order_; }
    /// While it is the same, `all` only gets longer, and chunks mean what they did. Never 0.
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

    /// Frees the chunks without rows: those that have `fragment`; if it is null, all, and memory that
    /// no row needs. Who has kept a chunk's address or an edge must forget it.
    void collect_garbage(const fragment_data* fragment = nullptr) noexcept;

private:
    const edge& add_edge(chunk_data& from, const chunk_data& other, bool removes);
    chunk_data& add(std::span<fragment_data* const> set, std::size_t hash);
    void forget(chunk_data& one) noexcept;
    [[nodiscard]] std::size_t find_place(std::span<fragment_data* const> set,
                                         std::size_t hash) const noexcept;
    void rehash(std::size_t places);

    array_list<chunk_data*> by_index_;  // owned; null: free
    array_list<chunk_index> free_;      // numbers to use again
    array_list<chunk_data*> order_;
    array_list<chunk_data*> places_;  // by hash; a power of two, at most half of them taken
    const type_info& id_type_;
    std::size_t limit_;
    std::uint64_t last_serial_ = 0;
    std::uint64_t generation_ = 1;
};

}  // namespace muster::detail
