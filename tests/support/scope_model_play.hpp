// The part of scope_model.hpp that carries out what was recorded, and calls the hooks. Start reading at
// `play`.
#pragma once

#include "scope_model.hpp"

#include <iterator>

namespace muster::test::scopes {

template <class Layout>
void scope_model<Layout>::play() {
    const int whole = open(false);
    std::optional<stopped> first;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        if (queue_[i].is_done) continue;
        const command one = queue_[i];
        std::vector<command> mine;
        for (std::size_t at = i; at < queue_.size(); ++at) {
            if (queue_[at].is_done) continue;
            if (one.is_barrier() ? at != i : queue_[at].is_barrier()) break;
            if (!one.is_barrier() && queue_[at].who != one.who) continue;
            queue_[at].is_done = true;
            mine.push_back(queue_[at]);
        }
        try {
            if (one.is_barrier())
                cross(one);
            else if (alive(one.who))
                carry_out(one.who, mine);
        } catch (const stopped& why) {
            if (!first) first = why;
        }
    }
    queue_.clear();
    std::erase_if(scopes_, [&](const scope& each) { return each.number == whole; });
    if (first) throw *first;
}

template <class Layout>
auto scope_model<Layout>::come_to(const values& now, const std::vector<command>& changes)
    -> effect {
    effect made{now, {}, false};
    for (const command& one : changes) {
        const bool is_there = made.next.contains(one.slot);
        switch (one.what) {
        case change::put: put(made, one.slot, one.value); break;
        case change::keep:
            if (!is_there) put(made, one.slot, one.value);
            break;
        case change::replace:
            if (is_there) put(made, one.slot, one.value);
            break;
        case change::touch: made.changed.insert(one.slot); break;
        case change::remove: made.next.erase(one.slot); break;
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
    if (!is_new) return;
    for (const int needed : at(f).needs)
        if (!made.next.contains(needed)) put(made, needed, 0);
}

template <class Layout>
void scope_model<Layout>::carry_out(id_type e, const std::vector<command>& changes) {
    const bool is_born = changes.front().what == change::spawn;
    try {
        in_scope([&] {
            const effect made = come_to(all_.at(e), changes);
            if (made.ends && is_born && !is_met(find_fragment(e)))
                die(e);  // nobody has seen it
            else if (made.ends)
                destroy(e);
            else if (std::ranges::any_of(changes, [&](const command& one) {
                         return one.has_value() && !at(one.slot).is_alive;
                     }))
                fail(errc::dead_fragment);
            else
                move(e, made, is_born);
        });
    } catch (const stopped&) {
        if (is_born) unmake(e);
        throw;
    }
}

template <class Layout>
void scope_model<Layout>::unmake(id_type e) {
    const int f = find_fragment(e);
    if (!is_met(f) || count(f) == 0) return die(e);
    try {
        destroy_fragment(e);
    } catch (const stopped&) {
    }
}

template <class Layout>
void scope_model<Layout>::move(id_type e, const effect& made, bool is_born) {
    const values old = all_.at(e);
    for (const int f : in_order(old))
        if (!made.next.contains(f)) run(hook_event::remove, f, e);
    all_[e] = made.next;
    try {
        tell_coming(e, old, made.changed, is_born);
    } catch (const stopped&) {
        all_[e] = old;
        throw;
    }
    note_move(e, old, made.changed);
    renew(e, old);
}

template <class Layout>
void scope_model<Layout>::tell_coming(id_type e, const values& old, const std::set<int>& touched,
                                      bool is_born) {
    if (is_born) run(hook_event::insert, -1, e);
    for (const int f : in_order(all_.at(e))) {
        if (old.contains(f) && !touched.contains(f)) continue;
        run(old.contains(f) ? hook_event::assign : hook_event::insert, f, e);
        run(hook_event::set, f, e);
    }
}

template <class Layout>
void scope_model<Layout>::destroy(id_type e) {
    if (is_met(find_fragment(e))) return destroy_fragment(e);
    tell_going(e);
    note_all(removed, e);
    die(e);
}

template <class Layout>
void scope_model<Layout>::tell_going(id_type e) {
    if (alive(e))  // and not the fragment of a C++ type
        for (const int f : in_order(all_.at(e))) run(hook_event::remove, f, e);
    run(hook_event::remove, -1, e);
}

template <class Layout>
void scope_model<Layout>::cross(const command& one) {
    if (one.what == change::clear_fragment) {
        if (at(one.slot).is_alive) clear_fragment(one.slot);
    } else if (one.what == change::copy_fragment) {
        if (!at(one.target).is_alive) return;
        if (!at(one.slot).is_alive || at(one.slot).deaths != one.value) fail(errc::dead_fragment);
        copy_fragment(one.slot, one.target);
    } else if (one.what != change::destroy_fragment) {
        batch(one);
    } else if (alive(one.who) || is_typed(one.who)) {
        in_scope([&] { destroy(one.who); });
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
bool scope_model<Layout>::is_mixed(int f) const {
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
auto scope_model<Layout>::chunks_of(int f, bool alone) const -> chunk_list {
    chunk_list made;
    for (const auto& [e, has] : all_)
        if (has.contains(f)) made[place_of(e, alone)].push_back(e);
    return made;
}

template <class Layout>
template <class IsTold, class Change>
void scope_model<Layout>::each_chunk(chunk_list chunks, std::optional<stopped>& first,
                                     IsTold is_told, Change use) {
    each_place(std::move(chunks), first, is_told,
               [&](const std::vector<id_type>& rows) { in_scope([&] { use(rows); }); });
}

template <class Layout>
template <class IsTold, class Change>
void scope_model<Layout>::each_place(chunk_list chunks, std::optional<stopped>& first,
                                     IsTold is_told, Change use) {
    while (!chunks.empty()) {
        const auto tells = [&](const auto& one) {
            return std::ranges::any_of(one.second, is_told);
        };
        auto chunk = std::ranges::find_if(chunks, tells);
        if (chunk == chunks.end())
            chunk = chunks.begin();
        else
            chunk = std::ranges::find_if(chunks, [&](const auto& one) {
                return std::ranges::find(one.second, next_told()) != one.second.end();
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
    const auto is_told = [&](id_type) { return is_heard(f, hook_event::remove); };
    each_chunk(chunks_of(f, is_sparse(f)), first, is_told, [&](const std::vector<id_type>& rows) {
        each_told(rows, is_told, [&](id_type e) { run(hook_event::remove, f, e); });
        for (const id_type e : rows) {
            all_[e].erase(f);
            note(removed, f, e);
        }
    });
    if (first) throw *first;
}

template <class Layout>
void scope_model<Layout>::copy_fragment(int from, int to) {
    const bool alone = is_sparse(from) || is_mixed(to);
    chunk_list both = chunks_of(from, alone);  // these come first
    chunk_list others;
    for (auto chunk = both.begin(); chunk != both.end();) {
        const auto next = std::next(chunk);
        if (!alone && !chunk->first.first.contains(to)) others.insert(both.extract(chunk));
        chunk = next;
    }
    std::optional<stopped> first;
    const auto copy = [&](const std::vector<id_type>& rows) {
        std::map<id_type, values> old;
        std::set<int> touched;
        for (const id_type e : rows) {
            old[e] = all_[e];
            const effect made = come_to(all_[e], {{change::put, e, to, all_[e][from]}});
            all_[e] = made.next;
            touched = made.changed;
        }
        try {
            const auto is_told = [&](id_type e) {
                return std::ranges::any_of(
                    touched, [&](int f) { return is_told_of(f, old[e].contains(f)); });
            };
            each_told(rows, is_told, [&](id_type e) { tell_coming(e, old[e], touched, false); });
        } catch (const stopped&) {
            for (const id_type e : rows) all_[e] = old[e];
            throw;
        }
        for (const id_type e : rows) {
            note_move(e, old[e], touched);
            renew(e, old[e]);
        }
    };
    const auto is_told = [&](id_type e) {
        const effect made = come_to(all_[e], {{change::put, e, to, 0}});
        return std::ranges::any_of(made.changed, [&](int f) { return is_told_of(f, has(e, f)); });
    };
    each_chunk(both, first, is_told, copy);
    each_chunk(others, first, is_told, copy);
    if (first) throw *first;
}

template <class Layout>
bool scope_model<Layout>::is_told_of(int f, bool was_there) const {
    return is_heard(f, hook_event::set) ||
           is_heard(f, was_there ? hook_event::assign : hook_event::insert);
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
void scope_model<Layout>::destroy_fragment(id_type who) {
    const std::set<id_type> dying = closure(who);
    std::vector<id_type> others(dying.begin(), dying.end());
    std::erase(others, who);
    std::set<int> gone;
    for (const id_type e : dying)
        if (const int f = find_fragment(e); f >= 0) gone.insert(f);
    tell_going(who);
    const auto is_told = [&](id_type e) {
        bool tells = is_heard(-1, hook_event::remove);
        for (const auto& [f, value] : all_[e]) tells |= is_heard(f, hook_event::remove);
        return tells;
    };
    each_told(others, is_told, [&](id_type e) { tell_going(e); });
    std::set<std::pair<id_type, int>> losses;
    for (const auto& [e, has] : all_)
        for (const int f : gone)
            if (has.contains(f) && !dying.contains(e)) losses.insert({e, f});
    const auto lost = losses;
    const auto is_heard_loss = [&](const auto& one) {
        return is_heard(one.second, hook_event::remove);
    };
    while (std::ranges::any_of(losses, is_heard_loss)) {
        const std::pair<id_type, int> next{next_told(), told_[heard_].slot};
        if (losses.erase(next) == 0) differ("a hook was called that has nothing to do with it");
        run(hook_event::remove, next.second, next.first);
    }
    for (const id_type e : dying) note_all(removed, e);
    for (const auto& [e, f] : lost) note(removed, f, e);
    for (const id_type e : dying) die(e);
}

template <class Layout>
template <class IsTold, class Call>
void scope_model<Layout>::each_told(std::vector<id_type> these, IsTold is_told, Call call) {
    while (!these.empty()) {
        auto next = std::ranges::find_if(these, is_told);
        if (next == these.end())
            next = these.begin();
        else
            next = std::ranges::find(these, next_told());
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
            const hook one = hooks_[f][i];
            if (one.event == event && one.is_connected) call(one, f, e);
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
void scope_model<Layout>::call(const hook& one, int f, id_type e) {
    const int value = f < 0 ? 0 : all_[e][f];
    const std::string what =
        say("hook ", one.number, " of ", f, " for ", to_string(e), " with ", value);
    if (heard_ >= told_.size()) differ("not called: " + what);
    const called<id_type>& told = told_[heard_++];
    if (told.hook != one.number || told.event != one.event || told.who != e || told.slot != f ||
        told.value != value)
        differ(say("called: hook ", told.hook, " of ", told.slot, " for ", to_string(told.who),
                   " with ", told.value, "; instead of ", what));
    for (const auto& [did, seen] : told.did) {
        if (did.what == verb::stop) throw stopped{did.value};
        check(did, seen, apply(did, seen));
    }
}

}  // namespace muster::test::scopes
