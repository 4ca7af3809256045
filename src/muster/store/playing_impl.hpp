// The part of store_impl.hpp that ends scopes: cancels what was recorded, or carries it out and tells
// the hooks. Start reading at `play`.
#pragma once

#include <muster/base/first_error.hpp>
#include <muster/base/text.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/exchange_impl.hpp>
#include <muster/store/hooks_impl.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace muster::detail {

// ---- scopes ------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::replace(const open_scope& one, open_scope* by) noexcept {
    open_scope** at = &innermost_;
    while (*at != &one) at = &(*at)->outer_;
    *at = by;
}

template <class Layout>
void store<Layout>::open_scope::cancel() noexcept {
    if (store_->innermost_ != this) {
        // What is recorded may be in use: the next scope inside sees to it.
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
    // What was recorded here belongs to the scope that was opened in this one and is still open.
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
    const std::unique_ptr<scope> last(static_cast<scope*>(innermost_));  // of defer()
    last->commit();
}

template <class Layout>
void store<Layout>::cancel() {
    refuse_in_change("cancel");
    if (innermost_ == nullptr || !innermost_->is_users_) raise_unbalanced("cancel");
    delete static_cast<scope*>(innermost_);
}

/// What a cancelled scope has recorded.
template <class Layout>
void store<Layout>::rewind(const journal::position& to) noexcept {
    journal_entry gone{};
    while (journal_.pop_entry(to, gone)) end_value(gone);
    for (open_scope* one = innermost_; one != nullptr; one = one->outer_)
        if (one->start_.groups > to.groups || one->start_.entries > to.entries) one->start_ = to;
    journal_group group{};
    while (journal_.pop_group(to, group))
        if (group.is_born) unmake(to_id<Layout>(group.id));
}

/// An id that was made in a scope. If others have got it as a fragment by now, they lose it.
template <class Layout>
void store<Layout>::unmake(id_type made) noexcept {
    record_type* const found = find_record(made.key());
    if (found == nullptr || !found->is(made, pool_.origin())) return;
    fragment_data* const fragment = fragments_.find(made.value());
    if (fragment != nullptr && count(*fragment) != 0) {
        first_error ignored;
        ignored.attempt([&] { destroy_fragment({made, {}}); });
        return;
    }
    die(made, *found);
    if (fragment != nullptr) forget_fragment(*fragment);
}

// ---- carrying out ------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::play() {
    first_error error;
    error.attempt([&] { play_journal(); });
    if (inbox_.has_mail()) error.attempt([&] { receive(); });
    error.rethrow();
}

template <class Layout>
void store<Layout>::play_journal() {
    scope whole(*this);  // what hooks change comes last
    first_error error;
    for (std::uint32_t i = 0; i < journal_.size(); ++i) {
        journal_.begin(i + 1);
        error.attempt([&] { carry_out(i); });
    }
    journal_.clear();
    for (open_scope* one = innermost_; one != nullptr; one = one->outer_) one->start_ = {};
    whole.end();
    error.rethrow();
}

/// Most entities are changed as the one before: where that takes no code of the user's and no memory, it
/// is done at once. False if it is not so.
template <class Layout>
bool store<Layout>::carry_out_alike(id_type who, std::uint32_t last) noexcept {
    const plan& way = *playback_->last_plan;
    const record_type* const found = find(who);
    if (way.generation != graph_.generation() || !way.moves_bytes || way.is_told() ||
        found == nullptr || found->chunk() != way.from->index || entity_hooks_.kinds() != 0 ||
        sparse_.has_any(who.value()) || (way.to->size == way.to->capacity && way.to != way.from))
        return false;
    std::size_t i = way.shape.size();
    playback_->values.resize(i);  // there is room: it had as many
    for (std::uint32_t at = last; at != journal::none; at = journal_.entry(at).previous) {
        const journal_entry& one = journal_.entry(at);
        if (i == 0 || !(way.shape[i - 1] == change_shape{one.fragment, one.kind})) return false;
        playback_->values[--i].at = one.value;
    }
    if (i != 0) return false;
    follow_bytes(who, way, playback_->values);
    return true;
}

