// The part of scope_model.hpp for the changes that a call records, and the result that it returns.
#pragma once

#include "scope_model.hpp"

namespace muster::test::scopes {

template <class Layout>
void scope_model<Layout>::record(const op& operation, const result& seen, result& made) {
    const id_type e = operation.e;
    const int f = operation.slot;
    switch (operation.what) {
    case verb::spawn:
    case verb::spawn_with:
    case verb::spawn_two:
    case verb::spawn_at:
    case verb::clone:
    case verb::clone_with: made.made = {record_new_id(operation, seen, 0)}; break;
    case verb::spawn_many:
    case verb::clone_many:
    case verb::make_ids:
        if (operation.what == verb::clone_many) require(e);
        for (int i = 0; i < operation.count; ++i)
            made.made.push_back(record_new_id(operation, seen, static_cast<std::size_t>(i)));
        if (operation.what == verb::make_ids) add_id_fragments(operation, made.made);
        break;
    case verb::make_tag:
    case verb::make_fragment: make_fragment(operation, seen, made); break;
    case verb::destroy:
        if (operation.count != 0) {  // the fragment of a C++ type
            register_fragment(f);
            at(f).id = e;
        }
        if (is_foreign(e)) fail(errc::foreign_entity);
        made.count = record_destroy(e);
        break;
    case verb::destroy_two:
        if (is_foreign(e) || is_foreign(operation.other)) fail(errc::foreign_entity);
        made.count = record_destroy(e);
        // Without hooks they are destroyed in turn: an entity destroyed with the first does not
        // count.
        if (record_destroy(operation.other) != 0 && operation.other != e &&
            !(is_outside_ && !has_any_listener() && made.count != 0 &&
              closure(e).contains(operation.other)))
            ++made.count;
        break;
    case verb::destroy_if:
        for (const id_type each : by_key())
            if (chosen(each, operation.value)) made.count += record_destroy(each);
        break;
    case verb::set:
    case verb::emplace:
        require(e);
        require_fragment(f);
        add(change::put, e, f, operation.value);
        break;
    case verb::get_or_emplace:
        require(e);
        if (has(e, f) || pending_state_of(e, f).is_there) break;
        register_fragment(f);
        add(change::put, e, f, operation.value);
        break;
    case verb::set_two:
        require(e);
        add(change::put, e, kind_number, operation.value);
        add(change::put, e, kind_text, operation.value + 1);
        break;
    case verb::set_wrong:
        require(e);
        if (!at(f).is_alive) fail(errc::dead_fragment);
        fail(errc::type_mismatch);
    case verb::add:
        require(e);
        require_fragment(f);
        made.count = has(e, f) ? 0u : 1u;
        add(change::keep, e, f, 0);
        break;
    case verb::patch: record_patch(operation, seen, made); break;
    case verb::touch:
        refuse_dead(operation, seen);
        require(e);
        if (!has(e, f) && !pending_state_of(e, f).is_there) fail(errc::missing_component);
        add(change::touch, e, f);
        break;
    case verb::remove:
        if (!require_local(e)) break;
        made.count = has(e, f) ? 1u : 0u;
        if (is_registered(f)) add(change::remove, e, f);
        break;
    case verb::remove_two:
        if (!require_local(e)) break;
        made.count = has(e, f) || has(e, operation.slot2) ? 1u : 0u;
        for (const int which : {f, operation.slot2})
            if (is_registered(which)) add(change::remove, e, which);
        break;
    case verb::clear:
        if (!require_local(e)) break;
        made.count = all_.at(e).empty() ? 0u : 1u;
        add(change::clear, e);
        break;
    case verb::clear_fragment:
        if (!is_registered(f)) break;
        made.count = count(f);
        add(change::clear_fragment, {}, f);
        break;
    case verb::copy_fragment: record_copy(operation, made); break;
    case verb::batch_set:
    case verb::batch_add:
    case verb::batch_remove:
    case verb::batch_clear:
    case verb::batch_destroy: record_batch(operation, made); break;
    case verb::sparse: make_sparse(f, seen); break;
    case verb::observe: observe(operation); break;
    case verb::end_observer:
    case verb::pause_observer:
    case verb::resume_observer:
    case verb::read_observer: use_observer(operation, seen, made); break;
    default: apply_now(operation, made);
    }
}

template <class Layout>
void scope_model<Layout>::apply_now(const op& operation, result& made) {
    const int f = operation.slot;
    const auto list = hooks_.find(f);
    switch (operation.what) {
    case verb::write:
        made.count = has(operation.e, f) ? 1u : 0u;
        if (has(operation.e, f)) all_[operation.e][f] += operation.value;
        break;
    case verb::needs:
        require_fragment(f);
        require_fragment(operation.slot2);
        if (f != operation.slot2) at(f).needs.insert(operation.slot2);
        break;
    case verb::unique:
        require_fragment(f);
        at(f).is_unique = operation.value % 2 != 0;
        break;
    case verb::policy:
        require_fragment(f);
        at(f).destroys_owners = operation.value % 2 != 0;
        break;
    case verb::defer:
        open(true);
        made.count = depth() == 1 ? 1u : 0u;
        break;
    case verb::commit:
    case verb::cancel:
        if (scopes_.empty() || !scopes_.back().is_users) fail(errc::unbalanced_scope);
        close(scopes_.back().number, operation.what == verb::commit);
        made.count = scopes_.empty() ? 1u : 0u;
        break;
    case verb::add_hook:
        if (f >= 0) require_fragment(f);
        hooks_[f].push_back({operation.value, static_cast<hook_event>(operation.count), true});
        break;
    case verb::pause:
    case verb::resume:
        if (list == hooks_.end()) break;
        for (hook& each : list->second)
            if (each.number == operation.count) {
                const bool wanted = operation.what == verb::resume;
                made.count = each.is_connected != wanted ? 1u : 0u;
                each.is_connected = wanted;
            }
        break;
    default: throw stopped{operation.value};
    }
}

template <class Layout>
auto scope_model<Layout>::record_new_id(const op& operation, const result& seen, std::size_t which)
    -> id_type {
    const bool is_clone = operation.what == verb::clone || operation.what == verb::clone_with ||
                          operation.what == verb::clone_many;
    if (is_clone) {
        require(operation.e);
        (void)history(operation);
    } else if (operation.what == verb::spawn_with) {
        require_fragment(operation.slot);
    } else if (operation.what == verb::spawn_at && alive(operation.e)) {
        fail(errc::id_taken);
    }
    const id_type e = new_id(seen, which);
    add_entity(e);
    add(change::spawn, e);
    for (command each : first_values(operation)) {
        each.e = e;
        queue_.push_back(each);
    }
    return e;
}

template <class Layout>
auto scope_model<Layout>::first_values(const op& operation) -> std::vector<command> {
    std::vector<command> made;
    const auto put = [&](int f, int value) {
        register_fragment(f);
        made.push_back({change::put, {}, f, kept(f, value)});
    };
    switch (operation.what) {
    case verb::spawn_with:
    case verb::spawn_many:
        if (operation.slot >= 0) put(operation.slot, operation.value);
        break;
    case verb::spawn_at: put(kind_number, operation.value); break;
    case verb::spawn_two:
        put(kind_number, operation.value);
        put(kind_text, operation.value + 1);
        break;
    case verb::clone:
    case verb::clone_with:
    case verb::clone_many:
        made = history(operation);
        if (operation.what == verb::clone_with) put(kind_owner, operation.value);
        break;
    default: break;
    }
    return made;
}

template <class Layout>
auto scope_model<Layout>::history(const op& operation) -> std::vector<command> {
    std::vector<command> made;
    const auto repeat = [&](change what, int f, int value) {
        if (at(f).is_unique || (operation.what == verb::clone_with && f == kind_owner)) return;
        if (at(f).kind == kind_owner) fail(errc::not_copyable);
        made.push_back({what, {}, f, value});
    };
    for (const auto& [f, value] : all_.at(operation.e)) repeat(change::put, f, value);
    for (const command& each : queue_) {
        if (each.is_done) continue;
        const int f = each.what == change::destroy_fragment ? find_fragment(each.e) : each.slot;
        if (each.what == change::clear_fragment || each.what == change::destroy_fragment) {
            if (is_registered(f)) made.push_back({change::remove, {}, f});
        } else if (each.e != operation.e || each.is_barrier()) {
            continue;
        } else if (each.what == change::clear) {
            made.push_back({change::clear, {}});
        } else if (each.what == change::remove) {
            if (is_registered(f)) made.push_back({change::remove, {}, f});
        } else if (each.has_value() && at(f).is_alive) {
            repeat(each.what, f, each.value);
        }
    }
    return made;
}

template <class Layout>
auto scope_model<Layout>::pending_state_of(id_type e, int f) -> pending_state {
    pending_state made{has(e, f), {}};
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        const command& recorded = queue_[i];
        const bool is_mine = recorded.e == e && !recorded.is_barrier();
        const bool is_it = is_mine && recorded.slot == f;
        if (recorded.is_done) continue;
        if ((is_it && recorded.what == change::put) ||
            (is_it && recorded.what == change::keep && !made.is_there))
            made = {true, i};
        else if (is_it && recorded.what == change::save)
            made.is_saved = i >= scopes_.back().start;
        else if ((is_it && recorded.what == change::remove) ||
                 (is_mine &&
                  (recorded.what == change::clear || recorded.what == change::destroy)) ||
                 (recorded.what == change::clear_fragment && recorded.slot == f) ||
                 (recorded.what == change::destroy_fragment &&
                  (recorded.e == e || recorded.e == at(f).id)))
            made = {false, {}};
    }
    return made;
}

