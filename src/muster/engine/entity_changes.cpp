#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/small_list.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/run.hpp>
#include <muster/type/value_participant.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

/// Throws if the entity is not alive, or away.
void entity_changes::require(target of, const char* call) const {
    location at;
    if (!engine_.entities.find(of.id, at)) engine_.errors.raise_not_alive(of, call);
    engine_.errors.refuse_away(of, at, call);
}

/// Finds a living entity. Returns false if it is dead. Throws if it is of another world, or away.
bool entity_changes::find_local(target of, location& at, const char* call) const {
    if (engine_.entities.find(of.id, at)) {
        engine_.errors.refuse_away(of, at, call);
        return true;
    }
    if (engine_.entities.is_foreign(of.id)) engine_.errors.raise_not_alive(of, call);
    return false;
}

// ---- putting values ----------------------------------------------------------------------------

bool entity_changes::submit(const edit& call) {
    const writer_guard writer(engine_, call.call);
    if (!engine_.gate.is_recording(call.call)) return apply_now(call);
    return engine_.gate.is_parallel() ? engine_.parallel.record(call) : record(call);
}

bool entity_changes::record(const edit& call) {
    location at;
    if (!engine_.entities.find(call.of.id, at)) engine_.errors.raise_not_alive(call.of, call.call);
    engine_.errors.refuse_away(call.of, at, call.call);
    if (call.changes.size() == 1 && !call.changes[0].sets_word) {
        const change& given = call.changes[0];
        fragment_data& fragment = engine_.catalog.ensure(given, &call.of.where);
        engine_.transaction.record_change(call.of.id, given.kind, fragment, given);
        return given.kind == change_kind::put || !component_lookup::has(call.of.id, at, fragment);
    }
    ensure_fragments(call);
    record_guard guard(engine_.transaction, engine_.pending);
    bool has_all = true;
    for (const change& given : call.changes) {
        fragment_data& fragment = engine_.catalog.ensure(given, &call.of.where);
        engine_.transaction.record_value(call.of.id, given.kind, fragment, given);
        if (given.sets_word) engine_.transaction.record_word(call.of.id, fragment, given.word);
        has_all = has_all && component_lookup::has(call.of.id, at, fragment);
    }
    guard.keep();
    return call.changes[0].kind == change_kind::put || !has_all;
}

/// Creates the fragments of several changes. Throws if an id names one of them twice.
void entity_changes::ensure_fragments(const edit& call) {
    small_list<fragment_data*> fragments(call.changes.size());
    bool is_by_id = false;
    for (const change& given : call.changes) {
        fragments.push_back(&engine_.catalog.ensure(given, &call.of.where));
        is_by_id = is_by_id || !given.fragment.is_typed();
    }
    if (is_by_id) (void)engine_.catalog.ensure_set(fragments);
}

bool entity_changes::apply_now(const edit& call) {
    require(call.of, call.call);
    held_values& held = engine_.transaction.held();
    const scope_guard clear([&] { held.clear(); });
    small_list<fragment_data*> fragments(call.changes.size());
    small_list<const void*> from(call.changes.size());
    bool has_all = true;
    for (const change& given : call.changes) {
        fragment_data& fragment = engine_.catalog.ensure(given, &call.of.where);
        fragments.push_back(&fragment);
        from.push_back(given.self);
        held.add({&fragment, given.kind}, {});
        has_all = has_all && engine_.components.has(call.of.id, fragment);
    }
    for (std::size_t i = 0; i < fragments.size(); ++i)  // after the values, whose indices they keep
        if (const change& given = call.changes[i]; given.sets_word)
            held.add({fragments[i], change_kind::regroup, given.word}, {});
        else if (fragments[i]->has_word && fragments[i]->participant != nullptr)
            held.add({fragments[i], change_kind::regroup,
                      fragments[i]->participant->word_of(given.self)},
                     {});
    // Loops follow the order in which chunks were created. That of the named fragments comes first.
    if (call.changes.size() > 1)  // throws if a fragment is named twice
        (void)engine_.catalog.ensure_set(fragments);
    else if (!has_all && fragments[0]->sparse_values == nullptr)
        (void)engine_.catalog.ensure_single_chunk(*fragments[0]);
    if (has_all && call.changes[0].kind != change_kind::put) return false;
    chunk_data& here = engine_.components.chunk_of(call.of.id);
    const transition_ref step = engine_.catalog.transition_for(here, call.of.id, held.shape());
    const auto has_any = [&](auto has_hooks) { return std::ranges::any_of(fragments, has_hooks); };
    const bool may_assign = call.changes.size() > 1 && call.changes[0].kind == change_kind::put &&
                            has_any([](const auto* f) { return f->hooks.has(assign_hooks); });
    const bool has_hooks =
        has_any([](const auto* f) { return f->hooks.calls(insert_hooks | assign_hooks); });
    run(!step->sparse_changes.empty() || step->calls_hooks() ||
            (has_hooks && (step->has_notices || may_assign)),
        [&] {
            const scope_guard end([&] { held.clear(); });
            engine_.applier.apply(call.of.id, *step, held.values(), false,
                                  {from.data(), from.size()}, [&] {
                                      for (std::size_t i = 0; i < from.size(); ++i) {
                                          call.changes[i].self = from[i];
                                          held.construct(i, call.changes[i]);
                                      }
                                  });
        });
    return true;
}

