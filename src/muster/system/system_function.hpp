// system_function: what the function of a system takes, and the body that calls it for each row or
// chunk of its query.
#pragma once

#include <muster/query/query.hpp>
#include <muster/system/payload.hpp>
#include <muster/system/system_data.hpp>
#include <muster/type/boxed_value.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

// ---- parameters of a user's function -----------------------------------------------------------

template <class... Ts>
struct type_list {
    static constexpr std::size_t size = sizeof...(Ts);
};

template <class T>
inline constexpr bool is_component_argument =
    std::is_lvalue_reference_v<T> || std::is_pointer_v<T> || is_far<argument_of<T>>;

template <class T, class... Args>
inline constexpr bool takes_value = (... || std::is_same_v<T, std::remove_cvref_t<Args>>);

/// Splits parameters: references and pointers are components, values after them are the payload.
template <class Components, class Payload, class... Rest>
struct split_arguments;
template <class... Cs, class... Ps>
struct split_arguments<type_list<Cs...>, type_list<Ps...>> {
    using components = type_list<Cs...>;
    using payload = type_list<Ps...>;
    static constexpr bool is_payload_copyable =
        (... && (!std::is_reference_v<Ps> && std::is_copy_constructible_v<Ps>));
    static constexpr bool is_known = true;
    static constexpr bool is_ordered = true;
    /// No reference or pointer, but objects by value: components that were meant to be references.
    static constexpr bool takes_objects_only =
        sizeof...(Cs) == 0 && (... || std::is_class_v<std::remove_cvref_t<Ps>>);
    /// Whether one of these components is passed by value, as if it were payload.
    template <class... Ts>
    static constexpr bool takes_by_value = (... || takes_value<Ts, Ps...>);
};
template <class... Cs, class... Ps, class Arg, class... Rest>
struct split_arguments<type_list<Cs...>, type_list<Ps...>, Arg, Rest...>
    : split_arguments<type_list<Cs...>, type_list<Ps..., Arg>, Rest...> {};
template <class... Cs, class... Ps, class Arg, class... Rest>
    requires is_component_argument<Arg>
struct split_arguments<type_list<Cs...>, type_list<Ps...>, Arg, Rest...>
    : split_arguments<type_list<Cs..., Arg>, type_list<Ps...>, Rest...> {
    static constexpr bool is_ordered =
        sizeof...(Ps) == 0 &&
        split_arguments<type_list<Cs..., Arg>, type_list<Ps...>, Rest...>::is_ordered;
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
    using payload = type_list<>;
    static constexpr bool is_known = true;
    static constexpr bool is_payload_copyable = true;
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

/// A callback for a query that also passes the payload.
template <class Function, class Payload, class... Args>
struct call_with_payload {
    Function function;
    Payload payload;

    [[gnu::always_inline]] void operator()(Args... args) {
        std::apply(
            [&](const auto&... values) { function(static_cast<Args&&>(args)..., values...); },
            payload);
    }
};

/// The body of a system: calls a function with its payload, or for each row or chunk of a query.
template <class Layout, class Function, class Kinds, class Query>
struct system_body {
    Function function;
    Query query;

    static void each(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);  // SAFETY: `what` is the boxed body
        if constexpr (Kinds::has_first)
            self.loop(given, type_list<basic_id<Layout>>{}, typename Kinds::components{});
        else
            self.loop(given, type_list<>{}, typename Kinds::components{});
    }
    static void each_chunk(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);
        const auto values = take(given, typename Kinds::payload{});
        self.query.each_chunk(call_with_payload<Function&, decltype(values), basic_rows<Layout>>{
            self.function, values});
    }
    static void once(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);
        std::apply(self.function, take(given, typename Kinds::payload{}));
    }
    static shared_rows rows(void* what) {
        return static_cast<system_body*>(what)->query.shared_rows();
    }
    /// Runs in a scope of the store, to which `query` points here.
    static void once_in_scope(void* what, payload given) {
        scope changes(*static_cast<system_body*>(what)->query);
        once(what, given);
        changes.commit();
    }

private:
    template <class... First, class... Cs>
    void loop(payload given, type_list<First...>, type_list<Cs...>) {
        const auto values = take(given, typename Kinds::payload{});
        // Copies the function to the stack if that is unobservable: the loop then keeps captures in
        // registers.
        constexpr bool is_copied =
            std::is_trivially_copyable_v<Function> && std::is_copy_constructible_v<Function> &&
            sizeof(Function) <= 64 &&
            can_call_const(typename Kinds::payload{}, type_list<First..., Cs...>{});
        call_with_payload<std::conditional_t<is_copied, const Function, Function&>,
                          decltype(values), First..., Cs...>
            callback{function, values};
        query.each(callback);
    }
    template <class... Ps, class... Args>
    static consteval bool can_call_const(type_list<Ps...>, type_list<Args...>) {
        return std::is_invocable_v<const Function&, Args..., const std::remove_cvref_t<Ps>&...>;
    }
    template <class... Ps>
    static std::tuple<std::remove_cvref_t<Ps>...> take(payload given, type_list<Ps...>) {
        return take(given, type_list<Ps...>{}, std::index_sequence_for<Ps...>{});
    }
    template <class... Ps, std::size_t... I>
    static std::tuple<std::remove_cvref_t<Ps>...> take([[maybe_unused]] payload given,
                                                       type_list<Ps...>,
                                                       std::index_sequence<I...>) {
        return {take_payload<std::remove_cvref_t<Ps>>(given, I)...};
    }
};

// ---- boxes --------------------------------------------------------------------------------------

template <class Kinds>
void check_payload() {
    static_assert(Kinds::is_known,
                  "muster: the parameters of this function are unknown, since they are auto or "
                  "overloaded: write their types.");
    static_assert(Kinds::is_payload_copyable,
                  "muster: a payload is passed by value, but this type cannot be copied.");
}
/// Returns the body of a system; see `system_body`.
template <class Layout, class Kinds, class Query, class Function>
[[nodiscard]] auto body_of(const Query& query, Function&& function) {
    return system_body<Layout, std::decay_t<Function>, Kinds, Query>{
        std::forward<Function>(function), query};
}
/// Stores a body with the function that calls it.
template <class Body>
[[nodiscard]] system_function box_body(Body&& body, void (*call)(void*, payload),
                                       shared_rows (*rows)(void*) = nullptr) {
    return {boxed_value::holding(std::forward<Body>(body)), call, rows};
}
/// The access that a query argument allows.
template <class T>
[[nodiscard]] access access_to() {
    using type = typename term_traits<T>::type;
    return {ensure_type_index<type>(), term_traits<T>::is_written, type_name<type>()};
}
/// Returns a prologue or epilogue.
template <class Layout, class Function>
[[nodiscard]] system_function once(Function&& function) {
    using kinds = call_kinds<void, std::decay_t<Function>>;
    static_assert(kinds::components::size == 0,
                  "muster: a prologue or epilogue takes its payload by value.");
    check_payload<kinds>();
    if constexpr (kinds::components::size == 0 && kinds::is_payload_copyable && kinds::is_known) {
        auto body = body_of<Layout, kinds>(0, std::forward<Function>(function));
        return box_body(std::move(body), &decltype(body)::once);
    } else {
        return {};  // refused
    }
}

}  // namespace MUSTER_NAMESPACE::detail
