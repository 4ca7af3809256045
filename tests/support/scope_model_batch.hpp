// The part of scope_model.hpp that knows batches and observers.
#pragma once

#include "scope_model.hpp"

namespace muster::test::scopes {

// ---- batches -----------------------------------------------------------------------------------

template <class Layout>
void scope_model<Layout>::record_batch(const op& one, result& made) {
    for (const int f : {one.slot, one.count})
        if (f >= 0 && f < typed_count) meet(f);
    const bool gives = one.what == verb::batch_set || one.what == verb::batch_add;
    const bool takes = one.what == verb::batch_remove;
    if (gives) require_fragment(one.slot2);
    if (takes && one.slot2 < typed_count) meet(one.slot2);
    if (takes && !is_met(one.slot2)) return;
    const auto concerns = [&](const values& has) {
        if (!matches(has, one.slot, one.count)) return false;
        if (one.what == verb::batch_add) return !has.contains(one.slot2);
        return !takes || has.contains(one.slot2);
    };
    for (const auto& [e, has] : all_) made.count += concerns(has) ? 1u : 0u;
    if (concerns(unnamed_)) made.count += unnamed_count_;
    const change what = one.what == verb::batch_set     ? change::batch_set
                        : one.what == verb::batch_add   ? change::batch_add
                        : takes                         ? change::batch_remove
                        : one.what == verb::batch_clear ? change::batch_clear
                                                        : change::batch_destroy;
    command all{what, {}, gives || takes ? one.slot2 : -1};
    all.value = one.what == verb::batch_set ? kept(one.slot2, one.value) : 0;
    all.with = one.slot;
    all.without = one.count;
    queue_.push_back(all);
}

template <class Layout>
void scope_model<Layout>::batch(const command& one) {
    command each = one;
    each.what = one.what == change::batch_set      ? change::put
                : one.what == change::batch_add    ? change::keep
                : one.what == change::batch_remove ? change::remove
                                                   : change::clear;
    if (each.has_value() && !at(one.slot).is_alive) fail(errc::dead_fragment);
    const bool alone = is_sparse(one.with) || is_sparse(one.without) || is_mixed(one.slot);
    chunk_list stay;  // these come first: others may join them
    chunk_list go;
    for (const auto& [e, has] : all_)
        if (matches(has, one.with, one.without))
            (each.has_value() && has.contains(one.slot) && !alone ? stay : go)[place_of(e, alone)]
                .push_back(e);
    if (one.what == change::batch_destroy) return batch_destroy(go, alone);
    if (one.what == change::batch_clear && !alone) return batch_clear(go, each);
    std::optional<stopped> first;
    const auto is_told = [&](id_type e) { return is_told_change(e, each); };
    const auto use = [&](const std::vector<id_type>& rows) { change_rows(rows, each); };
    refuse_mixed(stay, is_told);
    refuse_mixed(go, is_told);
    each_chunk(stay, first, is_told, use);
    each_chunk(go, first, is_told, use);
    if (first) throw *first;
}

/// A chunk in which some have sparse fragments is cleared one by one.
template <class Layout>
void scope_model<Layout>::batch_clear(const chunk_list& chunks, const command& each) {
    const auto is_told = [&](id_type e) { return is_told_change(e, each); };
    chunk_list single;
    const auto has_some = [&](const std::vector<id_type>& rows) {
        return std::ranges::any_of(rows, [&](id_type e) { return has_sparse(e); });
    };
    for (const auto& [where, rows] : chunks)
        for (const id_type e : rows)
            single[has_some(rows) ? place_of(e, true) : where].push_back(e);
    refuse_mixed(single, is_told);
    std::optional<stopped> first;
    each_place(chunks, first, is_told, [&](const std::vector<id_type>& rows) {
        if (!has_some(rows)) return in_scope([&] { change_rows(rows, each); });
        chunk_list some;
        for (const id_type e : rows) some[place_of(e, true)].push_back(e);
        each_chunk(some, first, is_told,
                   [&](const std::vector<id_type>& those) { change_rows(those, each); });
    });
    if (first) throw *first;
}

/// A hook that does something sees which of the chunks that tell nobody come before it.
template <class Layout>
template <class IsTold>
void scope_model<Layout>::refuse_mixed(const chunk_list& chunks, IsTold is_told) const {
    const auto tells = [&](const auto& one) { return std::ranges::any_of(one.second, is_told); };
    const auto acts = [](const called<id_type>& one) {
        return std::ranges::any_of(one.did,
                                   [](const auto& did) { return did.first.what != verb::stop; });
    };
    if (std::ranges::any_of(chunks, tells) && !std::ranges::all_of(chunks, tells) &&
        std::any_of(told_.begin() + static_cast<std::ptrdiff_t>(heard_), told_.end(), acts))
        throw undecided{};
}

template <class Layout>
bool scope_model<Layout>::is_told_change(id_type e, const command& one) {
    const values& old = all_.at(e);
    const effect made = come_to(old, {one});
    for (const auto& [f, value] : old)
        if (!made.next.contains(f) && is_heard(f, hook_event::remove)) return true;
    return std::ranges::any_of(made.next, [&](const auto& has) {
        return made.changed.contains(has.first) && is_told_of(has.first, old.contains(has.first));
    });
}

template <class Layout>
void scope_model<Layout>::change_rows(const std::vector<id_type>& rows, const command& one) {
    std::map<id_type, values> old;
    std::map<id_type, effect> made;
    for (const id_type e : rows) {
        old[e] = all_[e];
        made[e] = come_to(all_[e], {one});
    }
    const auto loses = [&](id_type e) {
        return std::ranges::any_of(old[e], [&](const auto& has) {
            return !made[e].next.contains(has.first) && is_heard(has.first, hook_event::remove);
        });
    };
    each_told(rows, loses, [&](id_type e) {
        for (const int f : in_order(old[e]))
            if (!made[e].next.contains(f)) run(hook_event::remove, f, e);
    });
    for (const id_type e : rows) all_[e] = made[e].next;
    const auto gets = [&](id_type e) {
        return std::ranges::any_of(made[e].next, [&](const auto& has) {
            return made[e].changed.contains(has.first) &&
                   is_told_of(has.first, old[e].contains(has.first));
        });
    };
    try {
        each_told(rows, gets, [&](id_type e) { tell_coming(e, old[e], made[e].changed, false); });
    } catch (const stopped&) {
        for (const id_type e : rows) all_[e] = old[e];
        throw;
    }
    for (const id_type e : rows) {
        note_move(e, old[e], made[e].changed);
        renew(e, old[e]);
    }
}

template <class Layout>
bool scope_model<Layout>::is_told_going(id_type e) const {
    bool tells = is_heard(-1, hook_event::remove);
    for (const auto& [f, value] : all_.at(e)) tells |= is_heard(f, hook_event::remove);
    return tells;
}

/// Fragments go by themselves, when those that are none have gone.
template <class Layout>
void scope_model<Layout>::batch_destroy(chunk_list chunks, bool alone) {
    chunk_list later;
    const auto is_told = [&](id_type e) { return is_told_going(e); };
    bool tells = false;
    for (auto chunk = chunks.begin(); chunk != chunks.end();) {
        std::vector<id_type>& rows = chunk->second;
        for (const id_type e : rows)
            if (is_met(find_fragment(e))) later[chunk->first].push_back(e);
        std::erase_if(rows, [&](id_type e) { return is_met(find_fragment(e)); });
        tells = tells || std::ranges::any_of(rows, is_told);
        chunk = rows.empty() ? chunks.erase(chunk) : std::next(chunk);
    }
    if (later.size() > 1 || (later.size() == 1 && later.begin()->second.size() > 1))
        throw undecided{};  // in which order?
    if (later.size() == 1 && !chunks.contains(later.begin()->first)) {
        if (tells) throw undecided{};
        in_scope([&] { add(change::destroy_fragment, later.begin()->second.front()); });
    } else if (later.size() == 1 && tells &&
               std::ranges::none_of(chunks[later.begin()->first], is_told)) {
        throw undecided{};
    }
    std::optional<stopped> first;
    refuse_mixed(chunks, is_told);
    each_chunk(chunks, first, is_told, [&](const std::vector<id_type>& rows) {
        for (const id_type e : later[place_of(rows.front(), alone)])
            add(change::destroy_fragment, e);
        each_told(rows, is_told, [&](id_type e) { tell_going(e); });
        for (const id_type e : rows) note_all(removed, e);
        for (const id_type e : rows) die(e);
    });
    if (first) throw *first;
}

// ---- observers ---------------------------------------------------------------------------------

template <class Layout>
void scope_model<Layout>::note_move(id_type e, const values& old, const std::set<int>& touched) {
    const values& now = all_.at(e);
    for (const auto& [f, value] : old)
        if (!now.contains(f)) note(removed, f, e);
    for (const auto& [f, value] : now)
        if (!old.contains(f))
            note(added, f, e);
        else if (touched.contains(f))
            note(changed, f, e);
}

template <class Layout>
void scope_model<Layout>::observe(const op& one) {
    observer made;
    require_fragment(one.slot);
    made.watched[one.slot] |= one.count;
    if (one.value != 0) {
        require_fragment(one.slot2);
        made.watched[one.slot2] |= one.value;
    }
    observers_.push_back(made);
}

template <class Layout>
void scope_model<Layout>::use_observer(const op& one, const result& seen, result& made) {
    observer& it = observers_[static_cast<std::size_t>(one.count)];
    switch (one.what) {
    case verb::end_observer:
        it.has_ended = it.is_cut = true;
        it.log.clear();
        break;
    case verb::cut_observer:
    case verb::restore_observer:
        made.count = it.is_cut != (one.what == verb::cut_observer) ? 1u : 0u;
        it.is_cut = one.what == verb::cut_observer;
        break;
    default:
        if (one.value == 0) {
            made.gathered.assign(it.log.begin(), it.log.end());
            it.log.clear();
        } else {  // some of them: it has to be told which
            for (const id_type e : seen.gathered)
                if (it.log.erase(e) != 0) made.gathered.push_back(e);
        }
        made.count = it.log.size();
    }
}

}  // namespace muster::test::scopes
