// The part of store_impl.hpp that moves all entities of a chunk, with undo. Hooks run after the
// move; an exception from a hook reverts all of it. `row_move` does this for one entity.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace muster::detail {

/// Source of the values that all rows of a chunk receive for one fragment.
struct value_source {
    const void* first = nullptr;  // null: default values
    std::size_t step = 0;         // 0: one value for all rows; 1: one per row
    const fragment_data* like =
        nullptr;  // copy as clones of its values are copied; null: as the type does

    /// Constructs `count` values. May throw, and then leaves none.
    void fill(const fragment_data& fragment, std::byte* to, std::size_t count) const {
        const type_info& type = *fragment.type;
        if (first == nullptr)
            fragment.default_construct(to, count);
        else if (like != nullptr && like->duplicate.call != nullptr)
            copy_each(*like, to, count);
        else
            type.copy_values(to, first, count, step);
    }

private:
    void copy_each(const fragment_data& fragment, std::byte* to, std::size_t count) const {
        struct rollback {
            const type_info& type;
            std::byte* to;
            std::size_t made = 0;
            bool is_done = false;
            ~rollback() {
                if (!is_done && type.destroy != nullptr) type.destroy(to, made);
            }
        };
        rollback guard{*fragment.type, to};
        const auto* const from = static_cast<const std::byte*>(first);
        for (const std::size_t size = fragment.type->size; guard.made < count; ++guard.made)
            fragment.copy_value(to + guard.made * size, from + guard.made * step * size, 1);
        guard.is_done = true;
    }
};

/// Moves all entities of a chunk as a plan specifies.
///
///     from   [ ids ][ position ][ health ]            health is dropped
///               |        |          \__ kept aside until the hooks have returned
///     to     [ ids ][ position ][ velocity ]          velocity is new: filled before the move
///
/// If the target is empty and has no larger capacity, the chunks swap columns instead of copying
/// them.
template <class Layout>
class store<Layout>::chunk_move {
public:
    /// Performs all steps that can fail. `values` has one element per change of the plan's shape.
    chunk_move(store& owner, const plan& transition, std::span<const value_source> values)
        : store_(owner),
          plan_(transition),
          from_(*transition.from),
          to_(*transition.to),
          count_(from_.size),
          has_notices_(transition.calls && !transition.present.empty()) {
        store_.is_moving_ = true;  // until `end`, `reserve` must not resize the chunks
        struct rollback {
            chunk_move* made;
            ~rollback() {
                if (made != nullptr) made->end();
            }
        };
        rollback guard{this};
        make_room();
        for (const plan::arrival& arrival : transition.arrivals) {
            const column& target = to_.columns[arrival.column];
            const value_source source =
                arrival.given == plan::none ? value_source{} : values[arrival.given];
            if (source.first == nullptr && !target.fragment->has_default())
                store_.raise_no_default(*target.fragment, target.fragment->name);
            if (!moves() && is_written_over(target, source)) {
                at_once_.push_back({&target, source});
                continue;
            }
            filled_.reserve(transition.arrivals.size());
            std::byte* const place =
                moves() ? target.at(first_) : add_aside(arriving_, target).data;
            const busy_guard busy(store_);
            source.fill(*target.fragment, place, count_);
            filled_.push_back({&target, place});
        }
        leaving_.resize(from_.columns.size());
        for (std::size_t i = 0; i < leaving_.size(); ++i) {
            if (!is_kept(i)) continue;
            leaving_[i] = column(*from_.columns[i].type, nullptr);
            if (!resize(leaving_[i])) raise_out_of_memory();
        }
        guard.made = nullptr;
    }
    chunk_move(const chunk_move&) = delete;
    chunk_move& operator=(const chunk_move&) = delete;
    ~chunk_move() { end(); }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// Returns the id of a moved entity.
    [[nodiscard]] id_type id_at(std::size_t i) const noexcept {
        return has_rows() ? ids(to_)[first_ + i] : ids(from_)[i];
    }

    void apply() noexcept {
        const busy_guard busy(store_);
        for (std::size_t i = 0; i < leaving_.size(); ++i)
            if (is_kept(i))
                from_.columns[i].relocate(leaving_[i].data, from_.columns[i].data, count_);
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
        if (moves() && !has_notices_)  // no row refers to these values any more
            for (std::size_t i = 0; i < leaving_.size(); ++i)
                if (plan_.columns[i] == edge::dropped)
                    from_.columns[i].destroy(from_.columns[i].data, count_);
    }

