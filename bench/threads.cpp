// What do two threads bring? Loops over heavy and over light work, a frame of eight systems some of which
// conflict, and entities that threads make. The floor of each row is the same on one thread; for the heavy
// work, another row has two bare threads over arrays.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/components.hpp"

namespace muster::bench {
namespace {

/// About a hundred nanoseconds.
void work_hard(position& p, const velocity& v) {
    float x = p.x * 0.001f;
    for (int i = 0; i < 12; ++i) x = std::sqrt(x * x + v.x) * 0.5f + v.y * 0.1f;
    p.x = x;
}
void move(position& p, const velocity& v) {
    p.x += v.x * 0.016f;
    p.y += v.y * 0.016f;
}

void fill(world& w, std::int64_t count) {
    std::vector<position> places;
    std::vector<velocity> speeds;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        places.push_back(position_of(i));
        speeds.push_back(velocity_of(i));
    }
    w.spawn_columns(places, speeds);
}

template <class Body>
void loop(benchmark::State& state, Body body) {
    world w;
    fill(w, state.range(0));
    const auto all = w.query<position, const velocity>();
    body(all);
    for (auto _ : state) body(all);
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void heavy_each(benchmark::State& state) {
    loop(state, [](const auto& all) { all.each(work_hard); });
}
void heavy_par_each(benchmark::State& state) {
    loop(state, [](const auto& all) { all.par_each(work_hard); });
}
void heavy_bare_threads(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    std::vector<position> places(count);
    std::vector<velocity> speeds(count);
    for (std::size_t i = 0; i < count; ++i) {
        places[i] = position_of(i);
        speeds[i] = velocity_of(i);
    }
    const auto part = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) work_hard(places[i], speeds[i]);
    };
    for (auto _ : state) {
        std::thread other(part, count / 2, count);
        part(0, count / 2);
        other.join();
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
void light_each(benchmark::State& state) {
    loop(state,
         [](const auto& all) { all.each([](position& p, const velocity& v) { move(p, v); }); });
}
void light_par_each(benchmark::State& state) {
    loop(state, [](const auto& all) {
        // A lambda, as users write it: of a plain function only its address would be known to the threads.
        all.par_each([](position& p, const velocity& v) { move(p, v); });
    });
}

struct one {
    float value;
};
struct two {
    float value;
};
struct three {
    float value;
};
struct four {
    float value;
};

/// Each takes a few nanoseconds for an entity.
float turn(float value) {
    for (int i = 0; i < 4; ++i) value = std::sqrt(value * value + 1) * 0.9f;
    return value;
}
void add_systems(world& w) {
    w.system("a").each([](one& x) { x.value = turn(x.value); });
    w.system("b").each([](two& x) { x.value = turn(x.value); });
    w.system("c").each([](three& x, const one& y) { x.value = turn(x.value + y.value); });
    w.system("d").each([](four& x, const two& y) { x.value = turn(x.value + y.value); });
    w.system("e").each([](one& x, const three& y) { x.value = turn(x.value + y.value); });
    w.system("f").each([](two& x, const four& y) { x.value = turn(x.value + y.value); });
    w.system("g").each([](position& p, const one& x) { p.x = turn(p.x + x.value); });
    w.system("h").each([](velocity& v, const two& x) { v.x = turn(v.x + x.value); });
}
template <class Frame>
void frame(benchmark::State& state, Frame one_frame) {
    world w;
    w.spawn_many(static_cast<std::size_t>(state.range(0)), position{1, 1}, velocity{1, 1}, one{1},
                 two{2}, three{3}, four{4});
    add_systems(w);
    one_frame(w);
    for (auto _ : state) one_frame(w);
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
void frame_process_all(benchmark::State& state) {
    frame(state, [](world& w) { w.process_all(); });
}
void frame_par_process_all(benchmark::State& state) {
    frame(state, [](world& w) { w.par_process_all(tbb_executor()); });
}

/// Each entity makes another, with two components; then all that were made are destroyed.
template <class Body>
void spawning(benchmark::State& state, Body body) {
    world w;
    fill(w, state.range(0));
    const auto all = w.query<const position>().with<velocity>();
    const auto made = w.query<extra>();
    for (auto _ : state) {
        body(w, all);
        state.PauseTiming();
        if (made.count() != static_cast<std::size_t>(state.range(0)))
            state.SkipWithError("some are missing");
        made.destroy();
        state.ResumeTiming();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
void spawn_each(benchmark::State& state) {
    spawning(state, [](world& w, const auto& all) {
        all.each([&](const position& p) { w.spawn(p, extra{p.x}); });
    });
}
void spawn_par_each(benchmark::State& state) {
    spawning(state, [](world& w, const auto& all) {
        all.par_each([&](const position& p) { w.spawn(p, extra{p.x}); });
    });
}

void add_pair(const char* workload, void (*alone)(benchmark::State&),
              void (*together)(benchmark::State&), std::initializer_list<std::int64_t> sizes_of) {
    for (const std::int64_t size : sizes_of)
        for (const auto& [contestant, function] : {std::pair{"floor", alone}, {"muster", together}})
            benchmark::RegisterBenchmark((std::string(workload) + "/" + contestant).c_str(),
                                         function)
                ->Arg(size)
                ->UseRealTime();
}
const int registered = [] {
    add_pair("par_heavy", heavy_each, heavy_par_each, {10'000, 1'000'000});
    add_pair("par_heavy, bare threads", heavy_each, heavy_bare_threads, {10'000, 1'000'000});
    add_pair("par_light", light_each, light_par_each, {1'000, 10'000, 100'000, 1'000'000});
    add_pair("par_frame", frame_process_all, frame_par_process_all, {1'000, 100'000});
    add_pair("par_spawn", spawn_each, spawn_par_each, {100'000});
    return 0;
}();

}  // namespace
}  // namespace muster::bench
