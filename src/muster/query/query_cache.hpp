// query_cache: for each question that was asked of a world, the chunks that answer it.
//
// A list is kept: it looks only at chunks that were made since it was last read. Equal questions share
// one. Lists are few and small, and live as long as their world.
#pragma once

#include <muster/base/raw_array.hpp>
#include <muster/query/terms.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/type/fragment_table.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace muster::detail {

struct match_list {
    terms question;
    std::vector<chunk_data*> chunks;  // that match, in the order of their making
    std::uint64_t generation = 0;     // of the graph, when it was last read; 0: never
    std::size_t seen = 0;             // chunks of the graph that were looked at
    std::uint32_t readers = 0;        // loops that go over `chunks`, or what they were before
    match_list* before = nullptr;     // what those had, and what was before that; owned
};

MUSTER_API void forget_before(match_list& list) noexcept;

/// Who loops over a list. What the list had when the loop began stays there for it.
class list_reader {
public:
    explicit list_reader(match_list& list) noexcept
        : list_(&list), begin_(list.chunks.data()), end_(begin_ + list.chunks.size()) {
        ++list.readers;
    }
    list_reader(list_reader&& other) noexcept
        : list_(std::exchange(other.list_, nullptr)), begin_(other.begin_), end_(other.end_) {}
    list_reader& operator=(const list_reader&) = delete;
    ~list_reader() {
        if (list_ != nullptr && --list_->readers == 0 && list_->before != nullptr) [[unlikely]]
            forget_before(*list_);
    }
    [[nodiscard]] chunk_data* const* begin() const noexcept { return begin_; }
    [[nodiscard]] chunk_data* const* end() const noexcept { return end_; }

private:
    match_list* list_;
    chunk_data* const* begin_;
    chunk_data* const* end_;
};

class MUSTER_API query_cache {
public:
    query_cache(const fragment_table& fragments, const chunk_graph& graph) noexcept;
    query_cache(const query_cache&) = delete;
    query_cache& operator=(const query_cache&) = delete;
    ~query_cache();

    /// The list for this question; equal ones get the same. `std::bad_alloc` changes nothing. O(1).
    match_list& ensure(const terms& question);

    /// The chunks that match now. O(chunks made since the last time).
    list_reader read(match_list& list) {
        if (list.generation != graph_.generation() || list.seen != graph_.all().size()) [[unlikely]]
            refresh(list);
        return list_reader(list);
    }

    /// For a batch: `find(cache, list, found)` adds the chunks that match then.
    static void find(void* cache, void* list, std::vector<chunk_data*>& found);

    /// The fragment that a term means now, or `no_fragment`.
    [[nodiscard]] const fragment_data& fragment_of(const term& one) const noexcept {
        return one.is_typed ? fragments_.find(static_cast<type_index>(one.what))
                            : fragments_.look(one.what);
    }

    [[nodiscard]] bool matches(const terms& question, const chunk_data& chunk) const noexcept;
    /// Term by term, what is there and what is not.
    [[nodiscard]] std::string explain(const terms& question, const chunk_data& chunk) const;

private:
    void refresh(match_list& list);

    const fragment_table& fragments_;
    const chunk_graph& graph_;
    std::vector<match_list*> places_;  // owned; by hash; a power of two, at most half of them taken
    std::size_t size_ = 0;
};

}  // namespace muster::detail
