// The part of store_impl.hpp that ends scopes: drops the recorded changes, or applies them and
// notifies the hooks. Start reading at `apply_recorded`.
#pragma once

#include <muster/base/first_error.hpp>
#include <muster/base/text.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/hooks_impl.hpp>
#include <muster/store/row_move_impl.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace muster::detail {

// ---- scopes ------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::replace(const open_scope& open, open_scope* by) noexcept {
    open_scope** at = &innermost_;
    while (*at != &open) at = &(*at)->outer_;
    *at = by;
}

template <class Layout>
void store<Layout>::open_scope::cancel() noexcept {
    if (store_->innermost_ != this) {
        // Inner scopes may still use the entries, so the next inner scope drops them when it ends.
        open_scope* inner = store_->innermost_;
        while (inner->outer_ != this) inner = inner->outer_;
        inner->start_ = start_;
        inner->is_cancelled_ = true;
    } else {
        store_->rewind(start_);
    }
    end();
}

template <class Layout>
void store<Layout>::open_scope::commit_among_others() {
    if (is_cancelled_) return cancel();
    // The next inner scope, which is still open, takes over the entries.
    open_scope* inner = store_->innermost_;
    while (inner->outer_ != this) inner = inner->outer_;
    inner->start_ = start_;
    end();
}

template <class Layout>
void store<Layout>::defer() {
    refuse_in_change("defer");
    (void)new scope(*this, true);
}

template <class Layout>
void store<Layout>::commit() {
    refuse_in_change("commit");
    if (innermost_ == nullptr || !innermost_->is_users_) raise_unbalanced("commit");
    const std::unique_ptr<scope> last(static_cast<scope*>(innermost_));  // made by `defer`
    last->commit();
}

template <class Layout>
void store<Layout>::cancel() {
    refuse_in_change("cancel");
    if (innermost_ == nullptr || !innermost_->is_users_) raise_unbalanced("cancel");
    delete static_cast<scope*>(innermost_);
}

/// Drops the entries after `to`: destroys their values and rolls back the entities created there.
template <class Layout>
void store<Layout>::rewind(const journal::position& to) noexcept {
    journal_entry gone{};
    while (journal_.pop_entry(to, gone)) end_value(gone);
    for (open_scope* open = innermost_; open != nullptr; open = open->outer_)
        if (open->start_.groups > to.groups || open->start_.entries > to.entries) open->start_ = to;
    journal_group group{};
    while (journal_.pop_group(to, group))
        if (group.is_new_entity) rollback_spawn(to_id<Layout>(group.id));
}

/// Destroys an id that was created in a scope. Entities that have it as a fragment lose the
/// fragment.
template <class Layout>
void store<Layout>::rollback_spawn(id_type made) noexcept {
    record_type* const found = find_record(made.key());
    if (found == nullptr || !found->is(made, pool_.origin())) return;
    fragment_data* const fragment = fragments_.find(made.value());
    if (fragment != nullptr && count(*fragment) != 0) {
        first_error ignored;
        ignored.attempt([&] { destroy_fragment({made, {}}); });
        return;
    }
    finish_destroy(made, *found);
    if (fragment != nullptr) forget_fragment(*fragment);
}

// ---- applying the journal ----------------------------------------------------------------------

template <class Layout>
void store<Layout>::apply_recorded() {
    first_error error;
    error.attempt([&] { apply_journal(); });
    if (submissions_.has_submissions()) error.attempt([&] { apply_submitted(); });
    error.rethrow();
}

template <class Layout>
void store<Layout>::apply_journal() {
    scope whole(*this);  // defers changes made by hooks to the end
    first_error error;
    for (std::uint32_t i = 0; i < journal_.size(); ++i) {
        journal_.begin(i + 1);
        error.attempt([&] { apply_group(i); });
    }
    journal_.clear();
    for (open_scope* open = innermost_; open != nullptr; open = open->outer_) open->start_ = {};
    whole.end();
    error.rethrow();
}

/// Fast path for an entity with the same changes as the previous entity. Applies the same plan if
/// that takes neither user code nor memory; returns false otherwise.
template <class Layout>
bool store<Layout>::apply_like_last(id_type e, std::uint32_t last) noexcept {
    const plan& transition = *buffers_->last_plan;
    const record_type* const found = find(e);
    if (transition.generation != graph_.generation() || !transition.moves_bytes ||
        transition.has_notices() || found == nullptr || found->chunk() != transition.from->index ||
        entity_hooks_.kinds() != 0 || sparse_.has_any(e.value()) ||
        (transition.to->size == transition.to->capacity && transition.to != transition.from))
        return false;
    std::size_t i = transition.shape.size();
    buffers_->values.resize(i);  // cannot allocate: it had this size before
    for (std::uint32_t at = last; at != journal::none; at = journal_.entry(at).previous) {
        const journal_entry& entry = journal_.entry(at);
        if (i == 0 || !(transition.shape[i - 1] == change_shape{entry.fragment, entry.kind}))
            return false;
        buffers_->values[--i].at = entry.value;
    }
    if (i != 0) return false;
    move_trivial(e, transition, buffers_->values);
    return true;
}

