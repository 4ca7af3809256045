// query_cache: for each question that was asked of a world, the chunks that answer it.
//
// A list is kept: it looks only at chunks that were made since it was last read. Equal questions share
// one. Lists are few and small, and live as long as their world.
//
// What is asked of sparse fragments no chunk can answer: those terms are kept beside the list, and a
// `walk` looks at each entity.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/raw_array.hpp>
#include <muster/query/terms.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/sparse_table.hpp>
#include <muster/type/fragment_table.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace muster::detail {

/// A term that is asked of each entity: its fragment is sparse, or one of its group of `any` is.
struct beside_term {
    const fragment_data* fragment;
    term_kind kind;
    std::uint8_t group;
};

struct match_list {
    terms question;
    array_list<chunk_data*> chunks;  // that match, in the order of their making
    std::uint64_t generation = 0;    // of the graph, when it was last read; 0: never
    std::size_t seen = 0;            // chunks of the graph that were looked at
    match_list* before = nullptr;  // what loops may still go over, and what was before that; owned

    array_list<beside_term> beside;  // and sparse fragments that hide entities: `without`
    bool is_plain = true;            // the chunks are all of the answer
    bool is_inside = false;          // who matches is in a chunk
};

/// What a list had when it was read. It stays there while a loop goes over it: see `query_cache::read`.
struct chunk_range {
    chunk_data* const* first;
    chunk_data* const* last;
    bool is_plain;  // see `match_list`
    // Rows of the first chunk before `from`, and of the last from `to` on, are left out.
    std::size_t from = 0;
    std::size_t to = ~std::size_t{0};
    /// Of the chunk at this place; and where its rows end, if `behind` is the place behind it.
    [[nodiscard]] std::size_t first_row(chunk_data* const* at) const noexcept {
        return at == first ? from : 0;
    }
    [[nodiscard]] std::size_t end_row(chunk_data* const* behind, std::size_t size) const noexcept {
        return behind == last && to < size ? to : size;
    }
    [[nodiscard]] chunk_data* const* begin() const noexcept { return first; }
    [[nodiscard]] chunk_data* const* end() const noexcept { return last; }
};

/// What a loop on several threads goes over.
struct shared_rows {
    match_list* list = nullptr;  // null: it is not to be divided
    chunk_range chunks{};

    [[nodiscard]] std::uint64_t count() const noexcept {
        if (list == nullptr) return 1;
        std::uint64_t all = 0;
        for (const chunk_data* one : chunks) all += one->size;
        return all;
    }
};

class MUSTER_API query_cache {
public:
    query_cache(const fragment_table& fragments, const chunk_graph& graph,
                const sparse_table& sparse) noexcept;
    query_cache(const query_cache&) = delete;
    query_cache& operator=(const query_cache&) = delete;
    ~query_cache();

    /// The list for this question; equal ones get the same. `std::bad_alloc` changes nothing. O(1).
    match_list& ensure(const terms& question);

    /// The chunks that match now. If loops may be going over the list, they keep what they have. O(chunks
    /// made since the last time).
    chunk_range read(match_list& list, bool has_loops) {
        if (list.generation != graph_.generation() || list.seen != graph_.all().size()) [[unlikely]]
            refresh(list, has_loops);
        return {list.chunks.data(), list.chunks.data() + list.chunks.size(), list.is_plain};
    }

    /// All lists are up to date: in a parallel phase, which follows, they stay so.
    void refresh_all(bool has_loops);
    /// The list of a question in a parallel phase, by any thread: it is up to date.
    [[nodiscard]] match_list& ensure_shared(const terms& question);

    /// The fragment that a term means now, or `no_fragment`.
    [[nodiscard]] const fragment_data& fragment_of(const term& one) const noexcept {
        return one.is_typed ? fragments_.find(static_cast<type_index>(one.what))
                            : fragments_.look(one.what);
    }

    /// Whether entities of this chunk match, as far as their chunk tells.
    [[nodiscard]] bool may_match(const terms& question, const chunk_data& chunk) const noexcept;
    /// Whether this entity does, which is alive and in that chunk.
    [[nodiscard]] bool matches(const terms& question, const chunk_data& chunk,
                               std::uint64_t who) const noexcept;
    /// Term by term, what is there and what is not.
    [[nodiscard]] std::string explain(const terms& question, const chunk_data& chunk,
                                      std::uint64_t who) const;

private:
    void refresh(match_list& list, bool has_loops);
    void find_beside(match_list& list) const;
    [[nodiscard]] bool is_named(const terms& question, const fragment_data& one) const noexcept;
    template <class Has>
    [[nodiscard]] bool judge(const terms& question, const chunk_data& chunk, Has has) const;

    const fragment_table& fragments_;
    const chunk_graph& graph_;
    const sparse_table& sparse_;
    array_list<match_list*> places_;  // owned; by hash; a power of two, at most half of them taken
    std::size_t size_ = 0;
    struct state {
        std::uint64_t generation = 0;  // of the graph
        std::size_t chunks = 0;
        std::size_t lists = 0;
        bool operator==(const state&) const = default;
    };
    state refreshed_;  // as it was when all lists were last up to date
};

}  // namespace muster::detail