/// The values of the entity that is carried out, if they have not arrived.
template <class Layout>
void store<Layout>::drop_given() noexcept {
    const busy_scope nobody_else(*this);
    for (std::size_t i = 0; i < playback_->values.size(); ++i) {
        const waiting_value one = std::exchange(playback_->values[i], {});
        if (playback_->shape[i].fragment != nullptr)
            end_value(*playback_->shape[i].fragment, one.at, one.slot);
    }
    playback_->values.clear();
}

/// The values of this entry and those before it, if they are still there.
template <class Layout>
void store<Layout>::drop_values(std::uint32_t last) noexcept {
    for (std::uint32_t at = last; at != journal::none; at = journal_.entry(at).previous) {
        journal_entry& one = journal_.entry(at);
        if (!has_component(one.kind)) continue;
        end_value(one);
        one.value = nullptr;
        one.slot = no_slot;
    }
}

/// Of an entry that has the value of a component, if it is still there.
template <class Layout>
void store<Layout>::end_value(const journal_entry& one) noexcept {
    if (!has_component(one.kind) || one.fragment == nullptr) return;
    const busy_scope nobody_else(*this);
    end_value(*one.fragment, one.value, one.slot);
}

/// One that waits, if there is one; so is its slot.
template <class Layout>
void store<Layout>::end_value(const fragment_data& fragment, void* value,
                              slot_index slot) noexcept {
    if (value != nullptr && fragment.type->destroy != nullptr) fragment.type->destroy(value, 1);
    if (slot != no_slot) fragment.beside->give_back(slot);
}

/// All that was recorded for one entity, or nothing of it.
template <class Layout>
void store<Layout>::carry_out(std::uint32_t which) {
    const journal_group group = journal_.group(which);
    if (group.is_barrier) return carry_out_barrier(group);
    const auto who = to_id<Layout>(group.id);
    if (playback_->last_plan != nullptr && carry_out_alike(who, group.last)) return;

    // Values that have not arrived end with it.
    struct rest {
        store& owner;
        id_type who;
        std::uint32_t last;
        bool is_born;
        bool is_done = false;
        ~rest() {
            if (!is_done) owner.drop_values(last);
            owner.drop_given();
            if (!is_done && is_born) owner.unmake(who);
            owner.playback_->scratch.rewind({});
        }
    };
    playback_->shape.clear();
    playback_->values.clear();
    rest guard{*this, who, group.last, group.is_born};
    scope changes(*this);  // of hooks: dropped if all fails
    const journal_note* end = nullptr;
    bool is_lost = false;
    for (std::uint32_t at = group.last; at != journal::none; at = journal_.entry(at).previous) {
        journal_entry& one = journal_.entry(at);
        if (one.kind == change_kind::destroy) {
            end = static_cast<const journal_note*>(one.value);
        } else if (one.fragment == nullptr && one.kind != change_kind::clear) {
            is_lost = is_lost || has_component(one.kind);
        } else {
            playback_->shape.push_back({one.fragment, one.kind});
            playback_->values.push_back({one.value, one.slot});
            one.value = nullptr;
            one.slot = no_slot;
        }
    }
    std::reverse(playback_->shape.begin(), playback_->shape.end());
    std::reverse(playback_->values.begin(), playback_->values.end());
    if (!alive(who)) {
        // It has died meanwhile: there is nothing to do.
    } else if (end != nullptr) {
        const as_system acts(*this, end->system);
        drop_given();  // the fragment of one may die, too
        if (guard.is_born && fragments_.find(who.value()) == nullptr) {  // nobody has seen it
            note_death({who, end->where});
            unmake(who);
        } else {
            destroy_told({who, end->where});
        }
    } else if (is_lost) {
        raise(errc::dead_fragment,
              text("a change of ", describe(who),
                   " is dropped: its fragment was destroyed in the same scope"));
    } else {
        chunk_data& here = graph_.at(find(who)->chunk());
        const plan& way = playback_->plans.find(graph_, here, beside_of(who), playback_->shape);
        follow(who, way, playback_->values, guard.is_born);
        if (way.moves_bytes) playback_->last_plan = &way;
    }
    guard.is_done = true;
    changes.commit();
}

