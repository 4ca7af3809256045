// plan: what the changes of one entity, in their order, come to: one move, and what hooks are told.
//
// It depends only on the chunk that the entity is in, on the sparse fragments that it has, and on the
// changes' shape, their kinds and fragments: entities that are treated alike share a plan.
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

    /// A value of the target that does not come from the source.
    struct arrival {
        std::uint32_t column;  // of the target
        std::uint32_t given;   // which change has the value; `none`: the default value
    };

    /// What becomes of a sparse fragment. Its value is made in a slot of its own, and stays there.
    struct beside_change {
        fragment_data* fragment;
        bool was_there;       // a value goes
        bool comes;           // a value comes
        std::uint32_t given;  // which change has it; `none`: the default value
    };

    chunk_data* from = nullptr;
    chunk_data* to = nullptr;
    array_list<fragment_data*> beside;  // the sparse fragments that it has
    std::vector<beside_change> beside_changes;
    array_list<std::uint32_t> columns;  // for each of the source: which of the target, or
                                        // `edge::dropped`
    std::vector<arrival> arrivals;

    // What hooks and observers are told, in the order of fragments; only those that have such.
    array_list<fragment_data*> removed;
    struct told {
        fragment_data* fragment;
        bool is_new;
    };
    std::vector<told> present;  // inserted or assigned
    bool calls = false;         // hooks are among them

    [[nodiscard]] bool is_told() const noexcept { return !removed.empty() || !present.empty(); }

    array_list<fragment_data*> settled;  // whose type was open until a value arrives

    /// No hook, no default value, no sparse fragment, and no code of the user's runs for it.
    bool moves_bytes = false;

    std::vector<change_shape> shape;  // what it was made for
    std::uint64_t generation = 0;     // of the graph, then; 0: never
};

/// The plans that were needed lately.
class MUSTER_API plan_cache {
public:
    /// Ends with the next call. Can fail as `chunk_graph::ensure` does.
    const plan& find(chunk_graph& graph, chunk_data& from, std::span<fragment_data* const> beside,
                     std::span<const change_shape> shape);

private:
    static constexpr std::size_t size = 16;
    plan plans_[size];
};

/// The value of a change.
struct waiting_value {
    void* at = nullptr;         // null: there is none
    slot_index slot = no_slot;  // of a sparse fragment
};

/// What is needed while a journal is carried out.
struct playback {
    plan_cache plans;
    const plan* last_plan = nullptr;    // of `plans`, which may have another there by now
    std::vector<change_shape> shape;    // of the entity that is carried out
    std::vector<waiting_value> values;  // of it, one for each of the shape; owned
    arena scratch;                      // for what one change needs
    array_list<fragment_data*> beside;  // see `store::beside_of`
};

}  // namespace muster::detail
