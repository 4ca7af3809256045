// prefab_calls: the calls of a world for prefabs: copies of whole trees.
#pragma once

#include <muster/world/relation_calls.hpp>

#include <muster/relation/tree_argument.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE {

/// The calls of a world for prefabs: entities with the tag `prefab`, from which others are made.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class prefab_calls : public relation_calls<Layout> {
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
        store_.require(prototype, "clone_tree");
        id_type made;
        detail::clone_tree<Layout>(store_, prototype, made,
                                   detail::tree_argument<Layout, Ts>(store_, values)...);
        return made;
    }
    /// Like `clone_tree`, but makes `count` copies; all or none. Returns the copies of the entity. Each
    /// of them receives a copy of the values and links.
    template <class... Ts>
    std::vector<id_type> clone_trees(std::size_t count, at_type prototype, const Ts&... values) {
        store_.require(prototype, "clone_trees");
        store_.spawner.refuse_many(count);  // before the vector throws length_error
        std::vector<id_type> made(count);
        detail::clone_trees<Layout>(store_, prototype, std::span<id_type>(made),
                                    detail::tree_argument<Layout, const Ts&>(store_, values)...);
        return made;
    }

protected:
    using relation_calls<Layout>::relation_calls;
    using detail::world_base<Layout>::store_;
};

}  // namespace MUSTER_NAMESPACE
