// row_regrouping: moves rows to the chunks of other words, besides the row that a change moves itself:
// the entities below one whose level changes, for example. All or nothing: `apply` cannot fail.
#pragma once

#include <muster/base/array_list.hpp>
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
    /// Plans a move of an entity that has this fragment. May throw, as `reserve` may.
    void add(std::uint64_t e, const fragment_data& fragment, std::uint64_t word);
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
        std::uint32_t step;
    };
    struct step_key {
        const chunk_data* from;
        const fragment_data* fragment;
        std::uint64_t word;

        friend bool operator==(const step_key&, const step_key&) noexcept = default;
    };
    struct hash_of_key {
        std::size_t operator()(const step_key& key) const noexcept;
    };

    [[nodiscard]] chunk_data& place_of(std::uint64_t e) const noexcept;
    std::uint32_t ensure_step(const step_key& key);

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
