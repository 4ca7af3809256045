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
struct row_values;

/// Creates a copy of a tree for each element of `roots`, all or none. The roots receive the values and
/// links of `given`: values in place of those of the prototype, links in addition. If there are several
/// roots, `given` has values to copy. `children` is `child_of`, or empty.
MUSTER_API void clone_tree(engine& owner, target prototype, const relation_ref& children,
                           slice<change> given, id_span roots);
/// Like `clone_tree`; each root receives a copy of the values.
MUSTER_API void clone_trees(engine& owner, target prototype, const relation_ref& children,
                            const row_values& given, id_span roots);

/// Translate the targets of a link, or of a list of links; see `remap_function`.
void remap_link(const void* function, void* value, const id_map& map);
void remap_links(const void* function, void* value, const id_map& map);

}  // namespace MUSTER_NAMESPACE::detail
