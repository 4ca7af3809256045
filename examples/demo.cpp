// A million things; in each round a million times one of them dies and another takes its key. Handles of
// all rounds are kept, and in the end all are asked: each must know whether it is alive, and so must
// forged ones and those of another world.
#include <muster/muster.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using muster::id;

namespace {

/// Nanoseconds per operation since it was made.
struct stopwatch {
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    double per(std::size_t operations) const {
        const auto passed = std::chrono::steady_clock::now() - start;
        return std::chrono::duration<double, std::nano>(passed).count() /
               static_cast<double>(operations);
    }
};

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc == 3 && std::string(argv[1]) == "--rounds" ? std::atoi(argv[2]) : 8;
    constexpr std::size_t population = 1'000'000;

    std::mt19937_64 dice(1);
    muster::id_pool<> world;
    std::vector<id> living(population);
    const stopwatch birth;
    world.create(living);
    std::printf("%zu born, %.1f ns each\n", population, birth.per(population));

    std::vector<id> held = living;  // handles of all rounds
    std::vector<std::size_t> victims(population);
    for (int round = 1; round <= rounds; ++round) {
        for (std::size_t& victim : victims) victim = dice() % population;
        const stopwatch time;
        for (const std::size_t victim : victims) {
            world.destroy(living[victim]);
            living[victim] = world.create();
        }
        std::printf("round %d: %zu die at random, and others take their keys, %.1f ns each\n",
                    round, population, time.per(population));
        held.insert(held.end(), living.begin(), living.end());
    }

    // What is true, told by the list of the living and not by the handles.
    std::vector<id> truth(population);
    for (const id e : living) truth[e.key()] = e;

    std::size_t lies = 0, alive = 0;
    const stopwatch asking;
    for (const id e : held) alive += world.alive(e) ? 1u : 0u;
    const double asked = asking.per(held.size());
    for (const id e : held) lies += world.alive(e) == (truth[e.key()] == e) ? 0u : 1u;
    for (std::size_t i = 0; i < population; ++i) {
        lies += world.alive(id::from_value(dice())) ? 1u : 0u;
        const id foreign = id::pack(living[i].key(), living[i].version(), 2);
        lies += world.alive(foreign) ? 1u : 0u;
    }
    std::printf("%zu handles asked, %.1f ns each: %zu of a living thing, %zu stale\n", held.size(),
                asked, alive, held.size() - alive);
    std::printf("%zu forged and foreign handles asked\n", 2 * population);
    std::printf("lies told: %zu\n", lies);
    return lies == 0 && alive >= population ? 0 : 1;
}
