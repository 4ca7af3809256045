// type_name: how a C++ type is called in sentences.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace muster::detail {

template <class T>
constexpr std::string_view name_with_surroundings() noexcept {
    return __PRETTY_FUNCTION__;
}

/// What stands before and behind the type's name, found with a type whose name is known.
inline constexpr std::size_t before_name = name_with_surroundings<int>().rfind("int");
inline constexpr std::size_t behind_name =
    name_with_surroundings<int>().size() - before_name - std::string_view("int").size();

/// "game::position", as the compiler spells it. For people: two types can have one name.
template <class T>
constexpr std::string_view type_name() noexcept {
    if (std::is_same_v<T, std::string>) return "std::string";
    constexpr std::string_view all = name_with_surroundings<T>();
    return all.substr(before_name, all.size() - before_name - behind_name);
}

}  // namespace muster::detail
