// world_base: the data of a world. The calls of a world are in a chain of call groups, each derived
// from the one above it:
//
//     world_base        the data
//     entity_calls      living entities, their names; memory
//     spawn_calls       creating entities
//     fragment_calls    fragments, definitions, chunks
//     component_calls   components by C++ type, singletons
//     value_calls       components by fragment
//     query_calls       queries; counting, clearing, copying, searching, sorting
//     hook_calls        hooks and observers
//     event_calls       events
//     system_calls      systems
//     thread_calls      scopes, and the changes of other threads
//     extension_calls   objects that live and end with the world
//     program_calls     states and modules
//     relation_calls    links between entities
//     prefab_calls      copies of trees, and prefabs that inherit
//     basic_world       construction
//
// Each class has exactly one base, and no group has data: the groups add nothing to the size of a
// world, and all lie at its address. A group that overloads a call of an earlier group names that
// call in a using-declaration; otherwise its overloads would hide the earlier ones. Each group
// includes its base first.
#pragma once

#include <muster/query/query_cache.hpp>
#include <muster/store/store.hpp>
#include <muster/system/system.hpp>

namespace MUSTER_NAMESPACE::detail {

/// Queries of a const world use the cache, under its lock.
template <class Layout>
class world_base {
protected:
    /// The library has this constructor: its symbol names the settings of the file that calls it.
    explicit world_base(const world_options& options, settings of_file = {})
        : store_(options, of_file) {}

    store<Layout> store_;
    mutable query_cache queries_{store_.fragments, store_.graph, store_.sparse};
    systems<Layout> systems_{store_, queries_};
};

}  // namespace MUSTER_NAMESPACE::detail
