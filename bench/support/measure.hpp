// How a workload is measured: set-up and checking of the result are not timed, and a wrong result is an
// error. A workload is registered under "workload/contestant/N"; main.cpp makes the table of these names.
#pragma once

#include <benchmark/benchmark.h>
#include <muster/id/id_pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "support/floor_ids.hpp"

namespace muster::bench {

/// The sizes of every workload.
inline constexpr std::int64_t sizes[] = {10'000, 100'000, 1'000'000};

/// Times `body(subject)` on a new subject from `make()` each time; `sound(subject)` must hold afterwards.
template <class Make, class Body, class Sound>
void measure(benchmark::State& state, Make make, Body body, Sound sound) {
    for (auto _ : state) {
        const auto subject = make();
        benchmark::ClobberMemory();
        const auto start = std::chrono::steady_clock::now();
        body(*subject);
        benchmark::ClobberMemory();
        const auto passed = std::chrono::steady_clock::now() - start;
        state.SetIterationTime(std::chrono::duration<double>(passed).count());
        if (!sound(*subject)) {
            state.SkipWithError("the result is wrong");
            return;
        }
    }
}

template <class Function>
auto* add_sized(const std::string& workload, const std::string& contestant, Function function,
                std::int64_t size) {
    return benchmark::RegisterBenchmark((workload + "/" + contestant).c_str(), function)
        ->Arg(size)
        ->UseManualTime()
        ->Unit(benchmark::kNanosecond);
}
template <class Function>
void add(const std::string& workload, const std::string& contestant, Function function) {
    for (const std::int64_t size : sizes) add_sized(workload, contestant, function, size);
}

/// Registers a workload, a generic function over a pool type, for Muster's layouts and for the floor.
#define MUSTER_BENCH_IDS(workload, function)                                  \
    static const int registered_##function = [] {                             \
        add(workload, "floor", function<floor_ids>);                          \
        add(workload, "muster", function<id_pool<layouts::bound>>);           \
        add(workload, "muster compact", function<id_pool<layouts::compact>>); \
        return 0;                                                             \
    }()

/// The same for worlds; the floor has a function of its own where its calls differ.
#define MUSTER_BENCH_WORLD(workload, function, floor)                             \
    static const int registered_##function = [] {                                 \
        add(workload, "floor", floor);                                            \
        add(workload, "muster", function<basic_world<layouts::bound>>);           \
        add(workload, "muster compact", function<basic_world<layouts::compact>>); \
        return 0;                                                                 \
    }()

/// Times `body()` again and again on what is there; `sound()` must hold afterwards.
template <class Body, class Sound>
void measure_again(benchmark::State& state, Body body, Sound sound) {
    body();  // warm
    for (auto _ : state) {
        const auto start = std::chrono::steady_clock::now();
        body();
        benchmark::ClobberMemory();
        const auto passed = std::chrono::steady_clock::now() - start;
        state.SetIterationTime(std::chrono::duration<double>(passed).count());
    }
    if (!sound()) state.SkipWithError("the result is wrong");
}

inline std::vector<std::uint32_t> shuffled(std::size_t count, std::uint32_t seed) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    return order;
}

template <class Pool>
std::size_t count_alive(const Pool& pool, const std::vector<typename Pool::id_type>& ids) {
    std::size_t count = 0;
    for (const auto e : ids) count += pool.alive(e) ? 1u : 0u;
    return count;
}

}  // namespace muster::bench
