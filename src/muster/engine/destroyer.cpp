#include <muster/base/first_error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/engine/run.hpp>
#include <muster/entity/destroy_participant.hpp>
#include <muster/type/value_participant.hpp>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

void destroyer::remove_participant(const destroy_participant& room) noexcept {
    participants_.erase_if([&](const destroy_participant* known) { return known == &room; });
}

bool destroyer::concerns_rooms(std::uint64_t e) const noexcept {
    if (participants_.empty()) return false;
    const chunk_data& chunk = engine_.components.chunk_of(e);
    return chunk.is_followed || chunk.has_participants ||
           engine_.marks.test(engine_.entities.key_of(e));
}

bool destroyer::concerns_rooms(const chunk_data& chunk) const noexcept {
    if (participants_.empty()) return false;
    return chunk.is_followed || chunk.has_participants ||
           engine_.entities.next_marked(chunk, 0, engine_.marks) < chunk.size;
}

/// Destroys an entity on which no other depends, and of which only participants are to be told. Returns
/// false, and has changed nothing, if that is not so.
bool destroyer::destroy_alone(target of) {
    const chunk_data& here = engine_.components.chunk_of(of.id);
    if (!here.has_participants || here.is_followed || !engine_.gate.is_idle() ||
        engine_.notifier.calls_at_death() || engine_.marks.test(engine_.entities.key_of(of.id)))
        return false;
    for (const fragment_data* fragment : here.fragments)
        if (fragment->participant != nullptr ? !fragment->participant->is_quiet()
                                             : fragment->hooks.has(remove_hooks))
            return false;
    record_provenance(of);
    for (const fragment_data* fragment : here.fragments)
        if (fragment->participant != nullptr)
            fragment->participant->end_quietly(of.id, engine_.components.find(of.id, *fragment));
    engine_.entities.remove_row(of.id, engine_.components.chunk_of(of.id), engine_.gate);
    engine_.entities.destroy(of.id);  // without a mark, nothing else is stored by its key
    return true;
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
    if (destroy_alone(of)) return true;
    const bool is_depended_on = has_dependents(of.id);
    if (engine_.notifier.notifies_last(engine_.components.chunk_of(of.id)) ||
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
    if (concerns_rooms(made) || (fragment != nullptr && engine_.components.count(*fragment) != 0)) {
        const bool was_forced = std::exchange(is_forced_, true);
        const bool was_undo = std::exchange(is_undo_, true);
        first_error ignored;
        ignored.attempt([&] { destroy_together({&made, 1}, {}); });
        is_forced_ = was_forced;
        is_undo_ = was_undo;
        if (!engine_.entities.alive(made)) return;
        if (fragment != nullptr && engine_.components.count(*fragment) != 0) return;
        for (destroy_participant* room : participants_) room->abandon(made);
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
        destroy_set living(engine_.entities);  // one operation: they may depend on each other
        for (const std::uint64_t e : all)
            if (is_living(e)) {
                engine_.errors.refuse_away({e, where}, engine_.entities.locate(e), "destroy");
                living.add(e);
            }
        engine_.transaction.run([&] { destroy_together(living.all(), where); });
        return living.size();
    }
    if (engine_.depth() <= 1) prepare(all, where);    // `destroy_if` has opened a scope
    if (is_recorded || engine_.notifier.has_any()) {  // an exception does not stop the others
        std::unordered_set<std::uint64_t> living;
        scope whole(engine_);
        for (const std::uint64_t e : all)
            if (record({e, where})) living.insert(e);
        whole.commit();
        return living.size();
    }
    first_error error;
    for (const std::uint64_t e : all)
        error.attempt([&] { count += destroy({e, where}) ? 1u : 0u; });
    error.rethrow();
    return count;
}

void destroyer::prepare(slice<const std::uint64_t> all, const std::source_location& where) {
    const bool has_any = engine_.notifier.has_any();
    if (!has_any && !engine_.gate.keeps_provenance) return;
    for (const std::uint64_t e : all) {
        if (!engine_.entities.alive(e)) continue;
        record_provenance({e, where});
        if (has_any) engine_.notifier.prepare_removal(e, all.size());
    }
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
    notifier& hooks = engine_.notifier;
    if (hooks.notifies_remove(chunk) || engine_.sparse.notifies_remove()) {
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
        if (fragment != nullptr && fragment->is_world_owned)
            entities.place(fragment->id, {});
        else if (fragment != nullptr)
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
    is_forced_ = true;
    const scope_guard end([&] { is_forced_ = false; });
    scope whole(engine_);
    for (const fragment_data* fragment : engine_.fragments.all())  // singletons
        if (fragment != nullptr && fragment->is_world_owned)
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

}  // namespace MUSTER_NAMESPACE::detail
