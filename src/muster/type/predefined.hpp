// predefined: fragments that mean something to every world. Each is a type of its own, since ids are
// bound to worlds: a world makes its fragment at the first use, as for any other type.
#pragma once

#include <muster/type/type_info.hpp>

#include <string_view>

namespace muster {

/// Marks an entity that others are cloned from: queries do not see it, and its clones are none.
struct prefab_t {};
inline constexpr prefab_t prefab{};

/// Marks an entity that rests: queries do not see it.
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

/// What happens to the entities that have a fragment when it is destroyed.
enum class destruction : unsigned char {
    remove_fragment,  ///< they lose it
    destroy_owners,   ///< they die with it
};
inline constexpr destruction remove_fragment = destruction::remove_fragment;
inline constexpr destruction destroy_owners = destruction::destroy_owners;

}  // namespace muster
