// query_reduction: the calls of a query that combine all entities into one value.
//
//     const double mass = w.query<const body>().reduce(
//         0.0, [](double sum, const body& b) { return sum + b.mass; });
#pragma once

#include <muster/query/query_function.hpp>

#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

class executor;

namespace detail {

/// Complete in <muster/system/parallel.hpp>.
template <class>
struct parallel_header;

/// Whether a function takes the accumulated value, then these, and returns the next value.
template <class Value, class Function, class... Args>
concept returns_next = requires(Function& function, Value& value, Args&&... args) {
    { static_cast<Value>(function(std::move(value), std::forward<Args>(args)...)) };
};
/// Whether a function takes the accumulated value by reference, then these, and returns nothing.
template <class Value, class Function, class... Args>
concept changes_value = requires(Function& function, Value& value, Args&&... args) {
    { function(value, std::forward<Args>(args)...) };
    requires std::is_void_v<decltype(function(value, std::forward<Args>(args)...))>;
};
template <class Value, class Function, class... Args>
concept accumulates =
    returns_next<Value, Function, Args...> || changes_value<Value, Function, Args...>;

template <class Value, class Function, class... Args>
[[gnu::always_inline]] inline void accumulate(Function& function, Value& value, Args&&... args) {
    if constexpr (returns_next<Value, Function, Args...>) {
        // A result that is a reference may be `value` itself: the cast makes a value of it first.
        using result = decltype(function(std::move(value), std::forward<Args>(args)...));
        static_assert(
            !std::is_integral_v<Value> || !std::is_floating_point_v<std::decay_t<result>>,
            "muster: the function returns a floating-point number, but the first value is "
            "an integer, which would lose the fraction: write 0.0.");
        value = static_cast<Value>(function(std::move(value), std::forward<Args>(args)...));
    } else {
        function(value, std::forward<Args>(args)...);
    }
}

/// The callback of the loop of a reduction.
template <class Value, class Function>
struct reducer {
    Function& function;
    Value& value;

    template <class... Args>
        requires accumulates<Value, Function, Args...>
    [[gnu::always_inline]] void operator()(Args&&... args) {
        accumulate(function, value, std::forward<Args>(args)...);
    }
};

/// A base of the class `Query`.
template <class Query>
class query_reducing {
public:
    /// Returns `function(...function(function(init, first...), second...)...)` over all entities, in
    /// the order of `each`. The function takes the accumulated value, then the entity if it wants
    /// it, then the components, and returns the next value. A function that returns nothing takes
    /// the value by reference and changes it, which avoids moving a large value. Returns `init` if
    /// no entity matches. The value is of the type of `init`, and may be move-only.
    ///
    /// Otherwise like `each`: opens a scope, and drops recorded changes if the function throws.
    template <class Value, class Function>
    [[nodiscard]] std::decay_t<Value> reduce(Value&& init, Function&& function) const {
        using value_type = std::decay_t<Value>;
        using visitor = reducer<value_type, std::remove_reference_t<Function>>;
        value_type value(std::forward<Value>(init));
        if constexpr (fits<visitor>()) {
            visitor visit{function, value};
            self().each(visit);
        }
        return value;
    }

    /// Like `reduce`, on the threads of an executor, by default those of oneTBB. Requires the header
    /// <muster/system/parallel.hpp>. Divides the matching entities into parts, at most 1,024. Each
    /// part starts from a copy of `init`, which must therefore be neutral, as 0 is for a sum.
    /// `combine(value, next)` then combines the parts on the calling thread, in the order of `each`:
    /// the first with the second, the result with the third, and so on. It may also take the value
    /// by reference and return nothing.
    ///
    /// The parts depend on the number of matching entities alone. So the result is the same, bit by
    /// bit, on any number of threads and with any executor. It equals that of `reduce` if `combine`
    /// is associative, which sums of floating-point numbers are only nearly. `combine` need not be
    /// commutative. Returns `init` if no entity matches.
    ///
    /// Several threads call `function` at the same time, under the rules of `par_each`, which also
    /// has the rules for exceptions. If `combine` throws, changes that `function` has recorded are
    /// already applied. A query with sparse fragments or with conditions on links is one part.
    template <class Value, class Function, class Combine>
    [[nodiscard]] std::decay_t<Value> par_reduce(Value&& init, Function&& function,
                                                 Combine&& combine) const {
        if constexpr (Query::template may_divide<std::decay_t<Function>>())
            return par_reduce(parallel_header<std::decay_t<Function>>::default_executor(),
                              std::forward<Value>(init), std::forward<Function>(function),
                              std::forward<Combine>(combine));
        else
            return std::forward<Value>(init);
    }
    template <class Value, class Function, class Combine>
    [[nodiscard]] std::decay_t<Value> par_reduce(executor& threads, Value&& init,
                                                 Function&& function, Combine&& combine) const {
        using value_type = std::decay_t<Value>;
        using visitor = reducer<value_type, std::remove_reference_t<Function>>;
        constexpr bool is_copyable = std::is_copy_constructible_v<value_type>;
        static_assert(is_copyable,
                      "muster: each part of par_reduce starts from a copy of the first value, but "
                      "this type cannot be copied.");
        constexpr bool combines = accumulates<value_type, Combine, value_type>;
        static_assert(combines,
                      "muster: the last function of par_reduce takes two accumulated values and "
                      "returns one.");
        value_type value(std::forward<Value>(init));
        if constexpr (is_copyable && combines && fits<visitor>() &&
                      Query::template may_divide<std::decay_t<Function>>())
            self().reduce_parts(threads, value, function, combine);
        return value;
    }

private:
    friend Query;
    query_reducing() noexcept = default;

    [[nodiscard]] const Query& self() const noexcept { return static_cast<const Query&>(*this); }
    template <class Visitor>
    static consteval bool fits() {
        constexpr bool takes_row = Query::loop::template takes_row<Visitor>;
        static_assert(takes_row,
                      "muster: the function of a reduction takes the accumulated value, then the "
                      "entity (optional), then the components of the query in order, and returns "
                      "the next value.");
        return takes_row;
    }
};

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
