// link_terms: the calls of any query that concern links. `basic_query` and `basic_link_query` derive from
// it; the calls return a `basic_link_query`.
#pragma once

#include <muster/query/query.hpp>
#include <muster/relation/entity_range.hpp>
#include <muster/relation/link_argument.hpp>
#include <muster/relation/link_walk.hpp>
#include <muster/relation/relation.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

template <class Query>
struct link_query_of;
template <class Layout, class... Ts>
struct link_query_of<basic_query<Layout, Ts...>> {
    using type = basic_link_query<Layout, Ts...>;
    using state = query_state<Layout>;
    using layout = Layout;
};
template <class Layout, class... Ts>
struct link_query_of<basic_link_query<Layout, Ts...>> {
    using type = basic_link_query<Layout, Ts...>;
    using state = query_state<Layout>;
    using layout = Layout;
};

/// The calls of a query that concern links. Each returns a new query. A relation is named in three ways:
/// `to<likes>(bob)`, `to<child_of>(ship)`, `to(child_of, ship)`; a `relation<T>` in the last one. They throw
/// `errc::not_a_relation`, and `errc::limit` beyond 16 terms. In a phase, the first use of a type or
/// of `child_of` throws `errc::in_scope`.
template <class Query>
class link_terms {
public:
    // ---- conditions ----------------------------------------------------------------------------

    /// Only entities with a link, whatever its target.
    template <class R>
    [[nodiscard]] auto to() const {
        (void)relation_name<R>("to");
        return self().template with<R>();
    }
    template <auto R>
    [[nodiscard]] auto to() const {
        return to<std::remove_cvref_t<decltype(R)>>();
    }
    template <class R>
        requires relation_argument<R>
    [[nodiscard]] auto to(const R& relation) const {
        (void)relation_name("to", relation);
        return self().with(relation);
    }
    /// Only entities with a link to this target; none if the target is not alive. Takes a query, too: only
    /// entities with a link to an entity that matches it. Throws `errc::foreign_entity` if that query
    /// belongs to another world. A loop costs O(links of the target), or O(entities with the
    /// components) if they are fewer.
    template <class R, class Target>
    [[nodiscard]] auto to(const Target& target) const {
        return linked(relation_name<R>("to"), target);
    }
    template <auto R, class Target>
    [[nodiscard]] auto to(const Target& target) const {
        return linked(relation_name<std::remove_cvref_t<decltype(R)>>("to"), target);
    }
    template <class R, class Target>
        requires relation_argument<R>
    [[nodiscard]] auto to(const R& relation, const Target& target) const {
        return linked(relation_name("to", relation), target);
    }

    /// Only entities below `root`: its sources, their sources, and so on, but not `root` itself.
    /// A loop costs O(entities below), or O(entities with the components) if they are fewer.
    template <class R, class Id>
    [[nodiscard]] auto under(const Id& root) const {
        return below(relation_name<R>("under"), root);
    }
    template <auto R, class Id>
    [[nodiscard]] auto under(const Id& root) const {
        return below(relation_name<std::remove_cvref_t<decltype(R)>>("under"), root);
    }
    template <class R, class Id>
        requires relation_argument<R>
    [[nodiscard]] auto under(const R& relation, const Id& root) const {
        return below(relation_name("under", relation), root);
    }

    // ---- order ---------------------------------------------------------------------------------

    /// Visits each entity after the entities above it: level by level, the roots first. The relation is
    /// `child_of` unless another one is given; throws `errc::not_a_relation` if it is not leveled. The
    /// levels below 62 cost O(entities) to order, the others O(1) for each chunk.
    [[nodiscard]] auto top_down() const { return top_down<child_of_t>(); }
    template <class R>
    [[nodiscard]] auto top_down() const {
        return ordered(link_order::kind::top_down, relation_name<R>("top_down"));
    }
    template <auto R>
    [[nodiscard]] auto top_down() const {
        return top_down<std::remove_cvref_t<decltype(R)>>();
    }
    template <class R>
        requires relation_argument<R>
    [[nodiscard]] auto top_down(const R& relation) const {
        return ordered(link_order::kind::top_down, relation_name("top_down", relation));
    }
    /// Like `top_down`, but the deepest level first.
    [[nodiscard]] auto bottom_up() const { return bottom_up<child_of_t>(); }
    template <class R>
    [[nodiscard]] auto bottom_up() const {
        return ordered(link_order::kind::bottom_up, relation_name<R>("bottom_up"));
    }
    template <auto R>
    [[nodiscard]] auto bottom_up() const {
        return bottom_up<std::remove_cvref_t<decltype(R)>>();
    }
    template <class R>
        requires relation_argument<R>
    [[nodiscard]] auto bottom_up(const R& relation) const {
        return ordered(link_order::kind::bottom_up, relation_name("bottom_up", relation));
    }
    /// Only entities with a link. Visits those of one target, the first of each entity, after those of
    /// another: in the order of the targets' ids. O(n log n) for n entities.
    template <class R>
    [[nodiscard]] auto by_target() const {
        return grouped(relation_name<R>("by_target"));
    }
    template <auto R>
    [[nodiscard]] auto by_target() const {
        return by_target<std::remove_cvref_t<decltype(R)>>();
    }
    template <class R>
        requires relation_argument<R>
    [[nodiscard]] auto by_target(const R& relation) const {
        return grouped(relation_name("by_target", relation));
    }

