// plan: the net effect of all recorded changes of one entity: target chunk, column mapping, values
// to write, notifications to send.
//
// It depends only on the entity's chunk, on its sparse fragments, and on the kinds and fragments of
// the changes. Entities for which these are equal share a plan.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/command/journal.hpp>
#include <muster/storage/chunk_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster::detail {

struct MUSTER_API plan {
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// A value of the target that is not moved from the source.
    struct arrival {
        std::uint32_t column;  // column of the target
        std::uint32_t given;   // index of the change with the value; `none`: the default value
    };

    /// The effect on a sparse fragment. The new value is constructed in a slot of its own.
    struct sparse_change {
        fragment_data* fragment;
        bool was_there;       // the old value is removed
        bool is_inserted;     // a new value is inserted
        std::uint32_t given;  // index of the change with the value; `none`: the default value
    };

    chunk_data* from = nullptr;
    chunk_data* to = nullptr;
    array_list<fragment_data*> sparse;  // the entity's sparse fragments
    std::vector<sparse_change> sparse_changes;
    array_list<std::uint32_t> columns;  // per column of the source: the column of the target,
                                        // or `edge::dropped`
    std::vector<arrival> arrivals;

    // Notifications for hooks and observers, in the order of fragments. Contains only fragments
    // that have hooks or observers.
    array_list<fragment_data*> removed;
    struct notice {
        fragment_data* fragment;
        bool is_new;
    };
    std::vector<notice> present;  // inserted or assigned
    bool calls = false;           // some of them are for hooks

    [[nodiscard]] bool has_notices() const noexcept { return !removed.empty() || !present.empty(); }

    array_list<fragment_data*> types_fixed;  // untyped fragments whose type this change fixes

    /// The move only copies bytes: without hooks, default values, sparse fragments and user code.
    bool moves_bytes = false;

    std::vector<change_shape> shape;  // the changes that it was built for
    std::uint64_t generation = 0;     // of the graph when it was built; 0: not valid
};

/// The plans that were used last.
class MUSTER_API plan_cache {
public:
    /// Returns the plan for these changes. The next call invalidates it. Throws as
    /// `chunk_graph::ensure` does.
    const plan& find(chunk_graph& graph, chunk_data& from, std::span<fragment_data* const> sparse,
                     std::span<const change_shape> shape);

private:
    static constexpr std::size_t size = 16;
    plan plans_[size];
};

/// The value of a change.
struct pending_value {
    void* at = nullptr;         // null: no value
    slot_index slot = no_slot;  // for a sparse fragment
};

/// Buffers that are reused while a journal is applied.
struct apply_buffers {
    plan_cache plans;
    const plan* last_plan = nullptr;    // in `plans`, which may have replaced it since
    std::vector<change_shape> shape;    // changes of the current entity
    std::vector<pending_value> values;  // their values, parallel to `shape`; owned
    arena scratch;                      // memory for the current change
    array_list<fragment_data*> sparse;  // see `store::sparse_of`
};

}  // namespace muster::detail