void entity_changes::regroup(target of, fragment_data& fragment, std::uint64_t word) {
    const writer_guard writer(engine_, "regroup");
    engine_.gate.refuse_in_phase("regroup");
    const bool is_deferred = engine_.gate.is_deferred("regroup");
    require(of, "regroup");
    if (is_deferred) return engine_.transaction.record_word(of.id, fragment, word);
    const change_shape step[] = {{&fragment, change_kind::regroup, word}};
    (void)apply_now(of, step, false);
}

void entity_changes::apply_hooked(std::uint64_t e, transition& step) {
    const transition_ref kept(&step);  // a hook may connect another
    engine_.transaction.run([&] { engine_.applier.apply_constructed(e, step); });
}

/// Applies changes without values, outside of scopes.
bool entity_changes::apply_now(target of, slice<const change_shape> shape, bool opens_scope) {
    chunk_data& here = engine_.components.chunk_of(of.id);
    const transition_ref step = engine_.catalog.transition_for(here, of.id, shape);
    run(opens_scope || step->calls_hooks(), [&] {
        const scope_guard rewind([&] { engine_.scratch.rewind({}); });
        engine_.applier.apply(of.id, *step, {}, false);
    });
    return true;
}

/// Applies a change, in a scope if hooks may record changes. Closing a scope also applies submitted
/// buffers, so it is opened whenever a change is not a simple one.
template <class Apply>
void entity_changes::run(bool opens_scope, Apply apply) {
    if (opens_scope)
        engine_.transaction.run(apply);
    else
        apply();
}

bool entity_changes::put_default(change_kind kind, target of, std::uint64_t f, const char* call) {
    const writer_guard writer(engine_, call);
    change given{.fragment = {f}, .kind = kind, .is_default = true};
    const bool is_recorded = engine_.gate.is_recording(call);
    if (is_recorded && engine_.gate.is_parallel())
        return engine_.parallel.record({of, {&given, 1}, call});
    require(of, call);
    fragment_data& fragment = engine_.catalog.typed_or_tag(f, &of.where);
    const bool is_there = engine_.components.has(of.id, fragment);
    if (is_there && kind == change_kind::keep && (!is_recorded || !fragment.has_default()))
        return false;
    if (!fragment.has_default())
        raise(errc::no_default,
              text(fragment.name, " has no default value: pass a value or define a default (", call,
                   " at ", place_text(of.where), ")"));
    given.type = {fragment.type, fragment.value_type};
    if (is_recorded) prepare_default(of.id, fragment, is_there);
    (void)submit({of, {&given, 1}, call});
    return kind == change_kind::put || !is_there;
}

/// Creates the chunks of a deferred change of a fragment that is named by its id: loops follow the
/// order in which chunks were created.
void entity_changes::prepare_default(std::uint64_t e, fragment_data& fragment, bool is_there) {
    if (is_there || fragment.sparse_values != nullptr) return;
    const change_shape step[] = {{&fragment, change_kind::put}};
    (void)engine_.catalog.ensure_single_chunk(fragment);
    (void)engine_.catalog.transition_for(engine_.components.chunk_of(e), e, step);
}

