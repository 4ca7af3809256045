// What does the end of an entity with three components cost?
#include "support/scene.hpp"

namespace muster::bench {
namespace {

template <class World>
void destroy_full(benchmark::State& state) {
    measure(
        state, [&] { return std::make_unique<scene<World>>(size_of(state), true); },
        [](scene<World>& s) {
            for (const auto e : s.entities) s.world.destroy(e);
        },
        [](scene<World>& s) { return count_alive(s.world, s.entities) == 0; });
}
MUSTER_BENCH_WORLD("destroy_full", destroy_full, destroy_full<floor_world>);

}  // namespace
}  // namespace muster::bench
