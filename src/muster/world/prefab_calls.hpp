// prefab_calls: the calls of a world for prefabs: copies of whole trees.
#pragma once

#include <muster/world/relation_calls.hpp>

#include <muster/relation/link_argument.hpp>
#include <muster/relation/tree_clone.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE {

/// The calls of a world for prefabs: entities with the tag `prefab`, from which others are made.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class prefab_calls : public relation_calls<Layout> {
    using base = relation_calls<Layout>;
    using store_type = detail::store<Layout>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;

    /// Copies an entity and all that is below it by `child_of`; returns the copy of the entity.
    /// Values, also from `with`, replace or extend its components, and links (`to(child_of, ship)`) are
    /// added to its own; the other entities of the tree are copied as they are. Links inside of the
    /// tree lead from copy to copy, links to other entities are kept, and links from outside are not
    /// copied. Fragments that are `unique` are not copied, such as `prefab`. Ids in components are
    /// translated if their fragment has a `remap`. The children of a copy have the order of those of
    /// the prototype.
    ///
    /// Copies all or nothing. Throws `errc::not_copyable` if a component cannot be copied. In a scope,
    /// the call is recorded; the tree is that before the scope. O(values and links). Refused in a
    /// phase.
    template <class... Ts>
    id_type clone_tree(at_type prototype, Ts&&... values) {
        return clone_with<Ts...>(prototype, {store_, "clone_tree", std::forward<Ts>(values)}...);
    }
    /// Like `clone_tree`, but makes `count` copies; all or none. Returns the copies of the entity. Each
    /// of them receives a copy of the values and links.
    template <class... Ts>
    std::vector<id_type> clone_trees(std::size_t count, at_type prototype, const Ts&... values) {
        store_.require(prototype, "clone_trees");
        store_.spawner.refuse_many(count);  // before the vector throws length_error
        const typename base::template initial_values<Ts...> given(store_, 0,
                                                                  __builtin_addressof(values)...);
        std::vector<id_type> made(count);
        detail::clone_trees(store_, prototype, tree_relation(), given,
                            store_type::ids_of(std::span<id_type>(made)));
        return made;
    }

protected:
    using relation_calls<Layout>::relation_calls;
    using detail::world_base<Layout>::store_;

private:
    template <class... Ts>
    id_type clone_with(at_type prototype, detail::bound_argument<Layout, Ts>... given) {
        id_type made;
        const detail::id_span root = store_type::ids_of({&made, 1});
        if constexpr (sizeof...(Ts) == 0) {
            detail::clone_tree(store_, prototype, tree_relation(), {}, root);
        } else {
            detail::argument_changes<detail::bound_argument<Layout, Ts>...> changes(given...);
            detail::clone_tree(store_, prototype, tree_relation(), changes.list(), root);
        }
        return made;
    }
    /// Returns the relation `child_of`; empty if no call has used it.
    [[nodiscard]] detail::relation_ref tree_relation() const noexcept {
        return detail::relation_ref::find(store_, store_.template find_fragment<child_of_t>());
    }
};

}  // namespace MUSTER_NAMESPACE
