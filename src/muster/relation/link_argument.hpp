// link_argument: relates entities by the types of the caller, for the calls of a world. A link among
// the arguments of a call is one of its changes, like a value: `set(e, position{}, to(child_of, ship))`
// moves the entity once.
#pragma once

#include <muster/relation/relation.hpp>
#include <muster/relation/relation_ref.hpp>
#include <muster/store/store.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Returns the relation of a C++ type. A predefined one is made at its first use.
template <class R, class Layout>
[[nodiscard]] relation_ref relation_of(store<Layout>& from, const char* call) {
    return relation_ref::get(from, from.template ensure_fragment<R>(), link_types::of<R>(),
                             relation_kind_of<R>, call);
}
/// Returns the relation that this object names.
template <class R, class Layout>
[[nodiscard]] relation_ref relation_of(store<Layout>& from, const R& relation, const char* call) {
    if constexpr (is_run_time_relation<R>)
        return relation_ref::get(from, from.catalog.get(relation.id().value(), call, nullptr),
                                 link_types::of<link_value_of<R>>(), relation_kind::users, call);
    else
        return relation_of<R>(from, call);
}

template <class Value, class Layout>
bool relate(relation_ref relation, basic_at<Layout> source, basic_at<Layout> target,
            Value&& value) {
    const link_change<Value> link(relation, target.id.value(), std::move(value));
    return relation.relate(source, target, link.describe());
}
/// Whether one of these arguments is a link.
template <class... Args>
inline constexpr bool has_links = (... || is_to<std::remove_cvref_t<Args>>);

/// An argument of a call that creates or changes an entity: a value, or a link. Copies what is not
/// moved, and throws if the link is not possible, before the call changes anything.
template <class Layout, class Arg>
class bound_argument {
public:
    static constexpr bool is_link = false;
    bound_argument(store<Layout>&, const char*, const std::remove_cvref_t<Arg>& given)
        : value_(given) {}
    [[nodiscard]] change describe() const { return value_.describe(change_kind::put); }

private:
    bound_value<Arg> value_;
};
template <class Layout, class Arg>
    requires is_to<std::remove_cvref_t<Arg>>
class bound_argument<Layout, Arg> {
    using value_type = link_value_of<typename std::remove_cvref_t<Arg>::relation_type>;

public:
    static constexpr bool is_link = true;
    bound_argument(store<Layout>& into, const char* call, Arg&& given)
        : link_(require(into, call, given), given.target.value(), std::forward<Arg>(given).value) {}
    [[nodiscard]] change describe() const noexcept { return link_.describe(); }

private:
    static relation_ref require(store<Layout>& into, const char* call, const Arg& given) {
        relation_ref::require_target(into, basic_at<Layout>(given.target, given.where), call);
        return relation_of(into, given.relation, call);
    }
    link_change<value_type> link_;
};

/// The changes of a call: first those of values, then those of links, each relation once.
template <class... Bound>
struct argument_changes {
    change all[sizeof...(Bound)];
    std::size_t size = 0;

    explicit argument_changes(const Bound&... given) {
        const auto add = [&](const auto& argument, bool is_link) {
            if (argument.is_link == is_link) all[size++] = argument.describe();
        };
        (add(given, false), ...);
        const std::size_t values = size;
        (add(given, true), ...);
        size = values + relation_ref::combine({all + values, size - values});
    }
    [[nodiscard]] slice<change> list() noexcept { return {all, size}; }
};

/// The links among the arguments of a call that creates many entities with copies of its arguments.
template <class Layout, class... Ts>
class row_links {
public:
    row_links(store<Layout>& into, const Ts*... given) : links_(link<Ts>(into, given)...) {}

    /// Calls `look(change)` for each relation.
    template <class Look>
    void each([[maybe_unused]] Look look) const {
        if constexpr (has_links<Ts...>) {
            change all[sizeof...(Ts)];
            std::size_t size = 0;
            const auto add = [&](const auto& given) {
                if constexpr (requires { given.change; }) all[size++] = given.change.describe();
            };
            std::apply([&](const auto&... given) { (add(given), ...); }, links_);
            size = relation_ref::combine({all, size});
            for (std::size_t i = 0; i < size; ++i) look(all[i]);
        }
    }

private:
    template <class T>
    struct link {
        link(store<Layout>&, const T*) noexcept {}
    };
    template <class T>
        requires is_to<T>
    struct link<T> {
        bound_argument<Layout, const T&> change;
        link(store<Layout>& into, const T* given) : change(into, "spawn", *given) {}
    };
    std::tuple<link<Ts>...> links_;
};

template <class Layout, class... Args>
basic_id<Layout> spawn_related(store<Layout>& into, const basic_at<Layout>* wanted,
                               bound_argument<Layout, Args>... given) {
    argument_changes<bound_argument<Layout, Args>...> changes(given...);
    if (wanted == nullptr) return to_id<Layout>(into.spawner.spawn(changes.list(), nullptr));
    const target exact = *wanted;
    return to_id<Layout>(into.spawner.spawn(changes.list(), &exact));
}
template <class Layout, class... Args>
basic_id<Layout> clone_related(store<Layout>& into, basic_at<Layout> prototype,
                               bound_argument<Layout, Args>... given) {
    argument_changes<bound_argument<Layout, Args>...> changes(given...);
    return to_id<Layout>(relation_ref::clone(into, prototype, changes.list()));
}
template <class Layout, class... Args>
void set_related(store<Layout>& into, basic_at<Layout> e, bound_argument<Layout, Args>... given) {
    argument_changes<bound_argument<Layout, Args>...> changes(given...);
    relation_ref::submit(into, {e, changes.list(), "set"});
}

}  // namespace MUSTER_NAMESPACE::detail
