// type_index: a number for each C++ type, the same in all of a process.
//
// Each shared library may have a variable of its own for one and the same type. The first use in each
// asks the library, which knows a type by the variable's address or, where the type has a name that
// means the same everywhere, by that name. Two types of one name in anonymous namespaces stay two.
#pragma once

#include <muster/base/config.hpp>

#include <cstdint>
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

/// The number of the type that `slot` stands for. `known` may be null: then by address alone. Any
/// thread may call it.
MUSTER_API type_index number_type(const void* slot, const std::type_info* known);
/// A number that was never given before. Any thread may call it.
MUSTER_API list_index number_list() noexcept;

template <class T>
struct type_slot {
    static inline std::uint32_t value = 0;
};
template <class... Ts>
struct list_slot {
    static inline std::uint32_t value = 0;
};

// Not std::atomic: <atomic> would cost every user of Muster more than all of this room.

/// The number of T, or `no_type` if nobody has asked `ensure_type_index` yet.
template <class T>
type_index find_type_index() noexcept {
    return type_index{__atomic_load_n(&type_slot<T>::value, __ATOMIC_RELAXED)};
}

template <class T>
type_index ensure_type_index() {
    type_index found = find_type_index<T>();
    if (found == no_type) [[unlikely]] {
#ifdef __cpp_rtti
        found = number_type(&type_slot<T>::value, &typeid(T));
#else
        found = number_type(&type_slot<T>::value, nullptr);
#endif
        __atomic_store_n(&type_slot<T>::value, static_cast<std::uint32_t>(found), __ATOMIC_RELAXED);
    }
    return found;
}

/// A number for this list of types in this order; shared libraries may number one list twice.
template <class... Ts>
list_index ensure_list_index() noexcept {
    std::uint32_t found = __atomic_load_n(&list_slot<Ts...>::value, __ATOMIC_RELAXED);
    if (found == 0) [[unlikely]] {
        const auto made = static_cast<std::uint32_t>(number_list());
        // Who comes second takes the number of who came first.
        if (__atomic_compare_exchange_n(&list_slot<Ts...>::value, &found, made, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            found = made;
    }
    return list_index{found};
}

}  // namespace muster::detail
