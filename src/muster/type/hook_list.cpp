#include <muster/base/reserve.hpp>
#include <muster/type/hook_list.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

struct hook_list::hook {
    hook_function what;  // its function object keeps its address when the hook moves
    std::uint64_t number;
    hook_kind kind;
    bool is_connected;
    bool is_removed;
    bool is_abandoned = false;  // its owner ended in a parallel phase
};

struct hook_list::hooks {
    static constexpr std::size_t kinds = 4;
    struct subscriber {
        change_log* log;
        unsigned kinds;
        std::uint32_t at;  // in `change_log::subscriptions`
    };
    std::vector<hook> all;        // by number; removed hooks stay until `close_up`
    std::size_t removed = 0;      // of `all`
    std::size_t called[kinds]{};  // connected hooks, by kind
    std::vector<subscriber> subscribers;
    std::size_t logged[kinds]{};  // subscriptions that are not paused, by kind
    std::size_t active_logs = 0;  // subscriptions that are not paused
    std::vector<value_log*> value_logs;
    std::vector<std::unique_ptr<last_value>> spare;  // room for the values of the next removals
    const type_info* type = nullptr;                 // of these values
    void (*move)(void* to, void* from) = nullptr;
};

hook_list::~hook_list() {
    if (hooks_ == nullptr) return;
    while (!hooks_->subscribers.empty())
        drop_subscriber(static_cast<std::uint32_t>(hooks_->subscribers.size() - 1));
    if (is_counted_) --*active_lists_;
    delete hooks_;
}

// ---- hooks -------------------------------------------------------------------------------------

std::uint64_t hook_list::add(hook_kind kind, hook_function&& made) {
    if (hooks_ == nullptr) hooks_ = new hooks;
    hooks_->all.push_back({std::move(made), last_ + 1, kind, true, false});
    count(kind, true);
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
    count(found->kind, wanted);
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
    if (found->is_connected) count(found->kind, false);
    found->is_connected = false;
    found->is_removed = true;
    ++hooks_->removed;
    if (running_ != 0) {
        has_removed_ = true;
        return true;
    }
    const hook_function ended = std::move(found->what);  // its destructor may change this list
    close_up();
    return true;
}

bool hook_list::abandon(std::uint64_t number) noexcept {
    hook* const found = find(number);
    if (found != nullptr) found->is_abandoned = true;
    return found != nullptr;
}

bool hook_list::remove_abandoned() noexcept {
    bool has_any = false;
    // Searches anew after each removal: the destructor of a function may change the list.
    while (hooks_ != nullptr) {
        const auto found = std::ranges::find_if(hooks_->all, [](const hook& candidate) {
            return candidate.is_abandoned && !candidate.is_removed;
        });
        if (found == hooks_->all.end()) break;
        has_any = remove(found->number);
    }
    return has_any;
}

/// Destroys the functions of hooks that were removed while the list ran.
void hook_list::end_removed() noexcept {
    has_removed_ = false;
    std::vector<hook_function> ended;  // destroyed last: destructors may change this list
    for (hook& candidate : hooks_->all)
        if (candidate.is_removed && candidate.what.function)
            ended.push_back(std::move(candidate.what));
    close_up();
}

/// Erases removed hooks once they are the majority, so that a removal is O(1), amortised.
void hook_list::close_up() noexcept {
    if (hooks_->removed * 2 <= hooks_->all.size()) return;
    hooks_->removed = 0;
    std::erase_if(hooks_->all, [](const hook& candidate) { return candidate.is_removed; });
}

// ---- kinds -------------------------------------------------------------------------------------

void hook_list::count(hook_kind kind, bool is_more) noexcept {
    std::size_t& known = hooks_->called[std::countr_zero(to_bits(kind))];
    known = is_more ? known + 1 : known - 1;
    refresh_kinds();
}

void hook_list::count_logs(unsigned kinds, bool is_more) noexcept {
    for (std::size_t i = 0; i < hooks::kinds; ++i)
        if ((kinds >> i & 1) != 0) hooks_->logged[i] += is_more ? 1 : std::size_t(-1);
    hooks_->active_logs += is_more ? 1 : std::size_t(-1);
    refresh_kinds();
}

void hook_list::refresh_kinds() noexcept {
    if (hooks_ == nullptr) return;
    called_ = kinds_ = 0;
    for (std::size_t i = 0; i < hooks::kinds; ++i) {
        if (hooks_->called[i] != 0) called_ |= 1u << i;
        if (hooks_->logged[i] != 0) kinds_ |= 1u << i;
    }
    kinds_ |= called_;
    keeps_values_ = std::ranges::any_of(hooks_->value_logs,
                                        [](const value_log* log) { return !log->is_paused; });
    if (keeps_values_) kinds_ |= remove_hooks;
    has_logs_ = hooks_->active_logs != 0 || keeps_values_;
    const bool is_active = kinds_ != 0;
    users_ = called_;
    if (has_participant_) called_ = kinds_ = all_hooks;
    if (active_lists_ == nullptr || is_counted_ == is_active) return;
    *active_lists_ += is_active ? 1 : std::size_t(-1);
    is_counted_ = is_active;
}

