#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/engine/notifier.hpp>
#include <muster/type/value_participant.hpp>

#include <algorithm>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Throws `errc::unbalanced_scope` and drops the changes of a hook that leaves a scope open: their
/// order would be undefined.
void notifier::run(hook_list& list, hook_kind kind, std::uint64_t e, void* value) {
    const open_scope* const mine = scopes_.innermost();
    const scope_guard drop([&] {
        if (scopes_.innermost() != mine) scopes_.drop_scopes(mine);
    });
    list.run(kind, e, value);
    if (scopes_.innermost() != mine)
        raise(errc::unbalanced_scope, "a hook left a scope open: its changes are dropped");
}

void notifier::call(hook_kind kind, std::uint64_t e, location at, fragment_data& fragment) {
    if (fragment.hooks.calls(to_bits(kind)))
        run(fragment.hooks, kind, e, component_lookup::find(e, at, fragment));
}

void notifier::before(const transition& step, std::uint64_t e, location at) {
    const auto leave = [&](const fragment_data& fragment, bool is_removed) {
        if (fragment.participant != nullptr)
            fragment.participant->leaving(e, component_lookup::find(e, at, fragment), is_removed);
    };
    // Steps that can only run out of memory come before the first hook.
    for (const fragment_data* fragment : step.removed) leave(*fragment, true);
    for (const transition::notice& notice : step.present)
        if (!notice.is_new) leave(*notice.fragment, false);
    for (fragment_data* fragment : step.removed) {
        if (fragment->participant != nullptr) fragment->participant->call_before(e);
        call(hook_kind::remove, e, at, *fragment);
    }
    for (const transition::notice& notice : step.present)
        if (!notice.is_new && notice.fragment->participant != nullptr)
            notice.fragment->participant->call_before(e);
}

void notifier::ending(std::uint64_t e, location at, fragment_data& fragment) {
    if (fragment.participant != nullptr)
        fragment.participant->ending(e, component_lookup::find(e, at, fragment));
    call(hook_kind::remove, e, at, fragment);
}

void notifier::arrive(std::uint64_t e, location at, const fragment_data& fragment, bool is_new) {
    if (fragment.participant != nullptr)
        fragment.participant->arrived(e, component_lookup::find(e, at, fragment), is_new);
}

void notifier::after(const transition& step, std::uint64_t e, location at) {
    for (const transition::notice& notice : step.present)
        arrive(e, at, *notice.fragment, notice.is_new);
    for (const transition::notice& notice : step.present) {
        if (notice.fragment->participant != nullptr) notice.fragment->participant->call_after(e);
        call(notice.is_new ? hook_kind::insert : hook_kind::assign, e, at, *notice.fragment);
        call(hook_kind::set, e, at, *notice.fragment);
    }
}

void notifier::prepare(fragment_data& fragment, hook_kind kind, std::size_t count) {
    if (fragment.participant != nullptr) fragment.participant->begin(count);
    fragment.hooks.prepare(kind, count);
}

void notifier::note(fragment_data& fragment, hook_kind kind, std::uint64_t e) noexcept {
    if (fragment.participant != nullptr) fragment.participant->commit(e);
    fragment.hooks.note(kind, e);
}

void notifier::prepare(const transition& step, std::size_t count) {
    for (fragment_data* fragment : step.removed) prepare(*fragment, hook_kind::remove, count);
    for (const transition::notice& notice : step.present)
        prepare(*notice.fragment, notice.is_new ? hook_kind::insert : hook_kind::assign, count);
}

void notifier::note(const transition& step, std::uint64_t e) noexcept {
    for (fragment_data* fragment : step.removed) note(*fragment, hook_kind::remove, e);
    for (const transition::notice& notice : step.present)
        note(*notice.fragment, notice.is_new ? hook_kind::insert : hook_kind::assign, e);
}

void notifier::born(std::uint64_t e) {
    if (calls_at_birth()) run(entity_hooks_, hook_kind::insert, e, nullptr);
}

void notifier::dying(std::uint64_t e) {
    const location at = entities_.locate(e);
    chunk_data& here = graph_.at(at.chunk);
    if (calls_remove_sparse(e)) {  // listing the fragments needs memory
        for (fragment_data* fragment : components_.fragments_of(e)) ending(e, at, *fragment);
    } else if (graph_.refresh(here).notifies_remove) {
        for (fragment_data* fragment : here.fragments) ending(e, at, *fragment);
    }
    if (calls_at_death()) run(entity_hooks_, hook_kind::remove, e, nullptr);
}

void notifier::assigned(std::uint64_t e, fragment_data& fragment) {
    if (!fragment.hooks.has(assign_hooks)) return;
    fragment.hooks.prepare(hook_kind::assign, 1);
    const location at = entities_.locate(e);
    call(hook_kind::assign, e, at, fragment);
    call(hook_kind::set, e, at, fragment);
    fragment.hooks.note(hook_kind::assign, e);
}

