// tree_clone: copies of an entity and all that is below it by `child_of`, with the links inside of the
// tree, and with the ids in values that have a `remap`.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/relation/relation_ref.hpp>
#include <muster/storage/id_column.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

struct engine;
struct id_map;

/// Creates `roots.count` copies of a tree, all or none. The roots receive the values and links of
/// `given`: values in place of those of the prototype, links as if they were added afterwards. If
/// there are several roots, each receives a copy (`change::is_copied`). `children` may be empty.
MUSTER_API void clone_trees(engine& owner, target prototype, const relation_ref& children,
                            slice<change> given, id_span roots);

/// Translate the targets of a link, or of a list of links; see `remap_function`.
void remap_link(const void* function, void* value, const id_map& map);
void remap_links(const void* function, void* value, const id_map& map);

}  // namespace MUSTER_NAMESPACE::detail
