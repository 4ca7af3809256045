// hook_list: functions of the user's that a world calls when something happens.
//
// A hook can be cut and restored. It may do that to any hook, itself among them, and add others, while
// the list runs: functions stay where they are, and who came in late is not called.
#pragma once

#include <muster/type/boxed_value.hpp>

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

    /// The kinds of which a hook is connected, as bits.
    [[nodiscard]] unsigned kinds() const noexcept { return kinds_; }
    [[nodiscard]] bool has(unsigned some) const noexcept { return (kinds_ & some) != 0; }

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

private:
    struct hook;
    struct hooks;
    [[nodiscard]] hook* find(std::uint64_t number) noexcept;
    void note_kinds() noexcept;

    unsigned kinds_ = 0;
    unsigned running_ = 0;
    hooks* hooks_ = nullptr;  // owned; apart, so that who includes this need not compile it
    std::uint64_t last_ = 0;
    bool has_gone_ = false;  // one of them was removed while the list ran
};

}  // namespace muster::detail
