// chunk_move: moves all entities of a chunk along a transition, with undo. `row_move` does this for
// one entity.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/engine/row_move.hpp>
#include <muster/storage/transition.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// Source of the values that all rows of a chunk receive for one fragment.
struct value_source {
    const void* first = nullptr;  // null: default values
    std::size_t step = 0;         // 0: one value for all rows; 1: one per row
    const fragment_data* like =
        nullptr;  // copy as clones of its values are copied; null: as the type does

    /// Constructs `count` values. May throw, and then leaves none.
    void fill(const fragment_data& fragment, std::byte* to, std::size_t count) const;

private:
    void copy_each(const fragment_data& fragment, std::byte* to, std::size_t count) const;
};

/// Moves all entities of a chunk.
///
///     from   [ ids ][ position ][ health ]            health is dropped
///               |        |          \__ kept aside until the hooks have returned
///     to     [ ids ][ position ][ velocity ]          velocity is new: filled before the move
///
/// If the target is empty and has no larger capacity, the chunks swap columns instead of copying
/// them.
class chunk_move {
public:
    /// Performs all steps that can fail. `values` has one element per change of the transition.
    chunk_move(const row_mover& mover, const transition& step, slice<const value_source> values);
    chunk_move(const chunk_move&) = delete;
    chunk_move& operator=(const chunk_move&) = delete;
    ~chunk_move() { end(); }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// Returns the id of a moved entity.
    [[nodiscard]] std::uint64_t id_at(std::size_t i) const noexcept {
        return has_rows() ? to_.id_at(first_ + i) : from_.id_at(i);
    }

    void apply() noexcept;
    void undo() noexcept;
    /// Moves the removed values that observers keep to their logs.
    void keep_last() const noexcept;

private:
    [[nodiscard]] bool moves() const noexcept { return &from_ != &to_; }
    [[nodiscard]] bool has_rows() const noexcept { return to_.index != chunk_index{}; }
    [[nodiscard]] bool is_kept(std::size_t column) const noexcept;
    [[nodiscard]] bool is_written_over(const column& target,
                                       const value_source& source) const noexcept;
    void make_room();
    void fill(slice<const value_source> values);
    [[nodiscard]] bool resize(column& source) const noexcept {
        return source.resize(0, count_, {});
    }
    column& add_aside(array_list<column>& all, const column& like);
    void move_columns(chunk_data& source, std::size_t source_row, chunk_data& target,
                      std::size_t target_row) noexcept;
    void place_rows(chunk_data& there, std::size_t row) noexcept;
    void note(const chunk_data& there, std::size_t first, const chunk_data& left) const noexcept;
    void end() noexcept;

    struct filled {  // constructed values that are not stored yet
        const column* target;
        std::byte* place;
    };
    struct written {  // values that overwrite the old ones
        const column* target;
        value_source source;
    };

    const row_mover& mover_;
    const transition& step_;
    chunk_data& from_;
    chunk_data& to_;
    std::size_t count_;
    std::size_t first_ = 0;  // first row in the target
    bool calls_after_;       // hooks are called after the move
    bool trades_ = false;
    bool is_there_ = false;
    array_list<filled> filled_;
    array_list<written> at_once_;
    array_list<column> arriving_;  // new values, outside of the chunk until `apply`
    array_list<column> leaving_;   // per column of the source, if `is_kept`: the dropped values
};

}  // namespace MUSTER_NAMESPACE::detail