void hook_list::set_participant() {
    if (hooks_ == nullptr) hooks_ = new hooks;
    has_participant_ = true;
    refresh_kinds();
}

// ---- logs --------------------------------------------------------------------------------------

void hook_list::subscribe(change_log& log, unsigned kinds, fragment_data* of) {
    if (hooks_ == nullptr) hooks_ = new hooks;
    array_list<change_log::subscription>& all = log.subscriptions;
    const std::uint32_t at = static_cast<std::uint32_t>(hooks_->subscribers.size());
    if (all.empty() || all.back().list != this) {
        reserve_more(all, 1);
        hooks_->subscribers.push_back({&log, 0, static_cast<std::uint32_t>(all.size())});
        all.push_back({this, of, at});
    }
    hooks::subscriber& known = hooks_->subscribers[all.back().at];
    if (!log.is_paused && known.kinds != 0) count_logs(known.kinds, false);
    known.kinds |= kinds;
    if (!log.is_paused) count_logs(known.kinds, true);
}

/// Ends one subscription; the last ones of the list and of the log take its places.
void hook_list::drop_subscriber(std::uint32_t at) noexcept {
    const hooks::subscriber gone = hooks_->subscribers[at];
    if (!gone.log->is_paused) count_logs(gone.kinds, false);
    const hooks::subscriber& last = hooks_->subscribers.back();
    last.log->subscriptions[last.at].at = at;
    hooks_->subscribers[at] = last;
    hooks_->subscribers.pop_back();
    array_list<change_log::subscription>& all = gone.log->subscriptions;
    const change_log::subscription moved = all.back();
    all.pop_back();
    if (gone.at == all.size()) return;
    all[gone.at] = moved;
    moved.list->hooks_->subscribers[moved.at].at = gone.at;
}

void hook_list::end_last_subscription(change_log& log) noexcept {
    const change_log::subscription last = log.subscriptions.back();
    last.list->drop_subscriber(last.at);
}

void hook_list::pause(change_log& log, bool is_paused) noexcept {
    if (log.is_paused == is_paused) return;
    log.is_paused = is_paused;
    for (const change_log::subscription& one : log.subscriptions)
        one.list->count_logs(one.list->hooks_->subscribers[one.at].kinds, !is_paused);
}

void hook_list::prepare_logs(hook_kind kind, std::size_t count) {
    for (const hooks::subscriber& subscriber : hooks_->subscribers)
        if ((subscriber.kinds & to_bits(kind)) != 0) subscriber.log->reserve(count);
    if (kind != hook_kind::remove || !keeps_values_) return;
    for (value_log* const log : hooks_->value_logs) log->reserve(count);
    while (hooks_->spare.size() < count)
        hooks_->spare.push_back(std::make_unique<last_value>(*hooks_->type));
}

void hook_list::note_in_logs(hook_kind kind, std::uint64_t e) noexcept {
    for (const hooks::subscriber& subscriber : hooks_->subscribers)
        if ((subscriber.kinds & to_bits(kind)) != 0) subscriber.log->note(e);
}

void hook_list::subscribe(value_log& log, const type_info& type,
                          void (*move)(void* to, void* from)) {
    if (hooks_ == nullptr) hooks_ = new hooks;
    hooks_->value_logs.push_back(&log);
    hooks_->type = &type;
    hooks_->move = move;
    refresh_kinds();
}

void hook_list::unsubscribe(const value_log& log) noexcept {
    if (hooks_ == nullptr || std::erase(hooks_->value_logs, &log) == 0) return;
    if (hooks_->value_logs.empty()) hooks_->spare.clear();
    refresh_kinds();
}

void hook_list::keep(std::uint64_t e, void* value) noexcept {
    if (hooks_->spare.empty()) return;  // subscribed after `prepare`
    last_value* const kept = hooks_->spare.back().release();
    hooks_->spare.pop_back();
    kept->e = e;
    hooks_->move(kept->value.room, value);
    kept->value.filled = true;
    for (value_log* const log : hooks_->value_logs) log->add(*kept);
    kept->release();
}

void hook_list::run(hook_kind kind, std::uint64_t e, void* value) {
    struct run_guard {
        hook_list& list;
        ~run_guard() {
            if (--list.running_ == 0 && list.has_removed_) list.end_removed();
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

}  // namespace MUSTER_NAMESPACE::detail
