// chunk_data: all entities that have exactly the same fragments, one row each.
//
//     row            0      1      2      3          size = 3, capacity = 4
//     ids          [ e7  ][ e2  ][ e9  ][     ]
//     position     [ x y ][ x y ][ x y ][     ]      columns: one per fragment that has values,
//     velocity     [ x y ][ x y ][ x y ][     ]      in the order of `fragments`
//     frozen                                         a tag: no column
//
// Rows stay without gaps: the last row takes the place of one that leaves. All columns have the
// chunk's capacity.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/storage/column.hpp>
#include <muster/storage/edge_table.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace muster::detail {

struct MUSTER_API chunk_data {
    // What every change reads is on the first two cache lines.
    column ids;
    std::size_t size = 0;
    std::size_t capacity = 0;
    array_list<column> columns;
    chunk_index index{};
    bool runs_code = false;     // moving or destroying its values runs code of the user's
    bool is_complete = true;    // it has all that its fragments need
    bool has_unique = false;    // a fragment of it is not cloned
    bool is_hidden = false;     // a fragment of it is hidden
    bool has_sparse = false;    // it only stands for its fragments: no row has a sparse one
    bool tells_coming = false;  // a hook is to be called for who gets all its fragments
    bool tells_going = false;   // a hook is to be called for who loses them
    std::uint64_t serial = 0;   // by the order of making; never given twice
    std::size_t hash = 0;       // of `fragments`
    edge_table edges;           // to other chunks
    array_list<fragment_data*> fragments;  // by number
    array_list<std::byte> fragment_ids;    // their ids, as the layout has them

    chunk_data();
    chunk_data(const chunk_data&) = delete;
    chunk_data& operator=(const chunk_data&) = delete;
    ~chunk_data();

    [[nodiscard]] bool has(const fragment_data& fragment) const noexcept {
        return fragment.base(index) != nullptr;
    }

    /// Where its values of this fragment are; null if it does not have it. Also for a chunk that is in
    /// no graph, whose number is 0.
    [[nodiscard]] std::byte* find_base(const fragment_data& fragment) const noexcept;
    /// Which of the columns has the fragment's values; of a tag none has.
    [[nodiscard]] std::size_t find_column(const fragment_data& fragment) const noexcept;

    /// Room for `more` rows. Moves the columns, and what `arguments` point to in them. May throw
    /// `std::bad_alloc` or, beyond `limit` rows, `errc::limit`; no row is lost or changed then.
    void make_room(std::size_t more, std::size_t limit, watched arguments) {
        if (capacity - size < more) [[unlikely]]
            grow(more, limit, arguments);
    }

    /// Gives back memory that no row needs, where there is memory to do so.
    void shrink() noexcept;

    /// A column changes places with one of another chunk, of the same type.
    void trade(std::size_t column, chunk_data& other, std::size_t others_column) noexcept;

    /// Destroys the values of `row`; the last row takes its place. True if there was another.
    [[gnu::always_inline]] bool destroy_row(std::size_t row) noexcept {
        const std::size_t last = --size;
        if (runs_code)
            destroy_values_at(row, last);
        else if (row != last)
            for (const column& one : columns) one.take_bytes(row, last, nullptr, 0);
        ids.take_bytes(row, last, nullptr, 0);
        return row != last;
    }

    /// Destroys the values of `count` rows from `first` on; they are rows no more.
    void destroy_values(std::size_t first, std::size_t count) const noexcept;

private:
    void destroy_values_at(std::size_t row, std::size_t last) const noexcept;
    void grow(std::size_t more, std::size_t limit, watched arguments);
    void resize(std::size_t wanted, watched arguments);
};

/// "<position, velocity>"
MUSTER_API std::string to_text(const chunk_data& chunk);

}  // namespace muster::detail
