#include <muster/base/first_error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/engine/run.hpp>
#include <muster/entity/destroy_participant.hpp>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace muster::detail {

/// What one operation destroys.
struct destroyer::cascade {
    destroy_set dying;
    array_list<fragment_data*> gone;  // the fragments among them
    array_list<loss> losing;          // owners that survive, if anyone is notified
};

void destroyer::remove_participant(const destroy_participant& room) noexcept {
    participants_.erase_if([&](const destroy_participant* known) { return known == &room; });
}

bool destroyer::concerns_rooms(std::uint64_t e) const noexcept {
    return !participants_.empty() && (engine_.marks.test(engine_.entities.key_of(e)) ||
                                      engine_.components.chunk_of(e).is_followed);
}

bool destroyer::concerns_rooms(const chunk_data& chunk) const noexcept {
    if (participants_.empty()) return false;
    return chunk.is_followed || engine_.entities.next_marked(chunk, 0, engine_.marks) < chunk.size;
}

/// Whether other entities may depend on this one.
bool destroyer::has_dependents(std::uint64_t e) const noexcept {
    return engine_.fragments.find(e) != nullptr || concerns_rooms(e);
}

// ---- one entity --------------------------------------------------------------------------------

void destroyer::record_provenance(target of) {
    if (engine_.gate.keeps_provenance && !engine_.entities.is_guest(of.id))
        engine_.deaths.note(engine_.entities.key_of(of.id), engine_.entities.version_of(of.id),
                            of.where, engine_.names.find(of.id), engine_.current_system);
}

/// Erases what is stored by key: the name, the mark and the sparse values.
void destroyer::forget(std::uint64_t e) noexcept {
    engine_.names.erase(e);
    if (engine_.entities.is_guest(e)) return;  // the key is that of a native entity
    engine_.marks.reset(engine_.entities.key_of(e));
    engine_.sparse.forget(e, [&](sparse_set& set, slot_index had) {
        engine_.writes.mark(*set.fragment, {});
        const busy_guard busy(engine_.gate);
        set.drop(had);
    });
}

/// Destroys the entity, after all steps that can fail.
void destroyer::finish(std::uint64_t e) noexcept {
    forget(e);
    if (chunk_data& from = engine_.components.chunk_of(e); from.index != chunk_index{})
        engine_.entities.remove_row(e, from, engine_.gate);
    engine_.entities.destroy(e);
}

bool destroyer::destroy(target of) {
    const writer_guard writer(engine_, "destroy");
    const bool is_recorded = engine_.gate.is_recording("destroy");
    if (is_recorded && engine_.gate.is_parallel())
        return engine_.parallel.record_destroy({&of.id, 1}, of.where) != 0;
    location at;
    if (!engine_.entities.find(of.id, at)) {
        if (engine_.entities.is_foreign(of.id)) engine_.errors.raise_not_alive(of, "destroy");
        return false;
    }
    engine_.errors.refuse_away(of, at, "destroy");
    if (is_recorded) return record(of);
    const bool is_depended_on = has_dependents(of.id);
    if (engine_.notifier.notifies_remove(engine_.components.chunk_of(of.id)) ||
        (is_depended_on && engine_.notifier.has_any()) ||
        engine_.notifier.notifies_remove_sparse(of.id)) {
        // For the changes of hooks, which are dropped on failure. Only observers need none.
        const bool is_simple = engine_.gate.is_idle() &&
                               !engine_.marks.test(engine_.entities.key_of(of.id)) &&
                               !engine_.notifier.calls_remove(engine_.components.chunk_of(of.id));
        if (is_simple)
            destroy_notifying(of);
        else
            engine_.transaction.run([&] { destroy_notifying(of); });
    } else if (is_depended_on) {
        destroy_together({&of.id, 1}, of.where);
    } else {
        record_provenance(of);
        finish(of.id);
    }
    return true;
}

bool destroyer::record(target of) {
    if (!engine_.entities.alive(of.id)) return false;
    record_guard guard(engine_.transaction, engine_.pending);
    // Destroying a fragment affects all its owners.
    const bool is_fragment = engine_.fragments.find(of.id) != nullptr;
    journal_entry& made = is_fragment
                              ? engine_.pending.add_barrier(of.id, change_kind::destroy, nullptr)
                              : engine_.pending.add(of.id, change_kind::destroy, nullptr);
    engine_.pending.annotate(made, {.where = of.where, .system = engine_.current_system});
    guard.keep();
    return true;
}

void destroyer::undo_create(std::uint64_t e) noexcept {
    forget(e);
    engine_.entities.undo_create(e);
}

