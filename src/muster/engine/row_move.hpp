// row_move: moves one entity along a transition, with undo.
#pragma once

#include <muster/base/arena.hpp>
#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/change/gate.hpp>
#include <muster/engine/row_mover.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/sparse_table.hpp>
#include <muster/storage/transition.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace MUSTER_NAMESPACE::detail {

/// Moves an entity for which user code runs, or memory is needed. The caller owns the given values
/// until the move is final. This object owns the default values until then, and the dropped values
/// afterwards.
class row_move {
public:
    /// Performs all steps that can fail. The target has room for a row.
    row_move(const row_mover& mover, std::uint64_t e, const transition& step);
    row_move(const row_move&) = delete;
    row_move& operator=(const row_move&) = delete;
    ~row_move() { end(); }

    /// Moves the row, and stores these values.
    void apply(slice<const pending_value> given) noexcept;
    void undo() noexcept;
    /// Moves the removed values that observers keep to their logs.
    void keep_last() const noexcept;

private:
    /// The slots of the new and of the old value of a sparse fragment.
    struct sparse_slots {
        slot_index arriving = no_slot;
        slot_index leaving = no_slot;
        void* aside = nullptr;  // room to swap their values
    };

    [[nodiscard]] bool moves() const noexcept { return &from_ != &to_; }
    [[nodiscard]] static bool has_row(const chunk_data& chunk) noexcept {
        return chunk.index != chunk_index{};
    }
    static std::byte* bytes(void* at) noexcept { return static_cast<std::byte*>(at); }
    [[nodiscard]] const column& target_of(std::size_t arrival) const noexcept {
        return to_.columns[step_.arrivals[arrival].column];
    }
    [[nodiscard]] std::byte* outside(std::size_t column, std::size_t to_row) const noexcept;
    template <class T>
    [[nodiscard]] slice<T> places(std::size_t count);
    [[nodiscard]] void* room_for(const column& source);
    [[nodiscard]] void* default_construct(const column& source);
    void prepare_sparse(std::size_t which);
    void apply_sparse(std::size_t which, const sparse_slots& slots) noexcept;
    void end_sparse(std::size_t which) noexcept;
    void end() noexcept;

    const row_mover& mover_;
    std::uint64_t e_;
    const transition& step_;
    chunk_data& from_;
    chunk_data& to_;
    std::size_t row_ = 0;         // in the source
    slice<void*> arriving_;       // per arrival: its pending value
    slice<void*> leaving_;        // per column of the source: room for a dropped value, or null
    slice<sparse_slots> sparse_;  // per change of a sparse fragment
    bool is_there_ = false;
};

}  // namespace MUSTER_NAMESPACE::detail