template <class Layout>
void store<Layout>::carry_out_barrier(const journal_group& group) {
    const journal_entry change = journal_.entry(group.last);
    const auto* const note = static_cast<const journal_note*>(change.value);  // null: none
    const auto who = to_id<Layout>(group.id);
    switch (change.kind) {
    case change_kind::batch: carry_out_batch(group); break;
    case change_kind::destroy: {
        if (!alive(who)) break;
        const as_system acts(*this, note->system);
        scope whole(*this);
        destroy_told({who, note->where});
        whole.commit();
        break;
    }
    case change_kind::clear_fragment:
        if (change.fragment != nullptr) clear_fragment_now(*change.fragment);
        break;
    case change_kind::copy_fragment: {
        if (change.fragment == nullptr) break;
        const fragment_data& source = get_fragment(who, "copy_fragment", &note->where);
        copy_fragment_now(source, *change.fragment);
        break;
    }
    default:
        for (chunk_data* one : graph_.all())
            if (one->serial == group.id && note->count > one->size)
                one->make_room(note->count - one->size, row_limit, {});
    }
}

/// Moves the entity once. `values` are those of the plan's shape; those that arrive become null. If a
/// hook throws, all is as it was.
template <class Layout>
void store<Layout>::follow(id_type who, const plan& way, std::span<waiting_value> values,
                           bool is_born) {
    const bool tells_birth = is_born && entity_hooks_.has(insert_hooks);
    if (way.from != way.to && way.to != &graph_.nowhere()) way.to->make_room(1, row_limit, {});
    prepare_notes(way, 1);
    if (way.moves_bytes && !tells_birth) {
        follow_bytes(who, way, values);
    } else {
        exchange moved(*this, who, way, values);
        for (fragment_data* one : way.removed) call_hooks(hook_kind::remove, who, *one);
        moved.go();
        struct undo {
            exchange& moved;
            bool is_done = false;
            ~undo() {
                if (!is_done) moved.go_back();
            }
        };
        undo guard{moved};
        if (tells_birth) run_hooks(entity_hooks_, hook_kind::insert, who, nullptr);
        for (const plan::told& one : way.present) {
            call_hooks(one.is_new ? hook_kind::insert : hook_kind::assign, who, *one.fragment);
            call_hooks(hook_kind::set, who, *one.fragment);
        }
        guard.is_done = true;
    }
    note(way, who);
    for (const plan::arrival& one : way.arrivals)
        if (one.given != plan::none) values[one.given] = {};
    for (const plan::beside_change& one : way.beside_changes)
        if (one.given != plan::none) values[one.given] = {};
    for (fragment_data* one : way.settled) one->is_open = false;
}

/// The same where nothing can fail and no code of the user's runs.
template <class Layout>
void store<Layout>::follow_bytes(id_type who, const plan& way,
                                 std::span<waiting_value> values) noexcept {
    chunk_data& from = *way.from;
    chunk_data& to = *way.to;
    record_type& found = *find_record(who.key());
    const std::size_t row = found.row();
    const std::size_t to_row = &from == &to ? row : to.size;
    if (&from != &to) {
        found.place(to.index, &to == &graph_.nowhere() ? 0 : to_row);
        if (&from != &graph_.nowhere()) {
            const std::size_t last = --from.size;
            if (row != last) {
                const id_type moved = ids(from)[row] = ids(from)[last];
                pool_.find(moved.key())->place(from.index, row);
            }
            const std::uint32_t* target = way.columns.data();
            for (const column& one : from.columns) {
                const std::uint32_t which = *target++;
                one.take_bytes(row, last, which == edge::dropped ? nullptr : &to.columns[which],
                               to_row);
            }
        }
        if (&to != &graph_.nowhere()) ids(to)[to.size++] = who;
    }
    for (const plan::arrival& one : way.arrivals)
        to.columns[one.column].put_bytes(to_row, values[one.given].at);
}

}  // namespace muster::detail
