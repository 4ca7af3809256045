// What does checked access to the component of any entity cost: against arrays, and against no checks?
#include "support/scene.hpp"
#include "unchecked/unchecked.hpp"

namespace muster::bench {
namespace {

/// Adds up what `x_of(world, e)` gives for all entities, shuffled.
template <class World, class Read>
void sum_shuffled(benchmark::State& state, Read x_of) {
    scene<World> s(size_of(state));
    const auto order = s.shuffled_entities();
    double sum = 0;
    measure_again(
        state,
        [&] {
            double now = 0;
            for (const auto e : order) now += x_of(s.world, e);
            sum = now;
            benchmark::DoNotOptimize(sum);
        },
        [&] { return sum == sum_of_x(size_of(state)); });
}

template <class World>
void get_shuffled(benchmark::State& state) {
    sum_shuffled<World>(state, [](World& w, auto e) { return w.template get<position>(e).x; });
}
template <class World>
void try_get_shuffled(benchmark::State& state) {
    sum_shuffled<World>(state, [](World& w, auto e) {
        const auto* const p = w.template try_get<position>(e);
        return p == nullptr ? 0 : p->x;
    });
}
void floor_get(benchmark::State& state) {
    sum_shuffled<floor_world>(state, [](floor_world& w, auto e) {
        const auto* const p = w.try_get(e);
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
