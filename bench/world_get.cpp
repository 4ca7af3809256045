// What does checked access to the component of any entity cost: against arrays, and against no checks?
#include "support/scene.hpp"
#include "unchecked/unchecked.hpp"

namespace muster::bench {
namespace {

template <class World>
void get_shuffled(benchmark::State& state) {
    scene<World> s(size_of(state));
    sum_shuffled(state, s.shuffled_entities(),
                 [&](auto e) { return s.world.template get<position>(e).x; });
}
template <class World>
void try_get_shuffled(benchmark::State& state) {
    scene<World> s(size_of(state));
    sum_shuffled(state, s.shuffled_entities(), [&](auto e) {
        const auto* const p = s.world.template try_get<position>(e);
        return p == nullptr ? 0 : p->x;
    });
}
void floor_get(benchmark::State& state) {
    scene<floor_world> s(size_of(state));
    sum_shuffled(state, s.shuffled_entities(), [&](auto e) {
        const auto* const p = s.world.try_get(e);
        return p == nullptr ? 0 : p->x;
    });
}
MUSTER_BENCH_WORLD("get_random", get_shuffled, floor_get);
MUSTER_BENCH_WORLD("try_get_random", try_get_shuffled, floor_get);

/// The floor here is Muster itself, built with MUSTER_UNCHECKED.
void get_without_checks(benchmark::State& state) {
    const unchecked_scene s(size_of(state));
    double sum = 0;
    measure_again(
        state,
        [&] {
            sum = s.sum_of_x();
            benchmark::DoNotOptimize(sum);
        },
        [&] { return sum == sum_of_x(size_of(state)); });
}
const int registered_checks = [] {
    add("get_random, checks", "floor", get_without_checks);
    add("get_random, checks", "muster", get_shuffled<basic_world<layouts::bound>>);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
