// Entities for the questions that are asked of Muster alone.
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

    /// `count` entities with a position and a velocity, or with a payload, too.
    explicit scene(std::size_t count, bool with_payload = false) {
        for (std::size_t i = 0; i < count; ++i)
            entities.push_back(with_payload ? world.spawn(position_of(i), velocity_of(i), payload{})
                                            : world.spawn(position_of(i), velocity_of(i)));
    }
};

/// By itself, so that what stands around it does not change how it is compiled.
template <class Ids, class Read>
[[gnu::noinline]] double sum_over(const Ids& entities, Read x_of) {
    double sum = 0;
    for (const auto e : entities) sum += static_cast<double>(x_of(e));
    return sum;
}

/// Adds up what `x_of(e)` gives for all entities, which are shuffled.
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