void destroyer::destroy_notifying(target of) {
    if (has_dependents(of.id)) return destroy_together({&of.id, 1}, of.where);
    record_provenance(of);
    engine_.notifier.prepare_removal(of.id, 1);
    engine_.notifier.dying(of.id);
    engine_.notifier.note_removal(of.id);
    finish(of.id);
    // A hook may have made it a fragment, without owners yet.
    if (fragment_data* const used = engine_.fragments.find(of.id)) forget_fragment(*used);
}

void destroyer::rollback_spawn(std::uint64_t made) noexcept {
    if (!engine_.entities.alive(made)) return;
    fragment_data* const fragment = engine_.fragments.find(made);
    if (fragment == nullptr ? has_dependents(made) : engine_.components.count(*fragment) != 0) {
        first_error ignored;
        ignored.attempt([&] { destroy_together({&made, 1}, {}); });
        return;
    }
    finish(made);
    if (fragment != nullptr) forget_fragment(*fragment);
}

// ---- many entities -----------------------------------------------------------------------------

std::size_t destroyer::destroy(slice<const std::uint64_t> all, const std::source_location& where) {
    const writer_guard writer(engine_, "destroy");
    const bool is_recorded = engine_.gate.is_recording("destroy");
    for (const std::uint64_t e : all)
        if (engine_.entities.is_foreign(e)) engine_.errors.raise_not_alive({e, where}, "destroy");
    std::size_t count = 0;
    if (is_recorded && engine_.gate.is_parallel())
        return engine_.parallel.record_destroy(all, where);
    const auto is_living = [&](std::uint64_t e) { return engine_.entities.alive(e); };
    if (!is_recorded && !participants_.empty() && std::ranges::any_of(all, [&](std::uint64_t e) {
            return is_living(e) && concerns_rooms(e);
        })) {
        destroy_set living;  // one operation: they may depend on each other
        for (const std::uint64_t e : all)
            if (is_living(e)) {
                engine_.errors.refuse_away({e, where}, engine_.entities.locate(e), "destroy");
                living.add(e);
            }
        engine_.transaction.run([&] { destroy_together(living.all(), where); });
        return living.size();
    }
    if (is_recorded || engine_.notifier.has_any()) {  // an exception does not stop the others
        std::unordered_set<std::uint64_t> living;
        scope whole(engine_);
        for (const std::uint64_t e : all)
            if (record({e, where})) living.insert(e);
        whole.commit();
        return living.size();
    }
    for (const std::uint64_t e : all)  // may throw: before the first is destroyed
        if (engine_.entities.alive(e)) record_provenance({e, where});
    for (const std::uint64_t e : all) count += destroy({e, where}) ? 1u : 0u;
    return count;
}

bool destroyer::is_fragment(std::uint64_t e) const noexcept {
    return engine_.marks.test(engine_.entities.key_of(e)) && engine_.fragments.find(e) != nullptr;
}

void destroyer::destroy_chunk(chunk_data& chunk, const std::source_location& where) {
    array_list<std::uint64_t> remaining;  // the ids to destroy, if not all rows
    const auto next = [&](std::size_t from) {
        return engine_.entities.next_marked(chunk, from, engine_.marks);
    };
    std::size_t row = next(0);
    while (row < chunk.size && !is_fragment(chunk.id_at(row))) row = next(row + 1);
    const bool is_whole = row == chunk.size;
    for (row = 0; !is_whole && row < chunk.size; ++row) {
        const std::uint64_t e = chunk.id_at(row);
        if (!is_fragment(e))
            remaining.push_back(e);
        else if (!engine_.catalog.is_world_owned(e))  // a barrier of its own: it affects all owners
            record({e, where});
    }
    const std::size_t count = is_whole ? chunk.size : remaining.size();
    const auto each_dying = [&](auto call) {
        for (std::size_t i = 0; i < count; ++i) call(is_whole ? chunk.id_at(i) : remaining[i]);
    };
    if (engine_.gate.keeps_provenance)
        each_dying([&](std::uint64_t e) { record_provenance({e, where}); });
    const auto notifies = [](const sparse_set* set) {
        return set != nullptr && set->size() != 0 && set->fragment->hooks.has(remove_hooks);
    };
    notifier& hooks = engine_.notifier;
    if (hooks.notifies_remove(chunk) || std::ranges::any_of(engine_.sparse.all(), notifies)) {
        each_dying([&](std::uint64_t e) { hooks.prepare_removal(e, count); });
        each_dying([&](std::uint64_t e) { hooks.dying(e); });
        each_dying([&](std::uint64_t e) { hooks.note_removal(e); });
    }
    if (is_whole) return destroy_rows(chunk, 0);
    for (const std::uint64_t e : remaining) {
        finish(e);
        if (fragment_data* const used = engine_.fragments.find(e)) forget_fragment(*used);
    }
}