bool entity_changes::add_defaults(target of, slice<const fragment_name> set, const char* call) {
    const writer_guard writer(engine_, call);
    array_list<change> missing;
    if (engine_.gate.is_parallel()) {
        for (const fragment_name name : set)
            missing.push_back({.fragment = name, .kind = change_kind::keep, .is_default = true});
        return engine_.parallel.record({of, {missing.data(), missing.size()}, call});
    }
    engine_.gate.refuse_in_change(call);
    require(of, call);
    bool is_new = false;
    for (const fragment_name name : set) {
        change given{.fragment = name, .kind = change_kind::keep, .is_default = true};
        const fragment_data& fragment = name.is_typed()
                                            ? engine_.catalog.ensure(given, &of.where)
                                            : engine_.catalog.typed_or_tag(name.what, &of.where);
        const bool is_there = engine_.components.has(of.id, fragment);
        is_new = is_new || !is_there;
        if (is_there && engine_.depth() == 0) continue;
        if (!fragment.has_default()) error_reporter::raise_no_default(fragment, fragment.name);
        given.type = {fragment.type, fragment.value_type};
        missing.push_back(given);
    }
    if (!missing.empty()) (void)submit({of, {missing.data(), missing.size()}, call});
    return is_new;
}

void entity_changes::put_raw(target of, std::uint64_t f, const void* value) {
    const writer_guard writer(engine_, "set");
    engine_.gate.refuse_in_change("set");
    require(of, "set");
    fragment_data& fragment = engine_.catalog.get(f, "set", &of.where);
    const type_info& type = *fragment.type;
    if (!type.can_copy())
        raise(errc::not_copyable, text("the values of ", fragment.name,
                                       " cannot be copied (set at ", place_text(of.where), ")"));
    change given{
        .fragment = {f}, .type = {&type, fragment.value_type}, .is_copied = true, .self = value};
    if (engine_.depth() != 0)
        prepare_default(of.id, fragment, engine_.components.has(of.id, fragment));
    (void)submit({of, {&given, 1}, "set"});
}

bool entity_changes::prepare_fast_put(target of, sparse_set& set, const char* call) {
    const writer_guard writer(engine_, call);
    if (engine_.gate.is_recording(call)) return false;
    require(of, call);
    if (!set.has_fast_insert() || set.fragment->is_untyped || engine_.gate.is_tracking() ||
        !engine_.entities.is_dense(of.id))
        return false;
    engine_.catalog.mark_for_destroy(of.id);
    engine_.mover.prepare_sparse(set, of.id);
    const sparse_set::id_shape& ids = set.shape();
    const sparse_set::entry_words entries = set.fast_insert_entries();
    const std::uint64_t key = set.key_of(of.id);
    if (!entries.cover(key)) return false;
    const std::uint64_t here = ids.read(entries[key], of.id);
    if (here == ids.unset()) set.keep_slot(of.id);
    return here <= ids.unset();
}

// ---- removing values ---------------------------------------------------------------------------

bool entity_changes::remove(target of, slice<const fragment_name> set) {
    const writer_guard writer(engine_, "remove");
    const bool is_recorded = engine_.gate.is_recording("remove");
    for (const fragment_name name : set)
        if (!name.is_typed() && engine_.entities.is_foreign(name.what))
            engine_.errors.raise_no_fragment(name.what, "remove", &of.where);
    if (is_recorded && engine_.gate.is_parallel()) return engine_.parallel.record_remove(of, set);
    location at;
    if (!find_local(of, at, "remove")) return false;
    small_list<fragment_data*> there(set.size());
    bool has_one = false;
    for (const fragment_name name : set) {
        const fragment_data& found = engine_.catalog.find(name);
        if (&found == &no_fragment) continue;
        const bool is_there = component_lookup::has(of.id, at, found);
        has_one = has_one || is_there;
        // SAFETY: `fragment_table::add` made all fragments except for `no_fragment` non-const.
        auto* const fragment = const_cast<fragment_data*>(&found);
        // An earlier removal of this call may add a fragment that is not there yet.
        const bool is_removed = is_recorded || is_there || !found.implied_by.empty();
        if (is_removed && std::ranges::find(there, fragment) == there.end())
            there.push_back(fragment);
    }
    if (is_recorded) {
        record_remove(of, {there.data(), there.size()});
        return has_one;
    }
    if (!has_one) return false;
    if (set.size() == 1 && there[0]->sparse_values != nullptr &&
        !there[0]->hooks.calls(remove_hooks) && !there[0]->hooks.keeps_values() &&
        !there[0]->implies_on_removal())
        return remove_sparse(of, *there[0]->sparse_values);
    const bool has_sparse = name_removed(set, there);
    small_list<change_shape> shape(there.size());
    for (fragment_data* fragment : there) shape.push_back({fragment, change_kind::remove});
    return apply_now(of, {shape.data(), shape.size()}, has_sparse);
}

