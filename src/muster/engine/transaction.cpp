#include <muster/base/error.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/run.hpp>
#include <muster/type/value_participant.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

// ---- scopes ------------------------------------------------------------------------------------

transaction::transaction(engine& owner) noexcept
    : engine_(owner), journal_(owner.pending), held_(owner.gate, owner.scratch) {}

void transaction::replace(const open_scope& open, open_scope* by) noexcept {
    const bool is_innermost = innermost_ == &open;
    (is_innermost ? innermost_ : open.inner_->outer_) = by;
    if (open.outer_ == nullptr || (by == open.outer_ && is_innermost)) return;
    open.outer_->inner_ = by == open.outer_ ? open.inner_ : by;
}

void open_scope::cancel() noexcept {
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): `end` removes it from the list of scopes
    if (owner_->transaction.innermost_ != this) {
        // Inner scopes may still use the entries, so the next inner scope drops them when it ends.
        inner_->start_ = start_;
        inner_->is_cancelled_ = true;
    } else {
        owner_->transaction.rewind(start_);
    }
    end();
}

void open_scope::commit_among_others() {
    if (is_cancelled_) return cancel();
    // The next inner scope, which is still open, takes over the entries.
    inner_->start_ = start_;
    end();
}

void transaction::defer() {
    engine_.gate.refuse_in_change("defer");
    (void)new scope(engine_, true);
}

void transaction::commit(const std::source_location* where) {
    engine_.gate.refuse_in_change("commit");
    if (innermost_ == nullptr || !innermost_->is_users_) raise_unbalanced("commit", where);
    const std::unique_ptr<scope> last(static_cast<scope*>(innermost_));  // made by `defer`
    last->commit();
}

void transaction::cancel(const std::source_location* where) {
    engine_.gate.refuse_in_change("cancel");
    if (innermost_ == nullptr || !innermost_->is_users_) raise_unbalanced("cancel", where);
    delete static_cast<scope*>(innermost_);
}

void transaction::drop_scopes(const open_scope* kept) noexcept {
    open_scope* open = innermost_;
    while (open != nullptr && open != kept && open->is_users_)
        // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDelete): it removes itself from the list
        delete static_cast<scope*>(std::exchange(open, open->outer_));
}

void transaction::cancel_all() noexcept {
    for (drop_scopes(nullptr); innermost_ != nullptr; drop_scopes(nullptr))
        innermost_->cancel();  // NOLINT(clang-analyzer-cplusplus.NewDelete): see `drop_scopes`
}

void transaction::raise_unbalanced(const char* call, const std::source_location* where) const {
    raise(errc::unbalanced_scope,
          innermost_ == nullptr
              ? text(call, "() without defer(): no scope is open", place_of(call, where))
              : text(call,
                     "() without defer(): the innermost scope belongs to a loop, a callback, a "
                     "hook or a `deferred`, which closes it itself",
                     place_of(call, where)));
}

void transaction::rewind(const journal::position& to) noexcept {
    journal_entry gone{};
    while (journal_.pop_entry(to, gone)) {
        if (gone.kind == change_kind::save) restore(gone);
        if (gone.kind == change_kind::record && gone.value != nullptr)
            static_cast<scoped_log*>(gone.value)->take_back();
        end_value(gone);
    }
    // No scope begins after a scope inside of it.
    const auto is_later = [&](const journal::position& start) {
        return start.groups > to.groups || start.entries > to.entries;
    };
    for (open_scope* open = innermost_; open != nullptr && is_later(open->start_);
         open = open->outer_)
        open->start_ = to;
    journal_group group{};
    while (journal_.pop_group(to, group))
        if (group.is_new_entity) engine_.destroyer.rollback_spawn(group.id);
}

