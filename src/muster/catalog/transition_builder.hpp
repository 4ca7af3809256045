// transition_builder: evaluates the changes of an entity, in their order: implied changes, the
// target chunk, the values to write, and the hooks and observers to notify.
//
// A fragment that a change adds or removes may imply further changes; see `catalog::imply`. They
// follow at once, before the next change of the list. If rules contradict each other, the change
// itself wins, then the rule that is nearest to it. So every chain of rules ends. Clearing and
// destroying an entity, and destroying a fragment, imply nothing.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/transition.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// Returns the fragments, sparse ones too, of an entity that had `kept` and to which these were added
/// in this order, sorted by number.
[[nodiscard]] MUSTER_API array_list<fragment_data*> fragments_after(
    slice<fragment_data* const> kept, slice<fragment_data* const> added);

/// Adds the fragments that changes of these may change, at any depth. The result is sorted.
MUSTER_API void add_implied(array_list<fragment_data*>& set);

/// Returns the transition of these changes, for an entity in `from` that has these sparse fragments
/// among those that the changes concern. Throws as `chunk_graph::ensure` does.
[[nodiscard]] MUSTER_API transition_ref build_transition(chunk_graph& graph, chunk_data& from,
                                                         slice<fragment_data* const> sparse,
                                                         slice<const change_shape> shape);

/// The transitions that were used last and that are no edges: of several changes, or with sparse
/// fragments.
class MUSTER_API transition_cache {
public:
    /// Returns the transition of these changes; see `build_transition`.
    transition_ref find(chunk_graph& graph, chunk_data& from, slice<fragment_data* const> sparse,
                        slice<const change_shape> shape);

private:
    struct entry {
        std::uint64_t epoch = 0;
        std::uint64_t chunk = 0;  // serial of `from`
        array_list<fragment_data*> sparse;
        array_list<change_shape> shape;
        transition_ref made;
    };
    static constexpr std::size_t count = 64;
    entry entries_[count];
};

}  // namespace MUSTER_NAMESPACE::detail
