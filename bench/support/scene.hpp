// Entities for the workloads of Muster alone.
#pragma once

#include <muster/world/world.hpp>

#include <cstddef>
#include <memory>
#include <vector>

#include "questions/order.hpp"
#include "support/components.hpp"
#include "support/suite.hpp"

namespace muster::bench {

struct scene {
    muster::world world;
    std::vector<entity> entities;

    /// Creates `count` entities with a position, a velocity and optionally a payload.
    explicit scene(std::size_t count, bool with_payload = false) {
        for (std::size_t i = 0; i < count; ++i)
            entities.push_back(with_payload ? world.spawn(position_of(i), velocity_of(i), payload{})
                                            : world.spawn(position_of(i), velocity_of(i)));
    }
};

/// Not inlined, so that the surrounding code does not affect its compilation.
template <class Ids, class Read>
[[gnu::noinline]] double sum_over(const Ids& entities, Read x_of) {
    double sum = 0;
    for (const auto e : entities) sum += static_cast<double>(x_of(e));
    return sum;
}

/// Times the sum of `x_of(e)` over all entities, which are shuffled.
template <class Ids, class Read>
void sum_shuffled(trial& t, const Ids& entities, Read x_of) {
    double sum = 0;
    measure_again(
        t,
        [&] {
            sum = sum_over(entities, x_of);
            keep(sum);
        },
        [&] { return sum == sum_of_x(t.size()); });
}

}  // namespace muster::bench