/// Puts a saved value back where it was copied from, if the entity still has a value there.
void transaction::restore(journal_entry& saved) noexcept {
    if (saved.fragment == nullptr || saved.value == nullptr) return;
    const fragment_data& fragment = *saved.fragment;
    const type_info& type = *fragment.type;
    auto& [copy, target] = *static_cast<saved_value*>(saved.value);
    const std::uint64_t e = journal_.group(saved.group).id;
    journal_entry* const pending = target == journal::none ? nullptr : &journal_.entry(target);
    void* const to = pending != nullptr ? pending->value : engine_.components.find(e, fragment);
    if (to == nullptr) return;
    if (pending == nullptr) engine_.changes.mark_written(e, fragment);
    const busy_guard busy(engine_.gate);
    if (type.destroy != nullptr) type.destroy(to, 1);
    if (!type.pinned) {
        type.relocate_values(to, std::exchange(copy, nullptr), 1);
        return;
    }
    bool is_done = false;
    first_error ignored;
    ignored.attempt([&] {
        type.copy_values(to, copy, 1, 0);
        is_done = true;
    });
    if (is_done) return;
    // The copy itself becomes the value, at another address: nothing else is left of it.
    copy = nullptr;
    const slot_index slot = std::exchange(saved.slot, no_slot);
    sparse_set& set = *fragment.sparse_values;
    const slot_index lost = pending != nullptr ? pending->slot : set.find(e);
    if (pending != nullptr) {
        pending->slot = slot;
        pending->value = set.at(slot);
    } else {
        set.detach(e, lost);
        set.attach(e, slot);
    }
    set.give_back(lost);
}

// ---- recording ---------------------------------------------------------------------------------

void* transaction::take_room(journal_entry& entry) {
    sparse_set* const set = entry.fragment->sparse_values;
    if (set == nullptr) return journal_.allocate(*entry.fragment->type);
    entry.slot = set->take();
    return set->at(entry.slot);
}

void transaction::record_change(std::uint64_t e, change_kind kind, fragment_data& fragment,
                                const change& given) {
    if (given.is_bytes() && !given.is_default && fragment.sparse_values == nullptr)
        return record_bytes(e, kind, fragment, given.self);
    record_guard guard(*this, journal_);
    record_value(e, kind, fragment, given);
    guard.keep();
}

void transaction::record_bytes(std::uint64_t e, change_kind kind, fragment_data& fragment,
                               const void* value) {
    const type_info& type = *fragment.type;
    void* room = nullptr;
    if (type.size != 0) {
        room = journal_.allocate(type);  // if `add` throws, the scope frees it at its end
        copy_bytes(room, value, type.size);
    }
    journal_.add(e, kind, &fragment).value = room;
}

void transaction::record_value(std::uint64_t e, change_kind kind, fragment_data& fragment,
                               const change& given) {
    if (given.is_default) return record_default(e, kind, fragment);
    journal_entry& made = journal_.add(e, kind, &fragment);
    if (fragment.type->size == 0 && fragment.sparse_values == nullptr) return;
    void* const room = take_room(made);
    if (fragment.type->size == 0) return;
    if (given.is_bytes()) {
        copy_bytes(room, given.self, fragment.type->size);
    } else {
        const busy_guard busy(engine_.gate);
        given.construct_at(room, fragment.type->size);
    }
    made.value = room;
}

void transaction::record_copy(std::uint64_t e, change_kind kind, fragment_data& fragment,
                              const void* value, bool as_clone) {
    journal_entry& made = journal_.add(e, kind, &fragment);
    if (fragment.type->size == 0 && fragment.sparse_values == nullptr) return;
    void* const room = take_room(made);
    if (fragment.type->size == 0) return;
    const busy_guard busy(engine_.gate);
    if (as_clone)
        fragment.copy_value(room, value, 1);
    else
        fragment.type->copy_values(room, value, 1, 0);
    made.value = room;
}

void transaction::record_default(std::uint64_t e, change_kind kind, fragment_data& fragment) {
    if (!fragment.has_default()) error_reporter::raise_no_default(fragment, fragment.name);
    journal_entry& made = journal_.add(e, kind, &fragment);
    if (fragment.type->size == 0 && fragment.sparse_values == nullptr) return;
    void* const room = take_room(made);
    if (fragment.type->size == 0) return;
    const busy_guard busy(engine_.gate);
    fragment.default_construct(room, 1);
    made.value = room;
}

void transaction::record_save(std::uint64_t e, fragment_data& fragment, std::uint32_t target,
                              const void* value) {
    record_guard guard(*this, journal_);
    const type_info& type = *fragment.type;
    journal_entry& made = journal_.add(e, change_kind::save, &fragment);
    auto* const saved = ::new (journal_.allocate(sizeof(saved_value), alignof(saved_value)))
        saved_value{nullptr, target};
    // A pinned value needs a slot: the entity may have to take it over.
    void* const room = type.pinned ? take_room(made) : journal_.allocate(type);
    const busy_guard busy(engine_.gate);
    type.copy_values(room, value, 1, 0);
    saved->copy = room;
    made.value = saved;
    guard.keep();
}

