// copyable: whether the values of a type can be copied. `std::is_copy_constructible` is true for a
// container whose elements cannot be copied, and for a struct with such a container. The copy then
// does not compile, with an error deep inside of the standard library.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

namespace detail {
template <class T>
consteval bool guess_copyable() noexcept;
}  // namespace detail
/// True if a `T` can be copied. For containers, pairs and aggregates (structs without constructors
/// or private members), checks the elements and members, too. Specialise it for another class that
/// has a member of this kind: `template <> struct muster::is_copyable<mine> : std::false_type {};`
template <class T>
struct is_copyable : std::bool_constant<detail::guess_copyable<T>()> {};

namespace detail {

/// Initialises any member of the aggregate `Owner`, but no `Owner`.
template <class Owner>
struct any_member {
    template <class T>
        requires(!std::is_same_v<T, Owner>)
    operator T() const noexcept {  // NOLINT(google-explicit-constructor)
        __builtin_unreachable();   // never called; some constructors of members refer to it
    }
};
/// Initialises only members that can be copied.
template <class Owner>
struct any_copyable_member {
    template <class T>
        requires(!std::is_same_v<T, Owner> && is_copyable<T>::value)
    operator T() const noexcept {  // NOLINT(google-explicit-constructor)
        __builtin_unreachable();   // never called; some constructors of members refer to it
    }
};

/// Whether the members after the first `sizeof...(Before)` can be copied. A member that
/// `any_member` cannot initialise, such as a reference, ends the search.
template <class T, class... Before>
consteval bool are_members_copyable() noexcept {
    if constexpr (!requires { T{Before{}..., any_member<T>{}}; })
        return true;
    else if constexpr (!requires { T{Before{}..., any_copyable_member<T>{}}; })
        return false;
    else
        return are_members_copyable<T, Before..., any_member<T>>();
}

/// Like `is_copyable`; true for a type that is being examined, whose elements contain such types.
template <class T>
consteval bool is_element_copyable() noexcept {
    if constexpr (requires { is_copyable<T>::value; })
        return is_copyable<T>::value;
    else
        return true;  // decided by the other members
}

template <class T>
consteval bool guess_copyable() noexcept {
    if constexpr (std::is_array_v<T>)  // refused as a component, with a sentence of its own
        return is_copyable<std::remove_extent_t<T>>::value;
    else if constexpr (!std::is_copy_constructible_v<T>)
        return false;
    else if constexpr (std::is_trivially_copyable_v<T>)
        return true;  // NOLINT(bugprone-branch-clone): before the members are examined
    else if constexpr (requires { typename T::value_type; })
        return std::is_same_v<typename T::value_type, T> ||
               is_element_copyable<typename T::value_type>();
    else if constexpr (requires {
                           typename T::first_type;
                           typename T::second_type;
                       })
        return is_element_copyable<std::remove_cv_t<typename T::first_type>>() &&
               is_element_copyable<std::remove_cv_t<typename T::second_type>>();
    else if constexpr (std::is_aggregate_v<T>)
        return are_members_copyable<T>();
    else
        return true;
}

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