    // ---- links ---------------------------------------------------------------------------------

    /// Calls `callback(from, to, value)`, or `callback(from, to)`, for each link of the entities that match:
    /// in the order of a loop over them, then in the order of their targets. Opens a scope, as a loop
    /// does. O(links).
    template <class R, class Callback>
    void each_link(Callback&& callback) const {
        each_link_of<R>(relation_name<R>("each_link"), callback);
    }
    template <auto R, class Callback>
    void each_link(Callback&& callback) const {
        each_link<std::remove_cvref_t<decltype(R)>>(callback);
    }
    template <class R, class Callback>
        requires relation_argument<R>
    void each_link(const R& relation, Callback&& callback) const {
        each_link_of<link_value_of<R>>(relation_name("each_link", relation), callback);
    }

protected:
    /// Returns the name of a relation.
    template <class R>
    [[nodiscard]] term_name relation_name(const char* call) const {
        const typename link_query_of<Query>::state& state = self();
        state.world_.require();
        if constexpr (!std::remove_cvref_t<decltype(state)>::is_const)
            (void)relation_of<R>(*state.store_, call);
        return {static_cast<std::uint64_t>(ensure_type_index<R>()), true};
    }
    template <class R>
    [[nodiscard]] term_name relation_name(const char* call, const R& relation) const {
        if constexpr (is_run_time_relation<R>) {
            const typename link_query_of<Query>::state& state = self();
            state.world_.require();
            if constexpr (!std::remove_cvref_t<decltype(state)>::is_const)
                (void)relation_of(*state.store_, relation, call);
            return {relation.id().value(), false};
        } else {
            return relation_name<R>(call);
        }
    }

private:
    [[nodiscard]] const Query& self() const noexcept { return static_cast<const Query&>(*this); }
    template <class Target>
    [[nodiscard]] auto linked(const term_name& relation, const Target& target) const {
        using made_type = typename link_query_of<Query>::type;
        made_type made(self());
        if constexpr (std::is_convertible_v<const Target&, typename made_type::id_type>) {
            made.add_link({.what = link_condition::kind::to_one,
                           .relation = relation,
                           .entity = static_cast<typename made_type::id_type>(target).value()});
        } else {
            const typename link_query_of<Target>::type joined(target);
            joined.world_.require();
            if (joined.store_ != made.store_)
                raise(errc::foreign_entity, "the joined query belongs to another world");
            made.add_link({.what = link_condition::kind::to_matching,
                           .relation = relation,
                           .joined = joined.terms_,
                           .joined_links = joined.links_});
        }
        return made;
    }
    template <class Id>
    [[nodiscard]] auto below(const term_name& relation, const Id& root) const {
        using made_type = typename link_query_of<Query>::type;
        made_type made(self());
        made.add_link({.what = link_condition::kind::below,
                       .relation = relation,
                       .entity = static_cast<typename made_type::id_type>(root).value()});
        return made;
    }
    [[nodiscard]] auto ordered(link_order::kind what, const term_name& relation) const {
        typename link_query_of<Query>::type made(self());
        made.set_order(what, relation);
        return made;
    }
    [[nodiscard]] auto grouped(const term_name& relation) const {
        auto made = ordered(link_order::kind::by_target, relation);
        const term_name required[] = {relation};
        made.add_list(term_kind::with, required);
        return made;
    }
    template <class Value, class Callback>
    void each_link_of(const term_name& relation, Callback& callback) const {
        using made_type = typename link_query_of<Query>::type;
        using layout = typename made_type::layout;
        using id_type = typename made_type::id_type;
        using value = std::conditional_t<made_type::is_const, const Value, Value>;
        constexpr bool takes_value = std::is_invocable_v<Callback&, id_type, id_type, value&>;
        constexpr bool fits = takes_value || std::is_invocable_v<Callback&, id_type, id_type>;
        static_assert(
            fits,
            "muster: the callback of each_link takes (entity from, entity to, T& value) or "
            "(entity from, entity to); in a const world const T&.");
        made_type made(self());
        const term_name required[] = {relation};
        made.add_list(term_kind::with, required);
        link_walk all(made.asked());
        typename query_world<typename link_query_of<Query>::layout>::scope changes(*made.store_);
        const link_reader links_of(*made.store_, relation);
        while (all.next())
            for (std::size_t i = 0; i < all.now().size; ++i) {
                const std::uint64_t from = all.id_at(i);
                const link_values links = links_of.read(from);
                for (end_cursor end(links.ends); !end.is_done(); end.next())
                    if constexpr (takes_value)
                        callback(to_id<layout>(from), to_id<layout>(end.get()),
                                 *value_at<Value>(links.values, end.place()));
                    else if constexpr (fits)
                        callback(to_id<layout>(from), to_id<layout>(end.get()));
            }
        changes.commit();
    }
};

}  // namespace MUSTER_NAMESPACE::detail
