// query_cache: for each distinct query of a world, the chunks that match.
//
// Lists are updated incrementally: a read checks only the chunks that were created since the last
// read. Equal queries share a list. Lists are few and small, and live as long as their world.
//
// Chunks cannot answer terms of sparse fragments. A list stores these terms separately, and a
// `walk` checks them for each entity.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/raw_array.hpp>
#include <muster/query/term_resolver.hpp>
#include <muster/query/terms.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/sparse_table.hpp>
#include <muster/type/fragment_table.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// A term that is checked for each entity: its fragment, or another of its `any` group, is sparse.
struct sparse_term {
    const fragment_data* fragment;
    term_kind kind;
    std::uint8_t group;
    bool is_resolved = false;       // a value from outside of the chunk satisfies it, too
    const void* outside = nullptr;  // in a walk: such a value for the current chunk
};

struct match_list {
    terms question;
    array_list<chunk_data*> chunks;  // matching chunks, in order of creation or of a resolver
    // Of the graph at the last read; 0: never read. Stays 0 if the question has a resolver, whose
    // version every read then checks in `refresh`.
    std::uint64_t generation = 0;
    std::size_t seen = 0;            // chunks of the graph that were checked
    match_list* previous = nullptr;  // older versions that loops may still use; owned

    array_list<sparse_term> sparse_terms;  // also `without` terms of hidden sparse fragments
    bool is_plain = true;                  // `chunks` is the whole result
    bool is_inside = false;                // all matching entities are in chunks
    bool has_outside = false;              // some chunks show values from outside of them

    struct resolved_state {
        std::uint64_t generation = 0;
        std::uint64_t version = 0;  // of all its resolvers together
        bool operator==(const resolved_state&) const = default;
    };
    resolved_state built;  // when a list with resolvers was last built
};

/// The chunks of a list when it was read. They stay valid while a loop uses them; see
/// `query_cache::read`.
struct chunk_range {
    chunk_data* const* first;
    chunk_data* const* last;
    bool is_plain;  // see `match_list`
    // Loops skip rows of the first chunk before `from`, and of the last chunk from `to` on.
    std::size_t from = 0;
    std::size_t to = ~std::size_t{0};
    /// The first row of the chunk at `at`, and the end of its rows, if `next` is the next
    /// position.
    [[nodiscard]] std::size_t first_row(chunk_data* const* at) const noexcept {
        return at == first ? from : 0;
    }
    [[nodiscard]] std::size_t end_row(chunk_data* const* next, std::size_t size) const noexcept {
        return next == last && to < size ? to : size;
    }
    [[nodiscard]] chunk_data* const* begin() const noexcept { return first; }
    [[nodiscard]] chunk_data* const* end() const noexcept { return last; }
};

/// The rows of a parallel loop.
struct shared_rows {
    match_list* list = nullptr;  // null: not divisible
    chunk_range chunks{};
    std::uint64_t unit = 1;  // a thread takes whole units of rows, except for the last one

    [[nodiscard]] std::uint64_t count() const noexcept {
        if (list == nullptr) return 1;
        std::uint64_t all = 0;
        for (const chunk_data* chunk : chunks) all += chunk->size;
        return all;
    }
};

class MUSTER_API query_cache {
public:
    query_cache(const fragment_table& fragments, const chunk_graph& graph,
                const sparse_table& sparse);
    query_cache(const query_cache&) = delete;
    query_cache& operator=(const query_cache&) = delete;
    ~query_cache();

    /// Adds a resolver, which must outlive the cache, and returns its number for terms. Throws
    /// `std::bad_alloc`, or `errc::limit` beyond 255 resolvers.
    resolver_index add_resolver(const term_resolver& resolver);

    /// Adds the terms of one list; a list of `any` is a group of its own, and never satisfied if it
    /// is empty. Throws `errc::given_twice` if two of them name the same fragment, and
    /// `errc::limit`.
    void add_list(terms& question, term_kind kind, std::span<const term_name> list) const;

    /// Returns the list for this query; equal queries share it. `std::bad_alloc` changes nothing.
    /// O(1).
    match_list& ensure(const terms& question);

