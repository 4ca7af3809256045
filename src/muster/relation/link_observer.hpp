// link_observer: the calls of an observer for links.
//
//     auto moved = w.observer<>().related(child_of);     // added, or moved to another target
//     ...
//     moved.each([&](entity e) { ... w.parent(e) ... });
#pragma once

#include <muster/event/observer.hpp>
#include <muster/relation/link_argument.hpp>
#include <muster/relation/relation.hpp>

#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

template <class Layout, class... Ts>
class link_events<basic_observer<Layout, Ts...>> {
    using observer = basic_observer<Layout, Ts...>;
    template <auto R>
    using type_of = std::remove_cvref_t<decltype(R)>;

public:
    /// Also collects sources to which links of these relations are added, or whose links are moved to
    /// another target. Throws `errc::not_a_relation`.
    template <class... Rs>
        requires(sizeof...(Rs) > 0)
    observer related() && {
        return std::move(*this).template observe<Rs...>(hook_kind::insert);
    }
    template <auto R>
    observer related() && {
        return std::move(*this).template related<type_of<R>>();
    }
    template <relation_argument... Rs>
        requires(sizeof...(Rs) > 0)
    observer related(const Rs&... relations) && {
        return std::move(*this).observe(hook_kind::insert, relations...);
    }
    /// Also collects sources from which links of these relations are removed, or that are destroyed with
    /// them. A link that is moved to another target is not removed.
    template <class... Rs>
        requires(sizeof...(Rs) > 0)
    observer unrelated() && {
        return std::move(*this).template observe<Rs...>(hook_kind::remove);
    }
    template <auto R>
    observer unrelated() && {
        return std::move(*this).template unrelated<type_of<R>>();
    }
    template <relation_argument... Rs>
        requires(sizeof...(Rs) > 0)
    observer unrelated(const Rs&... relations) && {
        return std::move(*this).observe(hook_kind::remove, relations...);
    }

private:
    template <class... Rs>
    observer observe(hook_kind kind) && {
        auto& own = static_cast<observer&>(*this);
        (own.subscribe(to_bits(kind), id_in<Rs>(own.store_.get())), ...);
        return std::move(own);
    }
    template <class... Rs>
        requires(sizeof...(Rs) > 0)
    observer observe(hook_kind kind, const Rs&... relations) && {
        auto& own = static_cast<observer&>(*this);
        (own.subscribe(
             to_bits(kind),
             to_id<Layout>(relation_of(own.store_.get(), relations, "observing").own().id)),
         ...);
        return std::move(own);
    }
    template <class R>
    static basic_id<Layout> id_in(store<Layout>& world) {
        return to_id<Layout>(relation_of<R>(world, "observing").own().id);
    }
};

}  // namespace MUSTER_NAMESPACE::detail
