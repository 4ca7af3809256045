// walk: iterates over matching entities if a query uses sparse fragments. It starts from the
// cheaper side: the chunks that may match, or the smallest required sparse set. It returns blocks
// of up to 64 lanes: entities whose ids are adjacent in memory, some of which match.
//
//     burning    [ e3 ][ e4 ][ e9 ][    ]          leads if it has fewer entities than the chunks
//     left          1     0     1     0            e4 does not match; the last slot is empty
//     position   [ e2 ][ e9 ][ e3 ]...             e3 and e9: by chunk and row of their records
//
// If all entities match and all components are adjacent, too, a block is a run of any length. A
// loop over a run is a loop over arrays.
//
// A scope is open during a walk, so that no row is added or removed.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/store/compiled_store.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// The location of an entity that a sparse set leads to.
struct lane_place {
    std::uint32_t chunk;
    std::uint32_t row;
};

/// Locates the components of one fragment for the lanes of a block, in one of three ways.
struct lane_source {
    std::byte* base;              // of the first lane; the next lanes follow
    const fragment_data* inside;  // not null: use the chunk and row of each lane
    // Not null: one address per lane, or null. All are equal for a value from outside of the chunk.
    std::byte* const* found;
};

template <class Layout>
class MUSTER_API walk {
public:
    using id_type = basic_id<Layout>;

    /// Walks over the entities that match the list, which was just read. `wanted` lists the
    /// fragments whose components are shown, at most `terms::limit`.
    walk(const store<Layout>& from, const query_cache& cache, const match_list& list,
         slice<const fragment_data* const> wanted);

    walk(const walk&) = delete;
    walk& operator=(const walk&) = delete;

    /// Advances to the next block. Returns false at the end.
    bool next();

    /// The ids from the first lane on, which need not match.
    [[nodiscard]] const id_type* ids() const noexcept { return ids_; }
    /// The matching lanes; of a run, only the first 64.
    [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
    [[nodiscard]] bool is_run() const noexcept { return run_ != 0; }
    /// The number of matching entities.
    [[nodiscard]] std::size_t size() const noexcept {
        return is_run() ? run_ : static_cast<std::size_t>(std::popcount(left_));
    }
    /// The location of each lane, for sources that are `inside`.
    [[nodiscard]] const lane_place* places() const noexcept { return places_.data(); }
    [[nodiscard]] const lane_source& source(std::size_t wanted) const noexcept {
        return wanted_[wanted].source;
    }

    /// Adjacent entities of a block that are in one chunk and have adjacent components.
    struct rows {
        std::size_t lane = 0;
        std::size_t count = 0;
        const id_type* ids = nullptr;
        const chunk_data* chunk = nullptr;  // null: not looked up
        std::size_t first = 0;              // row in that chunk
    };
    /// Advances by rows instead of blocks. Returns false at the end.
    bool next(rows& found);
    /// Returns the component of a lane, or null if it has none.
    [[nodiscard]] std::byte* find(std::size_t wanted, std::size_t lane) const noexcept;

    /// Finds the targets of a batch; see `target_finder`.
    static void find(void* store, void* cache, void* list, batch_targets& found);

private:
    static constexpr std::uint32_t block_size = 64;

    struct wanted_fragment {
        const fragment_data* fragment;
        std::size_t size;
        lane_source source;
        std::byte* outside =
            nullptr;  // of a sparse fragment: for rows of the chunk without a value
    };

    void choose_lead(const match_list& list);
    void note_matching(const match_list& list);
    void find_sources();
    [[nodiscard]] bool find_run();
    [[nodiscard]] bool find_block();
    [[nodiscard]] bool find_in_chunks();
    [[nodiscard]] bool find_in_lead();
    [[nodiscard]] bool find_loose();
    void show_chunk(const chunk_data& chunk, std::size_t row, std::size_t count);
    void show_outside(const chunk_data& chunk);
    void show_slots(const sparse_set& set, slot_index first);
    void locate();
    void keep_matching();
    [[nodiscard]] std::uint64_t having(const sparse_term& term) const noexcept;
    void find_values();
    [[nodiscard]] bool follows(std::size_t lane) const noexcept;

    const store<Layout>& store_;
    const query_cache& cache_;
    const terms& question_;
    array_list<sparse_term> sparse_terms_;  // checked for each entity
    slice<wanted_fragment> wanted_;         // fragments to show; in room_

    chunk_data* const* next_chunk_;
    chunk_data* const* last_chunk_;
    std::size_t next_row_ = 0;
    const sparse_set* lead_ = nullptr;
    std::uint32_t next_slot_ = 0;
    std::size_t loose_set_ = 0;
    bool visits_loose_ = false;  // entities outside of chunks may match, and no set leads
    bool is_whole_ = false;      // no checks per entity: blocks can be long runs
    bool is_by_lane_ = true;     // all shown components are adjacent, like the ids
    bool has_outside_ = false;   // chunks may show values from outside of them; no set leads

    // The current block.
    const id_type* ids_ = nullptr;
    std::uint64_t left_ = 0;
    std::size_t run_ = 0;                // its length; 0: the block is not a run
    const chunk_data* chunk_ = nullptr;  // the chunk of all lanes; null: a set leads
    bool shows_outside_ = false;         // one of its sources is outside of the chunk
    std::size_t row_ = 0;                // of the first lane
    std::uint64_t unshown_ = 0;          // lanes that `next(rows&)` has not returned yet

    // `places_` and `matching_` are empty unless a set leads and chunks matter.
    array_list<lane_place> places_;   // by lane
    array_list<char> matching_;       // by chunk: whether it matches
    array_list<std::byte*> found_;    // by shown fragment and lane; see `lane_source`
    array_list<std::byte*> outside_;  // the same; empty unless `has_outside_`
    wanted_fragment room_[terms::limit];
};

/// An optional walk, stored inline, so that loops do not allocate it.
template <class Layout>
class walk_here {
public:
    walk_here() noexcept {}
    walk_here(const store<Layout>& from, const query_cache& cache, const match_list& list,
              slice<const fragment_data* const> wanted)
        : is_here_(true) {
        ::new (static_cast<void*>(&walk_)) walk<Layout>(from, cache, list, wanted);
    }
    walk_here(const walk_here&) = delete;
    walk_here& operator=(const walk_here&) = delete;
    ~walk_here() {
        if (is_here_) walk_.~walk();
    }
    /// Null if there is no walk.
    [[nodiscard]] walk<Layout>* get() noexcept { return is_here_ ? &walk_ : nullptr; }
    walk<Layout>* operator->() noexcept { return &walk_; }

private:
    union {
        walk<Layout> walk_;
    };
    bool is_here_ = false;
};

/// An optional walk that can be moved.
template <class Layout>
class walk_of {
public:
    walk_of() noexcept = default;
    walk_of(const store<Layout>& from, const query_cache& cache, const match_list& list,
            slice<const fragment_data* const> wanted)
        : walk_(new walk_here<Layout>(from, cache, list, wanted)) {}
    walk_of(walk_of&& other) noexcept : walk_(std::exchange(other.walk_, nullptr)) {}
    walk_of& operator=(const walk_of&) = delete;
    ~walk_of() { delete walk_; }
    explicit operator bool() const noexcept { return walk_ != nullptr; }
    walk<Layout>* operator->() const noexcept { return walk_->get(); }

private:
    walk_here<Layout>* walk_ = nullptr;
};

}  // namespace MUSTER_NAMESPACE::detail
