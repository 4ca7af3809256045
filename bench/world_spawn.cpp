// What does an entity with two components cost when it is made: one by one without reserve, many at once?
#include "support/scene.hpp"

namespace muster::bench {
namespace {

template <class World>
void spawn_one_by_one(benchmark::State& state) {
    const std::size_t count = size_of(state);
    std::vector<typename World::id_type> out(count);
    measure(
        state, [] { return std::make_unique<World>(); },
        [&](World& w) {
            for (std::size_t i = 0; i < count; ++i)
                out[i] = w.spawn(position_of(i), velocity_of(i));
        },
        [&](World& w) { return count_alive(w, out) == count; });
}
MUSTER_BENCH_WORLD("spawn2", spawn_one_by_one, spawn_one_by_one<floor_world>);

struct arrays {
    std::vector<position> positions;
    std::vector<velocity> velocities;
    explicit arrays(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            positions.push_back(position_of(i));
            velocities.push_back(velocity_of(i));
        }
    }
};

template <class World>
void spawn_from_arrays(benchmark::State& state) {
    const arrays from(size_of(state));
    std::vector<typename World::id_type> out(size_of(state));
    measure(
        state, [] { return std::make_unique<World>(); },
        [&](World& w) { w.spawn_columns_into(out, from.positions, from.velocities); },
        [&](World& w) { return count_alive(w, out) == out.size(); });
}
void floor_from_arrays(benchmark::State& state) {
    const arrays from(size_of(state));
    std::vector<floor_world::id_type> out(size_of(state));
    measure(
        state, [] { return std::make_unique<floor_world>(); },
        [&](floor_world& w) { w.spawn_many(from.positions, from.velocities, out); },
        [&](floor_world& w) { return count_alive(w, out) == out.size(); });
}
MUSTER_BENCH_WORLD("spawn2_bulk", spawn_from_arrays, floor_from_arrays);

}  // namespace
}  // namespace muster::bench