template <class Layout>
void scope_model<Layout>::refuse_dead(const op& operation, const result& seen) {
    if (operation.slot < typed_count || at(operation.slot).is_alive) return;
    if (!alive(operation.e) &&
        seen.error == code(is_foreign(operation.e) ? errc::foreign_entity : errc::dead_entity))
        throw stopped{seen.error};
    fail(errc::dead_fragment);
}

template <class Layout>
void scope_model<Layout>::record_patch(const op& operation, const result& seen, result& made) {
    refuse_dead(operation, seen);
    require(operation.e);
    const id_type e = operation.e;
    const int f = operation.slot;
    const pending_state known = pending_state_of(e, f);
    if (!known.is_there) fail(errc::missing_component);
    const bool is_own = known.from && *known.from >= scopes_.back().start;
    const int before = known.from ? queue_[*known.from].value : all_.at(e).at(f);
    if (has_values(at(f).kind) && !is_own && !known.is_saved) {
        if (at(f).kind == kind_owner) fail(errc::not_copyable);
        add(change::save, e, f, before);
        queue_.back().saved_from = known.from;
    }
    const int after = kept(f, before + operation.value);
    if (known.from) {
        queue_[*known.from].value = after;
    } else {
        all_[e][f] = after;
        add(change::touch, e, f);
    }
    made.count = static_cast<std::size_t>(after);
}

