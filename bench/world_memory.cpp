// How many bytes does an entity take, beside its components? Not a time: the table shows bytes per entity,
// the 16 of position and velocity among them.
#include <malloc.h>

#include "support/scene.hpp"

namespace muster::bench {
namespace {

double bytes_in_use() {
    const auto info = mallinfo2();
    return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

template <class World>
void memory(benchmark::State& state) {
    const std::size_t count = size_of(state);
    for (auto _ : state) {
        const double before = bytes_in_use();
        const auto w = std::make_unique<World>();
        for (std::size_t i = 0; i < count; ++i) w->spawn(position_of(i), velocity_of(i));
        // The table divides seconds by the number of entities, and shows nanoseconds.
        state.SetIterationTime((bytes_in_use() - before) * 1e-9);
    }
}
MUSTER_BENCH_WORLD("bytes per entity", memory, memory<floor_world>);

}  // namespace
}  // namespace muster::bench
