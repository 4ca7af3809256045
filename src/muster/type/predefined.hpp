// predefined: fragments with a built-in effect in every world. Each is a C++ type, because an id
// belongs to one world: a world creates the fragment at its first use, as for any type.
#pragma once

#include <muster/type/type_info.hpp>

#include <string_view>

namespace MUSTER_NAMESPACE {

/// Marks an entity as a template for clones. Queries skip it; its clones do not have the mark.
struct prefab_t {};
inline constexpr prefab_t prefab{};

/// Marks an entity as inactive. Queries skip it.
struct disabled_t {};
inline constexpr disabled_t disabled{};

template <>
struct component_traits<prefab_t> {
    static constexpr std::string_view name = "prefab";
    static constexpr bool hidden = true, unique = true, internal = true;
};
template <>
struct component_traits<disabled_t> {
    static constexpr std::string_view name = "disabled";
    static constexpr bool hidden = true, internal = true;
};

/// The effect of destroying a fragment on the entities that have it.
enum class destruction : unsigned char {
    remove_fragment,  ///< removes it from them
    destroy_owners,   ///< destroys them, too
};
inline constexpr destruction remove_fragment = destruction::remove_fragment;
inline constexpr destruction destroy_owners = destruction::destroy_owners;

}  // namespace MUSTER_NAMESPACE
