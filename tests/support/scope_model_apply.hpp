// The part of scope_model.hpp that applies recorded changes and calls hooks. Start reading at
// `apply_recorded`.
#pragma once

#include "scope_model.hpp"

#include <iterator>

namespace muster::test::scopes {

template <class Layout>
void scope_model<Layout>::apply_recorded() {
    const int whole = open(false);
    std::optional<stopped> first;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        if (queue_[i].is_done) continue;
        const command next = queue_[i];
        std::vector<command> mine;
        for (std::size_t at = i; at < queue_.size(); ++at) {
            if (queue_[at].is_done) continue;
            if (next.is_barrier() ? at != i : queue_[at].is_barrier()) break;
            if (!next.is_barrier() && queue_[at].e != next.e) continue;
            queue_[at].is_done = true;
            mine.push_back(queue_[at]);
        }
        try {
            if (next.is_barrier())
                apply_barrier(next);
            else if (alive(next.e))
                apply_group(next.e, mine);
        } catch (const stopped& why) {
            if (!first) first = why;
        }
    }
    queue_.clear();
    std::erase_if(scopes_, [&](const scope& each) { return each.number == whole; });
    if (first) throw *first;
}

template <class Layout>
auto scope_model<Layout>::effect_of(const values& now, const std::vector<command>& changes)
    -> effect {
    effect made{now, {}};
    for (const command& step : changes) {
        const bool is_there = made.next.contains(step.slot);
        switch (step.what) {
        case change::put: put(made, step.slot, step.value); break;
        case change::keep:
            if (!is_there) put(made, step.slot, step.value);
            break;
        case change::touch: made.changed.insert(step.slot); break;
        case change::remove: made.next.erase(step.slot); break;
        case change::clear: made.next.clear(); break;
        case change::destroy: made.ends = true; return made;
        default: break;
        }
    }
    return made;
}

template <class Layout>
void scope_model<Layout>::put(effect& made, int f, int value) {
    const bool is_new = !made.next.contains(f);
    made.next[f] = value;
    made.changed.insert(f);
    made.given.insert(f);
    if (!is_new) return;
    for (const int needed : at(f).needs)
        if (!made.next.contains(needed)) put(made, needed, 0);
}

template <class Layout>
void scope_model<Layout>::apply_group(id_type e, const std::vector<command>& changes) {
    const bool is_new_entity = changes.front().what == change::spawn;
    try {
        in_scope([&] {
            const effect made = effect_of(all_.at(e), changes);
            if (made.ends && is_new_entity && !is_registered(find_fragment(e)))
                finish_destroy(e);  // no hook has seen it
            else if (made.ends)
                destroy(e);
            else if (std::ranges::any_of(changes, [&](const command& recorded) {
                         return recorded.has_value() && !at(recorded.slot).is_alive;
                     }))
                fail(errc::dead_fragment);
            else
                move(e, made, is_new_entity);
        });
    } catch (const stopped&) {
        if (is_new_entity) rollback_spawn(e);
        throw;
    }
}

template <class Layout>
void scope_model<Layout>::rollback_spawn(id_type e) {
    const int f = find_fragment(e);
    if (!is_registered(f) || count(f) == 0) return finish_destroy(e);
    try {
        destroy_fragment(e);
    } catch (const stopped&) {
    }
}

template <class Layout>
void scope_model<Layout>::move(id_type e, effect made, bool is_new_entity) {
    for (const int f : in_order(all_.at(e)))
        if (!made.next.contains(f)) run(hook_event::remove, f, e);
    const values old = all_.at(e);
    made.refresh(old);
    all_[e] = made.next;
    const std::size_t start = queue_.size();
    try {
        notify_insert(e, old, made.changed, is_new_entity);
    } catch (const stopped&) {
        drop_from(start);
        all_[e] = old;
        throw;
    }
    log_move(e, old, made.changed);
    start_lives(e, old);
}

template <class Layout>
void scope_model<Layout>::notify_insert(id_type e, const values& old, const std::set<int>& touched,
                                        bool is_new_entity) {
    if (is_new_entity) run(hook_event::insert, -1, e);
    for (const int f : in_order(all_.at(e))) {
        if (old.contains(f) && !touched.contains(f)) continue;
        run(old.contains(f) ? hook_event::assign : hook_event::insert, f, e);
        run(hook_event::set, f, e);
    }
}

template <class Layout>
void scope_model<Layout>::destroy(id_type e) {
    if (is_registered(find_fragment(e))) return destroy_fragment(e);
    notify_remove(e);
    log_all(removed, e);
    finish_destroy(e);
}

template <class Layout>
void scope_model<Layout>::notify_remove(id_type e) {
    if (alive(e))  // false for the fragment of a C++ type
        for (const int f : in_order(all_.at(e))) run(hook_event::remove, f, e);
    run(hook_event::remove, -1, e);
}

