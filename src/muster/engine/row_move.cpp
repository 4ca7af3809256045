#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/catalog/error_reporter.hpp>
#include <muster/engine/row_move.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

// ---- row_mover ---------------------------------------------------------------------------------

void row_mover::close_gap(chunk_data& chunk, std::size_t row) const noexcept {
    const std::size_t last = --chunk.size;
    if (row == last) return;
    for (const column& source : chunk.columns) source.relocate(source.at(row), source.at(last), 1);
    const std::uint64_t moved = chunk.id_at(last);
    chunk.set_id(row, moved);
    entities.place(moved, {chunk.index, row});
}

void row_mover::permute(chunk_data& chunk, slice<const std::uint32_t> order) const {
    std::vector<column> ordered(chunk.columns.size() + 1);
    const scope_guard free([&] {
        for (column& source : ordered) source.free();
    });
    for (std::size_t i = 0; i < ordered.size(); ++i) {
        const column& like = i == 0 ? chunk.ids : chunk.columns[i - 1];
        ordered[i] = column(*like.type, like.fragment);
        if (!ordered[i].resize(0, chunk.capacity, {})) raise_out_of_memory();
    }

    {
        const busy_guard busy(changes);
        for (std::size_t i = 0; i < ordered.size(); ++i) {
            column& source = i == 0 ? chunk.ids : chunk.columns[i - 1];
            for (std::size_t row = 0; row < chunk.size; ++row)
                source.relocate(ordered[i].at(row), source.at(order[row]), 1);
            std::swap(source.data, ordered[i].data);
            std::swap(source.block, ordered[i].block);
            if (source.fragment != nullptr) source.fragment->set_base(chunk.index, source.data);
        }
    }
    entities.place_rows(chunk, 0, chunk.size, chunk.index);
    for (row_follower* follower : chunk.followers) follower->permuted(chunk);
}

void row_mover::open_gap(chunk_data& chunk, std::size_t row) const noexcept {
    const std::size_t last = chunk.size++;
    if (row == last) return;
    for (const column& source : chunk.columns) source.relocate(source.at(last), source.at(row), 1);
    const std::uint64_t moved = chunk.id_at(row);
    chunk.set_id(last, moved);
    entities.place(moved, {chunk.index, last});
}

void row_mover::undo_bytes(std::uint64_t e, const transition& step,
                           std::size_t row) const noexcept {
    chunk_data& from = *step.from;
    chunk_data& to = *step.to;
    if (&from == &to) return;
    if (to.index != chunk_index{}) --to.size;
    if (from.index != chunk_index{}) {
        open_gap(from, row);
        from.set_id(row, e);
        for (std::size_t i = 0; i < from.columns.size(); ++i)
            from.columns[i].relocate(from.columns[i].at(row),
                                     to.columns[step.columns[i]].at(to.size), 1);
    }
    entities.place(e, {from.index, row});
}

// ---- row_move ----------------------------------------------------------------------------------

row_move::row_move(const row_mover& mover, std::uint64_t e, const transition& step)
    : mover_(mover),
      e_(e),
      step_(step),
      from_(*step.from),
      to_(*step.to),
      arriving_(places<void*>(step.arrivals.size())),
      leaving_(places<void*>(from_.columns.size())),
      sparse_(places<sparse_slots>(step.sparse_changes.size())) {
    for (std::size_t i = 0; i < leaving_.size(); ++i)
        if (step.columns[i] == transition::dropped) leaving_[i] = room_for(from_.columns[i]);
    scope_guard rollback([this] { end(); });
    for (std::size_t i = 0; i < arriving_.size(); ++i)
        if (step.arrivals[i].given == transition::none)
            arriving_[i] = default_construct(target_of(i));
    for (std::size_t i = 0; i < sparse_.size(); ++i) prepare_sparse(i);
    rollback.dismiss();
}

void row_move::apply(slice<const pending_value> given) noexcept {
    const busy_guard busy(mover_.changes);
    for (std::size_t i = 0; i < arriving_.size(); ++i)
        if (const std::uint32_t which = step_.arrivals[i].given; which != transition::none)
            arriving_[i] = given[which].at;
    for (std::size_t i = 0; i < sparse_.size(); ++i)
        if (const std::uint32_t which = step_.sparse_changes[i].given; which != transition::none)
            sparse_[i].arriving = given[which].slot;
    row_ = mover_.entities.locate(e_).row;
    const std::size_t to_row = moves() ? to_.size : row_;
    for (std::size_t i = 0; i < from_.columns.size(); ++i)
        if (std::byte* const there = outside(i, to_row))
            from_.columns[i].relocate(there, from_.columns[i].at(row_), 1);
    for (std::size_t i = 0; i < arriving_.size(); ++i)
        target_of(i).relocate(target_of(i).at(to_row), bytes(arriving_[i]), 1);
    for (std::size_t i = 0; i < sparse_.size(); ++i) apply_sparse(i, sparse_[i]);
    is_there_ = true;
    if (!moves()) return;
    if (has_row(from_)) mover_.close_gap(from_, row_);
    mover_.entities.place(e_, {to_.index, has_row(to_) ? to_row : 0});
    if (has_row(to_)) to_.set_id(to_.size++, e_);
    from_.note_removed(row_);
    to_.note_appended(to_row, 1);
}