void destroyer::destroy_rows(chunk_data& chunk, std::size_t first) noexcept {
    const std::size_t count = chunk.size - first;
    destroy_ids(chunk, first);
    {
        const busy_guard busy(engine_.gate);
        chunk.destroy_values(first, count);
    }
    chunk.note_truncated();
}

void destroyer::destroy_ids(chunk_data& chunk, std::size_t first) noexcept {
    const std::size_t count = chunk.size - first;
    chunk.size = first;
    const auto destroy_marked = [](void* owner, std::uint64_t e) noexcept {
        auto& self = *static_cast<destroyer*>(owner);
        self.forget(e);
        self.engine_.entities.destroy(e);
        if (fragment_data* const used = self.engine_.fragments.find(e)) self.forget_fragment(*used);
    };
    engine_.entities.destroy_rows(chunk, first, count, engine_.marks, destroy_marked, this);
}

void destroyer::reset(const std::source_location& where) {
    const writer_guard writer(engine_, "reset");
    engine_.gate.refuse_in_scope("reset");
    if (engine_.notifier.has_any()) return reset_notifying(where);
    entity_directory& entities = engine_.entities;
    const array_list<std::uint64_t> all = all_mortal();
    for (const std::uint64_t e : all) record_provenance({e, where});
    for (destroy_participant* room : participants_) room->reset();
    array_list<fragment_data*> gone;  // fragments of the user
    for (fragment_data* fragment : engine_.fragments.all())
        if (fragment->is_world_owned)
            entities.place(fragment->id, {});
        else
            gone.push_back(fragment);
    for (const std::uint64_t e : all) {
        engine_.names.erase(e);
        if (!entities.is_guest(e)) engine_.marks.reset(entities.key_of(e));
        entities.destroy(e);
    }
    engine_.exchange.forget_away();
    {
        const busy_guard busy(engine_.gate);
        end_values();
    }
    for (fragment_data* fragment : gone) forget_fragment(*fragment);
}

/// Returns all living entities, guests last, without world-owned ids.
array_list<std::uint64_t> destroyer::all_mortal() const {
    const entity_directory& entities = engine_.entities;
    array_list<std::uint64_t> all;
    for (std::uint64_t e = entities.next_living(0); e != entities.null();
         e = entities.next_living(entities.key_of(e) + 1))
        if (!engine_.catalog.is_world_owned(e)) all.push_back(e);
    for (std::uint64_t e = entities.next_guest(entities.null()); e != entities.null();
         e = entities.next_guest(e))
        all.push_back(e);
    return all;
}

/// Entities whose hooks throw stay alive; so do the fragments that they have.
void destroyer::reset_notifying(const std::source_location& where) {
    array_list<std::uint64_t> all = all_mortal();
    all.erase_if([&](std::uint64_t e) {
        if (!engine_.exchange.is_away(e)) return false;
        engine_.exchange.destroy_away(e);  // no hook can see its components
        return true;
    });
    is_resetting_ = true;
    const scope_guard end([&] { is_resetting_ = false; });
    scope whole(engine_);
    for (const fragment_data* fragment : engine_.fragments.all())  // singletons
        if (fragment->is_world_owned)
            engine_.pending.add(fragment->id, change_kind::clear, nullptr);
    // Fragments come last, so that the hooks of their owners still find all values.
    for (const std::uint64_t e : all)
        if (engine_.fragments.find(e) == nullptr) record({e, where});
    for (const std::uint64_t e : all)
        if (engine_.fragments.find(e) != nullptr) record({e, where});
    whole.commit();
}

void destroyer::end_values() noexcept {
    // First hide everything: a destructor that queries the world must not meet a dead entity.
    for (const sparse_set* set : engine_.sparse.all())
        if (set != nullptr && set->fragment != nullptr) engine_.writes.mark(*set->fragment, {});
    engine_.sparse.forget_entries();
    for (chunk_data* chunk : engine_.graph.all()) chunk->forget_rows();
    for (std::size_t i = 0; i < engine_.sparse.all().size(); ++i)
        if (sparse_set* const set = engine_.sparse.all()[i]) set->end_values();
    for (std::size_t i = 0; i < engine_.graph.all().size(); ++i)  // a destructor may add a chunk
        engine_.graph.all()[i]->end_values();
}

