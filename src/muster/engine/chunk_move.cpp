#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/catalog/error_reporter.hpp>
#include <muster/engine/chunk_move.hpp>

#include <cstring>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

void value_source::fill(const fragment_data& fragment, std::byte* to, std::size_t count) const {
    if (first == nullptr)
        fragment.default_construct(to, count);
    else if (like != nullptr && like->duplicate.call != nullptr)
        copy_each(*like, to, count);
    else
        fragment.type->copy_values(to, first, count, step);
}

void value_source::copy_each(const fragment_data& fragment, std::byte* to,
                             std::size_t count) const {
    const type_info& type = *fragment.type;
    std::size_t made = 0;
    scope_guard rollback([&] {
        if (type.destroy != nullptr) type.destroy(to, made);
    });
    const auto* const from = static_cast<const std::byte*>(first);
    for (; made < count; ++made)
        fragment.copy_value(to + made * type.size, from + made * step * type.size, 1);
    rollback.dismiss();
}

chunk_move::chunk_move(const row_mover& mover, const transition& step,
                       slice<const value_source> values)
    : mover_(mover),
      step_(step),
      from_(*step.from),
      to_(*step.to),
      count_(from_.size),
      calls_after_(step.calls_after) {
    mover_.changes.is_moving = true;  // until `end`, `reserve` must not resize the chunks
    scope_guard rollback([this] { end(); });
    make_room();
    fill(values);
    leaving_.resize(from_.columns.size());
    for (std::size_t i = 0; i < leaving_.size(); ++i) {
        if (!is_kept(i)) continue;
        leaving_[i] = column(*from_.columns[i].type, nullptr);
        if (!resize(leaving_[i])) raise_out_of_memory();
    }
    rollback.dismiss();
}

/// Constructs the values that arrive.
void chunk_move::fill(slice<const value_source> values) {
    for (const transition::arrival& arrival : step_.arrivals) {
        const column& target = to_.columns[arrival.column];
        const value_source source =
            arrival.given == transition::none ? value_source{} : values[arrival.given];
        if (source.first == nullptr && !target.fragment->has_default())
            error_reporter::raise_no_default(*target.fragment, target.fragment->name);
        if (!moves() && is_written_over(target, source)) {
            at_once_.push_back({&target, source});
            continue;
        }
        filled_.reserve(step_.arrivals.size());
        std::byte* const place = moves() ? target.at(first_) : add_aside(arriving_, target).data;
        const busy_guard busy(mover_.changes);
        source.fill(*target.fragment, place, count_);
        filled_.push_back({&target, place});
    }
}

void chunk_move::apply() noexcept {
    const busy_guard busy(mover_.changes);
    for (std::size_t i = 0; i < leaving_.size(); ++i)
        if (is_kept(i)) from_.columns[i].relocate(leaving_[i].data, from_.columns[i].data, count_);
    if (moves()) {
        move_columns(from_, 0, to_, first_);
        place_rows(to_, first_);
    } else {
        for (const filled& range : filled_)
            range.target->relocate(range.target->data, range.place, count_);
        for (const written& range : at_once_)
            range.source.fill(*range.target->fragment, range.target->data, count_);
    }
    filled_.clear();
    is_there_ = true;
    if (moves())  // no row refers to these values any more
        for (std::size_t i = 0; i < leaving_.size(); ++i)
            if (step_.columns[i] == transition::dropped && !is_kept(i))
                from_.columns[i].destroy(from_.columns[i].data, count_);
    note(to_, first_, from_);
}

void chunk_move::undo() noexcept {
    const busy_guard busy(mover_.changes);
    for (const transition::arrival& arrival : step_.arrivals) {
        const column& target = to_.columns[arrival.column];
        target.destroy(target.at(first_), count_);
    }
    if (moves()) {
        move_columns(to_, first_, from_, 0);
        place_rows(from_, 0);
    }
    for (std::size_t i = 0; i < leaving_.size(); ++i)
        if (is_kept(i)) from_.columns[i].relocate(from_.columns[i].data, leaving_[i].data, count_);
    is_there_ = false;
    note(from_, 0, to_);
}

