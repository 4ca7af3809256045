// hook_list: the subscribers of a change. Hooks are user functions that the world calls; they may
// throw and thereby prevent the change. Logs of observers record a change that no hook can prevent
// any more.
//
// A hook can be disconnected and reconnected. While the list runs, a hook may disconnect or
// reconnect any hook, including itself, and add hooks. Functions keep their addresses, and new
// hooks are not called in this run.
#pragma once

#include <muster/type/boxed_value.hpp>
#include <muster/type/change_log.hpp>
#include <muster/type/value_log.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

struct fragment_data;

/// The changes that call a hook. For entities, `insert` is creation and `remove` is destruction.
enum class hook_kind : std::uint8_t { insert = 1, assign = 2, set = 4, remove = 8 };

constexpr unsigned to_bits(hook_kind kind) noexcept {
    return static_cast<unsigned>(kind);
}
/// The kinds of hooks to call when a value is added, replaced or removed.
inline constexpr unsigned insert_hooks = to_bits(hook_kind::insert) | to_bits(hook_kind::set);
inline constexpr unsigned assign_hooks = to_bits(hook_kind::assign) | to_bits(hook_kind::set);
inline constexpr unsigned remove_hooks = to_bits(hook_kind::remove);
inline constexpr unsigned all_hooks = insert_hooks | assign_hooks | remove_hooks;

/// A function object, and the function that calls it with an entity and its value.
struct hook_function {
    boxed_value function;
    void (*call)(void* function, std::uint64_t e, void* value) = nullptr;
};

class MUSTER_API hook_list {
public:
    constexpr hook_list() noexcept = default;
    hook_list(const hook_list&) = delete;
    hook_list& operator=(const hook_list&) = delete;
    ~hook_list();

    /// The kinds that have a connected hook or observer, as bits.
    [[nodiscard]] unsigned kinds() const noexcept { return kinds_; }
    [[nodiscard]] bool has(unsigned kinds) const noexcept { return (kinds_ & kinds) != 0; }
    /// Whether a hook of these kinds is connected. Unlike an observer, a hook may throw, and change
    /// the world.
    [[nodiscard]] bool calls(unsigned kinds) const noexcept { return (called_ & kinds) != 0; }
    /// Like `calls`, without the effect of `set_participant`.
    [[nodiscard]] bool has_user(unsigned kinds) const noexcept { return (users_ & kinds) != 0; }
    /// Whether no hook and no observer is connected, except for a participant.
    [[nodiscard]] bool is_quiet() const noexcept {
        return users_ == 0 && !has_logs_ && !keeps_values_;
    }
    /// From now on, the list has and calls hooks of all kinds: its fragment has a participant. That
    /// does not count for `be_counted_in`. `std::bad_alloc` changes nothing.
    void set_participant();
    /// From now on, `count` includes this list while it has a connected hook or observer. Call this
    /// on a new list; `count` must outlive it.
    void be_counted_in(std::size_t& count) noexcept { active_lists_ = &count; }

    /// Appends a hook. Returns its number, which is never reused. `std::bad_alloc` changes nothing.
    std::uint64_t add(hook_kind kind, hook_function&& made);

    /// Connects or disconnects the hook. False if it is in that state already, or does not exist.
    bool connect(std::uint64_t number, bool wanted) noexcept;
    [[nodiscard]] bool is_connected(std::uint64_t number) const noexcept;
    /// Removes the hook for good; false if it does not exist. Destroys its function as soon as no
    /// hook of the list runs. O(log n), amortised, like `connect`.
    bool remove(std::uint64_t number) noexcept;

    /// Marks a hook for `remove_abandoned`; false if it does not exist. Threads that only read the
    /// list may do so at the same time.
    bool abandon(std::uint64_t number) noexcept;
    /// Removes all marked hooks. Returns whether there were any.
    bool remove_abandoned() noexcept;

    /// Calls the connected hooks of this kind in the order they were added. If a hook throws, the
    /// exception reaches the caller and the remaining hooks are not called.
    void run(hook_kind kind, std::uint64_t e, void* value);

    /// Logs changes of these kinds, as bits, in `log`, until either of the two is destroyed.
    /// `of` is the fragment of this list, if any. `std::bad_alloc` changes nothing. O(1).
    void subscribe(change_log& log, unsigned kinds, fragment_data* of = nullptr);
    /// Ends the last of the log's subscriptions. O(1).
    static void end_last_subscription(change_log& log) noexcept;
    /// Pauses or resumes all subscriptions of the log. O(subscriptions).
    static void pause(change_log& log, bool is_paused) noexcept;
    /// Collects the last values of removed components in `log`. `move` constructs such a value from
    /// another. `std::bad_alloc` changes nothing.
    void subscribe(value_log& log, const type_info& type, void (*move)(void* to, void* from));
    void unsubscribe(const value_log& log) noexcept;
    /// Whether the last values of removed components are collected. Their removal must then call
    /// `keep`.
    [[nodiscard]] bool keeps_values() const noexcept { return keeps_values_; }
    /// Moves the value of a removed component out, just before it dies. The caller has called
    /// `prepare`.
    void keep(std::uint64_t e, void* value) noexcept;
    /// Call this after pausing or resuming a log of values.
    void refresh_kinds() noexcept;
    /// Whether observers collect these changes.
    [[nodiscard]] bool has_logs() const noexcept { return has_logs_; }
    /// Reserves room in the logs for `count` changes of this kind. May throw `std::bad_alloc`.
    void prepare(hook_kind kind, std::size_t count) {
        if (has_logs_) prepare_logs(kind, count);
    }
    void note(hook_kind kind, std::uint64_t e) noexcept {
        if (has_logs_) note_in_logs(kind, e);
    }

private:
    struct hook;
    struct hooks;
    [[nodiscard]] hook* find(std::uint64_t number) noexcept;
    void count(hook_kind kind, bool is_more) noexcept;
    void count_logs(unsigned kinds, bool is_more) noexcept;
    void end_removed() noexcept;
    void close_up() noexcept;
    void drop_subscriber(std::uint32_t at) noexcept;
    void prepare_logs(hook_kind kind, std::size_t count);
    void note_in_logs(hook_kind kind, std::uint64_t e) noexcept;

    unsigned kinds_ = 0;
    unsigned called_ = 0;  // the kinds of hooks alone, without logs
    unsigned users_ = 0;   // like `called_`, without the participant
    unsigned running_ = 0;
    hooks* hooks_ = nullptr;  // owned; keeps <vector> out of this header
    std::uint64_t last_ = 0;
    std::size_t* active_lists_ = nullptr;  // see `be_counted_in`
    bool has_removed_ = false;             // hooks were removed while the list ran
    bool has_logs_ = false;                // that are not paused
    bool keeps_values_ = false;
    bool has_participant_ = false;
    bool is_counted_ = false;  // in `active_lists_`
};

}  // namespace MUSTER_NAMESPACE::detail