void destroyer::drop_all(sparse_set& set) noexcept {
    engine_.writes.mark(*set.fragment, {});
    for (slot_index at = set.next(0); at != no_slot; at = set.next(to_int(at) + 1)) {
        set.detach(set.id_at(at), at);
        const busy_guard busy(engine_.gate);
        set.drop(at);
    }
}

// ---- fragments ---------------------------------------------------------------------------------

/// Collects what is destroyed: destruction cascades to the owners of fragments with
/// `destroys_owners`, and to what the participants add.
void destroyer::collect(slice<const std::uint64_t> first, cascade& all) {
    for (const std::uint64_t e : first) all.dying.add(e);
    std::size_t asked = 0;  // the participants know these
    for (std::size_t i = 0; i < all.dying.size() || asked < all.dying.size();) {
        if (i == all.dying.size()) {
            const std::size_t from = std::exchange(asked, all.dying.size());
            for (destroy_participant* room : participants_) room->collect(all.dying, from);
            continue;
        }
        fragment_data* const fragment = engine_.fragments.find(all.dying.all()[i++]);
        if (fragment == nullptr) continue;
        all.gone.push_back(fragment);
        if (!fragment->destroys_owners) continue;
        for (const std::uint64_t e : engine_.components.owners_of(*fragment)) all.dying.add(e);
    }
    if (!is_resetting_)
        for (const destroy_participant* room : participants_) room->check(all.dying);
    if (engine_.notifier.has_any()) collect_losses(all);
}

/// Lists the owners of destroyed fragments that survive: in the order of chunks, then of fragments;
/// sparse fragments last.
void destroyer::collect_losses(cascade& all) const {
    array_list<chunk_data*> owners;
    for (const fragment_data* fragment : all.gone)
        if (fragment->sparse_values == nullptr && fragment->hooks.has(remove_hooks))
            for (chunk_data* chunk : engine_.components.chunks_of(*fragment))
                owners.push_back(chunk);
    std::ranges::sort(owners, {}, &chunk_data::serial);
    owners.erase(std::ranges::unique(owners).begin(), owners.end());
    for (const chunk_data* chunk : owners)
        for (fragment_data* fragment : all.gone)
            if (chunk->has(*fragment) && fragment->hooks.has(remove_hooks))
                for (std::size_t row = 0; row < chunk->size; ++row)
                    if (const std::uint64_t e = chunk->id_at(row); !all.dying.has(e))
                        all.losing.push_back({e, fragment});
    for (fragment_data* fragment : all.gone)
        if (fragment->sparse_values != nullptr && fragment->hooks.has(remove_hooks))
            for (const std::uint64_t e : engine_.components.owners_of(*fragment))
                if (!all.dying.has(e)) all.losing.push_back({e, fragment});
}

/// Calls the hooks. One that throws keeps all of them alive.
void destroyer::notify(cascade& all) {
    notifier& hooks = engine_.notifier;
    const std::size_t notes = all.dying.size() + all.losing.size();
    for (const std::uint64_t e : all.dying.all()) hooks.prepare_removal(e, notes);
    for (fragment_data* fragment : all.gone) fragment->hooks.prepare(hook_kind::remove, notes);
    for (const std::uint64_t e : all.dying.all()) hooks.dying(e);
    for (const loss& lost : all.losing)
        hooks.call(hook_kind::remove, lost.e, engine_.entities.locate(lost.e), *lost.fragment);
    // A hook may have made one a fragment, without owners yet.
    for (const std::uint64_t e : all.dying.all())
        if (fragment_data* const used = engine_.fragments.find(e);
            used != nullptr && std::ranges::find(all.gone, used) == all.gone.end())
            all.gone.push_back(used);
}

void destroyer::destroy_together(slice<const std::uint64_t> first,
                                 const std::source_location& where) {
    cascade all;
    collect(first, all);
    const slice<const std::uint64_t> dying = all.dying.all();
    for (destroy_participant* room : participants_) room->prepare(all.dying);
    if (engine_.notifier.has_any()) notify(all);
    // Steps that can fail come before the first irreversible one: transitions and room for the
    // owners that survive, and provenance.
    array_list<chunk_data*> owners;
    for (const fragment_data* fragment : all.gone)
        for (chunk_data* chunk : engine_.components.chunks_of(*fragment))
            if (chunk->size != 0) owners.push_back(chunk);
    std::ranges::sort(owners, {}, &chunk_data::serial);
    owners.erase(std::ranges::unique(owners).begin(), owners.end());
    std::vector<chunk_loss> losses;
    std::unordered_map<const chunk_data*, std::size_t> arrivals;  // chunks may share a target
    for (chunk_data* chunk : owners) {
        array_list<change_shape> shape;
        for (fragment_data* fragment : all.gone)
            if (chunk->has(*fragment)) shape.push_back({fragment, change_kind::clear_fragment});
        losses.push_back({chunk, build_transition(engine_.graph, *chunk, {}, shape)});
        chunk_data& to = *losses.back().step->to;
        if (to.index != chunk_index{})
            to.prepare_rows(arrivals[&to] += chunk->size, engine_.graph.row_limit(), {});
    }
    for (const std::uint64_t e : dying) record_provenance({e, where});

    for (destroy_participant* room : participants_) room->finish(all.dying);
    for (const std::uint64_t e : dying) engine_.notifier.note_removal(e);
    for (const loss& lost : all.losing) lost.fragment->hooks.note(hook_kind::remove, lost.e);
    for (std::size_t i = dying.size(); i-- != 0;) finish(dying[i]);
    for (const chunk_loss& planned : losses)
        if (planned.from->size != 0) move_rows(*planned.from, *planned.step);
    for (fragment_data* owned : all.gone)
        if (owned->sparse_values != nullptr) drop_all(*owned->sparse_values);
    for (fragment_data* owned : all.gone) forget_fragment(*owned);
}

