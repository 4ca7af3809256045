// system_values: what a function of a system takes by value, after its components: the payload, and
// what the world supplies.
#pragma once

#include <muster/query/function_parameters.hpp>
#include <muster/query/world_argument.hpp>
#include <muster/system/payload.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Of a value that remembers nothing between runs.
struct no_state {
    explicit no_state(engine&) noexcept {}
    static void begin_run() noexcept {}
};
template <class T>
struct argument_state {
    using type = no_state;
};
template <class T>
    requires stateful_argument<T>
struct argument_state<T> {
    using type = typename world_argument<T>::state;
};

/// The values of a function, and what some of them remember. `List` has the types of its
/// parameters.
template <class List>
class system_values;
template <class... Vs>
class system_values<type_list<Vs...>> {
public:
    using taken = std::tuple<std::remove_cvref_t<Vs>...>;
    static constexpr bool is_divisible = (... && allows_division<Vs>());
    static constexpr bool may_fail_without_rows = (... || is_world_argument<Vs>);

    explicit system_values([[maybe_unused]] engine& owner)
        : states_(typename argument_state<Vs>::type(owner)...) {}

    /// Before each run, outside of phases.
    void begin_run() noexcept {
        std::apply([](auto&... state) { (state.begin_run(), ...); }, states_);
    }
    /// Throws `errc::bad_payload`, and what the arguments of the world throw.
    [[nodiscard]] taken take(const run_context& run) {
        return take(run, std::index_sequence_for<Vs...>{});
    }

private:
    template <std::size_t... I>
    taken take([[maybe_unused]] const run_context& run, std::index_sequence<I...>) {
        return {value<Vs, I>(run)...};
    }
    template <class V, std::size_t I>
    [[nodiscard]] std::remove_cvref_t<V> value(const run_context& run) {
        if constexpr (stateful_argument<V>)
            return world_argument<V>::get(std::get<I>(states_), run);
        else if constexpr (is_world_argument<V>)
            return world_argument<V>::get(run);
        else
            return take_payload<std::remove_cvref_t<V>>(run.given, place_in_payload(I));
    }
    /// Arguments that the world supplies take no place in the payload.
    static consteval std::size_t place_in_payload(std::size_t index) {
        const bool is_payload[] = {!is_world_argument<Vs>..., false};
        std::size_t place = 0;
        for (std::size_t i = 0; i < index; ++i) place += is_payload[i];
        return place;
    }

    std::tuple<typename argument_state<Vs>::type...> states_;
};

}  // namespace MUSTER_NAMESPACE::detail