template <class Layout>
void scope_model<Layout>::apply_barrier(const command& recorded) {
    if (recorded.what == change::clear_fragment) {
        if (at(recorded.slot).is_alive) clear_fragment(recorded.slot);
    } else if (recorded.what == change::copy_fragment) {
        if (!at(recorded.target).is_alive) return;
        if (!at(recorded.slot).is_alive || at(recorded.slot).times_destroyed != recorded.value)
            fail(errc::dead_fragment);
        copy_fragment(recorded.slot, recorded.target);
    } else if (recorded.what != change::destroy_fragment) {
        batch(recorded);
    } else if (alive(recorded.e) || is_typed(recorded.e)) {
        in_scope([&] { destroy(recorded.e); });
    }
}

template <class Layout>
template <class Call>
void scope_model<Layout>::in_scope(Call call) {
    const int mine = open(false);
    try {
        call();
    } catch (const stopped&) {
        close(mine, false);
        throw;
    }
    close(mine, true);
}

template <class Layout>
bool scope_model<Layout>::has_sparse_part(int f) const {
    if (f < 0) return false;
    std::vector<int> all{f};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_sparse(all[i])) return true;
        for (const int needed : fragments_[static_cast<std::size_t>(all[i])].needs)
            if (std::ranges::find(all, needed) == all.end()) all.push_back(needed);
    }
    return false;
}

template <class Layout>
auto scope_model<Layout>::chunks_of(int f, bool by_entity) const -> chunk_list {
    chunk_list made;
    for (const auto& [e, has] : all_)
        if (has.contains(f)) made[group_of(e, by_entity)].push_back(e);
    return made;
}

template <class Layout>
template <class IsNotified, class Change>
void scope_model<Layout>::each_chunk(chunk_list chunks, std::optional<stopped>& first,
                                     IsNotified is_notified, Change use) {
    each_group(std::move(chunks), first, is_notified,
               [&](const std::vector<id_type>& rows) { in_scope([&] { use(rows); }); });
}

template <class Layout>
template <class IsNotified, class Change>
void scope_model<Layout>::each_group(chunk_list chunks, std::optional<stopped>& first,
                                     IsNotified is_notified, Change use) {
    while (!chunks.empty()) {
        const auto notifies = [&](const auto& value) {
            return std::ranges::any_of(value.second, is_notified);
        };
        auto chunk = std::ranges::find_if(chunks, notifies);
        if (chunk == chunks.end())
            chunk = chunks.begin();
        else
            chunk = std::ranges::find_if(chunks, [&](const auto& value) {
                return std::ranges::find(value.second, next_called()) != value.second.end();
            });
        if (chunk == chunks.end()) differ("a hook was called for another chunk");
        const std::vector<id_type> rows = chunk->second;
        chunks.erase(chunk);
        try {
            use(rows);
        } catch (const stopped& why) {
            if (!first) first = why;
        }
    }
}

template <class Layout>
void scope_model<Layout>::clear_fragment(int f) {
    std::optional<stopped> first;
    const auto is_notified = [&](id_type) { return has_hook(f, hook_event::remove); };
    each_chunk(
        chunks_of(f, is_sparse(f)), first, is_notified, [&](const std::vector<id_type>& rows) {
            each_called(rows, is_notified, [&](id_type e) { run(hook_event::remove, f, e); });
            for (const id_type e : rows) {
                all_[e].erase(f);
                log_change(removed, f, e);
            }
        });
    if (first) throw *first;
}

template <class Layout>
void scope_model<Layout>::copy_fragment(int from, int to) {
    const bool by_entity = is_sparse(from) || has_sparse_part(to);
    chunk_list both = chunks_of(from, by_entity);  // these chunks come first
    chunk_list others;
    for (auto chunk = both.begin(); chunk != both.end();) {
        const auto next = std::next(chunk);
        if (!by_entity && !chunk->first.first.contains(to)) others.insert(both.extract(chunk));
        chunk = next;
    }
    std::optional<stopped> first;
    const auto copy = [&](const std::vector<id_type>& rows) {
        std::map<id_type, values> old;
        std::set<int> touched;
        for (const id_type e : rows) {
            old[e] = all_[e];
            const effect made = effect_of(all_[e], {{change::put, e, to, all_[e][from]}});
            all_[e] = made.next;
            touched = made.changed;
        }
        const std::size_t start = queue_.size();
        try {
            const auto is_notified = [&](id_type e) {
                return std::ranges::any_of(
                    touched, [&](int f) { return notifies_value(f, old[e].contains(f)); });
            };
            each_called(rows, is_notified,
                        [&](id_type e) { notify_insert(e, old[e], touched, false); });
        } catch (const stopped&) {
            drop_from(start);
            for (const id_type e : rows) all_[e] = old[e];
            throw;
        }
        for (const id_type e : rows) {
            log_move(e, old[e], touched);
            start_lives(e, old[e]);
        }
    };
    const auto is_notified = [&](id_type e) {
        const effect made = effect_of(all_[e], {{change::put, e, to, 0}});
        return std::ranges::any_of(made.changed,
                                   [&](int f) { return notifies_value(f, has(e, f)); });
    };
    each_chunk(both, first, is_notified, copy);
    each_chunk(others, first, is_notified, copy);
    if (first) throw *first;
}

