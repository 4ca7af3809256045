// walk: over the entities that match where sparse fragments are asked for. It starts from the cheaper side,
// the chunks that may match or the smallest of the sparse sets that are asked for, and gives blocks: up to
// 64 lanes, entities whose ids stand next to each other, of which some match.
//
//     burning    [ e3 ][ e4 ][ e9 ][    ]          leads, if it has fewer entities than the chunks
//     left          1     0     1     0            e4 does not match; nobody has the last slot
//     position   [ e2 ][ e9 ][ e3 ]...             of e3 and e9: by chunk and row, as their records say
//
// Where all match and all components stand next to each other, too, a block is a run of any length: a
// loop over it is one over arrays.
//
// While a walk goes on, a scope is open: nothing comes or goes.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/store/store.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

namespace muster::detail {

/// Where an entity is that a sparse set leads to.
struct lane_place {
    std::uint32_t chunk;
    std::uint32_t row;
};

/// Where the components of one fragment are, for the lanes of a block: one of three ways.
struct lane_source {
    std::byte* base;              // of the first lane; the others stand behind it
    const fragment_data* inside;  // not null: where the place of each lane says
    std::byte* const* found;      // not null: of each lane, or null
};

template <class Layout>
class MUSTER_API walk {
public:
    using id_type = basic_id<Layout>;

    /// Those that match the list, which was just read; `wanted` are the fragments whose components are
    /// shown, at most `terms::limit`.
    walk(const store<Layout>& from, const query_cache& cache, const match_list& list,
         std::span<const fragment_data* const> wanted);

    walk(const walk&) = delete;
    walk& operator=(const walk&) = delete;

    /// The next block; false if there is none.
    bool next();

    /// Of the first lane, which need not match.
    [[nodiscard]] const id_type* ids() const noexcept { return ids_; }
    /// The lanes that match; of a run, the first 64.
    [[nodiscard]] std::uint64_t left() const noexcept { return left_; }
    [[nodiscard]] bool is_run() const noexcept { return run_ != 0; }
    /// How many match.
    [[nodiscard]] std::size_t size() const noexcept {
        return is_run() ? run_ : static_cast<std::size_t>(std::popcount(left_));
    }
    /// Of each lane, for sources that are `inside`.
    [[nodiscard]] const lane_place* places() const noexcept { return places_.data(); }
    [[nodiscard]] const lane_source& source(std::size_t wanted) const noexcept {
        return wanted_[wanted].source;
    }

    /// Entities of a block that stand next to each other, all in one chunk, and whose components do.
    struct rows {
        std::size_t lane = 0;
        std::size_t count = 0;
        const id_type* ids = nullptr;
        const chunk_data* chunk = nullptr;  // null: it was not looked for
        std::size_t first = 0;              // row of that chunk
    };
    /// The next ones, instead of the next block; false if there are none.
    bool next(rows& found);
    /// Where the component of a lane is; null: it has none.
    [[nodiscard]] std::byte* find(std::size_t wanted, std::size_t lane) const noexcept;

    /// For batches: see `target_finder`.
    static void find(void* store, void* cache, void* list, batch_targets& found);

private:
    static constexpr std::uint32_t block_size = 64;

    struct wanted_fragment {
        const fragment_data* fragment;
        std::size_t size;
        lane_source source;
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
    void show_slots(const sparse_set& set, slot_index first);
    void locate();
    void keep_matching();
    [[nodiscard]] std::uint64_t having(const beside_term& term) const noexcept;
    void find_values();
    [[nodiscard]] bool follows(std::size_t lane) const noexcept;

    const store<Layout>& store_;
    const query_cache& cache_;
    const terms& question_;
    array_list<beside_term> beside_;     // what is asked of each entity
    std::span<wanted_fragment> wanted_;  // what is shown; in room_

    chunk_data* const* next_chunk_;
    chunk_data* const* last_chunk_;
    std::size_t next_row_ = 0;
    const sparse_set* lead_ = nullptr;
    std::uint32_t next_slot_ = 0;
    std::size_t loose_set_ = 0;
    bool visits_loose_ = false;  // those in no chunk may match, and nothing leads to them
    bool is_whole_ = false;      // nothing is asked of single entities: blocks can be long runs
    bool is_by_lane_ = true;     // all that is wanted stands next to each other, as the ids do

    // The block.
    const id_type* ids_ = nullptr;
    std::uint64_t left_ = 0;
    std::size_t run_ = 0;                // how long it is; 0: it is none
    const chunk_data* chunk_ = nullptr;  // that all of it is in; null: a set leads
    std::size_t row_ = 0;                // of the first lane
    std::uint64_t unshown_ = 0;          // lanes that `next(rows&)` has not come to

    // Only where a set leads, and chunks are asked for.
    array_list<lane_place> places_;  // of each lane
    array_list<char> matching_;      // which chunks do
    array_list<std::byte*> found_;   // by wanted fragment and lane; see `lane_source`
    wanted_fragment room_[terms::limit];
};

/// A walk, if there is one, where this is: loops need no memory for it.
template <class Layout>
class walk_here {
public:
    walk_here() noexcept {}
    walk_here(const store<Layout>& from, const query_cache& cache, const match_list& list,
              std::span<const fragment_data* const> wanted)
        : is_here_(true) {
        ::new (static_cast<void*>(&walk_)) walk<Layout>(from, cache, list, wanted);
    }
    walk_here(const walk_here&) = delete;
    walk_here& operator=(const walk_here&) = delete;
    ~walk_here() {
        if (is_here_) walk_.~walk();
    }
    /// Null if there is none.
    [[nodiscard]] walk<Layout>* get() noexcept { return is_here_ ? &walk_ : nullptr; }
    walk<Layout>* operator->() noexcept { return &walk_; }

private:
    union {
        walk<Layout> walk_;
    };
    bool is_here_ = false;
};

/// The same for who is moved.
template <class Layout>
class walk_of {
public:
    walk_of() noexcept = default;
    walk_of(const store<Layout>& from, const query_cache& cache, const match_list& list,
            std::span<const fragment_data* const> wanted)
        : walk_(new walk_here<Layout>(from, cache, list, wanted)) {}
    walk_of(walk_of&& other) noexcept : walk_(std::exchange(other.walk_, nullptr)) {}
    walk_of& operator=(const walk_of&) = delete;
    ~walk_of() { delete walk_; }
    explicit operator bool() const noexcept { return walk_ != nullptr; }
    walk<Layout>* operator->() const noexcept { return walk_->get(); }

private:
    walk_here<Layout>* walk_ = nullptr;
};

}  // namespace muster::detail
