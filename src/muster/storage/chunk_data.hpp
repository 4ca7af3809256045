// chunk_data: all entities that have exactly the same fragments, one row each.
//
//     row            0      1      2      3          size = 3, capacity = 4
//     ids          [ e7  ][ e2  ][ e9  ][     ]
//     position     [ x y ][ x y ][ x y ][     ]      columns: one per fragment that has values,
//     velocity     [ x y ][ x y ][ x y ][     ]      in the order of `fragments`
//     frozen                                         a tag: no column
//
// A fragment may divide its entities into groups, by a word: the entities with equal fragments are
// then in as many chunks as there are groups. `fragments` and `words` together identify a chunk.
//
// Rows have no gaps: when a row is removed, the last row takes its place. All columns have the
// chunk's capacity.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/storage/column.hpp>
#include <muster/storage/edge_table.hpp>
#include <muster/storage/id_column.hpp>
#include <muster/storage/row_follower.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace MUSTER_NAMESPACE::detail {

struct MUSTER_API chunk_data {
    // The members that every change reads are on the first two cache lines.
    column ids;
    std::size_t size = 0;
    std::size_t capacity = 0;
    array_list<column> columns;
    chunk_index index{};
    bool is_nontrivial = false;     // moving or destroying values runs user code
    bool has_sparse = false;        // only names a set with a sparse fragment; never has rows
    bool is_followed = false;       // `followers` is not empty
    bool has_guests = false;        // its entities were issued by other worlds
    bool has_participants = false;  // see `value_participant`
    bool is_away = false;           // stands for other worlds; see `chunk_graph::away_chunk`

    // Valid in the epoch `traits_epoch`: see `chunk_graph::refresh`.
    bool is_complete = true;               // adding its fragments implies no other; none is sparse
    bool has_unique = false;               // a fragment is not cloned
    bool notifies_insert = false;          // a fragment has insert hooks or observers
    bool notifies_remove = false;          // a fragment has remove hooks or observers
    std::uint64_t quiet_epoch = 0;         // the epoch in which it was seen that no one is notified
                                           // of removals; 0: none
    edge_table edges;                      // to other chunks
    std::uint64_t traits_epoch = 0;        // see above
    std::uint64_t serial = 0;              // in order of creation; never reused
    std::size_t hash = 0;                  // of `fragments` and `words`
    array_list<fragment_data*> fragments;  // sorted by number
    array_list<std::uint32_t> places;      // in the `chunks` of each fragment
    std::uint32_t order = 0;               // its place in `chunk_graph::all`
    array_list<std::uint64_t> words;       // of its fragments with `has_word`, in their order
    array_list<std::byte> fragment_ids;    // their ids, in the layout's format
    std::size_t forgotten = 0;             // rows hidden by `forget_rows`
    array_list<row_follower*> followers;   // of its fragments, and of all chunks
    mutable std::uint64_t rows_written = 0;  // see `write_tracker`

    chunk_data();
    chunk_data(const chunk_data&) = delete;
    chunk_data& operator=(const chunk_data&) = delete;
    ~chunk_data();

    [[nodiscard]] std::uint64_t id_at(std::size_t row) const noexcept {
        return read_id(ids.at(row), ids.size);
    }
    void set_id(std::size_t row, std::uint64_t id) const noexcept {
        write_id(ids.at(row), id, ids.size);
    }

    /// Whether fast paths may append, move and remove rows.
    [[nodiscard]] bool has_plain_rows() const noexcept {
        return !is_followed && !has_guests && !is_away;
    }

    [[nodiscard]] bool has(const fragment_data& fragment) const noexcept {
        return fragment.base(index) != nullptr;
    }

    /// Returns the values of this fragment, or null if the chunk does not have it. Also works for a
    /// chunk outside of a graph, whose number is 0.
    [[nodiscard]] std::byte* find_base(const fragment_data& fragment) const noexcept;
    /// Returns the index of the fragment's column, or `columns.size()` if it has none, like a tag.
    [[nodiscard]] std::size_t find_column(const fragment_data& fragment) const noexcept;

    /// Returns the word of this fragment; 0 if the chunk does not have it, or it has no words.
    [[nodiscard]] std::uint64_t word_of(const fragment_data& fragment) const noexcept;

    /// Throws `errc::limit` if `more` rows would exceed `limit`.
    void refuse_rows(std::size_t more, std::size_t limit) const {
        if (more > limit - size) [[unlikely]]
            raise_too_many(more, limit);
    }
    /// Makes room for `more` rows. Moves the columns and updates the `arguments` that point into
    /// them. Throws `std::bad_alloc` or, beyond `limit` rows, `errc::limit`; no row is lost or
    /// changed then.
    void make_room(std::size_t more, std::size_t limit, argument_addresses arguments) {
        if (capacity - size < more) [[unlikely]]
            grow(more, limit, arguments);
    }

    /// Like `make_room`, and prepares the followers. For all moves except for fast paths.
    void prepare_rows(std::size_t more, std::size_t limit, argument_addresses arguments) {
        make_room(more, limit, arguments);
        if (is_followed) prepare_followers(more);
    }
    void prepare_followers(std::size_t more);

    /// Tell the followers what has happened to the rows; see `row_follower`.
    void note_appended(std::size_t first, std::size_t count) const noexcept {
        if (is_followed && count != 0) tell_appended(first, count);
    }
    void note_removed(std::size_t row) const noexcept {
        if (is_followed) tell_removed(row);
    }
    void note_restored(std::size_t row) const noexcept {
        if (is_followed) tell_restored(row);
    }
    void note_truncated() const noexcept {
        if (is_followed) tell_truncated();
    }

    /// Frees memory beyond the rows. A column whose reallocation fails keeps its memory.
    void shrink() noexcept;

    /// Swaps the memory of a column with a column of another chunk, of the same type.
    void trade(std::size_t column, chunk_data& other, std::size_t others_column) noexcept;

    /// Destroys the values of `row` and moves the last row into its place. Returns whether a row
    /// moved.
    [[gnu::always_inline]] bool destroy_row(std::size_t row) noexcept {
        const std::size_t last = --size;
        if (is_nontrivial)
            destroy_values_at(row, last);
        else if (row != last)
            for (const column& source : columns) source.take_bytes(row, last, nullptr, 0);
        ids.take_bytes(row, last, nullptr, 0);
        return row != last;
    }

    /// Hides all rows. Their values live until `end_values`.
    void forget_rows() noexcept {
        forgotten = size;
        size = 0;
        note_truncated();
    }
    /// Destroys the values of the hidden rows.
    void end_values() noexcept {
        const std::size_t count = forgotten;
        forgotten = 0;
        destroy_values(0, count);
    }

    /// Destroys the values of `count` rows from `first` on. The caller adjusts `size`.
    void destroy_values(std::size_t first, std::size_t count) const noexcept;

private:
    MUSTER_COLD void tell_appended(std::size_t first, std::size_t count) const noexcept;
    MUSTER_COLD void tell_removed(std::size_t row) const noexcept;
    MUSTER_COLD void tell_restored(std::size_t row) const noexcept;
    MUSTER_COLD void tell_truncated() const noexcept;
    void destroy_values_at(std::size_t row, std::size_t last) const noexcept;
    [[noreturn]] MUSTER_COLD void raise_too_many(std::size_t more, std::size_t limit) const;
    void grow(std::size_t more, std::size_t limit, argument_addresses arguments);
    void resize(std::size_t wanted, argument_addresses arguments);
};

/// "<position, velocity>"
MUSTER_API std::string to_text(const chunk_data& chunk);

}  // namespace MUSTER_NAMESPACE::detail
