#include <muster/type/hook_list.hpp>

#include <algorithm>
#include <vector>

namespace muster::detail {

struct hook_list::hook {
    hook_function what;  // its function object keeps its address when the hook moves
    std::uint64_t number;
    hook_kind kind;
    bool is_connected;
    bool is_removed;
};

struct hook_list::hooks {
    struct subscriber {
        change_log* log;
        unsigned kinds;
    };
    std::vector<hook> all;  // by number
    std::vector<subscriber> subscribers;
};

hook_list::~hook_list() {
    delete hooks_;
}

std::uint64_t hook_list::add(hook_kind kind, hook_function&& made) {
    if (hooks_ == nullptr) hooks_ = new hooks;
    hooks_->all.push_back({std::move(made), last_ + 1, kind, true, false});
    kinds_ |= to_bits(kind);
    called_ |= to_bits(kind);
    return ++last_;
}

hook_list::hook* hook_list::find(std::uint64_t number) noexcept {
    if (hooks_ == nullptr) return nullptr;
    const auto found = std::ranges::lower_bound(hooks_->all, number, {}, &hook::number);
    const bool is_there =
        found != hooks_->all.end() && found->number == number && !found->is_removed;
    return is_there ? &*found : nullptr;
}

bool hook_list::connect(std::uint64_t number, bool wanted) noexcept {
    hook* const found = find(number);
    if (found == nullptr || found->is_connected == wanted) return false;
    found->is_connected = wanted;
    refresh_kinds();
    return true;
}

bool hook_list::is_connected(std::uint64_t number) const noexcept {
    // SAFETY: `find` does not modify the list.
    const hook* const found = const_cast<hook_list*>(this)->find(number);
    return found != nullptr && found->is_connected;
}

bool hook_list::remove(std::uint64_t number) noexcept {
    hook* const found = find(number);
    if (found == nullptr) return false;
    found->is_connected = false;
    found->is_removed = has_removed_ = true;
    refresh_kinds();
    return true;
}

/// Recomputes the connected kinds. Destroys removed hooks, if none is running.
void hook_list::refresh_kinds() noexcept {
    std::vector<hook_function> ended;  // destroyed last: destructors may change this list
    if (running_ == 0 && has_removed_) {
        has_removed_ = false;
        for (hook& candidate : hooks_->all)
            if (candidate.is_removed) ended.push_back(std::move(candidate.what));
        std::erase_if(hooks_->all, [](const hook& candidate) { return candidate.is_removed; });
    }
    called_ = 0;
    has_logs_ = false;
    if (hooks_ == nullptr) return;
    for (const hook& candidate : hooks_->all)
        if (candidate.is_connected) called_ |= to_bits(candidate.kind);
    kinds_ = called_;
    for (const hooks::subscriber& subscriber : hooks_->subscribers) {
        if (subscriber.log->is_paused) continue;
        kinds_ |= subscriber.kinds;
        has_logs_ = true;
    }
}

void hook_list::subscribe(change_log& log, unsigned kinds) {
    if (hooks_ == nullptr) hooks_ = new hooks;
    const auto known = std::ranges::find(hooks_->subscribers, &log, &hooks::subscriber::log);
    if (known != hooks_->subscribers.end())
        known->kinds |= kinds;
    else
        hooks_->subscribers.push_back({&log, kinds});
    refresh_kinds();
}

void hook_list::unsubscribe(const change_log& log) noexcept {
    if (hooks_ == nullptr) return;
    std::erase_if(hooks_->subscribers,
                  [&](const hooks::subscriber& subscriber) { return subscriber.log == &log; });
    refresh_kinds();
}

void hook_list::prepare_logs(hook_kind kind, std::size_t count) {
    for (const hooks::subscriber& subscriber : hooks_->subscribers)
        if ((subscriber.kinds & to_bits(kind)) != 0) subscriber.log->reserve(count);
}

void hook_list::note_in_logs(hook_kind kind, std::uint64_t e) noexcept {
    for (const hooks::subscriber& subscriber : hooks_->subscribers)
        if ((subscriber.kinds & to_bits(kind)) != 0) subscriber.log->note(e);
}

void hook_list::run(hook_kind kind, std::uint64_t e, void* value) {
    struct run_guard {
        hook_list& list;
        ~run_guard() {
            if (--list.running_ == 0 && list.has_removed_) list.refresh_kinds();
        }
    };
    if (hooks_ == nullptr) return;
    ++running_;
    const run_guard guard{*this};
    const std::size_t count = hooks_->all.size();
    for (std::size_t i = 0; i < count; ++i) {
        const hook& candidate = hooks_->all[i];
        if (candidate.kind == kind && candidate.is_connected)
            candidate.what.call(candidate.what.function.room, e, value);
    }
}

}  // namespace muster::detail
