// What happened, for the picture and the summary.
#pragma once

#include "components.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace demo {

struct tally {
    // Counted by hooks, which the world calls on its own thread.
    std::uint64_t spawned = 0;
    std::uint64_t destroyed = 0;
    std::uint64_t sparse = 0;  // states that came or went

    // Counted by systems, on many threads.
    std::atomic<std::uint64_t> stale{0};  // handles that were asked, and knew that they are dead
    std::atomic<std::uint64_t> moved{0};  // between chunks
    std::atomic<std::uint64_t> eaten{0};
    std::atomic<std::uint64_t> caught{0};

    std::uint64_t submitted = 0;  // commands of the weather's thread

    std::vector<entity> graves;  // handles of the dead, to be asked once more in the end
    static constexpr std::size_t most_graves = 4'000'000;

    static void add(std::atomic<std::uint64_t>& one) {
        one.fetch_add(1, std::memory_order_relaxed);
    }
};

}  // namespace demo
