// simulation: a world with its inhabitants, its systems and its weather; one step is one frame.
#pragma once

#include "systems.hpp"
#include "weather.hpp"

#include <cstddef>
#include <cstdint>

namespace muster {
class executor;
}

namespace demo {

struct population {
    std::size_t birds, insects, hawks, gusts, scared, hungry, chunks;
};

class simulation {
public:
    simulation(std::size_t entities, std::uint64_t seed, muster::executor& threads);

    void step();

    const muster::world& world() const { return world_; }
    const tally& counts() const { return counts_; }
    population census();
    /// Of all that the inhabitants are, in the order of the loops, without the numbers of their ids: it
    /// does not depend on threads.
    std::uint64_t hash();
    /// Handles that say something else than what is known of them; asks all that died, and all that live.
    std::size_t lies();
    /// Calls `look(name, nanoseconds)` for the systems, with the mean of their frames.
    template <class Look>
    void each_system(Look look) {
        for (const std::string_view name : world_.system_order()) {
            const muster::system_timings times = world_.find_system(name).timings();
            if (times.count != 0) look(name, times.mean);
        }
    }
    // What the picture shows.
    template <class Look>
    void each_bird(Look look) {
        world_.query<const position, const velocity, const flock>().each(look);
    }
    template <class Look>
    void each_scared(Look look) {
        world_.query<const position>().with<scared>().each(look);
    }
    template <class Look>
    void each_insect(Look look) {
        world_.query<const position>().with<insect>().each(look);
    }
    template <class Look>
    void each_hawk(Look look) {
        world_.query<const position, const velocity>().with<hawk>().each(look);
    }

private:
    void watch();
    muster::world& settle(std::size_t entities, std::uint64_t seed);

    tally counts_;
    muster::world world_;
    muster::executor& threads_;
    weather weather_;
};

}  // namespace demo
