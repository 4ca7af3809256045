// system_function: what the function of a system takes, and the body that calls it for each row or
// chunk of its query.
#pragma once

#include <muster/event/events.hpp>
#include <muster/query/function_parameters.hpp>
#include <muster/query/query.hpp>
#include <muster/query/single.hpp>
#include <muster/query/world_argument.hpp>
#include <muster/system/payload.hpp>
#include <muster/system/system_data.hpp>
#include <muster/system/system_values.hpp>
#include <muster/type/boxed_value.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

// ---- parameters of a user's function -----------------------------------------------------------

/// Returns whether parameters of these types take these values of a query.
template <class Components, class... Values>
consteval bool takes_values() {
    if constexpr (Components::size == sizeof...(Values))
        return []<class... Cs>(type_list<Cs...>) {
            return (... && std::is_convertible_v<Values, Cs>);
        }(Components{});
    else
        return false;
}

/// Like `call_kinds`; for a function with `auto` parameters, uses the components of the query.
template <class Layout, class Function, class... Ts>
struct row_kinds {
    using id_type = basic_id<Layout>;
    static constexpr bool has_first =
        std::is_invocable_v<Function&, id_type, typename term_traits<Ts>::value...>;
    using components = type_list<typename term_traits<Ts>::value...>;
    using values = type_list<>;
    static constexpr bool is_known = true;
    static constexpr bool is_payload_copyable = true;
    static constexpr bool refers_to_world_argument = false;
    static constexpr bool lacks_const = false;
    static constexpr bool passes_by_value = false;
    static constexpr bool fits =
        std::disjunction_v<std::bool_constant<has_first>,
                           std::is_invocable<Function&, typename term_traits<Ts>::value...>>;
};
template <class Layout, class Function, class... Ts>
    requires std::is_pointer_v<Function> || requires { &Function::operator(); }
struct row_kinds<Layout, Function, Ts...> : call_kinds<basic_id<Layout>, Function> {
    static constexpr bool fits =
        row_kinds::is_ordered &&
        takes_values<typename row_kinds::components, typename term_traits<Ts>::value...>();
    static constexpr bool lacks_const =
        !fits && row_kinds::is_ordered &&
        takes_values<typename row_kinds::components,
                     typename term_traits<writable<Ts>>::value...>();
    static constexpr bool passes_by_value =
        !fits && row_kinds::template takes_by_value<typename term_traits<Ts>::type...>;
};

/// The kinds of a function of `each_event`: its events, as a range, become the first of its values.
template <class Components, class Values>
struct event_values {
    using values = Values;
    static constexpr bool fits = false;
};
template <class E, class... Vs>
struct event_values<type_list<const E&>, type_list<Vs...>> {
    using values = type_list<events<const E>, Vs...>;
    static constexpr bool fits = is_event<E>;
};
template <class Function>
struct event_kinds : call_kinds<void, Function> {
    using base = call_kinds<void, Function>;
    using split = event_values<typename base::components, typename base::values>;
    using values = typename split::values;
    static constexpr bool fits = base::is_ordered && split::fits;
};

/// Refuses a function that does not take the components of its query.
template <class Kinds>
void check_row() {
    static_assert(!Kinds::lacks_const,
                  "muster: a system's function takes T&, but its query only reads this component "
                  "(const T): write const T&.");
    static_assert(!Kinds::passes_by_value,
                  "muster: a system's function takes a component by value, which is the payload: "
                  "write T& or const T&.");
    static_assert(Kinds::fits || Kinds::lacks_const || Kinds::passes_by_value,
                  "muster: a system's function takes the entity (optional), then the components of "
                  "its query in order, then its payload by value.");
}

/// The body of a system: calls a function with its values, or for each row or chunk of a query.
/// `Query` is a query, or a pointer to the store.
template <class Layout, class Function, class Kinds, class Query>
struct system_body {
    using value_list = typename Kinds::values;
    Function function;
    Query query;
    [[no_unique_address]] system_values<value_list> values;

    static void each(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);  // SAFETY: `what` is the boxed body
        if constexpr (Kinds::has_first)
            self.loop(given, type_list<basic_id<Layout>>{}, typename Kinds::components{});
        else
            self.loop(given, type_list<>{}, typename Kinds::components{});
    }
    static void each_chunk(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);
        const auto taken = self.take(given, true);
        self.query.each_chunk(
            call_with_values<Function&, decltype(taken), basic_rows<Layout>>{self.function, taken});
    }
    /// The first value is a range. Calls the function with each of its elements and the other
    /// values, in a scope.
    static void each_element(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);
        scope changes(self.engine_of());
        std::apply(
            [&](const auto& range, const auto&... others) {
                for (const auto& element : range) self.function(element, others...);
            },
            self.take(given, true));
        changes.commit();
    }
    static void once(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);
        std::apply(self.function, self.take(given, false));
    }
    static void once_in_scope(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);
        scope changes(self.engine_of());
        std::apply(self.function, self.take(given, true));
        changes.commit();
    }
    /// Prepares a run in a parallel phase. Returns the rows to divide.
    static shared_rows rows(void* what) {
        auto& self = *static_cast<system_body*>(what);
        self.values.begin_run();
        if constexpr (!system_values<value_list>::is_divisible || std::is_pointer_v<Query>) {
            return {};
        } else {
            const shared_rows all = self.query.shared_rows();
            // Without rows, the function would not be called, and its values not be checked.
            if constexpr (system_values<value_list>::may_fail_without_rows)
                if (all.count() == 0) return {};
            return all;
        }
    }

