// inbox: what the threads of a user's own hand to a world, and the ids that it keeps ready for them.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/atomic_word.hpp>
#include <muster/command/recorder.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster::detail {

/// Any thread may make any call, unless it says otherwise.
class MUSTER_API inbox {
public:
    inbox();
    inbox(const inbox&) = delete;
    inbox& operator=(const inbox&) = delete;
    ~inbox();

    /// Something was put in and not taken out yet. One load.
    [[nodiscard]] bool has_mail() const noexcept { return count_.load_relaxed() != 0; }

    /// A recorder without changes; used ones come again.
    [[nodiscard]] recorder* take_empty();
    /// The recorder is the inbox's from now on; gives an empty one. `std::bad_alloc`: it is still the
    /// caller's.
    [[nodiscard]] recorder* hand_over(recorder* changes);
    /// Nothing of it is to happen: the world only has to know which ids were shown.
    [[nodiscard]] recorder* discard(recorder* changes) noexcept;
    void put_back(recorder* empty) noexcept;
    /// All that was put in, in the order of its coming. The world's thread.
    [[nodiscard]] std::vector<recorder*> take_all();

    /// Ids that were reserved and are not used: up to `count` are added to `out`.
    void take_ids(array_list<std::uint64_t>& out, std::size_t count);
    void put_ids(array_list<std::uint64_t>& unused) noexcept;
    [[nodiscard]] std::size_t count_ids() const noexcept;

private:
    struct parts;
    parts* parts_;  // owned; apart, so that who includes this need not compile it
    atomic_word<std::uint32_t> count_;
};

}  // namespace muster::detail