/// Destroys the values of the current entity that were not stored.
template <class Layout>
void store<Layout>::drop_given() noexcept {
    const busy_guard busy(*this);
    for (std::size_t i = 0; i < buffers_->values.size(); ++i) {
        const pending_value value = std::exchange(buffers_->values[i], {});
        if (buffers_->shape[i].fragment != nullptr)
            end_value(*buffers_->shape[i].fragment, value.at, value.slot);
    }
    buffers_->values.clear();
}

/// Destroys the values of this entry and of those before it in its group, unless moved out.
template <class Layout>
void store<Layout>::drop_values(std::uint32_t last) noexcept {
    for (std::uint32_t at = last; at != journal::none; at = journal_.entry(at).previous) {
        journal_entry& entry = journal_.entry(at);
        if (!has_component(entry.kind)) continue;
        end_value(entry);
        entry.value = nullptr;
        entry.slot = no_slot;
    }
}

/// Destroys the component of an entry, unless it was moved out.
template <class Layout>
void store<Layout>::end_value(const journal_entry& entry) noexcept {
    if (!has_component(entry.kind) || entry.fragment == nullptr) return;
    const busy_guard busy(*this);
    end_value(*entry.fragment, entry.value, entry.slot);
}

/// Destroys a pending value and releases its slot, if there are any.
template <class Layout>
void store<Layout>::end_value(const fragment_data& fragment, void* value,
                              slot_index slot) noexcept {
    if (value != nullptr && fragment.type->destroy != nullptr) fragment.type->destroy(value, 1);
    if (slot != no_slot) fragment.sparse_values->give_back(slot);
}

/// Applies all changes recorded for one entity, or none.
template <class Layout>
void store<Layout>::apply_group(std::uint32_t which) {
    const journal_group group = journal_.group(which);
    if (group.is_barrier) return apply_barrier(group);
    const auto e = to_id<Layout>(group.id);
    if (buffers_->last_plan != nullptr && apply_like_last(e, group.last)) return;

    // Guard until the end of the function: destroys values that were not stored and, on failure, a
    // new entity.
    struct rest {
        store& owner;
        id_type e;
        std::uint32_t last;
        bool is_new_entity;
        bool is_done = false;
        ~rest() {
            if (!is_done) owner.drop_values(last);
            owner.drop_given();
            if (!is_done && is_new_entity) owner.rollback_spawn(e);
            owner.buffers_->scratch.rewind({});
        }
    };
    buffers_->shape.clear();
    buffers_->values.clear();
    rest guard{*this, e, group.last, group.is_new_entity};
    scope changes(*this);  // changes of hooks; dropped on failure
    const journal_note* end = nullptr;
    bool is_lost = false;
    for (std::uint32_t at = group.last; at != journal::none; at = journal_.entry(at).previous) {
        journal_entry& entry = journal_.entry(at);
        if (entry.kind == change_kind::destroy) {
            end = static_cast<const journal_note*>(entry.value);
        } else if (entry.fragment == nullptr && entry.kind != change_kind::clear) {
            is_lost = is_lost || has_component(entry.kind);
        } else {
            buffers_->shape.push_back({entry.fragment, entry.kind});
            buffers_->values.push_back({entry.value, entry.slot});
            entry.value = nullptr;
            entry.slot = no_slot;
        }
    }
    std::reverse(buffers_->shape.begin(), buffers_->shape.end());
    std::reverse(buffers_->values.begin(), buffers_->values.end());
    if (!alive(e)) {
        // An earlier change destroyed the entity: the others have no effect.
    } else if (end != nullptr) {
        const system_guard acts(*this, end->system);
        drop_given();  // first, since their fragments may be destroyed, too
        if (guard.is_new_entity && fragments_.find(e.value()) == nullptr) {  // no hook has seen it
            record_provenance({e, end->where});
            rollback_spawn(e);
        } else {
            destroy_told({e, end->where});
        }
    } else if (is_lost) {
        raise(errc::dead_fragment,
              text("a change of ", describe(e),
                   " is dropped: its fragment was destroyed in the same scope"));
    } else {
        chunk_data& here = graph_.at(find(e)->chunk());
        const plan& transition = buffers_->plans.find(graph_, here, sparse_of(e), buffers_->shape);
        apply(e, transition, buffers_->values, guard.is_new_entity);
        if (transition.moves_bytes) buffers_->last_plan = &transition;
    }
    guard.is_done = true;
    changes.commit();
}

