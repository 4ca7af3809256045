// The part of scope_model.hpp that says what a call records, and what it gives back.
#pragma once

#include "scope_model.hpp"

namespace muster::test::scopes {

template <class Layout>
void scope_model<Layout>::record(const op& one, const result& seen, result& made) {
    const id_type e = one.who;
    const int f = one.slot;
    switch (one.what) {
    case verb::spawn:
    case verb::spawn_with:
    case verb::spawn_two:
    case verb::spawn_at:
    case verb::clone:
    case verb::clone_with: made.made = {record_birth(one, seen, 0)}; break;
    case verb::spawn_many:
    case verb::clone_many:
    case verb::make_ids:
        if (one.what == verb::clone_many) require(e);
        for (int i = 0; i < one.count; ++i)
            made.made.push_back(record_birth(one, seen, static_cast<std::size_t>(i)));
        if (one.what == verb::make_ids) note_ids(one, made.made);
        break;
    case verb::make_tag:
    case verb::make_fragment: make_fragment(one, seen, made); break;
    case verb::destroy:
        if (one.count != 0) {  // the fragment of a C++ type
            meet(f);
            at(f).id = e;
        }
        if (is_foreign(e)) fail(errc::foreign_entity);
        made.count = record_destroy(e);
        break;
    case verb::destroy_two:
        if (is_foreign(e) || is_foreign(one.other)) fail(errc::foreign_entity);
        made.count = record_destroy(e);
        // Without hooks they die one after the other: who dies with the first does not count.
        if (record_destroy(one.other) != 0 && one.other != e &&
            !(is_outside_ && !is_anything_heard() && made.count != 0 &&
              closure(e).contains(one.other)))
            ++made.count;
        break;
    case verb::destroy_if:
        for (const id_type each : by_key())
            if (chosen(each, one.value)) made.count += record_destroy(each);
        break;
    case verb::set:
    case verb::emplace:
        require(e);
        require_fragment(f);
        add(change::put, e, f, one.value);
        break;
    case verb::get_or_emplace:
        require(e);
        if (has(e, f)) break;
        if (!is_outside_) fail(errc::in_scope);
        meet(f);
        add(change::put, e, f, one.value);
        break;
    case verb::set_two:
        require(e);
        add(change::put, e, kind_number, one.value);
        add(change::put, e, kind_text, one.value + 1);
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
    case verb::patch: record_patch(one, seen, made); break;
    case verb::touch:
        refuse_dead(one, seen);
        require(e);
        if (!has(e, f) && !foresee(e, f).is_there) fail(errc::missing_component);
        add(change::touch, e, f);
        break;
    case verb::remove:
        if (!own(e)) break;
        made.count = has(e, f) ? 1u : 0u;
        if (is_met(f)) add(change::remove, e, f);
        break;
    case verb::remove_two:
        if (!own(e)) break;
        made.count = has(e, f) || has(e, one.slot2) ? 1u : 0u;
        for (const int which : {f, one.slot2})
            if (is_met(which)) add(change::remove, e, which);
        break;
    case verb::clear:
        if (!own(e)) break;
        made.count = all_.at(e).empty() ? 0u : 1u;
        add(change::clear, e);
        break;
    case verb::clear_fragment:
        if (!is_met(f)) break;
        made.count = count(f);
        add(change::clear_fragment, {}, f);
        break;
    case verb::copy_fragment: record_copy(one, made); break;
    case verb::batch_set:
    case verb::batch_add:
    case verb::batch_remove:
    case verb::batch_clear:
    case verb::batch_destroy: record_batch(one, made); break;
    case verb::sparse: make_sparse(f, seen); break;
    case verb::observe: observe(one); break;
    case verb::end_observer:
    case verb::cut_observer:
    case verb::restore_observer:
    case verb::read_observer: use_observer(one, seen, made); break;
    default: apply_now(one, made);
    }
}

template <class Layout>
void scope_model<Layout>::apply_now(const op& one, result& made) {
    const int f = one.slot;
    const auto list = hooks_.find(f);
    switch (one.what) {
    case verb::write:
        made.count = has(one.who, f) ? 1u : 0u;
        if (has(one.who, f)) all_[one.who][f] += one.value;
        break;
    case verb::needs:
        require_fragment(f);
        require_fragment(one.slot2);
        if (f != one.slot2) at(f).needs.insert(one.slot2);
        break;
    case verb::unique:
        require_fragment(f);
        at(f).is_unique = one.value % 2 != 0;
        break;
    case verb::policy:
        require_fragment(f);
        at(f).destroys_owners = one.value % 2 != 0;
        break;
    case verb::defer:
        open(true);
        made.count = depth() == 1 ? 1u : 0u;
        break;
    case verb::commit:
    case verb::cancel:
        if (scopes_.empty() || !scopes_.back().is_users) fail(errc::unbalanced_scope);
        close(scopes_.back().number, one.what == verb::commit);
        made.count = scopes_.empty() ? 1u : 0u;
        break;
    case verb::add_hook:
        if (f >= 0) require_fragment(f);
        hooks_[f].push_back({one.value, static_cast<hook_event>(one.count), true});
        break;
    case verb::cut:
    case verb::restore:
        if (list == hooks_.end()) break;
        for (hook& each : list->second)
            if (each.number == one.count) {
                const bool wanted = one.what == verb::restore;
                made.count = each.is_connected != wanted ? 1u : 0u;
                each.is_connected = wanted;
            }
        break;
    default: throw stopped{one.value};
    }
}

template <class Layout>
auto scope_model<Layout>::record_birth(const op& one, const result& seen, std::size_t which)
    -> id_type {
    const bool is_clone =
        one.what == verb::clone || one.what == verb::clone_with || one.what == verb::clone_many;
    if (is_clone) {
        require(one.who);
        (void)history(one);
    } else if (one.what == verb::spawn_with) {
        require_fragment(one.slot);
    } else if (one.what == verb::spawn_at && alive(one.who)) {
        fail(errc::id_taken);
    }
    const id_type e = newborn(seen, which);
    be_born(e);
    add(change::spawn, e);
    for (command each : first_values(one)) {
        each.who = e;
        queue_.push_back(each);
    }
    return e;
}

template <class Layout>
auto scope_model<Layout>::first_values(const op& one) -> std::vector<command> {
    std::vector<command> made;
    const auto put = [&](int f, int value) {
        meet(f);
        made.push_back({change::put, {}, f, kept(f, value)});
    };
    switch (one.what) {
    case verb::spawn_with:
    case verb::spawn_many:
        if (one.slot >= 0) put(one.slot, one.value);
        break;
    case verb::spawn_at: put(kind_number, one.value); break;
    case verb::spawn_two:
        put(kind_number, one.value);
        put(kind_text, one.value + 1);
        break;
    case verb::clone:
    case verb::clone_with:
    case verb::clone_many:
        made = history(one);
        if (one.what == verb::clone_with) put(kind_owner, one.value);
        break;
    default: break;
    }
    return made;
}

template <class Layout>
auto scope_model<Layout>::history(const op& one) -> std::vector<command> {
    std::vector<command> made;
    const auto repeat = [&](change what, int f, int value) {
        if (at(f).is_unique || (one.what == verb::clone_with && f == kind_owner)) return;
        if (at(f).kind == kind_owner) fail(errc::not_copyable);
        made.push_back({what, {}, f, value});
    };
    for (const auto& [f, value] : all_.at(one.who)) repeat(change::put, f, value);
    for (const command& each : queue_) {
        if (each.is_done) continue;
        const int f = each.what == change::destroy_fragment ? find_fragment(each.who) : each.slot;
        if (each.what == change::clear_fragment || each.what == change::destroy_fragment) {
            if (is_met(f)) made.push_back({change::remove, {}, f});
        } else if (each.who != one.who || each.is_barrier()) {
            continue;
        } else if (each.what == change::clear) {
            made.push_back({change::clear, {}});
        } else if (each.what == change::remove) {
            if (is_met(f)) made.push_back({change::remove, {}, f});
        } else if (each.has_value() && at(f).is_alive) {
            repeat(each.what, f, each.value);
        }
    }
    return made;
}

template <class Layout>
auto scope_model<Layout>::foresee(id_type e, int f) -> prospect {
    prospect made{has(e, f), {}};
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        const command& one = queue_[i];
        const bool is_mine = one.who == e && !one.is_barrier();
        const bool is_it = is_mine && one.slot == f;
        if (one.is_done) continue;
        if ((is_it && one.what == change::put) ||
            (is_it && one.what == change::keep && !made.is_there))
            made = {true, i};
        else if (is_it && one.what == change::replace && made.is_there)
            made.from = i;
        else if ((is_it && one.what == change::remove) ||
                 (is_mine && (one.what == change::clear || one.what == change::destroy)) ||
                 (one.what == change::clear_fragment && one.slot == f) ||
                 (one.what == change::destroy_fragment && (one.who == e || one.who == at(f).id)))
            made = {false, {}};
    }
    return made;
}

