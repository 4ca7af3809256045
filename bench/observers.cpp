// What does an observer add to a change, and what does reading cost?
#include "support/scene.hpp"

namespace muster::bench {
namespace {

// An assignment, and one that is gathered. Reading is not timed, but for the last row.
void assign(benchmark::State& state, bool is_observed, bool is_read) {
    scene<world> s(size_of(state));
    auto seen = s.world.observer<position>();
    if (!is_observed) seen.cut();
    std::size_t count = 0;
    measure_again(
        state,
        [&] {
            for (const entity e : s.entities) s.world.set(e, position{1, 1});
            if (is_read)
                seen.each([&](position&) { ++count; });
            else
                seen.clear();
        },
        [&] { return !is_read || count % size_of(state) == 0; });
    benchmark::DoNotOptimize(count);
}
// A component that comes and goes.
void add_and_remove(benchmark::State& state, bool is_observed) {
    scene<world> s(size_of(state));
    auto seen = s.world.observer().added<extra>().removed<extra>();
    if (!is_observed) seen.cut();
    measure_again(
        state,
        [&] {
            for (const entity e : s.entities) s.world.set(e, extra{1});
            for (const entity e : s.entities) s.world.remove<extra>(e);
            seen.clear();
        },
        [&] { return s.world.count<extra>() == 0; });
}
const int registered = [] {
    const auto plain = [](benchmark::State& state) { assign(state, false, false); };
    add("assign, observed", "floor", plain);
    add("assign, observed", "muster", [](benchmark::State& state) { assign(state, true, false); });
    add("assign, observed and read", "floor", plain);
    add("assign, observed and read", "muster",
        [](benchmark::State& state) { assign(state, true, true); });
    add("add_remove, observed", "floor",
        [](benchmark::State& state) { add_and_remove(state, false); });
    add("add_remove, observed", "muster",
        [](benchmark::State& state) { add_and_remove(state, true); });
    return 0;
}();

}  // namespace
}  // namespace muster::bench
