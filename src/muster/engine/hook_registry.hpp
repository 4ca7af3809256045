// hook_registry: the hooks and observers of a world, as they are connected, paused and removed. The
// `notifier` calls them.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/atomic_word.hpp>
#include <muster/catalog/catalog.hpp>
#include <muster/change/gate.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/type/hook_list.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API hook_registry {
public:
    hook_registry(catalog& fragments, const entity_directory& entities, fragment_table& table,
                  gate& changes) noexcept
        : catalog_(fragments), entities_(entities), fragments_(table), gate_(changes) {}
    hook_registry(const hook_registry&) = delete;
    hook_registry& operator=(const hook_registry&) = delete;

    /// Whether hooks are called when an entity is created, or destroyed.
    [[nodiscard]] bool calls_at_birth() const noexcept { return entity_hooks_.has(insert_hooks); }
    [[nodiscard]] bool calls_at_death() const noexcept { return entity_hooks_.has(remove_hooks); }
    /// Whether any hook or observer is connected.
    [[nodiscard]] bool has_any() const noexcept {
        return entity_hooks_.kinds() != 0 || fragments_.has_hooks();
    }

    // ---- hooks ---------------------------------------------------------------------------------

    /// Adds a hook of a fragment. Returns its number.
    std::uint64_t add(fragment_data& fragment, hook_kind kind, hook_function&& made);
    /// Adds a hook of the creation or destruction of entities.
    std::uint64_t add(hook_kind kind, hook_function&& made);
    /// The null id stands for the hooks of entities. False in a parallel phase, which may not change
    /// hooks.
    bool connect(std::uint64_t f, std::uint64_t number, bool is_wanted) noexcept;
    bool remove(std::uint64_t f, std::uint64_t number) noexcept;
    [[nodiscard]] bool is_connected(std::uint64_t f, std::uint64_t number) const noexcept;

    // ---- observers -----------------------------------------------------------------------------

    /// Logs changes of the fragments that the log subscribes to, until the log is removed.
    void add_observer(change_log& log);
    /// O(fragments that the log subscribes to), like `connect_observer`.
    void remove_observer(change_log& log) noexcept;
    void subscribe(change_log& log, fragment_data& fragment, unsigned kinds);
    /// Returns false in a parallel phase, as `connect` and `remove` do.
    bool connect_observer(change_log& log, bool is_wanted) noexcept;
    /// Collects the last values of a fragment until the log is removed, as for `add_observer`.
    void add_value_log(value_log& log, fragment_data& fragment, void (*move)(void* to, void* from));
    void remove_value_log(const value_log& log) noexcept;
    void connect_value_log(value_log& log, bool is_wanted) noexcept;
    /// Like `remove`; in a parallel phase, the hook is removed when the phase ends.
    void abandon(std::uint64_t f, std::uint64_t number) noexcept;
    /// Removes what was abandoned in a parallel phase: hooks, and the logs of observers.
    void remove_abandoned() noexcept;
    /// Clears the logs of all observers, and ends their subscriptions.
    void end_observers() noexcept;

protected:
    catalog& catalog_;
    const entity_directory& entities_;
    fragment_table& fragments_;
    gate& gate_;
    hook_list entity_hooks_;

private:
    [[nodiscard]] hook_list* find_list(std::uint64_t f) const noexcept;
    void refresh(std::uint64_t f) noexcept;

    atomic_word<std::uint8_t> has_abandoned_;  // a hook was abandoned in the current phase
    array_list<change_log*> observers_;        // each at its `order`
    array_list<value_log*> value_logs_;
};

}  // namespace MUSTER_NAMESPACE::detail