template <class Layout>
void scope_model<Layout>::record_copy(const op& operation, result& made) {
    const int from = operation.slot;
    const int to = operation.slot2;
    for (const int f : {from, to})
        if (f < typed_count) register_fragment(f);
    require_fragment(from);
    if (at(from).kind == kind_owner) fail(errc::not_copyable);
    require_fragment(to);
    if (at(from).kind != at(to).kind) fail(errc::type_mismatch);
    if (from == to) return;
    made.count = count(from);
    queue_.push_back({change::copy_fragment, {}, from, at(from).times_destroyed, to});
}

template <class Layout>
std::size_t scope_model<Layout>::record_destroy(id_type e) {
    if (!alive(e) && !is_typed(e)) return 0;
    const int f = find_fragment(e);
    add(f >= 0 && is_registered(f) ? change::destroy_fragment : change::destroy, e);
    return 1;
}

template <class Layout>
void scope_model<Layout>::make_fragment(const op& operation, const result& seen, result& made) {
    const id_type e = new_id(seen, 0);
    add_entity(e);
    add(change::spawn, e);
    made.made = {e};
    if (!is_outside_) add_fragment(operation, e);
}

template <class Layout>
void scope_model<Layout>::add_fragment(const op& operation, id_type e) {
    fragments_.push_back(
        {e, operation.what == verb::make_tag ? kind_tag : operation.count, false, alive(e)});
    fragments_.back().order = next_order_++;
    fragments_.back().is_sparse = operation.slot2 != 0 && alive(e);
}

template <class Layout>
void scope_model<Layout>::add_id_fragments(const op& operation, const std::vector<id_type>& made) {
    for (std::size_t i = 0; i < made.size(); ++i) {
        fragments_.push_back({made[i], i % 2 == 0 ? kind_tag : kind_number, true, alive(made[i])});
        if (operation.slot2 == 0 || i != 0 || !alive(made[i])) continue;
        fragments_.back().order = next_order_++;
        fragments_.back().is_sparse = true;
    }
}