void notifier::inserted(slice<const new_entities> all) {
    std::size_t count = 0;
    for (const new_entities& made : all) count += made.all.count;
    bool has_participant = false;
    for (const new_entities& made : all)
        for (fragment_data* fragment : made.fragments) {
            prepare(*fragment, hook_kind::insert, count);
            has_participant = has_participant || fragment->participant != nullptr;
        }
    for (const new_entities& made : all)
        for (std::size_t i = 0; has_participant && i < made.all.count; ++i) {
            const location at = entities_.locate(made.all.at(i));
            for (const fragment_data* fragment : made.fragments)
                arrive(made.all.at(i), at, *fragment, true);
        }
    for (const new_entities& made : all) call_inserted(made);
    for (const new_entities& made : all)
        for (fragment_data* fragment : made.fragments)
            if (fragment->hooks.has(insert_hooks))
                for (std::size_t i = 0; i < made.all.count; ++i)
                    note(*fragment, hook_kind::insert, made.all.at(i));
}

/// Calls the hooks of new entities.
void notifier::call_inserted(const new_entities& made) {
    for (std::size_t i = 0; i < made.all.count; ++i) {
        const std::uint64_t e = made.all.at(i);
        born(e);
        const location at = entities_.locate(e);
        for (fragment_data* fragment : made.fragments) {
            if (fragment->participant != nullptr) fragment->participant->call_after(e);
            call(hook_kind::insert, e, at, *fragment);
            call(hook_kind::set, e, at, *fragment);
        }
    }
}

bool notifier::notifies_remove_sparse(std::uint64_t e) const {
    bool notifies = false;
    sparse_.each_marked(e, [&](const sparse_set& set) {
        notifies = notifies ||
                   (set.fragment != nullptr && set.fragment->hooks.has(remove_hooks) && set.has(e));
    });
    return notifies;
}

/// Whether a sparse fragment of the entity has hooks of its removal.
bool notifier::calls_remove_sparse(std::uint64_t e) const noexcept {
    bool calls = false;
    sparse_.each(e, [&](const sparse_set& set) {
        calls = calls || set.fragment->hooks.calls(remove_hooks);
    });
    return calls;
}

bool notifier::calls_remove(const chunk_data& from) noexcept {
    return std::ranges::any_of(from.fragments, [](const fragment_data* fragment) {
        return fragment->hooks.calls(remove_hooks);
    });
}

void notifier::prepare_removal(std::uint64_t e, std::size_t count) {
    sparse_.each(
        e, [&](const sparse_set& set) { set.fragment->hooks.prepare(hook_kind::remove, count); });
    chunk_data& from = components_.chunk_of(e);
    if (!graph_.refresh(from).notifies_remove) return;
    for (fragment_data* fragment : from.fragments)
        fragment->hooks.prepare(hook_kind::remove, count);
}

void notifier::note_removal(std::uint64_t e) noexcept {
    sparse_.each(e, [&](const sparse_set& set) { note_removal(e, *set.fragment); });
    chunk_data& from = components_.chunk_of(e);
    if (!graph_.refresh(from).notifies_remove) return;
    for (fragment_data* fragment : from.fragments) note_removal(e, *fragment);
}

void notifier::note_removal(std::uint64_t e, fragment_data& fragment) noexcept {
    if (fragment.hooks.keeps_values()) {
        const busy_guard busy(gate_);
        fragment.hooks.keep(e, components_.find(e, fragment));
    }
    fragment.hooks.note(hook_kind::remove, e);
}

// ---- hooks and observers -----------------------------------------------------------------------

std::uint64_t notifier::add(fragment_data& fragment, hook_kind kind, hook_function&& made) {
    const std::uint64_t number = fragment.hooks.add(kind, std::move(made));
    catalog_.invalidate_hooks(&fragment);
    return number;
}

std::uint64_t notifier::add(hook_kind kind, hook_function&& made) {
    gate_.refuse_in_change("adding a hook");
    const std::uint64_t number = entity_hooks_.add(kind, std::move(made));
    refresh(entities_.null());
    return number;
}

hook_list* notifier::find_list(std::uint64_t f) const noexcept {
    // SAFETY: callers that modify the list have a non-const notifier.
    if (f == entities_.null()) return const_cast<hook_list*>(&entity_hooks_);
    fragment_data* const found = fragments_.find(f);
    return found == nullptr ? nullptr : &found->hooks;
}

/// Updates what depends on the hooks of this fragment.
void notifier::refresh(std::uint64_t f) noexcept {
    gate_.set_entity_hooks(entity_hooks_.kinds() != 0);
    if (f == entities_.null()) {
        catalog_.invalidate_hooks(&no_fragment);
    } else {
        catalog_.invalidate_hooks(fragments_.find(f));
    }
}

