// plan: what the changes of one entity, in their order, come to: one move, and what hooks are told.
//
// It depends only on the chunk that the entity is in and on the changes' shape, their kinds and
// fragments: entities that are treated alike share a plan.
#pragma once

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

    chunk_data* from = nullptr;
    chunk_data* to = nullptr;
    std::vector<std::uint32_t> columns;  // for each of the source: which of the target, or
                                         // `edge::dropped`
    std::vector<arrival> arrivals;

    // What hooks and observers are told, in the order of fragments; only those that have such.
    std::vector<fragment_data*> removed;
    struct told {
        fragment_data* fragment;
        bool is_new;
    };
    std::vector<told> present;  // inserted or assigned
    bool calls = false;         // hooks are among them

    [[nodiscard]] bool is_told() const noexcept { return !removed.empty() || !present.empty(); }

    std::vector<fragment_data*> settled;  // whose type was open until a value arrives

    bool moves_bytes = false;  // no hook, no default value, and no code of the user's runs for it

    std::vector<change_shape> shape;  // what it was made for
    std::uint64_t generation = 0;     // of the graph, then; 0: never
};

/// The plans that were needed lately.
class MUSTER_API plan_cache {
public:
    /// Ends with the next call. Can fail as `chunk_graph::ensure` does.
    const plan& find(chunk_graph& graph, chunk_data& from, std::span<const change_shape> shape);

private:
    static constexpr std::size_t size = 16;
    plan plans_[size];
};

/// What is needed while a journal is carried out.
struct playback {
    plan_cache plans;
    const plan* last_plan = nullptr;  // of `plans`, which may have another there by now
    std::vector<change_shape> shape;  // of the entity that is carried out
    std::vector<void*> values;        // of it, one for each of the shape; owned
    arena scratch;                    // for what one change needs
};

}  // namespace muster::detail