template <class Layout>
void scope_model<Layout>::refuse_dead(const op& one, const result& seen) {
    if (one.slot < typed_count || at(one.slot).is_alive) return;
    if (!alive(one.who) &&
        seen.error == code(is_foreign(one.who) ? errc::foreign_entity : errc::dead_entity))
        throw stopped{seen.error};
    fail(errc::dead_fragment);
}

template <class Layout>
void scope_model<Layout>::record_patch(const op& one, const result& seen, result& made) {
    refuse_dead(one, seen);
    require(one.who);
    const prospect known = foresee(one.who, one.slot);
    int after = kept(one.slot, one.value);
    if (known.from && *known.from >= scopes_.back().start) {
        after = queue_[*known.from].value = kept(one.slot, queue_[*known.from].value + one.value);
    } else {
        // What an outer scope has recorded must not change if this one is cancelled.
        if (!known.from && !has(one.who, one.slot)) fail(errc::missing_component);
        if (at(one.slot).kind == kind_owner) fail(errc::not_copyable);
        after = kept(one.slot, one.value + (known.from ? queue_[*known.from].value
                                                       : all_.at(one.who).at(one.slot)));
        add(change::replace, one.who, one.slot, after);
    }
    made.count = static_cast<std::size_t>(after);
}

template <class Layout>
void scope_model<Layout>::record_copy(const op& one, result& made) {
    const int from = one.slot;
    const int to = one.slot2;
    for (const int f : {from, to})
        if (f < typed_count) meet(f);
    require_fragment(from);
    if (at(from).kind == kind_owner) fail(errc::not_copyable);
    require_fragment(to);
    if (at(from).kind != at(to).kind) fail(errc::type_mismatch);
    if (from == to) return;
    made.count = count(from);
    queue_.push_back({change::copy_fragment, {}, from, at(from).deaths, to});
}