    /// Returns the chunks that match now. If `has_loops`, running loops keep the chunks that they
    /// use. O(chunks created since the last read).
    chunk_range read(match_list& list, bool has_loops) {
        if (list.generation != graph_.generation() || list.seen != graph_.all().size()) [[unlikely]]
            refresh(list, has_loops);
        return range_of(list);
    }
    /// Returns the chunks of a list that was just read.
    [[nodiscard]] static chunk_range range_of(const match_list& list) noexcept {
        return {list.chunks.data(), list.chunks.data() + list.chunks.size(), list.is_plain};
    }

    /// Updates all lists for a parallel phase, during which they stay up to date.
    void refresh_all(bool has_loops);
    /// Returns the updated list of a query, under a lock. Threads may call it at the same time: in a
    /// parallel phase, or for queries of a const world. For `has_loops` see `read`: loops of other
    /// threads do not count, because the chunks have not changed since these began.
    [[nodiscard]] match_list& ensure_shared(const terms& question, bool has_loops = true);

    /// Returns the current fragment of a term, or `no_fragment`. Of a relation, that of its links.
    [[nodiscard]] const fragment_data& fragment_of(const term& wanted) const noexcept {
        const fragment_data& named = named_by(wanted);
        return named.alias == nullptr || wanted.is_shown ? named : *named.alias;
    }

    /// Returns how the rows of the chunk satisfy the fragments of the term, whatever its kind.
    /// Sparse fragments are not checked.
    [[nodiscard]] term_match match(const term& wanted, const chunk_data& chunk) const noexcept;
    /// Returns the value of this fragment that a term of the query shows in all rows of a chunk
    /// without it, or null.
    [[nodiscard]] const void* outside(const terms& question, const fragment_data& fragment,
                                      const chunk_data& chunk) const noexcept;

    /// Whether entities of this chunk may match. Sparse fragments are not checked.
    [[nodiscard]] bool may_match(const terms& question, const chunk_data& chunk) const noexcept;
    /// Whether this entity matches. It must be alive and in this chunk.
    [[nodiscard]] bool matches(const terms& question, const chunk_data& chunk,
                               std::uint64_t e) const noexcept;
    /// Describes for each term whether the entity satisfies it.
    [[nodiscard]] std::string explain(const terms& question, const chunk_data& chunk,
                                      std::uint64_t e) const;

private:
    struct lock;

    /// Returns the fragment that a term names.
    [[nodiscard]] const fragment_data& named_by(const term& wanted) const noexcept {
        return wanted.is_typed ? fragments_.find(static_cast<type_index>(wanted.type_or_id))
                               : fragments_.lookup(wanted.type_or_id);
    }
    void refresh(match_list& list, bool has_loops);
    void find_sparse(match_list& list) const;
    void add_plain(match_list& list) const;
    void add_resolved(match_list& list) const;
    void sort(match_list& list) const;
    [[nodiscard]] std::uint64_t version_of(const terms& question) const noexcept;
    [[nodiscard]] const term_resolver& resolver_of(resolver_index index) const noexcept {
        return *resolvers_[static_cast<std::size_t>(index) - 1];
    }
    /// Whether `test(fragment)` is true for a fragment that the term stands for.
    template <class Test>
    bool any_fragment(const term& wanted, Test test) const;
    [[nodiscard]] bool is_sparse(const term& wanted) const noexcept;
    [[nodiscard]] bool has(const term& wanted, const chunk_data& chunk,
                           std::uint64_t e) const noexcept;
    [[nodiscard]] std::string name_of(const term& wanted) const;
    [[nodiscard]] bool has_own(const term& wanted, const chunk_data& chunk,
                               std::uint64_t e) const noexcept;
    [[nodiscard]] bool is_named(const terms& question,
                                const fragment_data& fragment) const noexcept;
    template <class Fits>
    [[nodiscard]] bool judge(const terms& question, const chunk_data& chunk, Fits fits) const;

    const fragment_table& fragments_;
    const chunk_graph& graph_;
    const sparse_table& sparse_;
    lock* lock_;                      // owned; a pointer keeps <mutex> out of this header
    array_list<match_list*> places_;  // owned; hash table; a power of two, at most half full
    std::size_t size_ = 0;
    array_list<const term_resolver*> resolvers_;  // by number - 1
    struct state {
        std::uint64_t generation = 0;  // of the graph
        std::size_t chunks = 0;
        std::size_t lists = 0;
        std::uint64_t version = 0;  // of all resolvers together
        bool operator==(const state&) const = default;
    };
    state refreshed_;  // when all lists were last up to date
};

}  // namespace MUSTER_NAMESPACE::detail
