// entity_map: the entities of a tree and their copies, for the functions that translate ids.
#pragma once

#include <muster/id/id.hpp>
#include <muster/id/layout.hpp>
#include <muster/type/fragment_data.hpp>

namespace MUSTER_NAMESPACE {

/// Translates ids while `clone_tree` copies a component; see `basic_definition::remap`. Valid during
/// the call that receives it.
template <class Layout>
class basic_entity_map {
public:
    using id_type = basic_id<Layout>;

    explicit basic_entity_map(const detail::id_map& ids) noexcept : ids_(ids) {}
    /// Returns the copy of `e`, or `e` itself if it is no part of the tree. Accepts any id. O(1).
    [[nodiscard]] id_type operator()(id_type e) const noexcept {
        return detail::to_id<Layout>(ids_(e.value()));
    }

private:
    detail::id_map ids_;
};
using entity_map = basic_entity_map<layouts::bound>;

}  // namespace MUSTER_NAMESPACE
