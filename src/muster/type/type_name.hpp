// type_name: the name of a C++ type, for messages.
#pragma once

#include <muster/base/config.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

template <class T>
constexpr std::string_view name_with_surroundings() noexcept {
    return __PRETTY_FUNCTION__;
}

/// Lengths of the text before and after the type's name, measured with `int`.
inline constexpr std::size_t before_name = name_with_surroundings<int>().rfind("int");
inline constexpr std::size_t after_name =
    name_with_surroundings<int>().size() - before_name - std::string_view("int").size();

/// Returns "game::position", as the compiler spells it. For messages only: names are not unique.
template <class T>
constexpr std::string_view type_name() noexcept {
    if (std::is_same_v<T, std::string>) return "std::string";
    constexpr std::string_view all = name_with_surroundings<T>();
    return all.substr(before_name, all.size() - before_name - after_name);
}

}  // namespace MUSTER_NAMESPACE::detail