    void undo() noexcept {
        const busy_guard busy(store_);
        for (const plan::arrival& arrival : plan_.arrivals) {
            const column& target = to_.columns[arrival.column];
            target.destroy(target.at(first_), count_);
        }
        if (moves()) {
            move_columns(to_, first_, from_, 0);
            place_rows(from_, 0);
        }
        for (std::size_t i = 0; i < leaving_.size(); ++i)
            if (is_kept(i))
                from_.columns[i].relocate(from_.columns[i].data, leaving_[i].data, count_);
        is_there_ = false;
    }

private:
    [[nodiscard]] bool moves() const noexcept { return &from_ != &to_; }
    [[nodiscard]] bool has_rows() const noexcept { return to_.index != chunk_index{}; }

    /// Whether dropped values are kept aside: while hooks may cause an undo, or while a destructor
    /// may read the chunk.
    [[nodiscard]] bool is_kept(std::size_t column) const noexcept {
        return plan_.columns[column] == edge::dropped &&
               (has_notices_ || (!moves() && from_.columns[column].destroy_many != nullptr));
    }
    /// Whether the new values may overwrite the old ones: bytes that no undo has to restore.
    [[nodiscard]] bool is_written_over(const column& target,
                                       const value_source& source) const noexcept {
        return !has_notices_ && source.first != nullptr && target.type->copies_bytes &&
               target.destroy_many == nullptr &&
               (source.like == nullptr || source.like->duplicate.call == nullptr);
    }

    void make_room() {
        if (!moves() || !has_rows()) return;
        trades_ = to_.size == 0 && to_.capacity <= from_.capacity;
        if (trades_) {
            for (const plan::arrival& arrival : plan_.arrivals) {
                column& target = to_.columns[arrival.column];
                if (!target.resize(0, from_.capacity, {})) raise_out_of_memory();
                target.fragment->bases[to_int(to_.index)] = target.data;
            }
        } else {
            to_.make_room(count_, row_limit, {});
        }
        first_ = to_.size;
    }
    [[nodiscard]] bool resize(column& source) const noexcept {
        return source.resize(0, count_, {});
    }
    column& add_aside(array_list<column>& all, const column& like) {
        all.reserve(plan_.arrivals.size());
        all.push_back(column(*like.type, nullptr));
        column& made = all.back();
        if (!resize(made)) raise_out_of_memory();
        return made;
    }

    /// Moves the remaining columns and the ids between the chunks.
    void move_columns(chunk_data& source, std::size_t source_row, chunk_data& target,
                      std::size_t target_row) noexcept {
        const bool is_forth = &source == &from_;
        for (std::size_t i = 0; i < from_.columns.size(); ++i) {
            const std::uint32_t other = plan_.columns[i];
            if (other == edge::dropped) continue;
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
            std::copy_n(ids(source) + source_row, count_, ids(target) + target_row);
        }
    }

    /// Updates the records and sizes after the rows have moved to this chunk.
    void place_rows(chunk_data& there, std::size_t row) noexcept {
        const bool is_forth = &there == &to_;
        const id_type* const all = has_rows() ? ids(there) + row : ids(from_);
        const std::size_t step = there.index == chunk_index{} ? 0 : 1;
        for (std::size_t i = 0; i < count_; ++i)
            store_.find_record(all[i].key())->place(there.index, (row + i) * step);
        if (has_rows()) to_.size = is_forth ? first_ + count_ : first_;
        from_.size = is_forth ? 0 : count_;
    }

    void end() noexcept {
        store_.is_moving_ = false;
        const busy_guard busy(store_);
        if (is_there_)
            for (std::size_t i = 0; i < leaving_.size(); ++i)
                if (is_kept(i)) leaving_[i].destroy(leaving_[i].data, count_);
        for (const filled& range : filled_) range.target->destroy(range.place, count_);
        for (column& source : leaving_) source.free();
        for (column& source : arriving_) source.free();
    }

    struct filled {  // constructed values that are not stored yet
        const column* target;
        std::byte* place;
    };
    struct written {  // values that overwrite the old ones
        const column* target;
        value_source source;
    };

    store& store_;
    const plan& plan_;
    chunk_data& from_;
    chunk_data& to_;
    std::size_t count_;
    std::size_t first_ = 0;  // first row in the target
    bool has_notices_;       // hooks are called after the move
    bool trades_ = false;
    bool is_there_ = false;
    std::vector<filled> filled_;
    std::vector<written> at_once_;
    array_list<column> arriving_;  // new values, outside of the chunk until `apply`
    array_list<column> leaving_;   // per column of the source, if `is_kept`: the dropped values
};

}  // namespace muster::detail
