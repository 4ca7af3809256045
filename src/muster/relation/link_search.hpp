// link_search: the entities that match a query with conditions on links. It starts from the cheapest side:
// the chunks of the query, or the links of one condition; and tests the other conditions.
#pragma once

#include <muster/change/journal.hpp>
#include <muster/relation/link_test.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

class link_search {
public:
    /// Without `tests_components`, ignores conditions on components of other entities.
    link_search(const link_world& in, const terms& question, const link_conditions& links,
                bool tests_components = true);

    /// Whether any entity can match.
    [[nodiscard]] bool is_possible() const noexcept { return is_possible_; }
    /// Whether an entity matches; false for one that is not alive.
    [[nodiscard]] bool matches(std::uint64_t e);

    /// Plans the search. Returns how many entities it visits at most.
    [[nodiscard]] std::size_t count_candidates();
    /// Whether the result is all rows of `chunks`. Valid after `count_candidates`.
    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
    [[nodiscard]] slice<chunk_data* const> chunks() const noexcept {
        return {chunks_.data(), chunks_.size()};
    }
    [[nodiscard]] match_list& list() const noexcept { return *list_; }
    [[nodiscard]] std::uint64_t null() const noexcept;
    /// Returns the next matching entity, each once, or the null id. Call `count_candidates` first.
    [[nodiscard]] std::uint64_t next();

private:
    void choose_chunks();
    [[nodiscard]] array_list<chunk_data*> chunks_of(const link_test& group) const;
    [[nodiscard]] std::size_t count_rows() const noexcept;
    [[nodiscard]] bool matches_terms(std::uint64_t e);
    [[nodiscard]] bool passes(std::uint64_t e);
    [[nodiscard]] std::uint64_t next_candidate();

    link_world in_;
    const terms* question_;
    std::vector<link_test> tests_;
    bool is_possible_ = true;
    bool is_planned_ = false;
    bool is_whole_ = false;
    std::size_t bound_ = 0;
    match_list* list_ = nullptr;      // read by `count_candidates`
    array_list<chunk_data*> chunks_;  // of the list: those that the conditions on groups leave
    link_test* lead_ = nullptr;       // null: the chunks, or `found_`
    batch_targets found_;             // the entities of a list that is not plain
    std::size_t chunk_ = 0;           // the next row of the list
    std::size_t row_ = 0;
    const chunk_data* last_chunk_ = nullptr;  // with the answer for its rows
    bool last_answer_ = false;
};

}  // namespace MUSTER_NAMESPACE::detail
