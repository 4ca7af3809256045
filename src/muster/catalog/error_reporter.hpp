// error_reporter: composes the messages of errors about entities and fragments.
#pragma once

#include <muster/catalog/component_lookup.hpp>
#include <muster/change/change.hpp>
#include <muster/change/journal.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/entity/name_table.hpp>
#include <muster/entity/provenance.hpp>

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

/// Any thread may call it while no thread changes the world.
class MUSTER_API error_reporter {
public:
    error_reporter(const entity_directory& entities, const component_lookup& components,
                   const name_table& names, const provenance& deaths, const journal& pending,
                   const gate& changes, std::uint64_t world) noexcept
        : entities_(entities),
          components_(components),
          names_(names),
          deaths_(deaths),
          pending_(pending),
          gate_(changes),
          world_(world) {}

    /// Returns a text such as: entity E:1-42[3] "goblin"
    [[nodiscard]] std::string describe(std::uint64_t e) const;

    /// Throws: explains why the entity is dead, or names its world.
    [[noreturn]] MUSTER_COLD void raise_not_alive(target of, const char* call) const;
    /// Throws `errc::away_entity` if the entity is away.
    // By reference: a copy of a location that was just written is a load that waits for the stores.
    void refuse_away(const target& of, const location& at, const char* call) const {
        if (entity_directory::is_away(at)) [[unlikely]]
            raise_away(of, at, call);
    }
    [[noreturn]] MUSTER_COLD void raise_away(const target& of, const location& at,
                                             const char* call) const;
    /// Throws: explains why an access to a component of this entity, alive or not, failed.
    [[noreturn]] MUSTER_COLD void raise_missing(target of, const char* call, std::string_view type,
                                                const fragment_data& fragment) const;
    /// Throws: like `raise_missing`, for a fragment that was named by its id.
    [[noreturn]] MUSTER_COLD void raise_missing(target of, const char* call, std::uint64_t f,
                                                const fragment_data& fragment, type_index type,
                                                std::string_view type_name) const;
    [[noreturn]] MUSTER_COLD static void raise_no_default(const fragment_data& fragment,
                                                          std::string_view type);
    [[noreturn]] MUSTER_COLD void raise_no_clone(target prototype,
                                                 const fragment_data& fragment) const;
    [[noreturn]] MUSTER_COLD static void raise_given_twice(const fragment_data& fragment);
    /// A relation was used as a component.
    [[noreturn]] MUSTER_COLD static void raise_alias(std::string_view name);
    /// Throws: explains why this id cannot be used as a fragment. `where` may be null.
    [[noreturn]] MUSTER_COLD void raise_no_fragment(std::uint64_t f, const char* call,
                                                    const std::source_location* where) const;
    [[noreturn]] MUSTER_COLD static void raise_mismatch(const fragment_data& fragment,
                                                        std::string_view wanted, const char* call,
                                                        const std::source_location* where);
    [[noreturn]] MUSTER_COLD void raise_no_single(std::string_view type,
                                                  const std::source_location* where) const;

private:
    [[nodiscard]] std::string why_dead(std::uint64_t e) const;
    [[nodiscard]] const provenance::entry* find_death(std::uint64_t e) const noexcept;

    const entity_directory& entities_;
    const component_lookup& components_;
    const name_table& names_;
    const provenance& deaths_;
    const journal& pending_;
    const gate& gate_;
    std::uint64_t world_;
};

}  // namespace MUSTER_NAMESPACE::detail
