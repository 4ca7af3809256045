// simulation: a world with its entities, its systems and its weather; one step is one frame.
#pragma once

#include "systems.hpp"
#include "weather.hpp"

#include <muster/fwd.hpp>

#include <cstddef>
#include <cstdint>

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
    /// Returns a hash of all components in loop order. It leaves out ids, whose numbers may depend
    /// on threads.
    std::uint64_t hash();
    /// Returns how many handles of dead and of living entities give a wrong answer.
    std::size_t lies();
    /// Calls `look(name, nanoseconds)` for each system, with its mean time per frame.
    template <class Callback>
    void each_system(Callback look) {
        for (const std::string_view name : world_.system_order()) {
            const muster::system_timings times = world_.find_system(name).timings();
            if (times.count != 0) look(name, times.mean);
        }
    }
    // Loops for the picture.
    template <class Callback>
    void each_bird(Callback look) {
        world_.query<const position, const velocity, const flock>().each(look);
    }
    template <class Callback>
    void each_scared(Callback look) {
        world_.query<const position>().with<scared>().each(look);
    }
    template <class Callback>
    void each_insect(Callback look) {
        world_.query<const position>().with<insect>().each(look);
    }
    template <class Callback>
    void each_hawk(Callback look) {
        world_.query<const position, const velocity>().with<hawk>().each(look);
    }

private:
    void watch();
    muster::world& populate(std::size_t entities, std::uint64_t seed);

    tally counts_;
    muster::world world_;
    muster::executor& threads_;
    weather weather_;
};

}  // namespace demo
