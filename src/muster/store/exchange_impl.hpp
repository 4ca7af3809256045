// The part of store_impl.hpp that moves an entity so that it can still go back: hooks are told when it
// has arrived, and one that throws undoes all of it.
#pragma once

#include <muster/command/plan.hpp>
#include <muster/store/beside.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

namespace muster::detail {

/// An entity on the way that a plan says, with the values that it gets and those that it loses. The
/// given ones stay the caller's until it has gone for good; all others end with this.
template <class Layout>
class store<Layout>::exchange {
public:
    /// All that can fail. Room for a row is there.
    exchange(store& owner, id_type who, const plan& way, std::span<const waiting_value> given)
        : store_(owner),
          who_(who),
          way_(way),
          from_(*way.from),
          to_(*way.to),
          arriving_(places<void*>(way.arrivals.size())),
          leaving_(places<void*>(from_.columns.size())),
          beside_(places<beside_slots>(way.beside_changes.size())) {
        for (std::size_t i = 0; i < arriving_.size(); ++i)
            if (const std::uint32_t which = way.arrivals[i].given; which != plan::none)
                arriving_[i] = given[which].at;
        for (std::size_t i = 0; i < leaving_.size(); ++i)
            if (way.columns[i] == edge::dropped) leaving_[i] = room_for(from_.columns[i]);
        struct rollback {
            exchange* made;
            ~rollback() {
                if (made != nullptr) made->end();
            }
        };
        rollback guard{this};
        for (std::size_t i = 0; i < arriving_.size(); ++i)
            if (way.arrivals[i].given == plan::none) arriving_[i] = start(target(i));
        for (std::size_t i = 0; i < beside_.size(); ++i) prepare_beside(i, given);
        guard.made = nullptr;
    }
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;
    ~exchange() { end(); }

    void go() noexcept {
        const busy_scope nobody_else(store_);
        row_ = store_.find_record(who_.key())->row();
        const std::size_t to_row = moves() ? to_.size : row_;
        for (std::size_t i = 0; i < from_.columns.size(); ++i)
            if (std::byte* const there = outside(i, to_row))
                from_.columns[i].relocate(there, from_.columns[i].at(row_), 1);
        for (std::size_t i = 0; i < arriving_.size(); ++i)
            target(i).relocate(target(i).at(to_row), bytes(arriving_[i]), 1);
        for (std::size_t i = 0; i < beside_.size(); ++i) go_beside(i, beside_[i]);
        is_there_ = true;
        if (!moves()) return;
        if (has_row(from_)) store_.close_gap(from_, row_);
        store_.find_record(who_.key())->place(to_.index, has_row(to_) ? to_row : 0);
        if (has_row(to_)) ids(to_)[to_.size++] = who_;
    }

    void go_back() noexcept {
        const busy_scope nobody_else(store_);
        if (moves()) {
            if (has_row(to_)) --to_.size;
            if (has_row(from_)) {
                store_.open_gap(from_, row_);
                ids(from_)[row_] = who_;
            }
            store_.find_record(who_.key())->place(from_.index, row_);
        }
        const std::size_t to_row = moves() ? to_.size : row_;
        for (std::size_t i = 0; i < arriving_.size(); ++i)
            target(i).relocate(bytes(arriving_[i]), target(i).at(to_row), 1);
        for (std::size_t i = 0; i < from_.columns.size(); ++i)
            if (std::byte* const there = outside(i, to_row))
                from_.columns[i].relocate(from_.columns[i].at(row_), there, 1);
        for (std::size_t i = 0; i < beside_.size(); ++i)
            go_beside(i, {beside_[i].leaving, beside_[i].arriving, beside_[i].aside});
        is_there_ = false;
    }

private:
    [[nodiscard]] bool moves() const noexcept { return &from_ != &to_; }
    [[nodiscard]] static bool has_row(const chunk_data& chunk) noexcept {
        return chunk.index != chunk_index{};
    }
    static std::byte* bytes(void* at) noexcept { return static_cast<std::byte*>(at); }
    [[nodiscard]] const column& target(std::size_t arrival) const noexcept {
        return to_.columns[way_.arrivals[arrival].column];
    }
    /// Where a value of the source goes; null if it stays.
    [[nodiscard]] std::byte* outside(std::size_t column, std::size_t to_row) const noexcept {
        if (leaving_[column] != nullptr) return bytes(leaving_[column]);
        return moves() ? to_.columns[way_.columns[column]].at(to_row) : nullptr;
    }
    /// As many null pointers, which last as long as this.
    template <class T>
    [[nodiscard]] std::span<T> places(std::size_t count) {
        auto* const made =
            static_cast<T*>(store_.playback_->scratch.allocate(count * sizeof(T), alignof(T)));
        std::uninitialized_fill_n(made, count, T{});
        return {made, count};
    }