template <class Layout>
std::size_t scope_model<Layout>::record_destroy(id_type e) {
    if (!alive(e) && !is_typed(e)) return 0;
    const int f = find_fragment(e);
    add(f >= 0 && is_met(f) ? change::destroy_fragment : change::destroy, e);
    return 1;
}

template <class Layout>
void scope_model<Layout>::make_fragment(const op& one, const result& seen, result& made) {
    const id_type e = newborn(seen, 0);
    be_born(e);
    add(change::spawn, e);
    made.made = {e};
    if (!is_outside_) note_fragment(one, e);
}

template <class Layout>
void scope_model<Layout>::note_fragment(const op& one, id_type e) {
    fragments_.push_back({e, one.what == verb::make_tag ? kind_tag : one.count, false, alive(e)});
    fragments_.back().order = next_order_++;
    fragments_.back().is_sparse = one.slot2 != 0 && alive(e);
}

template <class Layout>
void scope_model<Layout>::note_ids(const op& one, const std::vector<id_type>& made) {
    for (std::size_t i = 0; i < made.size(); ++i) {
        fragments_.push_back({made[i], i % 2 == 0 ? kind_tag : kind_number, true, alive(made[i])});
        if (one.slot2 == 0 || i != 0 || !alive(made[i])) continue;
        fragments_.back().order = next_order_++;
        fragments_.back().is_sparse = true;
    }
}

