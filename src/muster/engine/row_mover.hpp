// row_mover: the steps of moving rows that all moves share.
#pragma once

#include <muster/base/arena.hpp>
#include <muster/base/slice.hpp>
#include <muster/change/gate.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/sparse_table.hpp>
#include <muster/storage/transition.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// The parts of a world that moves of rows use.
struct MUSTER_API row_mover {
    gate& changes;
    chunk_graph& graph;
    sparse_table& sparse;
    entity_directory& entities;
    arena& scratch;

    /// Fills a row whose values were moved out with the last row.
    void close_gap(chunk_data& chunk, std::size_t row) const noexcept;
    /// Reorders all rows: row i receives the row `order[i]`, a permutation. `std::bad_alloc` changes
    /// nothing. Invalidates references into the chunk. O(rows).
    void permute(chunk_data& chunk, slice<const std::uint32_t> order) const;
    /// Undoes `close_gap`: the row has no values again.
    void open_gap(chunk_data& chunk, std::size_t row) const noexcept;
    /// Takes the entity, whose row was moved to the end of `to`, back to this row of `from`, whose
    /// kept values are moved back. Of a transition that moves bytes and drops nothing.
    void undo_bytes(std::uint64_t e, const transition& step, std::size_t row) const noexcept;
    /// Ensures the sparse entry of an entity, which must be marked for destroying. May throw.
    void prepare_sparse(sparse_set& set, std::uint64_t e) const {
        sparse.prepare(set, e, entities.is_dense(e));
    }
};

}  // namespace MUSTER_NAMESPACE::detail
