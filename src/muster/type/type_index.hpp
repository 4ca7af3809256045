// type_index: a number for each C++ type, the same in all of a process.
//
// Each shared library may have a variable of its own for one and the same type. Each is filled when its
// library is loaded, by asking Muster, which knows a type by the variable's address or, where the type has a name that
// means the same everywhere, by that name. Two types of one name in anonymous namespaces stay two.
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

namespace muster::detail {

enum class type_index : std::uint32_t {};
enum class list_index : std::uint32_t {};

/// What `type_slot` and `list_slot` hold until the first use.
inline constexpr type_index no_type{0};
inline constexpr list_index no_list{0};

/// The number of the type that `slot` stands for. `known` may be null: then by address and name
/// alone. Any thread may call it; the same slot gives the same number.
MUSTER_API type_index number_type(const void* slot, std::string_view name,
                                  const std::type_info* known);
/// A number that was never given before. Any thread may call it.
MUSTER_API list_index number_list() noexcept;

/// Filled before `main` starts, or when the library that has it is loaded: from then on it is only
/// read, by any thread, and loops need not read it again. Before that it is 0.
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

/// The number of T; `no_type` only before `main`.
template <class T>
type_index find_type_index() noexcept {
    return type_slot<T>::value;
}

template <class T>
type_index ensure_type_index() {
    const type_index found = type_slot<T>::value;
    return found != no_type ? found : number_slot<T>();
}

/// A number for this list of types in this order; shared libraries may number one list twice.
/// `no_list` only before `main`.
template <class... Ts>
list_index find_list_index() noexcept {
    return list_slot<Ts...>::value;
}

}  // namespace muster::detail