/// Only what nobody has, and what does not wait for anybody.
template <class Layout>
void scope_model<Layout>::make_sparse(int f, const result& seen) {
    require_fragment(f);
    if (is_sparse(f)) return;
    if (count(f) != 0 || std::ranges::any_of(queue_, [&](const command& one) {
            return one.slot == f && (one.has_value() || one.what == change::batch_set ||
                                     one.what == change::batch_add);
        }))
        fail(errc::fragment_in_use);
    // It may have chunks without rows, over which a loop may go.
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
void scope_model<Layout>::make_many(const op& one, const result& seen, result& made) {
    if (one.what == verb::clone_many) {
        require(one.who);
    }
    const std::vector<command> given = first_values(one);
    const values has = come_to({}, given).next;
    const int whole = open(false);
    std::vector<id_type> born;
    std::vector<id_type> rest = seen.made;  // in their order, unless the call threw
    const bool threw = seen.error != no_error;
    try {
        unnamed_ = has;
        for (int i = 0; i < one.count; ++i) {
            unnamed_count_ = static_cast<std::size_t>(one.count - i - 1);
            id_type e{};
            if (threw && tells_coming(has)) {
                e = newborn({}, 0);
                std::erase(rest, e);
            } else if (!rest.empty()) {
                e = rest.front();
                rest.erase(rest.begin());
            } else {
                continue;
            }
            be_born(e);
            all_[e] = has;
            born.push_back(e);
            tell_coming(e, {}, {}, true);
        }
    } catch (const stopped&) {
        unnamed_count_ = 0;
        close(whole, false);
        for (const id_type e : born) die(e);
        throw;
    }
    for (const id_type e : born) {
        note_all(added, e);
        renew(e, {});
    }
    close(whole, true);
    if (one.what == verb::make_ids) note_ids(one, born);
    made.made = born;
}

template <class Layout>
bool scope_model<Layout>::tells_coming(const values& has) {
    bool tells = is_heard(-1, hook_event::insert);
    for (const auto& [f, value] : has)
        tells |= is_heard(f, hook_event::insert) || is_heard(f, hook_event::set);
    return tells;
}

template <class Layout>
void scope_model<Layout>::patch_now(const op& one, result&) {
    const id_type e = one.who;
    require(e);
    if (one.slot >= typed_count && !at(one.slot).is_alive) fail(errc::dead_fragment);
    if (!has(e, one.slot)) fail(errc::missing_component);
    int& value = all_[e][one.slot];
    value = kept(one.slot, value + one.value);
    const int whole = open(false);
    try {
        run(hook_event::assign, one.slot, e);
        run(hook_event::set, one.slot, e);
        note(changed, one.slot, e);
    } catch (const stopped&) {
        close(whole, false);
        throw;
    }
    close(whole, true);
}

template <class Layout>
void scope_model<Layout>::show_value(const op& one, result& made) {
    const bool patches = one.what == verb::patch && scopes_.empty();
    if (one.what != verb::emplace && one.what != verb::get_or_emplace && !patches) return;
    std::optional<int> shown;
    if (!scopes_.empty()) shown = kept(one.slot, one.value);
    if (one.what == verb::get_or_emplace || !shown) {
        require(one.who);  // a hook can have destroyed it
        if (has(one.who, one.slot))
            shown = all_.at(one.who).at(one.slot);
        else
            fail(errc::missing_component);
    }
    made.count = static_cast<std::size_t>(*shown);
}

}  // namespace muster::test::scopes
