// row_regrouping: moves rows besides that of the entity that a change is about: to the chunks of other
// words, as those below an entity whose level changes, or to chunks with or without a link. All or
// nothing: `apply` cannot fail.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/change/change.hpp>
#include <muster/storage/transition.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

struct engine;

/// The relations of a world share it: one change may move an entity in several of them.
class MUSTER_API row_regrouping {
public:
    explicit row_regrouping(engine& owner) noexcept : engine_(owner) {}
    row_regrouping(const row_regrouping&) = delete;
    row_regrouping& operator=(const row_regrouping&) = delete;

    /// Drops what was not applied.
    void begin() noexcept;
    /// Plans a change of an entity that moves its row. `value`, that of a `put`, is moved to the row.
    /// May throw, as `reserve` may.
    void add(std::uint64_t e, const change_shape& shape, void* value = nullptr);
    /// Makes room for all rows, and for one more in each chunk: for the row of the change itself.
    void reserve();
    /// Moves the rows, in the order in which they were added.
    void apply() noexcept;

private:
    /// From one chunk to another.
    struct step {
        transition_ref made;
        std::size_t count;  // rows that take it
    };
    struct move {
        std::uint64_t e;
        void* value;
        std::uint32_t step;
    };
    struct step_key {
        chunk_data* from;
        change_shape shape;

        friend bool operator==(const step_key&, const step_key&) noexcept = default;
    };
    struct hash_of_key {
        std::size_t operator()(const step_key& key) const noexcept;
    };

    [[nodiscard]] chunk_data& place_of(std::uint64_t e) const noexcept;
    std::uint32_t ensure_step(const step_key& key, std::uint64_t e);
    [[nodiscard]] transition_ref regroup(const step_key& key) const;

    engine& engine_;
    std::vector<step> steps_;
    array_list<move> moves_;
    std::size_t reserved_ = 0;                 // moves that have room
    const fragment_data* fragment_ = nullptr;  // of the move that was added last
    std::unordered_map<step_key, std::uint32_t, hash_of_key> known_;
    std::unordered_map<std::uint64_t, chunk_data*> places_;  // where moves of other fragments lead
    std::size_t placed_ = 0;                                 // moves that are in `places_`
};

}  // namespace MUSTER_NAMESPACE::detail