void row_move::undo() noexcept {
    const busy_guard busy(mover_.changes);
    if (moves()) {
        if (has_row(to_)) --to_.size;
        if (has_row(from_)) {
            mover_.open_gap(from_, row_);
            from_.set_id(row_, e_);
        }
        mover_.entities.place(e_, {from_.index, row_});
    }
    const std::size_t to_row = moves() ? to_.size : row_;
    for (std::size_t i = 0; i < arriving_.size(); ++i)
        target_of(i).relocate(bytes(arriving_[i]), target_of(i).at(to_row), 1);
    for (std::size_t i = 0; i < from_.columns.size(); ++i)
        if (std::byte* const there = outside(i, to_row))
            from_.columns[i].relocate(from_.columns[i].at(row_), there, 1);
    for (std::size_t i = 0; i < sparse_.size(); ++i)
        apply_sparse(i, {sparse_[i].leaving, sparse_[i].arriving, sparse_[i].aside});
    is_there_ = false;
    if (!moves()) return;
    to_.note_truncated();
    from_.note_restored(row_);
}

void row_move::keep_last() const noexcept {
    const busy_guard busy(mover_.changes);
    for (fragment_data* const fragment : step_.removed) {
        if (!fragment->hooks.keeps_values()) continue;
        if (fragment->sparse_values == nullptr)
            fragment->hooks.keep(e_, leaving_[from_.find_column(*fragment)]);
        for (std::size_t i = 0; i < sparse_.size(); ++i)
            if (step_.sparse_changes[i].fragment == fragment)
                fragment->hooks.keep(e_, fragment->sparse_values->at(sparse_[i].leaving));
    }
}

/// Returns the destination of a value of the source; null if it stays.
std::byte* row_move::outside(std::size_t column, std::size_t to_row) const noexcept {
    if (leaving_[column] != nullptr) return bytes(leaving_[column]);
    return moves() ? to_.columns[step_.columns[column]].at(to_row) : nullptr;
}

/// Returns `count` default values in scratch memory, which last as long as this object.
template <class T>
slice<T> row_move::places(std::size_t count) {
    auto* const made = static_cast<T*>(mover_.scratch.allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_fill_n(made, count, T{});
    return {made, count};
}

void* row_move::room_for(const column& source) {
    return mover_.scratch.allocate(source.type->size, source.type->alignment);
}

void* row_move::default_construct(const column& source) {
    if (!source.fragment->has_default())
        error_reporter::raise_no_default(*source.fragment, source.fragment->name);
    void* const room = room_for(source);
    const busy_guard busy(mover_.changes);
    source.fragment->default_construct(room, 1);
    return room;
}

void row_move::prepare_sparse(std::size_t which) {
    const transition::sparse_change& step = step_.sparse_changes[which];
    const fragment_data& fragment = *step.fragment;
    sparse_set& set = *fragment.sparse_values;
    sparse_slots& slots = sparse_[which];
    if (step.was_there) slots.leaving = set.find(e_);
    if (!step.is_inserted) return;
    mover_.prepare_sparse(set, e_);
    if (step.was_there && !fragment.type->pinned)
        slots.aside = mover_.scratch.allocate(fragment.type->size, fragment.type->alignment);
    if (step.given != transition::none) return;
    if (!fragment.has_default()) error_reporter::raise_no_default(fragment, fragment.name);
    const slot_index made = set.take();
    scope_guard release([&] { set.give_back(made); });
    const busy_guard busy(mover_.changes);
    fragment.default_construct(set.at(made), 1);
    release.dismiss();
    slots.arriving = made;
}

/// Attaches the new value and leaves the old one in a reserved slot. If the type can be moved, a
/// replaced value keeps its address.
void row_move::apply_sparse(std::size_t which, const sparse_slots& slots) noexcept {
    sparse_set& set = *step_.sparse_changes[which].fragment->sparse_values;
    if (slots.aside != nullptr) return set.trade(slots.leaving, slots.arriving, slots.aside);
    if (slots.leaving != no_slot) set.detach(e_, slots.leaving);
    if (slots.arriving != no_slot) set.attach(e_, slots.arriving);
}

/// Destroys the value that no entity has in the end.
void row_move::end_sparse(std::size_t which) noexcept {
    const transition::sparse_change& step = step_.sparse_changes[which];
    const sparse_slots& slots = sparse_[which];
    const bool is_traded = slots.aside != nullptr;
    if (!is_there_ && step.is_inserted && step.given != transition::none)
        return;  // the caller owns it
    const slot_index left = is_there_ && !is_traded ? slots.leaving : slots.arriving;
    if (left != no_slot) step.fragment->sparse_values->drop(left);
}

void row_move::end() noexcept {
    const busy_guard busy(mover_.changes);
    for (std::size_t i = 0; i < sparse_.size(); ++i) end_sparse(i);
    if (is_there_) {
        for (std::size_t i = 0; i < leaving_.size(); ++i)
            if (leaving_[i] != nullptr) from_.columns[i].destroy(bytes(leaving_[i]), 1);
    } else {
        for (std::size_t i = 0; i < arriving_.size(); ++i)
            if (step_.arrivals[i].given == transition::none && arriving_[i] != nullptr)
                target_of(i).destroy(bytes(arriving_[i]), 1);
    }
}

}  // namespace MUSTER_NAMESPACE::detail