bool notifier::connect(std::uint64_t f, std::uint64_t number, bool is_wanted) noexcept {
    if (gate_.is_parallel()) return false;
    hook_list* const list = find_list(f);
    const bool is_done = list != nullptr && list->connect(number, is_wanted);
    if (is_done) refresh(f);
    return is_done;
}

bool notifier::remove(std::uint64_t f, std::uint64_t number) noexcept {
    if (gate_.is_parallel()) return false;
    hook_list* const list = find_list(f);
    const bool is_done = list != nullptr && list->remove(number);
    if (is_done) refresh(f);
    return is_done;
}

void notifier::abandon(std::uint64_t f, std::uint64_t number) noexcept {
    if (!gate_.is_parallel()) {
        (void)remove(f, number);
        return;
    }
    hook_list* const list = find_list(f);
    if (list != nullptr && list->abandon(number)) has_abandoned_.store_relaxed(1);
}

bool notifier::is_connected(std::uint64_t f, std::uint64_t number) const noexcept {
    const hook_list* const list = find_list(f);
    return list != nullptr && list->is_connected(number);
}

void notifier::add_observer(change_log& log) {
    log.order = static_cast<std::uint32_t>(observers_.size());
    observers_.push_back(&log);
}

void notifier::remove_observer(change_log& log) noexcept {
    if (log.order < observers_.size() && observers_[log.order] == &log) {
        observers_.back()->order = log.order;
        observers_[log.order] = observers_.back();
        observers_.pop_back();
    }
    while (!log.subscriptions.empty()) {
        const fragment_data* const of = log.subscriptions.back().of;
        hook_list::end_last_subscription(log);
        catalog_.invalidate_hooks(of);
    }
}

void notifier::subscribe(change_log& log, fragment_data& fragment, unsigned kinds) {
    fragment.hooks.subscribe(log, kinds, &fragment);
    catalog_.invalidate_hooks(&fragment);
}

bool notifier::connect_observer(change_log& log, bool is_wanted) noexcept {
    if (gate_.is_parallel()) return false;
    hook_list::pause(log, !is_wanted);
    for (const change_log::subscription& subscription : log.subscriptions)
        catalog_.invalidate_hooks(subscription.of);
    return true;
}

void notifier::remove_abandoned() noexcept {
    if (has_abandoned_.load_relaxed() != 0) {
        has_abandoned_.store_relaxed(0);
        if (entity_hooks_.remove_abandoned()) refresh(entities_.null());
        for (std::size_t i = 0; i < fragments_.all().size(); ++i)
            if (fragment_data* const fragment = fragments_.all()[i])
                if (const std::uint64_t f = fragment->id; fragment->hooks.remove_abandoned())
                    refresh(f);
    }
    for (std::size_t i = observers_.size(); i-- != 0;)
        if (change_log* const log = observers_[i]; log->is_abandoned) {
            remove_observer(*log);
            log->release();
        }
    for (std::size_t i = value_logs_.size(); i-- != 0;)
        if (value_log* const log = value_logs_[i]; log->is_abandoned) {
            remove_value_log(*log);
            log->release();
        }
}

void notifier::add_value_log(value_log& log, fragment_data& fragment,
                             void (*move)(void* to, void* from)) {
    value_logs_.push_back(&log);
    scope_guard rollback([&] { value_logs_.pop_back(); });
    fragment.hooks.subscribe(log, *fragment.type, move);
    rollback.dismiss();
    catalog_.invalidate_hooks(&fragment);
}

void notifier::remove_value_log(const value_log& log) noexcept {
    value_logs_.erase_if([&](const value_log* known) { return known == &log; });
    for (fragment_data* fragment : fragments_.all())
        if (fragment != nullptr) fragment->hooks.unsubscribe(log);
    catalog_.invalidate_hooks(nullptr);
}

void notifier::connect_value_log(value_log& log, bool is_wanted) noexcept {
    log.is_paused = !is_wanted;
    for (fragment_data* fragment : fragments_.all())
        if (fragment != nullptr) fragment->hooks.refresh_kinds();
    catalog_.invalidate_hooks(nullptr);
}

void notifier::end_observers() noexcept {
    // A component may own an observer, and end it before a later destructor changes the hooks.
    while (!value_logs_.empty()) {
        value_log& log = *value_logs_.back();
        log.hold();  // a value that it collects may own its observer
        log.has_world = false;
        remove_value_log(log);
        log.clear();
        log.release();
    }
    for (change_log* log : observers_) {
        log->clear();
        while (!log->subscriptions.empty()) hook_list::end_last_subscription(*log);
    }
}

}  // namespace MUSTER_NAMESPACE::detail
