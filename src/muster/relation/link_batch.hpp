// link_batch: the queries of batches with conditions on links. A scope applies a batch when it ends: until
// then, the world keeps its query.
#pragma once

#include <muster/change/journal.hpp>
#include <muster/relation/link_walk.hpp>

#include <memory>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

struct engine;

/// An extension of the world.
class MUSTER_API link_batches {
public:
    link_batches() = default;
    link_batches(const link_batches&) = delete;
    link_batches& operator=(const link_batches&) = delete;

    /// Returns what finds the entities of a query, now and when the open scopes end.
    [[nodiscard]] static target_finder finder(engine& owner, link_question&& asked);

private:
    struct kept {
        terms question;
        link_question asked;
    };
    static void find(void* store, void* cache, void* list, batch_targets& found);

    std::vector<std::unique_ptr<kept>> all_;  // of the open scopes, or of the last batch
};

}  // namespace MUSTER_NAMESPACE::detail
