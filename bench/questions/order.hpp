// Orders in which workloads visit, destroy and look up entities.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace muster::bench {

inline std::vector<std::uint32_t> shuffled(std::size_t count, std::uint32_t seed) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    return order;
}

template <class Id>
std::vector<Id> shuffled(const std::vector<Id>& all, std::uint32_t seed) {
    std::vector<Id> made;
    made.reserve(all.size());
    for (const std::uint32_t i : shuffled(all.size(), seed)) made.push_back(all[i]);
    return made;
}

/// Returns `count` random indices below `count`, some of them repeated.
inline std::vector<std::uint32_t> at_random(std::size_t count, std::uint32_t seed) {
    std::mt19937 dice(seed);
    std::vector<std::uint32_t> made(count);
    for (auto& value : made) value = static_cast<std::uint32_t>(dice() % count);
    return made;
}

template <class Pool>
std::size_t count_alive(const Pool& pool, const std::vector<typename Pool::id_type>& ids) {
    std::size_t count = 0;
    for (const auto e : ids) count += static_cast<std::size_t>(pool.alive(e));
    return count;
}

/// Some libraries defer destruction to the end of a frame.
template <class Contestant>
void finish_frame(Contestant& c) {
    if constexpr (requires { c.finish_frame(); }) c.finish_frame();
}

}  // namespace muster::bench
