// hook_list: who is told when something happens: functions of the user's that a world calls, and logs
// of observers, in which it notes that it has happened, when no function can prevent it any more.
//
// A hook can be cut and restored. It may do that to any hook, itself among them, and add others, while
// the list runs: functions stay where they are, and who came in late is not called.
#pragma once

#include <muster/type/boxed_value.hpp>
#include <muster/type/change_log.hpp>

#include <cstddef>
#include <cstdint>

namespace muster::detail {

/// What a hook is called for. Of entities: `insert` is their creation, `remove` their destruction.
enum class hook_kind : std::uint8_t { insert = 1, assign = 2, set = 4, remove = 8 };

constexpr unsigned to_bits(hook_kind kind) noexcept {
    return static_cast<unsigned>(kind);
}
/// What is called when a value arrives, and when one is replaced.
inline constexpr unsigned insert_hooks = to_bits(hook_kind::insert) | to_bits(hook_kind::set);
inline constexpr unsigned assign_hooks = to_bits(hook_kind::assign) | to_bits(hook_kind::set);
inline constexpr unsigned remove_hooks = to_bits(hook_kind::remove);

/// A function, and how it is called with an entity and its value.
struct hook_function {
    boxed_value function;
    void (*call)(void* function, std::uint64_t who, void* value) = nullptr;
};

class MUSTER_API hook_list {
public:
    constexpr hook_list() noexcept = default;
    hook_list(const hook_list&) = delete;
    hook_list& operator=(const hook_list&) = delete;
    ~hook_list();

    /// The kinds of which a hook or an observer is connected, as bits.
    [[nodiscard]] unsigned kinds() const noexcept { return kinds_; }
    [[nodiscard]] bool has(unsigned some) const noexcept { return (kinds_ & some) != 0; }
    /// Of these, a hook is connected: it may throw, and change the world.
    [[nodiscard]] bool calls(unsigned some) const noexcept { return (called_ & some) != 0; }

    /// Behind all others; gives its number, which is not given again. `std::bad_alloc` changes nothing.
    std::uint64_t add(hook_kind kind, hook_function&& made);

    /// Cuts or restores it; false if it was so before, or is not there.
    bool connect(std::uint64_t number, bool wanted) noexcept;
    [[nodiscard]] bool is_connected(std::uint64_t number) const noexcept;
    /// For good. Its function ends as soon as no hook of the list runs.
    bool remove(std::uint64_t number) noexcept;

    /// Calls those of this kind in the order of their coming. What one throws goes to the caller; the
    /// ones behind it are not called.
    void run(hook_kind kind, std::uint64_t who, void* value);

    /// Kinds of changes, as bits, are noted in this log from now on, or none. `std::bad_alloc` changes
    /// nothing.
    void watch(change_log& log, unsigned kinds);
    void unwatch(const change_log& log) noexcept;
    /// A log was cut or restored.
    void note_kinds() noexcept;
    /// Room for that many notes of this kind. May throw.
    void prepare(hook_kind kind, std::size_t count) {
        if (has_logs_) prepare_logs(kind, count);
    }
    void note(hook_kind kind, std::uint64_t who) noexcept {
        if (has_logs_) note_in_logs(kind, who);
    }

private:
    struct hook;
    struct hooks;
    [[nodiscard]] hook* find(std::uint64_t number) noexcept;
    void prepare_logs(hook_kind kind, std::size_t count);
    void note_in_logs(hook_kind kind, std::uint64_t who) noexcept;

    unsigned kinds_ = 0;
    unsigned called_ = 0;  // those of hooks alone
    unsigned running_ = 0;
    hooks* hooks_ = nullptr;  // owned; apart, so that who includes this need not compile it
    std::uint64_t last_ = 0;
    bool has_gone_ = false;  // one of them was removed while the list ran
    bool has_logs_ = false;
};

}  // namespace muster::detail
