// A million things are born and die in each round, and a handle to every one of them is kept. In the end
// all handles are asked: each must know whether it is alive, and so must forged ones.
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
    std::vector<id> held(population);  // every handle ever issued
    held.reserve(population * static_cast<std::size_t>(rounds + 1));
    const stopwatch birth;
    world.create(held);
    std::printf("%zu born, %.1f ns each\n", population, birth.per(population));

    std::vector<id> living = held;
    for (int round = 1; round <= rounds; ++round) {
        const stopwatch time;
        for (std::size_t i = 0; i < population; ++i) {
            id& victim = living[dice() % population];
            world.destroy(victim);
            victim = world.create();
            held.push_back(victim);
        }
        std::printf("round %d: %zu die at random, and others take their keys, %.1f ns each\n",
                    round, population, time.per(population));
    }

    // What is true, told by the list of the living and not by the handles.
    std::vector<id> truth(population);
    for (const id e : living) truth[e.key()] = e;

    std::size_t lies = 0, alive = 0;
    const stopwatch asking;
    for (const id e : held) {
        const bool says = world.alive(e);
        alive += says ? 1u : 0u;
        lies += says == (truth[e.key()] == e) ? 0u : 1u;
    }
    const double asked = asking.per(held.size());
    for (std::size_t i = 0; i < population; ++i) {
        const id forged = id::from_value(dice());
        lies += world.alive(forged) ? 1u : 0u;
        const id foreign = id::pack(living[i].key(), living[i].version(), 2);
        lies += world.alive(foreign) ? 1u : 0u;
    }
    std::printf(
        "%zu handles asked, %.1f ns each: %zu alive, %zu dead; %zu forged and foreign ones asked\n",
        held.size(), asked, alive, held.size() - alive, 2 * population);
    std::printf("lies told: %zu\n", lies);
    return lies == 0 && alive == population ? 0 : 1;
}