template <class Layout>
bool scope_model<Layout>::notifies_value(int f, bool was_there) const {
    return has_hook(f, hook_event::set) ||
           has_hook(f, was_there ? hook_event::assign : hook_event::insert);
}

template <class Layout>
auto scope_model<Layout>::closure(id_type first) const -> std::set<id_type> {
    std::set<id_type> made{first};
    std::vector<id_type> left{first};
    while (!left.empty()) {
        const int f = find_fragment(left.back());
        left.pop_back();
        if (f < 0 || !fragments_[static_cast<std::size_t>(f)].destroys_owners) continue;
        for (const auto& [e, has] : all_)
            if (has.contains(f) && made.insert(e).second) left.push_back(e);
    }
    return made;
}

template <class Layout>
void scope_model<Layout>::destroy_fragment(id_type id) {
    const std::set<id_type> dying = closure(id);
    std::vector<id_type> others(dying.begin(), dying.end());
    std::erase(others, id);
    std::set<int> destroyed;
    for (const id_type e : dying)
        if (const int f = find_fragment(e); f >= 0) destroyed.insert(f);
    notify_remove(id);
    const auto is_notified = [&](id_type e) {
        bool notifies = has_hook(-1, hook_event::remove);
        for (const auto& [f, value] : all_[e]) notifies |= has_hook(f, hook_event::remove);
        return notifies;
    };
    each_called(others, is_notified, [&](id_type e) { notify_remove(e); });
    std::set<std::pair<id_type, int>> removals;
    for (const auto& [e, has] : all_)
        for (const int f : destroyed)
            if (has.contains(f) && !dying.contains(e)) removals.insert({e, f});
    const auto all_removals = removals;
    const auto has_remove_hook = [&](const auto& value) {
        return has_hook(value.second, hook_event::remove);
    };
    while (std::ranges::any_of(removals, has_remove_hook)) {
        const std::pair<id_type, int> next{next_called(), calls_[consumed_].slot};
        if (removals.erase(next) == 0) differ("a hook was called for an unrelated removal");
        run(hook_event::remove, next.second, next.first);
    }
    for (const id_type e : dying) log_all(removed, e);
    for (const auto& [e, f] : all_removals) log_change(removed, f, e);
    for (const id_type e : dying) finish_destroy(e);
}

template <class Layout>
template <class IsNotified, class Call>
void scope_model<Layout>::each_called(std::vector<id_type> these, IsNotified is_notified,
                                      Call call) {
    while (!these.empty()) {
        auto next = std::ranges::find_if(these, is_notified);
        if (next == these.end())
            next = these.begin();
        else
            next = std::ranges::find(these, next_called());
        if (next == these.end()) differ("a hook was called for another entity");
        const id_type e = *next;
        these.erase(next);
        call(e);
    }
}

template <class Layout>
void scope_model<Layout>::run(hook_event event, int f, id_type e) {
    const std::size_t count = hooks_[f].size();
    const std::size_t mine = scopes_.size();
    const auto close_all = [&] {
        while (scopes_.size() != mine) close(scopes_.back().number, false);
    };
    try {
        for (std::size_t i = 0; i < count; ++i) {
            const hook next = hooks_[f][i];
            if (next.event == event && next.is_connected) call(next, f, e);
        }
    } catch (const stopped&) {
        close_all();
        throw;
    }
    if (scopes_.size() == mine) return;
    close_all();
    fail(errc::unbalanced_scope);
}

template <class Layout>
void scope_model<Layout>::call(const hook& connected, int f, id_type e) {
    const int value = f < 0 ? 0 : all_[e][f];
    const std::string what =
        join("hook ", connected.number, " of ", f, " for ", to_string(e), " with ", value);
    if (consumed_ >= calls_.size()) differ("not called: " + what);
    const called<id_type>& made = calls_[consumed_++];
    if (made.hook != connected.number || made.event != connected.event || made.e != e ||
        made.slot != f || made.value != value)
        differ(join("called: hook ", made.hook, " of ", made.slot, " for ", to_string(made.e),
                    " with ", made.value, "; instead of ", what));
    for (const auto& [did, seen] : made.did) {
        if (did.what == verb::stop) throw stopped{did.value};
        check(did, seen, apply(did, seen));
    }
}

}  // namespace muster::test::scopes
