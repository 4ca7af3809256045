// walk: over the entities that match where sparse fragments are asked for. It starts from the cheaper side,
// the chunks that may match or the smallest of the sparse sets that are asked for, and gives runs:
// entities that stand next to each other and whose components do, too, so that a loop over a run is one
// over arrays.
//
//     burning    [ e3 ][ e4 ][ e9 ]                leads, if it has fewer entities than the chunks
//     position   [ e2 ][ e3 ][ e4 ][ e9 ]...       runs: e3 and e4 are neighbours in both; then e9
//
// While a walk goes on, a scope is open: nothing comes or goes.
#pragma once

#include <muster/query/query_cache.hpp>
#include <muster/store/store.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace muster::detail {

template <class Layout>
class MUSTER_API walk {
public:
    using id_type = basic_id<Layout>;

    /// Those that match the list, which was just read; `wanted` are the fragments that runs show, at most
    /// `terms::limit`.
    walk(const store<Layout>& from, const query_cache& cache, const match_list& list,
         std::span<const fragment_data* const> wanted);

    walk(const walk&) = delete;
    walk& operator=(const walk&) = delete;

    /// The next run; false if there is none.
    bool next() {
        if (++at_ < filled_) [[likely]]
            return true;
        return refill();
    }

    [[nodiscard]] const id_type* ids() const noexcept { return runs_[at_].ids; }
    [[nodiscard]] std::size_t size() const noexcept { return runs_[at_].count; }
    /// Where the first component of a wanted fragment is; null: they do not have it.
    [[nodiscard]] std::byte* values(std::size_t wanted) const noexcept {
        return values_[at_ * wanted_.size() + wanted];
    }
    /// The chunk that all of them are in, and the row of the first; null if it was not looked for.
    [[nodiscard]] const chunk_data* chunk() const noexcept { return runs_[at_].chunk; }
    [[nodiscard]] std::size_t row() const noexcept { return runs_[at_].row; }

    /// One that the caller deletes; null if the list is plain.
    [[nodiscard]] static walk* start(const store<Layout>& from, const query_cache& cache,
                                     const match_list& list,
                                     std::span<const fragment_data* const> wanted);
    static void end(walk* one) noexcept;

    /// For batches: see `target_finder`.
    static void find(void* store, void* cache, void* list, batch_targets& found);

private:
    static constexpr std::uint32_t block_size = 64;  // entities that are looked at together

    struct run {
        const id_type* ids;
        const chunk_data* chunk;
        std::size_t row;
        std::size_t count;
    };
    /// Up to 64 entities whose ids stand next to each other, and those that are left of them: a bit each.
    struct block {
        const id_type* ids;
        std::uint64_t left;
    };
    struct wanted_fragment {
        const fragment_data* fragment;
        std::size_t size;
        std::byte* base;  // in the chunk that was last looked at, or of the block, if its set leads
        bool is_led;
    };

    void choose_lead(const match_list& list);
    bool refill();
    bool show_whole();
    [[nodiscard]] bool find_block(block& found);
    [[nodiscard]] bool find_in_chunks(block& found);
    [[nodiscard]] bool find_in_lead(block& found);
    [[nodiscard]] bool find_loose(block& found);
    void keep_matching(block& one);
    [[nodiscard]] std::uint64_t having(const beside_term& term, const block& one) const noexcept;
    void locate(block& one);
    void look_at(chunk_index which);
    void show(const block& one);
    void add_run(const block& one, unsigned lane, unsigned count);
    [[nodiscard]] std::byte* find_value(const wanted_fragment& one, id_type who) const noexcept;
    [[nodiscard]] bool are_neighbours(const block& one) const noexcept;
    [[nodiscard]] bool follows(std::size_t which) const noexcept;

    const store<Layout>& store_;
    const query_cache& cache_;
    terms question_;
    std::vector<beside_term> beside_;
    std::vector<wanted_fragment> wanted_;
    bool has_sparse_wanted_ = false;  // beside that which leads

    chunk_data* const* next_chunk_ = nullptr;
    chunk_data* const* last_chunk_ = nullptr;
    std::size_t next_row_ = 0;
    const sparse_set* lead_ = nullptr;
    bool needs_chunk_ = false;  // of those that lead_ has
    bool is_whole_ = false;     // nothing is asked of single entities: runs are as long as can be
    std::uint32_t next_slot_ = 0;
    bool visits_loose_ =
        false;  // entities that are in no chunk may match, and nothing leads to them
    std::size_t loose_set_ = 0;

    // Of the block that is looked at.
    const chunk_data* chunk_ = nullptr;  // of all of them, or that was looked at last
    bool chunk_matches_ = false;
    const chunk_data* chunks_[block_size];  // of each, where a set leads
    std::size_t rows_[block_size];

    run runs_[block_size];
    std::vector<std::byte*> values_;  // of each run, for all that is wanted
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
};

/// A walk if the list is not plain, and its end.
template <class Layout>
class walk_of {
public:
    walk_of() noexcept = default;
    walk_of(const store<Layout>& from, const query_cache& cache, const match_list& list,
            std::span<const fragment_data* const> wanted)
        : walk_(walk<Layout>::start(from, cache, list, wanted)) {}
    walk_of(walk_of&& other) noexcept : walk_(std::exchange(other.walk_, nullptr)) {}
    walk_of& operator=(const walk_of&) = delete;
    ~walk_of() {
        if (walk_ != nullptr) walk<Layout>::end(walk_);
    }
    explicit operator bool() const noexcept { return walk_ != nullptr; }
    walk<Layout>* operator->() const noexcept { return walk_; }

private:
    walk<Layout>* walk_ = nullptr;
};

}  // namespace muster::detail
