// What does a loop over entities cost, against a loop over arrays?
#include <utility>

#include "support/scene.hpp"

namespace muster::bench {
namespace {

constexpr float step = 0.5f;  // exact: sums can be compared

/// Times `loop()`, which adds `gain` to the sum of all x.
template <class Loop, class Sum>
void measure_loop(benchmark::State& state, double gain, Loop loop, Sum sum) {
    const double before = sum();
    std::size_t runs = 0;
    measure_again(
        state,
        [&] {
            loop();
            ++runs;
        },
        [&] { return sum() == before + gain * static_cast<double>(runs); });
}
template <class World>
double x_of_all(World& w) {
    double sum = 0;
    w.template query<const position>().each([&](const position& p) { sum += p.x; });
    return sum;
}
double x_of_all(floor_world& w) {
    double sum = 0;
    for (const position& p : w.positions) sum += p.x;
    return sum;
}

// One component.
template <class World>
void each_1(benchmark::State& state) {
    scene<World> s(size_of(state));
    auto q = s.world.template query<position>();
    measure_loop(
        state, static_cast<double>(size_of(state)), [&] { q.each([](position& p) { p.x += 1; }); },
        [&] { return x_of_all(s.world); });
}
void floor_1(benchmark::State& state) {
    scene<floor_world> s(size_of(state));
    measure_loop(
        state, static_cast<double>(size_of(state)),
        [&] {
            for (position& p : s.world.positions) p.x += 1;
        },
        [&] { return x_of_all(s.world); });
}
MUSTER_BENCH_WORLD("iter1", each_1, floor_1);

// Two components.
template <class World>
void each_2(benchmark::State& state) {
    scene<World> s(size_of(state));
    auto q = s.world.template query<position, const velocity>();
    measure_loop(
        state, static_cast<double>(size_of(state)) * static_cast<double>(step),
        [&] {
            q.each([](position& p, const velocity& v) {
                p.x += v.x * step;
                p.y += v.y * step;
            });
        },
        [&] { return x_of_all(s.world); });
}
void floor_2(benchmark::State& state) {
    scene<floor_world> s(size_of(state));
    measure_loop(
        state, static_cast<double>(size_of(state)) * static_cast<double>(step),
        [&] {
            position* const p = s.world.positions.data();
            const velocity* const v = s.world.velocities.data();
            for (std::size_t i = 0; i < s.world.positions.size(); ++i) {
                p[i].x += v[i].x * step;
                p[i].y += v[i].y * step;
            }
        },
        [&] { return x_of_all(s.world); });
}
MUSTER_BENCH_WORLD("iter2", each_2, floor_2);

// Three components, one of them of 64 bytes.
template <class World>
void each_3(benchmark::State& state) {
    scene<World> s(size_of(state), true);
    auto q = s.world.template query<position, const velocity, payload>();
    measure_loop(
        state, static_cast<double>(size_of(state)) * static_cast<double>(step),
        [&] {
            q.each([](position& p, const velocity& v, payload& d) {
                p.x += v.x * step;
                p.y += v.y * step;
                d.amount += 1;
                d.count += 1;
            });
        },
        [&] { return x_of_all(s.world); });
}
void floor_3(benchmark::State& state) {
    scene<floor_world> s(size_of(state), true);
    measure_loop(
        state, static_cast<double>(size_of(state)) * static_cast<double>(step),
        [&] {
            position* const p = s.world.positions.data();
            const velocity* const v = s.world.velocities.data();
            payload* const d = s.world.payloads.data();
            for (std::size_t i = 0; i < s.world.positions.size(); ++i) {
                p[i].x += v[i].x * step;
                p[i].y += v[i].y * step;
                d[i].amount += 1;
                d[i].count += 1;
            }
        },
        [&] { return x_of_all(s.world); });
}
MUSTER_BENCH_WORLD("iter3", each_3, floor_3);

/// Entities spread over `Kinds` chunks by tags that say the bits of a number.
template <class World, std::size_t Kinds>
void each_of_kinds(benchmark::State& state) {
    World w;
    std::vector<typename World::id_type> tags(8);
    for (auto& tag : tags) tag = w.tag();
    for (std::size_t i = 0; i < size_of(state); ++i) {
        const auto e = w.spawn(position_of(i));
        for (std::size_t bit = 0; bit < 8; ++bit)
            if ((i % Kinds >> bit & 1) != 0) w.set(e, tags[bit]);
    }
    auto q = w.template query<position>();
    measure_loop(
        state, static_cast<double>(size_of(state)), [&] { q.each([](position& p) { p.x += 1; }); },
        [&] { return x_of_all(w); });
}
template <std::size_t Kinds>
void floor_of_kinds(benchmark::State& state) {
    std::vector<std::vector<position>> all(Kinds);
    for (std::size_t i = 0; i < size_of(state); ++i) all[i % Kinds].push_back(position_of(i));
    measure_loop(
        state, static_cast<double>(size_of(state)),
        [&] {
            for (auto& one : all)
                for (position& p : one) p.x += 1;
        },
        [&] {
            double sum = 0;
            for (const auto& one : all)
                for (const position& p : one) sum += p.x;
            return sum;
        });
}
const int registered_kinds = [] {
    add("iter_frag26", "floor", floor_of_kinds<26>);
    add("iter_frag26", "muster", each_of_kinds<world, 26>);
    add("iter_frag256", "floor", floor_of_kinds<256>);
    add("iter_frag256", "muster", each_of_kinds<world, 256>);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
