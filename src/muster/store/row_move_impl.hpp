// The part of store_impl.hpp that moves one entity, with undo. Hooks run after the move; an
// exception from a hook reverts all of it.
#pragma once

#include <muster/command/plan.hpp>
#include <muster/store/sparse_put.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

namespace muster::detail {

/// Moves an entity as a plan specifies. The caller owns the given values until the move is final.
/// This object owns the default values until then, and the dropped values afterwards.
template <class Layout>
class store<Layout>::row_move {
public:
    /// Performs all steps that can fail. The target has room for a row.
    row_move(store& owner, id_type e, const plan& transition, std::span<const pending_value> given)
        : store_(owner),
          e_(e),
          plan_(transition),
          from_(*transition.from),
          to_(*transition.to),
          arriving_(places<void*>(transition.arrivals.size())),
          leaving_(places<void*>(from_.columns.size())),
          sparse_(places<sparse_slots>(transition.sparse_changes.size())) {
        for (std::size_t i = 0; i < arriving_.size(); ++i)
            if (const std::uint32_t which = transition.arrivals[i].given; which != plan::none)
                arriving_[i] = given[which].at;
        for (std::size_t i = 0; i < leaving_.size(); ++i)
            if (transition.columns[i] == edge::dropped) leaving_[i] = room_for(from_.columns[i]);
        struct rollback {
            row_move* made;
            ~rollback() {
                if (made != nullptr) made->end();
            }
        };
        rollback guard{this};
        for (std::size_t i = 0; i < arriving_.size(); ++i)
            if (transition.arrivals[i].given == plan::none) arriving_[i] = start(target(i));
        for (std::size_t i = 0; i < sparse_.size(); ++i) prepare_sparse(i, given);
        guard.made = nullptr;
    }
    row_move(const row_move&) = delete;
    row_move& operator=(const row_move&) = delete;
    ~row_move() { end(); }

    void apply() noexcept {
        const busy_guard busy(store_);
        row_ = store_.find_record(e_.key())->row();
        const std::size_t to_row = moves() ? to_.size : row_;
        for (std::size_t i = 0; i < from_.columns.size(); ++i)
            if (std::byte* const there = outside(i, to_row))
                from_.columns[i].relocate(there, from_.columns[i].at(row_), 1);
        for (std::size_t i = 0; i < arriving_.size(); ++i)
            target(i).relocate(target(i).at(to_row), bytes(arriving_[i]), 1);
        for (std::size_t i = 0; i < sparse_.size(); ++i) apply_sparse(i, sparse_[i]);
        is_there_ = true;
        if (!moves()) return;
        if (has_row(from_)) store_.close_gap(from_, row_);
        store_.find_record(e_.key())->place(to_.index, has_row(to_) ? to_row : 0);
        if (has_row(to_)) ids(to_)[to_.size++] = e_;
    }

    void undo() noexcept {
        const busy_guard busy(store_);
        if (moves()) {
            if (has_row(to_)) --to_.size;
            if (has_row(from_)) {
                store_.open_gap(from_, row_);
                ids(from_)[row_] = e_;
            }
            store_.find_record(e_.key())->place(from_.index, row_);
        }
        const std::size_t to_row = moves() ? to_.size : row_;
        for (std::size_t i = 0; i < arriving_.size(); ++i)
            target(i).relocate(bytes(arriving_[i]), target(i).at(to_row), 1);
        for (std::size_t i = 0; i < from_.columns.size(); ++i)
            if (std::byte* const there = outside(i, to_row))
                from_.columns[i].relocate(from_.columns[i].at(row_), there, 1);
        for (std::size_t i = 0; i < sparse_.size(); ++i)
            apply_sparse(i, {sparse_[i].leaving, sparse_[i].arriving, sparse_[i].aside});
        is_there_ = false;
    }

private:
    [[nodiscard]] bool moves() const noexcept { return &from_ != &to_; }
    [[nodiscard]] static bool has_row(const chunk_data& chunk) noexcept {
        return chunk.index != chunk_index{};
    }
    static std::byte* bytes(void* at) noexcept { return static_cast<std::byte*>(at); }
    [[nodiscard]] const column& target(std::size_t arrival) const noexcept {
        return to_.columns[plan_.arrivals[arrival].column];
    }
    /// Returns the destination of a value of the source; null if it stays.
    [[nodiscard]] std::byte* outside(std::size_t column, std::size_t to_row) const noexcept {
        if (leaving_[column] != nullptr) return bytes(leaving_[column]);
        return moves() ? to_.columns[plan_.columns[column]].at(to_row) : nullptr;
    }
    /// Returns `count` default values in scratch memory, which last as long as this object.
    template <class T>
    [[nodiscard]] std::span<T> places(std::size_t count) {
        auto* const made =
            static_cast<T*>(store_.buffers_->scratch.allocate(count * sizeof(T), alignof(T)));
        std::uninitialized_fill_n(made, count, T{});
        return {made, count};
    }

