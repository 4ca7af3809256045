// link_walk: visits the entities that match a query with conditions on links, in blocks:
//
//     rows of a chunk      all of its rows match; values are adjacent
//     a list of rows       of a chunk that has several levels: sorted by level
//     a list of ids        everything else
//
// Without an order, entities come as in other queries, unless the components have at least as many entities
// as a condition on links has sources. Then they come in the order of these sources. `top_down` visits level
// after level, and `by_target` the sources of one target after those of another; both keep the order
// otherwise.
//
// A scope is open during a walk, so that no link changes.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/change/journal.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/relation/link.hpp>
#include <muster/relation/link_conditions.hpp>
#include <muster/relation/relation_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

struct engine;
class link_search;
struct link_world;

/// A query with conditions on links.
struct link_question {
    const engine* owner;
    query_cache* cache;
    void* store;
    void (*find)(void* store, void* cache, void* list,
                 batch_targets& found);  // see `target_finder`
    bool is_shared;                      // other threads may use the world
    const terms* question;
    link_conditions links;
    link_order order{};
    bool tests_components = true;  // see `link_search`

    [[nodiscard]] link_world world() const noexcept;
};

class MUSTER_API link_walk {
public:
    explicit link_walk(const link_question& asked);
    link_walk(link_walk&& other) noexcept
        : search_(std::exchange(other.search_, nullptr)),
          block_(other.block_),
          plan_(std::move(other.plan_)) {}
    link_walk& operator=(const link_walk&) = delete;
    ~link_walk();

    /// Advances to the next block. Returns false at the end.
    bool next();

    struct block {
        const chunk_data* chunk = nullptr;  // null: the block has `ids`
        const std::uint64_t* ids = nullptr;
        std::size_t size = 0;
        std::size_t first = 0;  // row
        const std::uint32_t* rows =
            nullptr;  // not null: rows of the chunk, in place of adjacent ones

        [[nodiscard]] std::uint64_t id_at(std::size_t i) const noexcept {
            if (chunk == nullptr) return ids[i];
            return chunk->id_at(rows != nullptr ? rows[i] : first + i);
        }
    };
    [[nodiscard]] const block& now() const noexcept { return block_; }
    /// Returns the id of an entity of the block.
    [[nodiscard]] std::uint64_t id_at(std::size_t i) const noexcept { return block_.id_at(i); }

    /// Advances to the next part, in place of `next`: entities that threads may visit at the same time. The
    /// rows of a part, if its list is not null; otherwise, `next` returns its blocks.
    bool next_part();
    [[nodiscard]] const shared_rows& part() const noexcept { return part_; }

    /// Throws `errc::not_a_relation` if the relation has no levels.
    static void require_leveled(const engine& owner, const term_name& relation);
    /// Whether an entity matches.
    [[nodiscard]] static bool matches(const link_question& asked, std::uint64_t e);
    /// Whether an entity meets the conditions on links. Describes each of them.
    [[nodiscard]] static std::string explain(const link_question& asked, std::uint64_t e);

private:
    void sort();
    void sort_chunks();
    void sort_ids();
    void sort_rows(const array_list<chunk_data*>& all, bool goes_down);
    [[nodiscard]] std::uint64_t level_of(const chunk_data& chunk) const noexcept;
    bool next_rows();
    bool next_ids();
    bool next_deep();
    bool next_level();
    bool next_list();

    link_search* search_;  // owned
    block block_;
    struct plan {
        link_order order;
        relation_ref by;                 // the relation of the order
        array_list<chunk_data*> chunks;  // whose rows all match, in order
        array_list<std::uint64_t> ids;   // the next block; with an order, all that follow
        std::size_t next = 0;            // in `chunks`
        bool has_ids = false;            // `ids` was not visited yet
        chunk_data* deep = nullptr;      // the deep levels, if its rows are sorted
        array_list<std::uint32_t> rows;  // otherwise: their rows
        array_list<chunk_data*> owners;  // of `rows`
        std::size_t next_row = 0;        // in `rows`
        bool is_grouped = false;         // the words of chunks are targets by the order's relation
        bool is_streamed = false;        // more ids follow
        bool is_parted = false;          // `next` returns only ids
    } plan_;
    shared_rows part_;
};

/// Visits the rows of a part that a thread has taken, or all of them.
class MUSTER_API part_walk {
public:
    /// `store` identifies the world.
    part_walk(const shared_rows& part, const void* store) noexcept;
    bool next() noexcept;
    [[nodiscard]] const link_walk::block& now() const noexcept { return block_; }

private:
    chunk_range rows_;
    chunk_data* const* at_;
    link_walk::block block_;
};

/// The links of one source, with their values.
struct link_values {
    link_ends ends;
    std::byte* values = nullptr;  // of the first end; null: the relation has none
};

/// Reads the links of a relation.
class MUSTER_API link_reader {
public:
    link_reader(const engine& owner, const term_name& relation) noexcept;
    [[nodiscard]] link_values read(std::uint64_t source) const noexcept;

private:
    relation_ref relation_;
    const relation_data* links_;  // null: no relation
};

}  // namespace MUSTER_NAMESPACE::detail
