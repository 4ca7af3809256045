// lane: one thread's part in a parallel phase of a world: the rows that it has to visit and the
// changes that it has recorded. Marks restore the order in which a single thread would have made
// them.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/change/recorder.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct chunk_data;

/// Rows of consecutive chunks of a list. Excludes the rows of the first chunk before `from`, and
/// those of the last chunk from `to` on.
struct row_window {
    const void* list = nullptr;  // the list that the chunks belong to; null: no window
    chunk_data* const* first = nullptr;
    chunk_data* const* last = nullptr;
    std::size_t from = 0;
    std::size_t to = 0;
};

/// A component that a system reads or writes.
struct access {
    type_index type;
    bool is_written;
    std::string_view name;
};

/// The components that one system of a phase accesses.
struct system_accesses {
    std::string_view system;  // empty: a parallel loop outside of systems
    slice<const access> touched;
};

struct lane {
    /// The changes from `first` on were caused by the rows from `row` on of this work item.
    struct mark {
        std::uint32_t work;
        std::uint64_t row;
        std::uint32_t first;
    };

    const void* store = nullptr;  // identifies the world
    lane* outer = nullptr;        // enclosing lane of this thread, for another world; null: none
    recorder changes;
    array_list<mark> marks;
    row_window window;        // the rows for the next loop over `window.list`
    std::string_view system;  // the running system; empty: none
    std::uint32_t work = 0;   // index of the current work item in `works`
    slice<const system_accesses> works;

    /// Starts recording for the rows from `row` on of this work item. `std::bad_alloc` changes
    /// nothing.
    void begin(std::uint32_t which, std::uint64_t row) {
        if (!marks.empty() && marks.back().first == changes.size()) marks.pop_back();
        marks.push_back({which, row, changes.size()});
        work = which;
    }
    /// The first of the rows for which it records.
    [[nodiscard]] std::uint64_t first_row() const noexcept { return marks.back().row; }
};

/// Returns this thread's lane in the phase of `store`, or null.
[[nodiscard]] MUSTER_API lane* find_lane(const void* store) noexcept;
/// Returns the number of the calling thread: unique, never 0, and not reused after the thread ends.
[[nodiscard]] MUSTER_API std::uintptr_t this_thread() noexcept;

/// Guard: until it is destroyed, `worker` is this thread's lane in its world.
class MUSTER_API lane_guard {
public:
    explicit lane_guard(lane& worker) noexcept;
    lane_guard(const lane_guard&) = delete;
    lane_guard& operator=(const lane_guard&) = delete;
    ~lane_guard();

private:
    lane& lane_;
};

}  // namespace MUSTER_NAMESPACE::detail
