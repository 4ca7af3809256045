// link_batch: the queries of batches with conditions on links. A scope applies a batch when it ends: until
// then, the world keeps its query.
#pragma once

#include <muster/change/journal.hpp>
#include <muster/relation/link_walk.hpp>

namespace MUSTER_NAMESPACE::detail {

/// Returns what finds the entities of a query, now and when the open scopes end.
[[nodiscard]] MUSTER_API target_finder keep_for_batch(engine& owner, const link_question& asked);

}  // namespace MUSTER_NAMESPACE::detail