/// Removes a sparse value without hooks. The entity keeps the slot if that is possible: the value may
/// soon come back.
bool entity_changes::remove_sparse(target of, sparse_set& set) {
    hook_list& hooks = set.fragment->hooks;
    hooks.prepare(hook_kind::remove, 1);
    const sparse_set::id_shape& ids = set.shape();
    const slot_index slot = set.find(of.id);
    const std::uint64_t key = set.key_of(of.id);
    engine_.writes.mark(*set.fragment, {});
    const busy_guard busy(engine_.gate);
    if (ids.keeps_slots() && set.entries().cover(key) &&
        ids.read(set.entries()[key], of.id) == to_int(slot)) {
        set.end_value(slot, set.entries()[key], ids);
        const type_info& type = *set.fragment->type;
        if (type.destroy != nullptr) type.destroy(set.at(slot), 1);
    } else {
        set.detach(of.id, slot);
        set.drop(slot);
    }
    hooks.note(hook_kind::remove, of.id);
    return true;
}

/// Creates the chunk of the fragments of a call: loops follow the order in which chunks were
/// created. Returns whether one of several is sparse.
bool entity_changes::name_removed(slice<const fragment_name> set,
                                  slice<fragment_data* const> there) {
    if (set.size() == 1 && there[0]->sparse_values != nullptr) return false;
    if (!set[0].is_typed()) return engine_.catalog.ensure_set(there).has_sparse && there.size() > 1;
    small_list<fragment_data*> all(set.size());
    for (const fragment_name name : set)
        all.push_back(&engine_.catalog.ensure({.fragment = name}, nullptr));
    return engine_.catalog.ensure_set(all).has_sparse && set.size() > 1;
}

void entity_changes::record_remove(target of, slice<fragment_data* const> set) {
    record_guard guard(engine_.transaction, engine_.pending);
    for (fragment_data* fragment : set) engine_.pending.add(of.id, change_kind::remove, fragment);
    guard.keep();
}

bool entity_changes::clear(target of) {
    const writer_guard writer(engine_, "clear");
    const bool is_recorded = engine_.gate.is_recording("clear");
    if (is_recorded && engine_.gate.is_parallel()) return engine_.parallel.record_clear(of);
    location at;
    if (!find_local(of, at, "clear")) return false;
    const bool has_one = at.chunk != chunk_index{} || engine_.sparse.has_any(of.id);
    if (is_recorded) {
        engine_.pending.add(of.id, change_kind::clear, nullptr);
        return has_one;
    }
    if (!has_one) return false;
    const change_shape all[] = {{nullptr, change_kind::clear}};
    chunk_data& from = engine_.components.chunk_of(of.id);
    if (engine_.graph.refresh(from).notifies_remove || from.has_guests ||
        engine_.sparse.has_any(of.id))
        return apply_now(of, all, true);
    engine_.entities.remove_row(of.id, from, engine_.gate);
    return true;
}

void entity_changes::touch(target of, const fragment_data& fragment, std::string_view name) {
    if (engine_.gate.is_parallel())
        return void(engine_.parallel.record_touch(of, fragment, name, "touch"));
    const bool will_be = will_have(of, fragment, "touch");
    if (!will_be && !engine_.components.has(of.id, fragment))
        engine_.errors.raise_missing(of, "touch", name, fragment);
    mark_written(of.id, fragment);
    const change_shape step[] = {{engine_.fragments.find(fragment.id), change_kind::touch}};
    if (engine_.depth() != 0)
        engine_.pending.add(of.id, change_kind::touch, step->fragment).is_there = will_be;
    else if (fragment.hooks.has(assign_hooks))
        (void)apply_now(of, step, true);
}

void entity_changes::mark_written(std::uint64_t e, const fragment_data& fragment) const noexcept {
    if (engine_.gate.is_tracking()) engine_.writes.mark(fragment, engine_.entities.locate(e).chunk);
}

// ---- pending changes ---------------------------------------------------------------------------