    /// Where the value of a sparse fragment is that comes, and that goes.
    struct beside_slots {
        slot_index arriving = no_slot;
        slot_index leaving = no_slot;
        void* aside = nullptr;  // room to let them change places
    };
    void prepare_beside(std::size_t which, std::span<const waiting_value> given) {
        const plan::beside_change& change = way_.beside_changes[which];
        const fragment_data& fragment = *change.fragment;
        sparse_set& set = *fragment.beside;
        beside_slots& slots = beside_[which];
        if (change.was_there) slots.leaving = set.find(who_.value());
        if (!change.comes) return;
        store_.prepare_beside(set, who_);
        if (change.was_there && !fragment.type->pinned)
            slots.aside =
                store_.playback_->scratch.allocate(fragment.type->size, fragment.type->alignment);
        if (change.given != plan::none) {
            slots.arriving = given[change.given].slot;
            return;
        }
        if (!fragment.can_start()) store_.raise_no_default(fragment, fragment.name);
        waiting_slot made(set);
        const busy_scope nobody_else(store_);
        fragment.start_values(set.at(made.which), 1);
        slots.arriving = made.keep();
    }
    /// The value that goes is left in a slot that waits. A value that is replaced keeps its address, if it
    /// can be moved.
    void go_beside(std::size_t which, const beside_slots& slots) noexcept {
        sparse_set& set = *way_.beside_changes[which].fragment->beside;
        if (slots.aside != nullptr) return set.trade(slots.leaving, slots.arriving, slots.aside);
        if (slots.leaving != no_slot) set.detach(who_.value(), slots.leaving);
        if (slots.arriving != no_slot) set.attach(who_, slots.arriving);
    }
    /// The one that nobody has in the end.
    void end_beside(std::size_t which) noexcept {
        const plan::beside_change& change = way_.beside_changes[which];
        const beside_slots& slots = beside_[which];
        const bool is_traded = slots.aside != nullptr;
        if (!is_there_ && change.comes && change.given != plan::none) return;  // the caller's
        const slot_index left = is_there_ && !is_traded ? slots.leaving : slots.arriving;
        if (left != no_slot) change.fragment->beside->drop(left);
    }
    [[nodiscard]] void* room_for(const column& one) {
        return store_.playback_->scratch.allocate(one.type->size, one.type->alignment);
    }
    [[nodiscard]] void* start(const column& one) {
        if (!one.fragment->can_start()) store_.raise_no_default(*one.fragment, one.fragment->name);
        void* const room = room_for(one);
        const busy_scope nobody_else(store_);
        one.fragment->start_values(room, 1);
        return room;
    }
    void end() noexcept {
        const busy_scope nobody_else(store_);
        for (std::size_t i = 0; i < beside_.size(); ++i) end_beside(i);
        if (is_there_) {
            for (std::size_t i = 0; i < leaving_.size(); ++i)
                if (leaving_[i] != nullptr) from_.columns[i].destroy(bytes(leaving_[i]), 1);
        } else {
            for (std::size_t i = 0; i < arriving_.size(); ++i)
                if (way_.arrivals[i].given == plan::none && arriving_[i] != nullptr)
                    target(i).destroy(bytes(arriving_[i]), 1);
        }
    }

    store& store_;
    id_type who_;
    const plan& way_;
    chunk_data& from_;
    chunk_data& to_;
    std::size_t row_ = 0;        // in the source
    std::span<void*> arriving_;  // for each arrival: where its value waits
    std::span<void*> leaving_;   // for each column of the source: where a value that goes is kept
    std::span<beside_slots> beside_;  // for each change of a sparse fragment
    bool is_there_ = false;
};

/// The last row takes the place of one whose values have gone.
template <class Layout>
void store<Layout>::close_gap(chunk_data& chunk, std::size_t row) noexcept {
    const std::size_t last = --chunk.size;
    if (row == last) return;
    for (const column& one : chunk.columns) one.relocate(one.at(row), one.at(last), 1);
    const id_type moved = ids(chunk)[row] = ids(chunk)[last];
    find_record(moved.key())->place(chunk.index, row);
}

/// Undoes it: the row has no values again.
template <class Layout>
void store<Layout>::open_gap(chunk_data& chunk, std::size_t row) noexcept {
    const std::size_t last = chunk.size++;
    if (row == last) return;
    for (const column& one : chunk.columns) one.relocate(one.at(last), one.at(row), 1);
    const id_type moved = ids(chunk)[last] = ids(chunk)[row];
    find_record(moved.key())->place(chunk.index, last);
}

}  // namespace muster::detail
