// type_index: a number for each C++ type, the same throughout the process.
//
// Each shared library may have its own variable for the same type. Loading the library fills the
// variable with the number that Muster returns. Muster identifies a type by the variable's address
// or, if the type's name denotes the same type in every file, by that name. Types of the same name
// in different anonymous namespaces stay distinct.
#pragma once

#include <muster/base/config.hpp>
#include <muster/type/type_name.hpp>

#include <cstdint>
#include <string_view>
#ifdef __cpp_rtti
#include <typeinfo>
#endif

namespace std {
class type_info;
}

namespace MUSTER_NAMESPACE::detail {

enum class type_index : std::uint32_t {};
enum class list_index : std::uint32_t {};

/// The values of `type_slot` and `list_slot` before their initialisation.
inline constexpr type_index no_type{0};
inline constexpr list_index no_list{0};

/// Returns the number of the type that `slot` stands for, the same for every call with this slot.
/// If `known` is null, identifies the type by address and name alone. Any thread may call it.
MUSTER_API type_index number_type(const void* slot, std::string_view name,
                                  const std::type_info* known);
/// Returns a number that it has never returned before. Any thread may call it.
MUSTER_API list_index number_list() noexcept;

/// Initialised before `main` starts, or when its library is loaded; 0 until then. Afterwards it is
/// constant: any thread may read it, and loops need not reload it.
template <class T>
struct type_slot {
    static const type_index value;
};

template <class T>
type_index number_slot() {
#ifdef __cpp_rtti
    return number_type(&type_slot<T>::value, type_name<T>(), &typeid(T));
#else
    return number_type(&type_slot<T>::value, type_name<T>(), nullptr);
#endif
}

template <class T>
const type_index type_slot<T>::value = number_slot<T>();

template <class... Ts>
struct list_slot {
    static inline const list_index value = number_list();
};

/// Returns the number of T; `no_type` only before `main`.
template <class T>
type_index find_type_index() noexcept {
    return type_slot<T>::value;
}

template <class T>
type_index ensure_type_index() {
    const type_index found = type_slot<T>::value;
    return found != no_type ? found : number_slot<T>();
}

/// Returns a number for this ordered list of types; shared libraries may number a list twice.
/// `no_list` only before `main`.
template <class... Ts>
list_index find_list_index() noexcept {
    return list_slot<Ts...>::value;
}

}  // namespace MUSTER_NAMESPACE::detail