void chunk_move::keep_last() const noexcept {
    const busy_guard busy(mover_.changes);
    for (fragment_data* const fragment : step_.removed) {
        if (!fragment->hooks.keeps_values()) continue;
        const column& values = leaving_[from_.find_column(*fragment)];
        for (std::size_t i = 0; i < count_; ++i) fragment->hooks.keep(id_at(i), values.at(i));
    }
}

/// Tells the followers that all rows have moved between the chunks.
void chunk_move::note(const chunk_data& there, std::size_t first,
                      const chunk_data& left) const noexcept {
    if (!moves()) return;
    left.note_truncated();
    there.note_appended(first, count_);
}

/// Whether dropped values are kept aside: while hooks may cause an undo, until observers take them,
/// or while a destructor may read the chunk.
bool chunk_move::is_kept(std::size_t column) const noexcept {
    return step_.columns[column] == transition::dropped &&
           (calls_after_ || step_.keeps_last ||
            (!moves() && from_.columns[column].destroy_many != nullptr));
}

/// Whether the new values may overwrite the old ones: bytes that no undo has to restore.
bool chunk_move::is_written_over(const column& target, const value_source& source) const noexcept {
    return !calls_after_ && !step_.keeps_last && source.first != nullptr &&
           target.type->copies_bytes && target.destroy_many == nullptr &&
           (source.like == nullptr || source.like->duplicate.call == nullptr);
}

void chunk_move::make_room() {
    if (!moves() || !has_rows()) return;
    trades_ = to_.size == 0 && to_.capacity <= from_.capacity;
    if (trades_) {
        for (const transition::arrival& arrival : step_.arrivals) {
            column& target = to_.columns[arrival.column];
            if (!target.resize(0, from_.capacity, {})) raise_out_of_memory();
            target.fragment->set_base(to_.index, target.data);
        }
        to_.prepare_followers(count_);
    } else {
        to_.prepare_rows(count_, mover_.graph.row_limit(), {});
    }
    first_ = to_.size;
}

column& chunk_move::add_aside(array_list<column>& all, const column& like) {
    all.reserve(step_.arrivals.size());
    all.push_back(column(*like.type, nullptr));
    column& made = all.back();
    if (!resize(made)) raise_out_of_memory();
    return made;
}

/// Moves the remaining columns and the ids between the chunks.
void chunk_move::move_columns(chunk_data& source, std::size_t source_row, chunk_data& target,
                              std::size_t target_row) noexcept {
    const bool is_forth = &source == &from_;
    for (std::size_t i = 0; i < from_.columns.size(); ++i) {
        const std::uint32_t other = step_.columns[i];
        if (other == transition::dropped) continue;
        const column& here = source.columns[is_forth ? i : other];
        const column& there = target.columns[is_forth ? other : i];
        if (trades_)
            from_.trade(i, to_, other);
        else
            here.relocate(there.at(target_row), here.at(source_row), count_);
    }
    if (trades_) {
        std::swap(from_.ids.data, to_.ids.data);
        std::swap(from_.ids.block, to_.ids.block);
        std::swap(from_.capacity, to_.capacity);
    } else if (has_rows()) {
        std::memcpy(target.ids.at(target_row), source.ids.at(source_row), count_ * source.ids.size);
    }
}

/// Updates the records and sizes after the rows have moved to this chunk.
void chunk_move::place_rows(chunk_data& there, std::size_t row) noexcept {
    const bool is_forth = &there == &to_;
    mover_.entities.place_rows(has_rows() ? there : from_, has_rows() ? row : 0, count_,
                               there.index);
    if (has_rows()) to_.size = is_forth ? first_ + count_ : first_;
    from_.size = is_forth ? 0 : count_;
}

void chunk_move::end() noexcept {
    mover_.changes.is_moving = false;
    const busy_guard busy(mover_.changes);
    if (is_there_)
        for (std::size_t i = 0; i < leaving_.size(); ++i)
            if (is_kept(i)) leaving_[i].destroy(leaving_[i].data, count_);
    for (const filled& range : filled_) range.target->destroy(range.place, count_);
    for (column& source : leaving_) source.free();
    for (column& source : arriving_) source.free();
}

}  // namespace MUSTER_NAMESPACE::detail
