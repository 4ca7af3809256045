// Entities for the workloads on worlds.
#pragma once

#include <muster/world/world.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include "support/components.hpp"
#include "support/floor_world.hpp"
#include "support/measure.hpp"

namespace muster::bench {

template <class World>
struct scene {
    World world;
    std::vector<typename World::id_type> entities;

    /// `count` entities with a position and a velocity, or with a payload, too.
    explicit scene(std::size_t count, bool with_payload = false) {
        for (std::size_t i = 0; i < count; ++i)
            entities.push_back(with_payload ? world.spawn(position_of(i), velocity_of(i), payload{})
                                            : world.spawn(position_of(i), velocity_of(i)));
    }

    std::vector<typename World::id_type> shuffled_entities() const {
        std::vector<typename World::id_type> made;
        for (const std::uint32_t i : shuffled(entities.size(), 42)) made.push_back(entities[i]);
        return made;
    }
};

inline std::size_t size_of(const benchmark::State& state) {
    return static_cast<std::size_t>(state.range(0));
}

/// What the x of all positions of `count` entities add up to.
inline double sum_of_x(std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += position_of(i).x;
    return sum;
}

/// Adds up what `x_of(e)` gives for all entities, which are shuffled.
template <class Ids, class Read>
void sum_shuffled(benchmark::State& state, const Ids& entities, Read x_of) {
    double sum = 0;
    measure_again(
        state,
        [&] {
            double now = 0;
            for (const auto e : entities) now += x_of(e);
            sum = now;
            benchmark::DoNotOptimize(sum);
        },
        [&] { return sum == sum_of_x(size_of(state)); });
}

}  // namespace muster::bench
