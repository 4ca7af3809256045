// function_parameters: what the parameters of a user's function are: components, and values after
// them.
#pragma once

#include <muster/query/term_traits.hpp>
#include <muster/query/world_argument.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

template <class... Ts>
struct type_list {
    static constexpr std::size_t size = sizeof...(Ts);
};

template <class T>
inline constexpr bool is_component_argument =
    std::is_lvalue_reference_v<T> || std::is_pointer_v<T> || is_far<argument_of<T>>;

template <class T, class... Args>
inline constexpr bool takes_value = (... || std::is_same_v<T, std::remove_cvref_t<Args>>);

/// Splits parameters: references and pointers are components. The values after them are the
/// payload, or what the world supplies.
template <class Components, class Values, class... Rest>
struct split_arguments;
template <class... Cs, class... Vs>
struct split_arguments<type_list<Cs...>, type_list<Vs...>> {
    using components = type_list<Cs...>;
    using values = type_list<Vs...>;
    static constexpr bool is_payload_copyable =
        (... && (!std::is_reference_v<Vs> && std::is_copy_constructible_v<Vs>));
    static constexpr bool is_known = true;
    static constexpr bool is_ordered = true;
    /// No reference or pointer, but objects by value: components that were meant to be references.
    static constexpr bool takes_objects_only =
        sizeof...(Cs) == 0 &&
        (... || (std::is_class_v<std::remove_cvref_t<Vs>> && !is_world_argument<Vs>));
    /// A value that the world supplies, but by reference.
    static constexpr bool refers_to_world_argument =
        (... || is_world_argument<std::remove_cvref_t<Cs>>) ||
        (... || (is_world_argument<std::remove_cvref_t<Vs>> && !is_world_argument<Vs>));
    /// Whether one of these components is passed by value, as if it were payload.
    template <class... Ts>
    static constexpr bool takes_by_value = (... || takes_value<Ts, Vs...>);
};
template <class... Cs, class... Vs, class Arg, class... Rest>
struct split_arguments<type_list<Cs...>, type_list<Vs...>, Arg, Rest...>
    : split_arguments<type_list<Cs...>, type_list<Vs..., Arg>, Rest...> {};
template <class... Cs, class... Vs, class Arg, class... Rest>
    requires is_component_argument<Arg>
struct split_arguments<type_list<Cs...>, type_list<Vs...>, Arg, Rest...>
    : split_arguments<type_list<Cs..., Arg>, type_list<Vs...>, Rest...> {
    static constexpr bool is_ordered =
        sizeof...(Vs) == 0 &&
        split_arguments<type_list<Cs..., Arg>, type_list<Vs...>, Rest...>::is_ordered;
};

/// Like `split_arguments`, for all parameters; `First` may precede the components.
template <class First, class... Args>
struct argument_kinds : split_arguments<type_list<>, type_list<>, Args...> {
    static constexpr bool has_first = false;
};
template <class First, class Arg, class... Args>
    requires std::is_same_v<First, std::remove_cvref_t<Arg>>
struct argument_kinds<First, Arg, Args...> : split_arguments<type_list<>, type_list<>, Args...> {
    static constexpr bool has_first = true;
};

/// `First` and the parameters of a function; unknown if they are auto or overloaded.
template <class First, class Call>
struct call_kinds : split_arguments<type_list<>, type_list<>> {
    static constexpr bool is_known = false;
    static constexpr bool has_first = false;
};
template <class First, class Call>
    requires requires { &Call::operator(); }
struct call_kinds<First, Call> : call_kinds<First, decltype(&Call::operator())> {};
template <class First, class Result, class... Args>
struct call_kinds<First, Result (*)(Args...)> : argument_kinds<First, Args...> {};
template <class First, class Result, class... Args>
struct call_kinds<First, Result (*)(Args...) noexcept> : argument_kinds<First, Args...> {};
template <class First, class Owner, class Result, class... Args>
struct call_kinds<First, Result (Owner::*)(Args...)> : argument_kinds<First, Args...> {};
template <class First, class Owner, class Result, class... Args>
struct call_kinds<First, Result (Owner::*)(Args...) const> : argument_kinds<First, Args...> {};
template <class First, class Owner, class Result, class... Args>
struct call_kinds<First, Result (Owner::*)(Args...) noexcept> : argument_kinds<First, Args...> {};
template <class First, class Owner, class Result, class... Args>
struct call_kinds<First, Result (Owner::*)(Args...) const noexcept>
    : argument_kinds<First, Args...> {};

/// A callback for a query that also passes values. `Args` are what the query passes.
template <class Function, class Values, class... Args>
struct call_with_values {
    Function function;
    Values values;

    [[gnu::always_inline]] void operator()(Args... args) {
        std::apply([&](const auto&... given) { function(static_cast<Args&&>(args)..., given...); },
                   values);
    }
};

}  // namespace MUSTER_NAMESPACE::detail