/// For fragments that no entity has and that no pending change adds.
template <class Layout>
void scope_model<Layout>::make_sparse(int f, const result& seen) {
    require_fragment(f);
    if (is_sparse(f)) return;
    if (count(f) != 0 || std::ranges::any_of(queue_, [&](const command& recorded) {
            return recorded.slot == f &&
                   (recorded.has_value() || recorded.what == change::batch_set ||
                    recorded.what == change::batch_add);
        }))
        fail(errc::fragment_in_use);
    // It may have chunks without rows that an outer loop visits.
    if (!scopes_.empty() && seen.error == code(errc::in_scope)) fail(errc::in_scope);
    at(f).is_sparse = true;
}

template <class Layout>
auto scope_model<Layout>::by_key() const -> std::vector<id_type> {
    std::vector<id_type> made;
    for (const auto& [e, has] : all_) made.push_back(e);
    std::ranges::sort(made, {}, [](id_type e) { return e.key(); });
    return made;
}

template <class Layout>
void scope_model<Layout>::make_many(const op& operation, const result& seen, result& made) {
    if (operation.what == verb::clone_many) {
        require(operation.e);
    }
    const std::vector<command> commands = first_values(operation);
    const values has = effect_of({}, commands).next;
    const int whole = open(false);
    std::vector<id_type> spawned;
    std::vector<id_type> rest = seen.made;  // in creation order, unless the call threw
    const bool threw = seen.error != no_error;
    try {
        unnamed_ = has;
        for (int i = 0; i < operation.count; ++i) {
            unnamed_count_ = static_cast<std::size_t>(operation.count - i - 1);
            id_type e{};
            if (threw && notifies_insert(has)) {
                e = new_id({}, 0);
                std::erase(rest, e);
            } else if (!rest.empty()) {
                e = rest.front();
                rest.erase(rest.begin());
            } else {
                continue;
            }
            add_entity(e);
            all_[e] = has;
            spawned.push_back(e);
            notify_insert(e, {}, {}, true);
        }
    } catch (const stopped&) {
        unnamed_count_ = 0;
        close(whole, false);
        for (const id_type e : spawned) finish_destroy(e);
        throw;
    }
    for (const id_type e : spawned) {
        log_all(added, e);
        start_lives(e, {});
    }
    finish(whole, spawned);
    if (operation.what == verb::make_ids) add_id_fragments(operation, spawned);
    made.made = spawned;
}

template <class Layout>
bool scope_model<Layout>::notifies_insert(const values& has) {
    bool notifies = has_hook(-1, hook_event::insert);
    for (const auto& [f, value] : has)
        notifies |= has_hook(f, hook_event::insert) || has_hook(f, hook_event::set);
    return notifies;
}

template <class Layout>
void scope_model<Layout>::patch_now(const op& operation, result&) {
    const id_type e = operation.e;
    require(e);
    if (operation.slot >= typed_count && !at(operation.slot).is_alive) fail(errc::dead_fragment);
    if (!has(e, operation.slot)) fail(errc::missing_component);
    int& value = all_[e][operation.slot];
    value = kept(operation.slot, value + operation.value);
    const int whole = open(false);
    try {
        run(hook_event::assign, operation.slot, e);
        run(hook_event::set, operation.slot, e);
        log_change(changed, operation.slot, e);
    } catch (const stopped&) {
        close(whole, false);
        throw;
    }
    close(whole, true);
}

template <class Layout>
void scope_model<Layout>::show_value(const op& operation, result& made) {
    const bool patches = operation.what == verb::patch && scopes_.empty();
    if (operation.what != verb::emplace && operation.what != verb::get_or_emplace && !patches)
        return;
    std::optional<int> shown;
    if (!scopes_.empty() &&
        !(operation.what == verb::get_or_emplace && has(operation.e, operation.slot)))
        shown = queue_[*pending_state_of(operation.e, operation.slot).from].value;
    if (!shown) {
        require(operation.e);  // a hook may have destroyed it
        if (has(operation.e, operation.slot))
            shown = all_.at(operation.e).at(operation.slot);
        else
            fail(errc::missing_component);
    }
    made.count = static_cast<std::size_t>(*shown);
}

}  // namespace muster::test::scopes