void transaction::record_word(std::uint64_t e, fragment_data& fragment, std::uint64_t word) {
    journal_.annotate(journal_.add(e, change_kind::regroup, &fragment), {.count = word});
}

void transaction::drop_values(std::uint32_t last) noexcept {
    for (std::uint32_t at = last; at != journal::none; at = journal_.entry(at).previous) {
        journal_entry& entry = journal_.entry(at);
        if (has_component(entry.kind) || entry.kind == change_kind::save) drop_value(entry);
    }
}

void transaction::drop_value(journal_entry& entry) noexcept {
    end_value(entry);
    entry.value = nullptr;
    entry.slot = no_slot;
}

void transaction::end_value(const journal_entry& entry) noexcept {
    if (entry.fragment == nullptr) return;
    const busy_guard busy(engine_.gate);
    end_pending(*entry.fragment, component_of(entry), entry.slot);
}

// ---- applying the journal ----------------------------------------------------------------------

void transaction::apply_recorded() {
    first_error error;
    error.attempt([&] { apply_journal(); });
    if (engine_.submissions.has_submissions())
        error.attempt([&] { engine_.parallel.apply_submitted(); });
    error.rethrow();
}

void transaction::apply_journal() {
    scope whole(engine_);  // defers changes made by hooks to the end
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

/// Fast path for an entity with the same changes as the previous entity. Applies the same
/// transition if that takes neither user code nor memory; returns false otherwise.
bool transaction::apply_like_last(std::uint64_t e, const journal_group& group) noexcept {
    if (!last_ || last_epoch_ != engine_.graph.epoch()) return false;
    std::size_t i = last_shape_.size();
    for (std::uint32_t at = group.last; at != journal::none;) {
        const journal_entry& entry = journal_.entry(at);
        if (i == 0 || last_shape_[i - 1].fragment != entry.fragment ||
            last_shape_[i - 1].kind != entry.kind)
            return false;
        last_values_[--i].at = entry.value;
        at = entry.previous;
    }
    return i == 0 &&
           engine_.applier.apply_bytes(e, *last_, {last_values_.data(), last_values_.size()},
                                       group.is_new_entity);
}

/// Applies all changes recorded for one entity, or none.
void transaction::apply_group(std::uint32_t which) {
    const journal_group group = journal_.group(which);
    if (group.is_barrier) return apply_barrier(group);
    if (apply_like_last(group.id, group)) return;

    bool is_done = false;
    const scope_guard rest([&] {
        if (!is_done) drop_values(group.last);
        held_.clear();
        if (!is_done && group.is_new_entity) engine_.destroyer.rollback_spawn(group.id);
    });
    scope changes(engine_);  // changes of hooks; dropped on failure
    const journal_note* end = nullptr;
    bool is_lost = false;
    bool has_participant = false;
    for (std::uint32_t at = group.last; at != journal::none; at = journal_.entry(at).previous) {
        journal_entry& entry = journal_.entry(at);
        if (entry.kind == change_kind::destroy) {
            end = static_cast<const journal_note*>(entry.value);
        } else if (entry.kind == change_kind::save) {
            drop_value(entry);  // no cancel can restore it any more
        } else if (entry.kind == change_kind::touch && entry.fragment != nullptr &&
                   !entry.fragment->hooks.has(assign_hooks)) {
            // notifies no one
        } else if (entry.fragment == nullptr && entry.kind != change_kind::clear) {
            is_lost = is_lost || has_component(entry.kind);
        } else if (entry.kind == change_kind::regroup) {
            const auto* const note = static_cast<const journal_note*>(entry.value);
            held_.add({entry.fragment, entry.kind, note->count}, {});
        } else {
            if (entry.fragment != nullptr && entry.fragment->participant != nullptr)
                has_participant = true;
            held_.add({entry.fragment, entry.kind}, {entry.value, entry.slot});
            entry.value = nullptr;
            entry.slot = no_slot;
        }
    }
    held_.reverse();
    if (!engine_.entities.alive(group.id)) {
        // An earlier change destroyed the entity: the others have no effect.
    } else if (end != nullptr) {
        destroy_now({group.id, end->where}, *end, group.is_new_entity);
    } else if (is_lost) {
        raise(errc::dead_fragment,
              text("a change of ", engine_.errors.describe(group.id),
                   " is dropped: its fragment was destroyed in the same scope"));
    } else if (has_participant && !combine(group.id)) {
        held_.clear();
        engine_.destroyer.destroy_notifying({group.id, {}});
    } else {
        apply_changes(group.id, group.is_new_entity);
    }
    is_done = true;
    changes.commit();
}

/// Lets the participants combine the changes of their fragments into one each. Returns false if the
/// entity is to be destroyed instead.
bool transaction::combine(std::uint64_t e) {
    array_list<fragment_data*> fragments;  // that receive values, each once
    for (const change_shape& step : held_.shape())
        if (step.fragment != nullptr && step.fragment->participant != nullptr &&
            step.kind == change_kind::put &&
            std::ranges::find(fragments, step.fragment) == fragments.end())
            fragments.push_back(step.fragment);
    for (fragment_data* fragment : fragments) {
        array_list<void*> given;
        std::size_t which = 0;
        for (std::size_t i = 0; i < held_.shape().size(); ++i)
            if (const change_shape& step = held_.shape()[i];
                (step.fragment == fragment && step.kind != change_kind::regroup) ||
                step.kind == change_kind::clear)
                given.push_back(held_.values()[i].at);
        using outcome = value_participant::outcome;
        const outcome result =
            fragment->participant->combine(e, engine_.components.find(e, *fragment), given, which);
        if (result == outcome::destroys) return false;
        held_.combine(*fragment,
                      result == outcome::puts      ? change_kind::put
                      : result == outcome::touches ? change_kind::touch
                                                   : change_kind::remove,
                      result == outcome::puts ? given[which] : nullptr);
        if (result == outcome::none) held_.drop_last();
        if (result == outcome::puts && fragment->has_word)
            held_.add({fragment, change_kind::regroup,
                       fragment->participant->word_of(held_.values().back().at)},
                      {});
    }
    return true;
}

void transaction::destroy_now(target of, const journal_note& note, bool is_new_entity) {
    const system_guard acts(engine_, note.system);
    held_.clear();  // first, since the fragments of the values may be destroyed, too
    if (is_new_entity && engine_.fragments.find(of.id) == nullptr &&
        !engine_.destroyer.concerns_rooms(of.id)) {  // no hook has seen it
        engine_.destroyer.record_provenance(of);
        engine_.destroyer.rollback_spawn(of.id);
    } else {
        engine_.destroyer.destroy_notifying(of);
    }
}

void transaction::apply_changes(std::uint64_t e, bool is_new_entity) {
    if (held_.shape().empty() && !is_new_entity) return;
    chunk_data& here = engine_.components.chunk_of(e);
    const transition_ref step = engine_.catalog.transition_for(here, e, held_.shape());
    const bool may_repeat = step->moves_bytes && step->is_repeatable && !step->has_notices;
    if (may_repeat) {
        last_ = {};
        last_shape_.assign(held_.shape().data(), held_.shape().data() + held_.shape().size());
        last_values_.resize(last_shape_.size());
        last_epoch_ = engine_.graph.epoch();
    }
    engine_.applier.apply(e, *step, held_.values(), is_new_entity);
    if (may_repeat) last_ = step;
}

/// Delivers the records of a group: those of each log in their order.
void transaction::deliver(const journal_group& group) noexcept {
    for (std::uint32_t at = group.last; at != journal::none; at = journal_.entry(at).previous)
        if (void* const log = std::exchange(journal_.entry(at).value, nullptr))
            static_cast<scoped_log*>(log)->deliver();
}

void transaction::apply_barrier(const journal_group& group) {
    if (group.has_records) return deliver(group);
    const journal_entry change = journal_.entry(group.last);
    const auto* const note = static_cast<const journal_note*>(change.value);  // null: none
    switch (change.kind) {
    case change_kind::batch: engine_.batch.apply(group); break;
    case change_kind::destroy: {
        if (!engine_.entities.alive(group.id)) break;
        const system_guard acts(engine_, note->system);
        scope whole(engine_);
        engine_.destroyer.destroy_notifying({group.id, note->where});
        whole.commit();
        break;
    }
    case change_kind::clear_fragment:
        if (change.fragment != nullptr) engine_.batch.clear_fragment_now(*change.fragment);
        break;
    case change_kind::copy_fragment:
        if (change.fragment != nullptr)
            engine_.batch.copy_fragment_now(
                engine_.catalog.get(group.id, "copy_fragment", &note->where), *change.fragment);
        break;
    default:
        for (chunk_data* chunk : engine_.graph.all())
            if (chunk->serial == group.id && note->count > chunk->size)
                chunk->make_room(note->count - chunk->size, engine_.graph.row_limit(), {});
    }
}

}  // namespace MUSTER_NAMESPACE::detail
