// world_argument: a parameter that a function takes by value, after the components, and that the
// world supplies. It is resolved once for each run of a system or loop, not for each row:
//
//     w.system("age").each([](lifetime& l, single<const game_clock> t, float dt) { ... });
//                                component  world argument             payload, value 1
//
// A room adds one by specialising `is_world_argument` and `world_argument`; see `single`.
#pragma once

#include <muster/base/slice.hpp>

#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

struct engine;
struct payload_value;

/// Whether the world supplies parameters of type T.
template <class T>
inline constexpr bool is_world_argument = false;

/// A run of a function.
struct run_context {
    const engine& owner;
    slice<const payload_value> given{};  // the payload of the run; empty for a loop
    bool is_recording = true;            // changes are recorded until the run ends
};

/// How the world supplies a T. A specialisation has:
///
///     using component = ...;            // accessed by the function: `U`, `const U`, or `void`
///     static constexpr bool is_divisible;      // several threads may have it at the same time
///     static T get(const run_context&);        // may throw
///
/// A T that remembers something between runs is only for systems. It has instead:
///
///     struct state {                    // movable, kept with the function of the system
///         explicit state(engine&);
///         void begin_run() noexcept;    // before each run, outside of phases
///     };
///     static T get(state&, const run_context&);
template <class T>
struct world_argument;

template <class T>
concept stateful_argument = is_world_argument<T> && requires { typename world_argument<T>::state; };

/// Whether threads may divide the rows among them if a function takes this value.
template <class T>
consteval bool allows_division() {
    if constexpr (is_world_argument<T>)
        return world_argument<T>::is_divisible;
    else
        return true;
}

/// Whether a T that the world supplies changes nothing.
template <class T>
consteval bool allows_const() {
    using component = typename world_argument<T>::component;
    return std::is_void_v<component> || std::is_const_v<component>;
}

/// Whether a callback takes a T that the world supplies.
template <class Call>
inline constexpr bool takes_world_arguments = false;
template <class Call>
    requires requires { &Call::operator(); }
inline constexpr bool takes_world_arguments<Call> =
    takes_world_arguments<decltype(&Call::operator())>;
template <class Result, bool Noexcept, class... Args>
inline constexpr bool takes_world_arguments<Result (*)(Args...) noexcept(Noexcept)> =
    (... || is_world_argument<Args>);
template <class Result, class Owner, bool Noexcept, class... Args>
inline constexpr bool takes_world_arguments<Result (Owner::*)(Args...) noexcept(Noexcept)> =
    (... || is_world_argument<Args>);
template <class Result, class Owner, bool Noexcept, class... Args>
inline constexpr bool takes_world_arguments<Result (Owner::*)(Args...) const noexcept(Noexcept)> =
    (... || is_world_argument<Args>);

}  // namespace MUSTER_NAMESPACE::detail