private:
    template <class... First, class... Cs>
    void loop(payload given, type_list<First...>, type_list<Cs...>) {
        const auto taken = take(given, true);
        // Copies the function to the stack if that is unobservable: the loop then keeps captures in
        // registers.
        constexpr bool is_copied =
            std::is_trivially_copyable_v<Function> && std::is_copy_constructible_v<Function> &&
            sizeof(Function) <= 64 && can_call_const(value_list{}, type_list<First..., Cs...>{});
        call_with_values<std::conditional_t<is_copied, const Function, Function&>, decltype(taken),
                         First..., Cs...>
            callback{function, taken};
        query.each(callback);
    }
    template <class... Vs, class... Args>
    static consteval bool can_call_const(type_list<Vs...>, type_list<Args...>) {
        return std::is_invocable_v<const Function&, Args..., const std::remove_cvref_t<Vs>&...>;
    }
    [[nodiscard]] engine& engine_of() const noexcept {
        if constexpr (std::is_pointer_v<Query>)
            return *query;
        else
            return *query.store_;
    }
    /// Finds the values of a run.
    [[nodiscard]] auto take(payload given, bool is_recording) {
        if (!engine_of().gate.is_parallel()) values.begin_run();
        return values.take({.owner = engine_of(), .given = given, .is_recording = is_recording});
    }
};

// ---- boxes --------------------------------------------------------------------------------------

/// Explains why a function is refused whose values do not fit.
template <class Kinds>
void check_values() {
    static_assert(Kinds::is_known,
                  "muster: the parameters of this function are unknown, since they are auto or "
                  "overloaded: write their types.");
    static_assert(!Kinds::refers_to_world_argument,
                  "muster: single and events are passed by value: write single<const T> or "
                  "events<const T>.");
    static_assert(Kinds::is_payload_copyable || Kinds::refers_to_world_argument,
                  "muster: a payload is passed by value, but this type cannot be copied.");
}
/// Whether `check_values` accepts the function.
template <class Kinds>
inline constexpr bool has_good_values =
    Kinds::is_known && Kinds::is_payload_copyable && !Kinds::refers_to_world_argument;

/// Returns the body of a system; see `system_body`.
template <class Layout, class Kinds, class Query, class Function>
[[nodiscard]] auto body_of(engine& owner, const Query& query, Function&& function) {
    return system_body<Layout, std::decay_t<Function>, Kinds, Query>{
        std::forward<Function>(function), query, system_values<typename Kinds::values>(owner)};
}
/// Stores a body with the function that calls it.
template <class Body>
[[nodiscard]] system_function box_body(Body&& body, void (*call)(void*, payload)) {
    return {boxed_value::holding(std::forward<Body>(body)), call, &std::decay_t<Body>::rows};
}
/// The access that a query argument allows.
template <class T>
[[nodiscard]] access access_to() {
    using type = typename term_traits<T>::type;
    return {ensure_type_index<type>(), term_traits<T>::is_written, type_name<type>()};
}
/// Adds the access that a value of a function allows.
template <class V>
void add_access(array_list<access>& all) {
    if constexpr (is_world_argument<V>)
        if constexpr (!std::is_void_v<typename world_argument<V>::component>)
            all.push_back(access_to<typename world_argument<V>::component>());
}
/// Returns a prologue or epilogue.
template <class Layout, class Function>
[[nodiscard]] system_function once(store<Layout>& owner, Function&& function) {
    using kinds = call_kinds<void, std::decay_t<Function>>;
    check_values<kinds>();
    static_assert(kinds::components::size == 0 || kinds::refers_to_world_argument,
                  "muster: a prologue, epilogue or immediate function takes its payload by value.");
    if constexpr (kinds::components::size == 0 && has_good_values<kinds>) {
        auto body = body_of<Layout, kinds>(owner, &owner, std::forward<Function>(function));
        return box_body(std::move(body), &decltype(body)::once);
    } else {
        return {};  // refused
    }
}

}  // namespace MUSTER_NAMESPACE::detail
