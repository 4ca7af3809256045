// lane: a thread's part in a parallel phase of a world: which rows it has to see to, and the changes that
// it has recorded, each with the place in the order that a single thread would have made them in.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/command/recorder.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace muster::detail {

struct chunk_data;

/// Some rows of the chunks of a list: all of them, but for those of the first chunk before `from`, and those
/// of the last from `to` on.
struct row_window {
    const void* list = nullptr;  // whose chunks they are; null: there is no window
    chunk_data* const* first = nullptr;
    chunk_data* const* last = nullptr;
    std::size_t from = 0;
    std::size_t to = 0;
};

/// A component that a system touches.
struct access {
    type_index type;
    bool is_written;
    std::string_view name;
};

/// What the systems of a phase touch.
struct system_accesses {
    std::string_view system;  // empty: a loop of its own
    std::span<const access> touched;
};

struct lane {
    /// What is recorded from `first` on was caused by these rows of this work.
    struct mark {
        std::uint32_t work;
        std::uint64_t row;
        std::uint32_t first;
    };

    const void* store = nullptr;  // the world's
    lane* outer = nullptr;        // this thread's part in the phase of another world
    recorder changes;
    array_list<mark> marks;
    row_window window;        // what the next loop over its list is to see
    std::string_view system;  // that runs; empty: none
    std::uint32_t work = 0;   // the number of its work
    std::span<const system_accesses> works;

    /// `std::bad_alloc` changes nothing.
    void begin(std::uint32_t which, std::uint64_t row) {
        if (!marks.empty() && marks.back().first == changes.size()) marks.pop_back();
        marks.push_back({which, row, changes.size()});
        work = which;
    }
};

/// This thread's lane in that store's phase, or null.
[[nodiscard]] MUSTER_API lane* find_lane(const void* store) noexcept;
/// The same number for the same thread, another for each other, also when it has ended; never 0.
[[nodiscard]] MUSTER_API std::uintptr_t this_thread() noexcept;

/// While it lives, this thread has that lane.
class MUSTER_API lane_guard {
public:
    explicit lane_guard(lane& one) noexcept;
    lane_guard(const lane_guard&) = delete;
    lane_guard& operator=(const lane_guard&) = delete;
    ~lane_guard();

private:
    lane& lane_;
};

}  // namespace muster::detail
