#include <muster/base/scope_guard.hpp>
#include <muster/engine/hook_registry.hpp>

#include <utility>

namespace MUSTER_NAMESPACE::detail {

std::uint64_t hook_registry::add(fragment_data& fragment, hook_kind kind, hook_function&& made) {
    const std::uint64_t number = fragment.hooks.add(kind, std::move(made));
    catalog_.invalidate_hooks(&fragment);
    return number;
}

std::uint64_t hook_registry::add(hook_kind kind, hook_function&& made) {
    gate_.refuse_in_change("adding a hook");
    const std::uint64_t number = entity_hooks_.add(kind, std::move(made));
    refresh(entities_.null());
    return number;
}

hook_list* hook_registry::find_list(std::uint64_t f) const noexcept {
    // SAFETY: callers that modify the list have a non-const notifier.
    if (f == entities_.null()) return const_cast<hook_list*>(&entity_hooks_);
    fragment_data* const found = fragments_.find(f);
    return found == nullptr ? nullptr : &found->hooks;
}

/// Updates what depends on the hooks of this fragment.
void hook_registry::refresh(std::uint64_t f) noexcept {
    gate_.set_entity_hooks(entity_hooks_.kinds() != 0);
    if (f == entities_.null()) {
        catalog_.invalidate_hooks(&no_fragment);
    } else {
        catalog_.invalidate_hooks(fragments_.find(f));
    }
}

bool hook_registry::connect(std::uint64_t f, std::uint64_t number, bool is_wanted) noexcept {
    if (gate_.is_parallel()) return false;
    hook_list* const list = find_list(f);
    const bool is_done = list != nullptr && list->connect(number, is_wanted);
    if (is_done) refresh(f);
    return is_done;
}

bool hook_registry::remove(std::uint64_t f, std::uint64_t number) noexcept {
    if (gate_.is_parallel()) return false;
    hook_list* const list = find_list(f);
    const bool is_done = list != nullptr && list->remove(number);
    if (is_done) refresh(f);
    return is_done;
}

void hook_registry::abandon(std::uint64_t f, std::uint64_t number) noexcept {
    if (!gate_.is_parallel()) {
        (void)remove(f, number);
        return;
    }
    hook_list* const list = find_list(f);
    if (list != nullptr && list->abandon(number)) has_abandoned_.store_relaxed(1);
}

bool hook_registry::is_connected(std::uint64_t f, std::uint64_t number) const noexcept {
    const hook_list* const list = find_list(f);
    return list != nullptr && list->is_connected(number);
}

void hook_registry::add_observer(change_log& log) {
    log.order = static_cast<std::uint32_t>(observers_.size());
    observers_.push_back(&log);
}

void hook_registry::remove_observer(change_log& log) noexcept {
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

void hook_registry::subscribe(change_log& log, fragment_data& fragment, unsigned kinds) {
    fragment.hooks.subscribe(log, kinds, &fragment);
    catalog_.invalidate_hooks(&fragment);
}

bool hook_registry::connect_observer(change_log& log, bool is_wanted) noexcept {
    if (gate_.is_parallel()) return false;
    hook_list::pause(log, !is_wanted);
    for (const change_log::subscription& subscription : log.subscriptions)
        catalog_.invalidate_hooks(subscription.of);
    return true;
}

void hook_registry::remove_abandoned() noexcept {
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

void hook_registry::add_value_log(value_log& log, fragment_data& fragment,
                                  void (*move)(void* to, void* from)) {
    value_logs_.push_back(&log);
    scope_guard rollback([&] { value_logs_.pop_back(); });
    fragment.hooks.subscribe(log, *fragment.type, move);
    rollback.dismiss();
    catalog_.invalidate_hooks(&fragment);
}

void hook_registry::remove_value_log(const value_log& log) noexcept {
    value_logs_.erase_if([&](const value_log* known) { return known == &log; });
    for (fragment_data* fragment : fragments_.all())
        if (fragment != nullptr) fragment->hooks.unsubscribe(log);
    catalog_.invalidate_hooks(nullptr);
}

void hook_registry::connect_value_log(value_log& log, bool is_wanted) noexcept {
    log.is_paused = !is_wanted;
    for (fragment_data* fragment : fragments_.all())
        if (fragment != nullptr) fragment->hooks.refresh_kinds();
    catalog_.invalidate_hooks(nullptr);
}

void hook_registry::end_observers() noexcept {
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