    /// The slots of the new and of the old value of a sparse fragment.
    struct sparse_slots {
        slot_index arriving = no_slot;
        slot_index leaving = no_slot;
        void* aside = nullptr;  // room to swap their values
    };
    void prepare_sparse(std::size_t which, std::span<const pending_value> given) {
        const plan::sparse_change& change = plan_.sparse_changes[which];
        const fragment_data& fragment = *change.fragment;
        sparse_set& set = *fragment.sparse_values;
        sparse_slots& slots = sparse_[which];
        if (change.was_there) slots.leaving = set.find(e_.value());
        if (!change.is_inserted) return;
        store_.prepare_sparse(set, e_);
        if (change.was_there && !fragment.type->pinned)
            slots.aside =
                store_.buffers_->scratch.allocate(fragment.type->size, fragment.type->alignment);
        if (change.given != plan::none) {
            slots.arriving = given[change.given].slot;
            return;
        }
        if (!fragment.has_default()) store_.raise_no_default(fragment, fragment.name);
        reserved_slot made(set);
        const busy_guard busy(store_);
        fragment.default_construct(set.at(made.which), 1);
        slots.arriving = made.keep();
    }
    /// Attaches the new value and leaves the old one in a reserved slot. If the type can be moved,
    /// a replaced value keeps its address.
    void apply_sparse(std::size_t which, const sparse_slots& slots) noexcept {
        sparse_set& set = *plan_.sparse_changes[which].fragment->sparse_values;
        if (slots.aside != nullptr) return set.trade(slots.leaving, slots.arriving, slots.aside);
        if (slots.leaving != no_slot) set.detach(e_.value(), slots.leaving);
        if (slots.arriving != no_slot) set.attach(e_, slots.arriving);
    }
    /// Destroys the value that no entity has in the end.
    void end_sparse(std::size_t which) noexcept {
        const plan::sparse_change& change = plan_.sparse_changes[which];
        const sparse_slots& slots = sparse_[which];
        const bool is_traded = slots.aside != nullptr;
        if (!is_there_ && change.is_inserted && change.given != plan::none)
            return;  // the caller owns it
        const slot_index left = is_there_ && !is_traded ? slots.leaving : slots.arriving;
        if (left != no_slot) change.fragment->sparse_values->drop(left);
    }
    [[nodiscard]] void* room_for(const column& source) {
        return store_.buffers_->scratch.allocate(source.type->size, source.type->alignment);
    }
    [[nodiscard]] void* start(const column& source) {
        if (!source.fragment->has_default())
            store_.raise_no_default(*source.fragment, source.fragment->name);
        void* const room = room_for(source);
        const busy_guard busy(store_);
        source.fragment->default_construct(room, 1);
        return room;
    }
    void end() noexcept {
        const busy_guard busy(store_);
        for (std::size_t i = 0; i < sparse_.size(); ++i) end_sparse(i);
        if (is_there_) {
            for (std::size_t i = 0; i < leaving_.size(); ++i)
                if (leaving_[i] != nullptr) from_.columns[i].destroy(bytes(leaving_[i]), 1);
        } else {
            for (std::size_t i = 0; i < arriving_.size(); ++i)
                if (plan_.arrivals[i].given == plan::none && arriving_[i] != nullptr)
                    target(i).destroy(bytes(arriving_[i]), 1);
        }
    }

    store& store_;
    id_type e_;
    const plan& plan_;
    chunk_data& from_;
    chunk_data& to_;
    std::size_t row_ = 0;             // in the source
    std::span<void*> arriving_;       // per arrival: its pending value
    std::span<void*> leaving_;        // per column of the source: room for a dropped value, or null
    std::span<sparse_slots> sparse_;  // per change of a sparse fragment
    bool is_there_ = false;
};

/// Fills a row whose values were moved out with the last row.
template <class Layout>
void store<Layout>::close_gap(chunk_data& chunk, std::size_t row) noexcept {
    const std::size_t last = --chunk.size;
    if (row == last) return;
    for (const column& source : chunk.columns) source.relocate(source.at(row), source.at(last), 1);
    const id_type moved = ids(chunk)[row] = ids(chunk)[last];
    find_record(moved.key())->place(chunk.index, row);
}

/// Undoes `close_gap`: the row has no values again.
template <class Layout>
void store<Layout>::open_gap(chunk_data& chunk, std::size_t row) noexcept {
    const std::size_t last = chunk.size++;
    if (row == last) return;
    for (const column& source : chunk.columns) source.relocate(source.at(last), source.at(row), 1);
    const id_type moved = ids(chunk)[last] = ids(chunk)[row];
    find_record(moved.key())->place(chunk.index, last);
}

}  // namespace muster::detail
