// submission_queue: recorded changes that user threads submit to a world, and ids reserved for
// them.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/atomic_word.hpp>
#include <muster/change/recorder.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

/// Any thread may call any function, unless noted otherwise.
class MUSTER_API submission_queue {
public:
    submission_queue();
    submission_queue(const submission_queue&) = delete;
    submission_queue& operator=(const submission_queue&) = delete;
    ~submission_queue();

    /// Whether a submission is pending. Costs one load.
    [[nodiscard]] bool has_submissions() const noexcept { return count_.load_relaxed() != 0; }

    /// Returns a recorder without changes, reused if possible.
    [[nodiscard]] recorder* take_empty();
    /// Submits the recorder, which the queue then owns, and returns an empty recorder. After
    /// `std::bad_alloc` the caller still owns it.
    [[nodiscard]] recorder* hand_over(recorder* changes);
    /// Drops the changes and returns an empty recorder. Submits only the spawned ids, which the
    /// world has to release.
    [[nodiscard]] recorder* discard(recorder* changes) noexcept;
    void put_back(recorder* empty) noexcept;
    /// Returns the submissions that only release ids. Only the world's owner thread may call it.
    [[nodiscard]] std::vector<recorder*> take_discarded();
    /// Frees the memory that is kept for later buffers.
    void trim() noexcept;
    /// Returns all submissions in order. Only the world's owner thread may call it.
    [[nodiscard]] std::vector<recorder*> take_all();

    /// Appends up to `count` reserved, unused ids to `out`.
    void take_ids(array_list<std::uint64_t>& out, std::size_t count);
    /// Takes out the id that has the key of `wanted`, given by the bits `key_mask`, and no later
    /// version. Returns false if there is none. O(ids).
    [[nodiscard]] bool take_id(std::uint64_t wanted, std::uint64_t key_mask,
                               std::uint64_t& found) noexcept;
    void put_ids(array_list<std::uint64_t>& unused) noexcept;
    [[nodiscard]] std::size_t count_ids() const noexcept;

private:
    struct parts;
    parts* parts_;  // owned; a pointer keeps <mutex> out of this header
    atomic_word<std::uint32_t> count_;
};

}  // namespace MUSTER_NAMESPACE::detail