/// Moves all rows along a transition that drops values. The target has room for them.
void destroyer::move_rows(chunk_data& from, const transition& step) noexcept {
    chunk_data& to = *step.to;
    const bool has_rows = to.index != chunk_index{};
    const std::size_t count = from.size;
    const std::size_t first = has_rows ? to.size : 0;
    const busy_guard busy(engine_.gate);
    for (std::size_t i = 0; i < from.columns.size(); ++i) {
        const column& column = from.columns[i];
        if (step.columns[i] == transition::dropped)
            column.destroy(column.data, count);
        else
            column.relocate(to.columns[step.columns[i]].at(first), column.data, count);
    }
    if (has_rows) {
        std::memcpy(to.ids.at(first), from.ids.data, count * from.ids.size);
        to.size += count;
    }
    engine_.entities.place_rows(has_rows ? to : from, first, count, to.index);
    from.size = 0;
    from.note_truncated();
    to.note_appended(first, count);
}

/// Removes a fragment that no row has any more.
void destroyer::forget_fragment(fragment_data& fragment) noexcept {
    engine_.catalog.forget(fragment);
    const type_index type = fragment.value_type;
    const type_info& info = *fragment.type;
    const bool is_of_type = fragment.is_of_type();
    sparse_set* const set = fragment.sparse_values;  // holds the pending values
    bool is_awaited = false;  // pending changes of a C++ type apply to its next fragment
    {
        const busy_guard busy(engine_.gate);
        for (std::uint32_t i = 0; i < engine_.pending.now().entries; ++i) {
            journal_entry& entry = engine_.pending.entry(i);
            if (entry.fragment != &fragment) continue;
            is_awaited = is_of_type;
            if (!is_of_type) drop(entry, fragment);
        }
        if (set != nullptr && !is_awaited) engine_.sparse.remove(*set);
        if (set != nullptr && is_awaited) {
            set->fragment = nullptr;
            engine_.sparse.invalidate_traits();
        }
        fragment.sparse_values = nullptr;
        engine_.fragments.remove(fragment);
    }
    if (is_awaited) rebind(fragment, info, type, set);
}

/// Makes a pending change of a destroyed fragment a no-op.
void destroyer::drop(journal_entry& entry, const fragment_data& of) noexcept {
    entry.fragment = nullptr;
    if (!has_component(entry.kind)) return;
    end_pending(of, entry.value, entry.slot);
    entry.value = nullptr;
    entry.slot = no_slot;
}

/// Assigns the pending changes of a destroyed fragment to the next fragment of its type; drops them
/// if there is no memory for that. `set` holds the values if they are sparse.
void destroyer::rebind(const fragment_data& gone, const type_info& info, type_index type,
                       sparse_set* set) noexcept {
    fragment_data* next = nullptr;
    first_error ignored;
    ignored.attempt([&] { next = &engine_.catalog.ensure(type, info); });
    fragment_data placeholder;
    placeholder.type = &info;
    placeholder.sparse_values = set;
    const busy_guard busy(engine_.gate);
    for (std::uint32_t i = 0; i < engine_.pending.now().entries; ++i) {
        journal_entry& entry = engine_.pending.entry(i);
        if (entry.fragment != &gone) continue;
        if (next != nullptr)
            entry.fragment = next;
        else
            drop(entry, placeholder);
    }
    if (set == nullptr) return;
    if (next != nullptr) return engine_.sparse.hand_over(*set, *next);
    set->fragment = &placeholder;
    engine_.sparse.remove(*set);
}

}  // namespace muster::detail
