// system_registry: owns the systems of a schedule, and finds them by number, by name and by the id
// of a group. Each lookup and each change is O(log systems).
#pragma once

#include <muster/system/system_data.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API system_registry {
public:
    system_registry() = default;
    ~system_registry();
    system_registry(const system_registry&) = delete;
    system_registry& operator=(const system_registry&) = delete;

    /// Adds a system without a group; an empty name becomes "#" and its number. The caller has
    /// checked that the name is free. `std::bad_alloc` changes nothing.
    system_data& add(std::string_view name);
    /// Adds a group for this id. It has no name by which it can be found.
    system_data& add_group(std::uint64_t id, std::string_view name);
    /// Removes a system from all lookups. It stays in memory until `destroy_removed`.
    void remove(system_data& system) noexcept;
    void remove_all() noexcept;
    [[nodiscard]] bool has_removed() const noexcept { return !removed_.empty(); }
    /// Destroys removed systems, in the order of their numbers. Their destructors may change the
    /// registry.
    void destroy_removed() noexcept;

    /// The number of the system that was added last; 0 if there was none.
    [[nodiscard]] std::uint64_t last_number() const noexcept { return last_; }
    /// These return null if there is no such system.
    [[nodiscard]] system_data* find(std::uint64_t number) const noexcept;
    [[nodiscard]] system_data* find(std::string_view name) const noexcept;
    [[nodiscard]] system_data* find_group(std::uint64_t id) const noexcept;
    /// Returns the name with an address that stays valid.
    [[nodiscard]] std::string_view keep_name(std::string_view name);
    /// Keeps a name that no system has, and returns its number, above 0; 0 if memory runs out.
    /// O(missing names).
    [[nodiscard]] std::uint64_t note_missing(std::string_view name) noexcept;
    [[nodiscard]] std::string_view missing_name(std::uint64_t number) const noexcept;

private:
    struct missing {
        std::string_view name;
        missing* older;
        std::uint64_t number;
    };

    using by_number = std::map<std::uint64_t, std::unique_ptr<system_data>>;
    void forget(system_data& system) noexcept;

    by_number all_;
    by_number removed_;
    // A name stays for the lifetime of the registry; null: no system has it.
    std::map<std::string, system_data*, std::less<>> names_;
    std::map<std::uint64_t, system_data*> groups_;
    std::uint64_t last_ = 0;
    missing* missing_ = nullptr;  // owned; the latest
};

}  // namespace MUSTER_NAMESPACE::detail