/// Looks at the last changes first, and stops as soon as they decide.
auto entity_changes::pending_state_of(std::uint64_t e, const fragment_data& fragment,
                                      bool needs_entry) -> pending_state {
    const journal_entry* added = nullptr;  // adds the fragment unless an earlier change does
    bool is_saved = false;
    bool is_touched = false;
    const auto if_there = [&](const journal_entry* entry) -> pending_state {
        return {true, entry, is_saved, is_touched};
    };
    const auto if_missing = [&]() -> pending_state {
        return {added != nullptr, added, is_saved, is_touched};
    };
    journal::dependencies all(engine_.pending, e);
    for (std::uint32_t at = all.next(); at != journal::none; at = all.next()) {
        const journal_entry& entry = engine_.pending.entry(at);
        const bool is_it = entry.fragment == &fragment;
        switch (entry.kind) {
        case change_kind::put:
            if (is_it) return if_there(&entry);
            break;
        case change_kind::keep:
            if (!is_it) break;
            if (!needs_entry) return if_there(&entry);
            added = &entry;
            break;
        case change_kind::save:
            is_saved |= is_it && at >= engine_.transaction.start().entries;
            break;
        case change_kind::touch:
            is_touched |= is_it && engine_.pending.is_open(entry.group);
            if (is_it && entry.is_there && !needs_entry) return {true, nullptr};
            break;
        case change_kind::remove:
        case change_kind::clear_fragment:
            if (is_it) return if_missing();
            break;
        case change_kind::clear: return if_missing();
        case change_kind::destroy: {
            const std::uint64_t gone = engine_.pending.group(entry.group).id;
            if (gone == e || gone == fragment.id) return if_missing();
            break;
        }
        default: break;
        }
    }
    return engine_.components.has(e, fragment) ? if_there(nullptr) : if_missing();
}

auto entity_changes::begin_patch(target of, const fragment_data& fragment, std::string_view name)
    -> patched_value {
    require(of, "patch");
    const pending_state now = pending_state_of(of.id, fragment, true);
    if (!now.is_there) engine_.errors.raise_missing(of, "patch", name, fragment);
    fragment_data& known = *engine_.fragments.find(fragment.id);
    const bool is_pending = now.entry != nullptr;
    const auto target = is_pending
                            ? static_cast<std::uint32_t>(now.entry - &engine_.pending.entry(0))
                            : journal::none;
    void* const value = is_pending ? now.entry->value : engine_.components.find(of.id, fragment);
    const bool is_own = is_pending && target >= engine_.transaction.start().entries;
    record_guard guard(engine_.transaction, engine_.pending);
    if (fragment.type->size != 0 && !is_own && !now.is_saved) {
        if (!fragment.type->can_copy())
            raise(errc::not_copyable,
                  text("the ", fragment.name, " of ", engine_.errors.describe(of.id),
                       " cannot be patched in a scope, because cancel() could not restore it: it "
                       "cannot be copied. Write through get() and call touch() (patch at ",
                       place_text(of.where), ")"));
        engine_.transaction.record_save(of.id, known, target, value);
    }
    if (!is_pending && !now.is_touched)
        engine_.pending.add(of.id, change_kind::touch, &known).is_there = true;
    guard.keep();
    if (!is_pending) mark_written(of.id, fragment);
    return {value, is_pending && value != nullptr};
}

bool entity_changes::will_have(target of, const fragment_data& fragment, const char* call) {
    engine_.gate.refuse_in_phase(call);
    require(of, call);
    return engine_.gate.is_deferred(call) ? pending_state_of(of.id, fragment, false).is_there
                                          : engine_.components.has(of.id, fragment);
}

bool entity_changes::own(target of, const fragment_data& fragment, const char* call) {
    if (will_have(of, fragment, call)) return true;
    struct shown_value {
        const fragment_data& fragment;
        const void* value;
    } shown{fragment, nullptr};
    if (fragment.fallback.call != nullptr)
        shown.value = fragment.fallback.call(fragment.fallback.context, of.id);
    if (shown.value == nullptr) return false;
    if (fragment.type->size != 0 && !fragment.can_copy())
        raise(errc::not_copyable,
              text("the ", fragment.name, " that ", engine_.errors.describe(of.id),
                   " inherits cannot be copied (", call, " at ", place_text(of.where), ")"));
    change given{.fragment = {fragment.id}, .type = {fragment.type, fragment.value_type}};
    given.self = &shown;
    given.construct = [](void* to, const void* self) {
        const auto& from = *static_cast<const shown_value*>(self);
        from.fragment.copy_value(to, from.value, 1);
    };
    (void)submit({of, {&given, 1}, call});
    return true;
}

void entity_changes::prepare_find_stored() {
    if (engine_.depth() != 0 && !engine_.gate.is_parallel()) engine_.pending.prepare_dependencies();
}

void* entity_changes::find_stored(target of, const fragment_data& fragment, const char* call) {
    if (engine_.gate.is_parallel()) return engine_.parallel.last_value(call);
    if (engine_.depth() != 0)
        if (const journal_entry* const pending = pending_state_of(of.id, fragment, true).entry)
            return pending->value;
    return engine_.components.find(of.id, fragment);
}

}  // namespace MUSTER_NAMESPACE::detail
