// The part of scope_model.hpp for batches and observers.
#pragma once

#include "scope_model.hpp"

namespace muster::test::scopes {

// ---- batches -----------------------------------------------------------------------------------

template <class Layout>
void scope_model<Layout>::record_batch(const op& operation, result& made) {
    for (const int f : {operation.slot, operation.count})
        if (f >= 0 && f < typed_count) register_fragment(f);
    const bool adds = operation.what == verb::batch_set || operation.what == verb::batch_add;
    const bool removes = operation.what == verb::batch_remove;
    if (adds) require_fragment(operation.slot2);
    if (removes && operation.slot2 < typed_count) register_fragment(operation.slot2);
    if (removes && !is_registered(operation.slot2)) return;
    const auto concerns = [&](const values& has) {
        if (!matches(has, operation.slot, operation.count)) return false;
        if (operation.what == verb::batch_add) return !has.contains(operation.slot2);
        return !removes || has.contains(operation.slot2);
    };
    for (const auto& [e, has] : all_) made.count += concerns(has) ? 1u : 0u;
    if (concerns(unnamed_)) made.count += unnamed_count_;
    const change what = operation.what == verb::batch_set     ? change::batch_set
                        : operation.what == verb::batch_add   ? change::batch_add
                        : removes                             ? change::batch_remove
                        : operation.what == verb::batch_clear ? change::batch_clear
                                                              : change::batch_destroy;
    command all{what, {}, adds || removes ? operation.slot2 : -1};
    all.value = operation.what == verb::batch_set ? kept(operation.slot2, operation.value) : 0;
    all.with = operation.slot;
    all.without = operation.count;
    queue_.push_back(all);
}

template <class Layout>
void scope_model<Layout>::batch(const command& recorded) {
    command each = recorded;
    each.what = recorded.what == change::batch_set      ? change::put
                : recorded.what == change::batch_add    ? change::keep
                : recorded.what == change::batch_remove ? change::remove
                                                        : change::clear;
    if (each.has_value() && !at(recorded.slot).is_alive) fail(errc::dead_fragment);
    const bool by_entity =
        is_sparse(recorded.with) || is_sparse(recorded.without) || has_sparse_part(recorded.slot);
    chunk_list stay;  // these come first: others may move into their chunks
    chunk_list go;
    for (const auto& [e, has] : all_)
        if (matches(has, recorded.with, recorded.without))
            (each.has_value() && has.contains(recorded.slot) && !by_entity
                 ? stay
                 : go)[group_of(e, by_entity)]
                .push_back(e);
    if (recorded.what == change::batch_destroy) return batch_destroy(go, by_entity);
    if (recorded.what == change::batch_clear && !by_entity) return batch_clear(go, each);
    std::optional<stopped> first;
    const auto is_notified = [&](id_type e) { return notifies_change(e, each); };
    const auto use = [&](const std::vector<id_type>& rows) { change_rows(rows, each); };
    refuse_mixed(stay, is_notified);
    refuse_mixed(go, is_notified);
    each_chunk(stay, first, is_notified, use);
    each_chunk(go, first, is_notified, use);
    if (first) throw *first;
}

/// A chunk in which some entities have sparse fragments is cleared one entity at a time.
template <class Layout>
void scope_model<Layout>::batch_clear(const chunk_list& chunks, const command& each) {
    const auto is_notified = [&](id_type e) { return notifies_change(e, each); };
    chunk_list single;
    const auto has_some = [&](const std::vector<id_type>& rows) {
        return std::ranges::any_of(rows, [&](id_type e) { return has_sparse(e); });
    };
    for (const auto& [where, rows] : chunks)
        for (const id_type e : rows)
            single[has_some(rows) ? group_of(e, true) : where].push_back(e);
    refuse_mixed(single, is_notified);
    std::optional<stopped> first;
    each_group(chunks, first, is_notified, [&](const std::vector<id_type>& rows) {
        if (!has_some(rows)) return in_scope([&] { change_rows(rows, each); });
        chunk_list some;
        for (const id_type e : rows) some[group_of(e, true)].push_back(e);
        each_chunk(some, first, is_notified,
                   [&](const std::vector<id_type>& those) { change_rows(those, each); });
    });
    if (first) throw *first;
}

/// A hook with operations sees which chunks without hook calls changed before it.
template <class Layout>
template <class IsNotified>
void scope_model<Layout>::refuse_mixed(const chunk_list& chunks, IsNotified is_notified) const {
    const auto notifies = [&](const auto& value) {
        return std::ranges::any_of(value.second, is_notified);
    };
    const auto acts = [](const called<id_type>& value) {
        return std::ranges::any_of(value.did,
                                   [](const auto& did) { return did.first.what != verb::stop; });
    };
    if (std::ranges::any_of(chunks, notifies) && !std::ranges::all_of(chunks, notifies) &&
        std::any_of(calls_.begin() + static_cast<std::ptrdiff_t>(consumed_), calls_.end(), acts))
        throw undecided{};
}

template <class Layout>
bool scope_model<Layout>::notifies_change(id_type e, const command& recorded) {
    const values& old = all_.at(e);
    const effect made = effect_of(old, {recorded});
    for (const auto& [f, value] : old)
        if (!made.next.contains(f) && has_hook(f, hook_event::remove)) return true;
    return std::ranges::any_of(made.next, [&](const auto& has) {
        return made.changed.contains(has.first) &&
               notifies_value(has.first, old.contains(has.first));
    });
}

template <class Layout>
void scope_model<Layout>::change_rows(const std::vector<id_type>& rows, const command& recorded) {
    std::map<id_type, values> old;
    std::map<id_type, effect> made;
    for (const id_type e : rows) {
        old[e] = all_[e];
        made[e] = effect_of(all_[e], {recorded});
    }
    const auto notifies_removal = [&](id_type e) {
        return std::ranges::any_of(old[e], [&](const auto& has) {
            return !made[e].next.contains(has.first) && has_hook(has.first, hook_event::remove);
        });
    };
    each_called(rows, notifies_removal, [&](id_type e) {
        for (const int f : in_order(old[e]))
            if (!made[e].next.contains(f)) run(hook_event::remove, f, e);
    });
    for (const id_type e : rows) {
        old[e] = all_[e];
        made[e].refresh(old[e]);
        all_[e] = made[e].next;
    }
    const auto notifies_addition = [&](id_type e) {
        return std::ranges::any_of(made[e].next, [&](const auto& has) {
            return made[e].changed.contains(has.first) &&
                   notifies_value(has.first, old[e].contains(has.first));
        });
    };
    const std::size_t start = queue_.size();
    try {
        each_called(rows, notifies_addition,
                    [&](id_type e) { notify_insert(e, old[e], made[e].changed, false); });
    } catch (const stopped&) {
        drop_from(start);
        for (const id_type e : rows) all_[e] = old[e];
        throw;
    }
    for (const id_type e : rows) {
        log_move(e, old[e], made[e].changed);
        start_lives(e, old[e]);
    }
}

template <class Layout>
bool scope_model<Layout>::notifies_remove(id_type e) const {
    bool notifies = has_hook(-1, hook_event::remove);
    for (const auto& [f, value] : all_.at(e)) notifies |= has_hook(f, hook_event::remove);
    return notifies;
}

/// Destroys fragments separately, after the other entities.
template <class Layout>
void scope_model<Layout>::batch_destroy(chunk_list chunks, bool by_entity) {
    chunk_list later;
    const auto is_notified = [&](id_type e) { return notifies_remove(e); };
    bool notifies = false;
    for (auto chunk = chunks.begin(); chunk != chunks.end();) {
        std::vector<id_type>& rows = chunk->second;
        for (const id_type e : rows)
            if (is_registered(find_fragment(e))) later[chunk->first].push_back(e);
        std::erase_if(rows, [&](id_type e) { return is_registered(find_fragment(e)); });
        notifies = notifies || std::ranges::any_of(rows, is_notified);
        chunk = rows.empty() ? chunks.erase(chunk) : std::next(chunk);
    }
    if (later.size() > 1 || (later.size() == 1 && later.begin()->second.size() > 1))
        throw undecided{};  // their order is unknown
    if (later.size() == 1 && !chunks.contains(later.begin()->first)) {
        if (notifies) throw undecided{};
        in_scope([&] { add(change::destroy_fragment, later.begin()->second.front()); });
    } else if (later.size() == 1 && notifies &&
               std::ranges::none_of(chunks[later.begin()->first], is_notified)) {
        throw undecided{};
    }
    std::optional<stopped> first;
    refuse_mixed(chunks, is_notified);
    each_chunk(chunks, first, is_notified, [&](const std::vector<id_type>& rows) {
        for (const id_type e : later[group_of(rows.front(), by_entity)])
            add(change::destroy_fragment, e);
        each_called(rows, is_notified, [&](id_type e) { notify_remove(e); });
        for (const id_type e : rows) log_all(removed, e);
        for (const id_type e : rows) finish_destroy(e);
    });
    if (first) throw *first;
}

// ---- observers ---------------------------------------------------------------------------------

template <class Layout>
void scope_model<Layout>::log_move(id_type e, const values& old, const std::set<int>& touched) {
    const values& now = all_.at(e);
    for (const auto& [f, value] : old)
        if (!now.contains(f)) log_change(removed, f, e);
    for (const auto& [f, value] : now)
        if (!old.contains(f))
            log_change(added, f, e);
        else if (touched.contains(f))
            log_change(changed, f, e);
}

template <class Layout>
void scope_model<Layout>::observe(const op& operation) {
    observer made;
    require_fragment(operation.slot);
    made.subscribed[operation.slot] |= operation.count;
    if (operation.value != 0) {
        require_fragment(operation.slot2);
        made.subscribed[operation.slot2] |= operation.value;
    }
    observers_.push_back(made);
}

template <class Layout>
void scope_model<Layout>::use_observer(const op& operation, const result& seen, result& made) {
    observer& it = observers_[static_cast<std::size_t>(operation.count)];
    switch (operation.what) {
    case verb::end_observer:
        it.has_ended = it.is_paused = true;
        it.log.clear();
        break;
    case verb::pause_observer:
    case verb::resume_observer:
        made.count = it.is_paused != (operation.what == verb::pause_observer) ? 1u : 0u;
        it.is_paused = operation.what == verb::pause_observer;
        break;
    default:
        if (operation.value == 0) {
            made.gathered.assign(it.log.begin(), it.log.end());
            it.log.clear();
        } else {  // only some, which `seen` names
            for (const id_type e : seen.gathered)
                if (it.log.erase(e) != 0) made.gathered.push_back(e);
        }
        made.count = it.log.size();
    }
}

}  // namespace muster::test::scopes
