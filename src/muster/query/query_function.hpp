// query_function: derives a query from the parameters of a callback, and supplies the values that a
// query does not pass.
#pragma once

#include <muster/id/id.hpp>
#include <muster/query/function_parameters.hpp>
#include <muster/query/term_traits.hpp>
#include <muster/query/world_argument.hpp>

#include <tuple>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

/// The query that the parameters of a callback describe.
template <class Layout, class... Args>
struct deduced_query {
    template <class World>
    static auto make(World& w) {
        return w.template query<argument_of<Args>...>();
    }
    static_assert((... && !is_world_argument<std::remove_cvref_t<Args>>),
                  "muster: single is passed by value: write single<T> or single<const T>.");
    static_assert((... && (std::is_lvalue_reference_v<Args> || std::is_pointer_v<Args> ||
                           is_far<argument_of<Args>>)),
                  "muster: a callback takes components by reference, or by pointer if they may be "
                  "missing. Only the entity, as the first parameter, is passed by value.");
};
template <class Layout, class First, class... Args>
    requires std::is_same_v<basic_id<Layout>, std::remove_cvref_t<First>>
struct deduced_query<Layout, First, Args...> : deduced_query<Layout, Args...> {};
/// The world supplies some of the values, which are no terms.
template <class Layout, class... Args>
    requires(... || is_world_argument<Args>)
struct deduced_query<Layout, Args...> {
    using kinds = split_arguments<type_list<>, type_list<>, Args...>;
    static_assert(kinds::is_ordered,
                  "muster: a callback takes the entity (optional), then components by reference or "
                  "pointer, then single<T> by value.");
    template <class World>
    static auto make(World& w) {
        return make_of(w, typename kinds::components{});
    }

private:
    template <class World, class... Cs>
    static auto make_of(World& w, type_list<Cs...>) {
        return deduced_query<Layout, Cs...>::make(w);
    }
};

/// Calls `loop` with a callback that takes only what a query passes, and that calls `callback` with
/// the values of the world, too. The values are found once.
template <class Layout, class Callback, class Loop>
void supply_values(const engine& owner, bool is_recording, Callback& callback, Loop&& loop) {
    using kinds = call_kinds<basic_id<std::remove_const_t<Layout>>, std::decay_t<Callback>>;
    const auto supply = [&]<class... First, class... Cs, class... Vs>(
                            type_list<First...>, type_list<Cs...>, type_list<Vs...>) {
        static_assert(
            (... && is_world_argument<Vs>) && !kinds::refers_to_world_argument,
            "muster: a callback takes the entity (optional), then components by reference "
            "or pointer, then single<T> by value.");
        static_assert((... && !stateful_argument<Vs>),
                      "muster: events are an argument of systems. Outside of systems, create a "
                      "reader: w.reader<T>().");
        static_assert(!std::is_const_v<Layout> || (... && allows_const<Vs>()),
                      "muster: this world is const: take single<const T>.");
        if constexpr ((... && (is_world_argument<Vs> && !stateful_argument<Vs>))) {
            using values = std::tuple<Vs...>;
            const run_context run{.owner = owner, .is_recording = is_recording};
            call_with_values<Callback&, const values, First..., Cs...> wrapped{
                callback, values{world_argument<Vs>::get(run)...}};
            loop(wrapped);
        }
    };
    using id_type = basic_id<std::remove_const_t<Layout>>;
    using first = std::conditional_t<kinds::has_first, type_list<id_type>, type_list<>>;
    supply(first{}, typename kinds::components{}, typename kinds::values{});
}
/// Whether threads may divide the rows of a loop with this callback.
template <class Callback>
inline constexpr bool is_divisible_callback = true;
template <class Callback, class... Vs, class... Args>
inline constexpr bool
    is_divisible_callback<call_with_values<Callback, const std::tuple<Vs...>, Args...>> =
        (... && allows_division<Vs>());

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
