#include <muster/type/hook_list.hpp>

#include <algorithm>
#include <vector>

namespace muster::detail {

struct hook_list::hook {
    hook_function what;  // does not move with its hook
    std::uint64_t number;
    hook_kind kind;
    bool is_connected;
    bool is_gone;
};

struct hook_list::hooks {
    struct watcher {
        change_log* log;
        unsigned kinds;
    };
    std::vector<hook> all;  // by number
    std::vector<watcher> watchers;
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
    const bool is_there = found != hooks_->all.end() && found->number == number && !found->is_gone;
    return is_there ? &*found : nullptr;
}

bool hook_list::connect(std::uint64_t number, bool wanted) noexcept {
    hook* const found = find(number);
    if (found == nullptr || found->is_connected == wanted) return false;
    found->is_connected = wanted;
    note_kinds();
    return true;
}

bool hook_list::is_connected(std::uint64_t number) const noexcept {
    // SAFETY: `find` changes nothing.
    const hook* const found = const_cast<hook_list*>(this)->find(number);
    return found != nullptr && found->is_connected;
}

bool hook_list::remove(std::uint64_t number) noexcept {
    hook* const found = find(number);
    if (found == nullptr) return false;
    found->is_connected = false;
    found->is_gone = has_gone_ = true;
    note_kinds();
    return true;
}

/// What is connected; and what is gone ends, if nothing runs.
void hook_list::note_kinds() noexcept {
    std::vector<hook_function> ended;  // their ends may change this list
    if (running_ == 0 && has_gone_) {
        has_gone_ = false;
        for (hook& one : hooks_->all)
            if (one.is_gone) ended.push_back(std::move(one.what));
        std::erase_if(hooks_->all, [](const hook& one) { return one.is_gone; });
    }
    called_ = 0;
    has_logs_ = false;
    if (hooks_ == nullptr) return;
    for (const hook& one : hooks_->all)
        if (one.is_connected) called_ |= to_bits(one.kind);
    kinds_ = called_;
    for (const hooks::watcher& one : hooks_->watchers) {
        if (one.log->is_cut) continue;
        kinds_ |= one.kinds;
        has_logs_ = true;
    }
}

void hook_list::watch(change_log& log, unsigned kinds) {
    if (hooks_ == nullptr) hooks_ = new hooks;
    const auto known = std::ranges::find(hooks_->watchers, &log, &hooks::watcher::log);
    if (known != hooks_->watchers.end())
        known->kinds |= kinds;
    else
        hooks_->watchers.push_back({&log, kinds});
    note_kinds();
}

void hook_list::unwatch(const change_log& log) noexcept {
    if (hooks_ == nullptr) return;
    std::erase_if(hooks_->watchers, [&](const hooks::watcher& one) { return one.log == &log; });
    note_kinds();
}

void hook_list::prepare_logs(hook_kind kind, std::size_t count) {
    for (const hooks::watcher& one : hooks_->watchers)
        if ((one.kinds & to_bits(kind)) != 0) one.log->reserve(count);
}

void hook_list::note_in_logs(hook_kind kind, std::uint64_t who) noexcept {
    for (const hooks::watcher& one : hooks_->watchers)
        if ((one.kinds & to_bits(kind)) != 0) one.log->note(who);
}

void hook_list::run(hook_kind kind, std::uint64_t who, void* value) {
    struct run_guard {
        hook_list& list;
        ~run_guard() {
            if (--list.running_ == 0 && list.has_gone_) list.note_kinds();
        }
    };
    if (hooks_ == nullptr) return;
    ++running_;
    const run_guard guard{*this};
    const std::size_t count = hooks_->all.size();
    for (std::size_t i = 0; i < count; ++i) {
        const hook& one = hooks_->all[i];
        if (one.kind == kind && one.is_connected) one.what.call(one.what.function.room, who, value);
    }
}

}  // namespace muster::detail