template <class Layout>
void store<Layout>::apply_barrier(const journal_group& group) {
    const journal_entry change = journal_.entry(group.last);
    const auto* const note = static_cast<const journal_note*>(change.value);  // null: none
    const auto e = to_id<Layout>(group.id);
    switch (change.kind) {
    case change_kind::batch: apply_batch(group); break;
    case change_kind::destroy: {
        if (!alive(e)) break;
        const system_guard acts(*this, note->system);
        scope whole(*this);
        destroy_told({e, note->where});
        whole.commit();
        break;
    }
    case change_kind::clear_fragment:
        if (change.fragment != nullptr) clear_fragment_now(*change.fragment);
        break;
    case change_kind::copy_fragment: {
        if (change.fragment == nullptr) break;
        const fragment_data& source = get_fragment(e, "copy_fragment", &note->where);
        copy_fragment_now(source, *change.fragment);
        break;
    }
    default:
        for (chunk_data* chunk : graph_.all())
            if (chunk->serial == group.id && note->count > chunk->size)
                chunk->make_room(note->count - chunk->size, row_limit, {});
    }
}

/// Moves the entity once. `values` belong to the plan's shape; stored values become null. If a hook
/// throws, restores the previous state.
template <class Layout>
void store<Layout>::apply(id_type e, const plan& transition, std::span<pending_value> values,
                          bool is_new_entity) {
    const bool notifies_spawn = is_new_entity && entity_hooks_.has(insert_hooks);
    if (transition.from != transition.to && transition.to != &graph_.empty_chunk())
        transition.to->make_room(1, row_limit, {});
    prepare_notes(transition, 1);
    if (transition.moves_bytes && !notifies_spawn) {
        move_trivial(e, transition, values);
    } else {
        row_move moved(*this, e, transition, values);
        for (fragment_data* fragment : transition.removed)
            call_hooks(hook_kind::remove, e, *fragment);
        moved.apply();
        struct undo {
            row_move& moved;
            bool is_done = false;
            ~undo() {
                if (!is_done) moved.undo();
            }
        };
        undo guard{moved};
        if (notifies_spawn) run_hooks(entity_hooks_, hook_kind::insert, e, nullptr);
        for (const plan::notice& notice : transition.present) {
            call_hooks(notice.is_new ? hook_kind::insert : hook_kind::assign, e, *notice.fragment);
            call_hooks(hook_kind::set, e, *notice.fragment);
        }
        guard.is_done = true;
    }
    note(transition, e);
    for (const plan::arrival& arrival : transition.arrivals)
        if (arrival.given != plan::none) values[arrival.given] = {};
    for (const plan::sparse_change& change : transition.sparse_changes)
        if (change.given != plan::none) values[change.given] = {};
    for (fragment_data* fragment : transition.types_fixed) fragment->is_untyped = false;
}

/// Like `apply`, for moves that cannot fail and run no user code.
template <class Layout>
void store<Layout>::move_trivial(id_type e, const plan& transition,
                                 std::span<pending_value> values) noexcept {
    chunk_data& from = *transition.from;
    chunk_data& to = *transition.to;
    record_type& found = *find_record(e.key());
    const std::size_t row = found.row();
    const std::size_t to_row = &from == &to ? row : to.size;
    if (&from != &to) {
        found.place(to.index, &to == &graph_.empty_chunk() ? 0 : to_row);
        if (&from != &graph_.empty_chunk()) {
            const std::size_t last = --from.size;
            if (row != last) {
                const id_type moved = ids(from)[row] = ids(from)[last];
                pool_.find(moved.key())->place(from.index, row);
            }
            const std::uint32_t* target = transition.columns.data();
            for (const column& source : from.columns) {
                const std::uint32_t which = *target++;
                source.take_bytes(row, last, which == edge::dropped ? nullptr : &to.columns[which],
                                  to_row);
            }
        }
        if (&to != &graph_.empty_chunk()) ids(to)[to.size++] = e;
    }
    for (const plan::arrival& arrival : transition.arrivals)
        to.columns[arrival.column].put_bytes(to_row, values[arrival.given].at);
}

}  // namespace muster::detail
