// tally: counters for the picture and the summary.
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
    std::uint64_t sparse = 0;  // sparse states added or removed

    // Counted by systems, on many threads.
    std::atomic<std::uint64_t> stale{0};  // handles found to be dead before use
    std::atomic<std::uint64_t> moved{0};  // entities moved between chunks
    std::atomic<std::uint64_t> eaten{0};
    std::atomic<std::uint64_t> caught{0};

    std::uint64_t submitted = 0;  // commands of the weather's thread

    std::vector<entity> graves;  // handles of dead entities, checked again at the end
    static constexpr std::size_t most_graves = 4'000'000;

    static void add(std::atomic<std::uint64_t>& counter) {
        counter.fetch_add(1, std::memory_order_relaxed);
    }
};

}  // namespace demo
