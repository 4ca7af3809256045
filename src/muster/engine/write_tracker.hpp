// write_tracker: when each column, sparse set and set of rows was last written. For code that
// copies or compares the states of a world, and wants to skip what has not changed.
//
// It is off until `begin`, and costs nothing then: one bit of the gate disables the fast paths that
// would not mark what they write. While it is on, a column counts as written if
//   - a value was set, patched, touched, sorted or copied there by a call;
//   - a loop took it by reference to non-const, even if the loop wrote nothing;
//   - a call returned a mutable reference, pointer or span into it.
// A write through a reference that was taken before `advance` is not seen.
#pragma once

#include <muster/catalog/catalog.hpp>
#include <muster/change/gate.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/row_follower.hpp>
#include <muster/storage/sparse_table.hpp>
#include <muster/storage/transition.hpp>
#include <muster/type/fragment_table.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API write_tracker final : public row_follower {
public:
    write_tracker(catalog& known, fragment_table& fragments, chunk_graph& graph,
                  sparse_table& sparse, gate& changes) noexcept
        : catalog_(known), fragments_(fragments), graph_(graph), sparse_(sparse), gate_(changes) {}

    /// Starts to track writes; all that exists counts as written now. Calls nest. `std::bad_alloc`
    /// changes nothing. Throws `errc::in_scope` in a scope, whose loops would not mark their writes.
    /// O(chunks x fragments).
    void begin();
    /// Undoes one `begin`.
    void end() noexcept;
    [[nodiscard]] bool is_on() const noexcept { return users_ != 0; }

    /// The tick of writes that happen now. Never 0.
    [[nodiscard]] std::uint64_t now() const noexcept { return now_; }
    /// Later writes have a later tick.
    void advance() noexcept { ++now_; }

    // Each returns the tick of the last write; 0 if it was never written while tracked.

    /// Of a fragment's values in a chunk, or of all its values if it is sparse. Adding, moving and
    /// removing rows counts in `written_rows` only.
    [[nodiscard]] static std::uint64_t written(const fragment_data& fragment,
                                               chunk_index chunk) noexcept;
    /// Of the set or the order of the rows of a chunk.
    [[nodiscard]] static std::uint64_t written_rows(const chunk_data& chunk) noexcept {
        return chunk.rows_written;
    }

    /// Marks the values of a fragment in a chunk, or all its values if it is sparse. Any thread may
    /// call it in a parallel phase.
    void mark(const fragment_data& fragment, chunk_index chunk) const noexcept;
    /// Marks the values that a transition has stored.
    void mark(const transition& step) const noexcept;
    /// Marks all columns of a chunk.
    void mark_all(const chunk_data& chunk) const noexcept;

    void prepare(const chunk_data&, std::size_t) override {}
    void appended(const chunk_data& chunk, std::size_t, std::size_t) noexcept override {
        chunk.rows_written = now_;
    }
    void removed(const chunk_data& chunk, std::size_t) noexcept override {
        chunk.rows_written = now_;
    }
    void restored(const chunk_data& chunk, std::size_t) noexcept override {
        chunk.rows_written = now_;
    }
    void truncated(const chunk_data& chunk, std::size_t) noexcept override {
        chunk.rows_written = now_;
    }
    void permuted(const chunk_data& chunk) noexcept override { chunk.rows_written = now_; }
    void freed(const chunk_data&) noexcept override {}

private:
    catalog& catalog_;
    fragment_table& fragments_;
    chunk_graph& graph_;
    sparse_table& sparse_;
    gate& gate_;
    std::uint64_t now_ = 1;
    std::uint32_t users_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
