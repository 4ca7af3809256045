// query_function: derives a query from the parameters of a callback.
#pragma once

#include <muster/id/id.hpp>
#include <muster/query/term_traits.hpp>

#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

/// The query that the parameters of a callback describe.
template <class Layout, class... Args>
struct deduced_query {
    template <class World>
    static auto make(World& w) {
        return w.template query<argument_of<Args>...>();
    }
    static_assert((... && (std::is_lvalue_reference_v<Args> || std::is_pointer_v<Args> ||
                           is_far<argument_of<Args>>)),
                  "muster: a callback takes components by reference, or by pointer if they may be "
                  "missing. Only the entity, as the first parameter, is passed by value.");
};
template <class Layout, class First, class... Args>
    requires std::is_same_v<basic_id<Layout>, std::remove_cvref_t<First>>
struct deduced_query<Layout, First, Args...> : deduced_query<Layout, Args...> {};

/// A function pointer, or an object with one call operator.
template <class Function>
inline constexpr bool has_known_parameters =
    std::is_function_v<std::remove_pointer_t<Function>> || requires { &Function::operator(); };

template <class Layout, class Call>
struct query_of : query_of<Layout, decltype(&Call::operator())> {};
template <class Layout, class Result, bool Noexcept, class... Args>
struct query_of<Layout, Result (*)(Args...) noexcept(Noexcept)> : deduced_query<Layout, Args...> {};
template <class Layout, class Owner, class Result, bool Noexcept, class... Args>
struct query_of<Layout, Result (Owner::*)(Args...) noexcept(Noexcept)>
    : deduced_query<Layout, Args...> {};
template <class Layout, class Owner, class Result, bool Noexcept, class... Args>
struct query_of<Layout, Result (Owner::*)(Args...) const noexcept(Noexcept)>
    : deduced_query<Layout, Args...> {};

}  // namespace MUSTER_NAMESPACE::detail
