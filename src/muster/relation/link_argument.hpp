// link_argument: relates entities by the types of the caller, for the calls of a world.
#pragma once

#include <muster/relation/relation.hpp>
#include <muster/relation/relation_ref.hpp>
#include <muster/store/store.hpp>

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
template <class Layout, class R>
void relate(store<Layout>& into, basic_at<Layout> source, basic_to<Layout, R>&& link) {
    (void)relate(relation_of(into, link.relation, "relate"), source,
                 basic_at<Layout>(link.target, link.where), std::move(link.value));
}

/// Whether one of these arguments is a link.
template <class... Args>
inline constexpr bool has_links = (... || is_to<std::remove_cvref_t<Args>>);

/// Calls `make(values...)` with the arguments that are no links, in a scope, then relates the entity
/// that it returns. All or nothing.
template <class Layout, class Make, class... Args>
basic_id<Layout> make_related(store<Layout>& into, const char* call, Make make, Args&&... args) {
    [[maybe_unused]] const auto require = [&](const auto& arg) {
        if constexpr (is_to<std::remove_cvref_t<decltype(arg)>>) {
            into.require(basic_at<Layout>(arg.target, arg.where), call);
            (void)relation_of(into, arg.relation, call);
        }
    };
    (require(args), ...);
    scope whole(into);
    const basic_id<Layout> made =
        std::apply(make, std::tuple_cat([&]<class Arg>(Arg&& arg) {
                       if constexpr (is_to<std::remove_cvref_t<Arg>>)
                           return std::tuple<>();
                       else
                           return std::tuple<Arg&&>(std::forward<Arg>(arg));
                   }(std::forward<Args>(args))...));
    [[maybe_unused]] const auto relate_one = [&]<class Arg>(Arg&& arg) {
        if constexpr (is_to<std::remove_cvref_t<Arg>>)
            relate(into, basic_at<Layout>(made, arg.where),
                   std::remove_cvref_t<Arg>(std::forward<Arg>(arg)));
    };
    (relate_one(std::forward<Args>(args)), ...);
    whole.commit();
    return made;
}

}  // namespace MUSTER_NAMESPACE::detail
