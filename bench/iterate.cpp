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
    add_sized("iter1", "floor", floor_1, 1000);
    add_sized("iter1", "muster", each_1<world>, 1000);
    add_sized("iter2", "floor", floor_2, 1000);
    add_sized("iter2", "muster", each_2<world>, 1000);
    add_sized("iter3", "floor", floor_3, 1000);
    add_sized("iter3", "muster", each_3<world>, 1000);
    return 0;
}();

// Small worlds, where what counts is all but the loop. The times are those of the whole: N is 1.
constexpr int often = 1000;  // a clock takes longer than one of them

/// Times `body()`.
template <class Body>
void measure_small(benchmark::State& state, Body body) {
    for (auto _ : state) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < often; ++i) body();
        const auto passed = std::chrono::steady_clock::now() - start;
        state.SetIterationTime(std::chrono::duration<double>(passed).count() / often);
    }
}

// One entity through seven kept queries.
void seven_queries(benchmark::State& state) {
    world w;
    w.spawn(position{0, 0}, velocity{1, 1}, payload{}, extra{1}, filler<0>{}, filler<1>{});
    auto q1 = w.query<position, const velocity>();
    auto q2 = w.query<payload>();
    auto q3 = w.query<const position, velocity, payload>();
    auto q4 = w.query<extra>();
    auto q5 = w.query<extra, const filler<0>>();
    auto q6 = w.query<filler<1>, const extra, const filler<0>>();
    auto q7 = w.query<const position, const filler<1>>();
    float seen = 0;
    measure_small(state, [&] {
        q1.each([](position& p, const velocity& v) { p.x += v.x; });
        q2.each([](payload& d) { d.count += 1; });
        q3.each([](const position& p, velocity& v, payload& d) { d.amount += p.y + v.y; });
        q4.each([](extra& e) { e.value += 1; });
        q5.each([](extra& e, const filler<0>& f) { e.value += f.a; });
        q6.each([](filler<1>& f, const extra& e, const filler<0>& g) { f.a += e.value + g.a; });
        q7.each([&](const position& p, const filler<1>& f) { seen += p.x + f.b; });
        benchmark::DoNotOptimize(seen);
    });
    if (w.get<position>(q1.first()).x != static_cast<float>(w.get<payload>(q1.first()).count) &&
        w.get<payload>(q1.first()).count < 1 << 24)
        state.SkipWithError("the result is wrong");
}

// A query that is made and run over 100 entities; the floor is the loop over two arrays.
void query_create(benchmark::State& state) {
    scene<world> s(100);
    double sum = 0;
    measure_small(state, [&] {
        double now = 0;
        s.world.query<const position, const velocity>().each(
            [&](const position& p, const velocity& v) { now += p.x + v.x; });
        sum = now;
        benchmark::DoNotOptimize(sum);
    });
    if (sum != sum_of_x(100) + 100) state.SkipWithError("the result is wrong");
}
void floor_create(benchmark::State& state) {
    scene<floor_world> s(100);
    double sum = 0;
    measure_small(state, [&] {
        double now = 0;
        const position* const p = s.world.positions.data();
        const velocity* const v = s.world.velocities.data();
        for (std::size_t i = 0; i < s.world.positions.size(); ++i) now += p[i].x + v[i].x;
        sum = now;
        benchmark::DoNotOptimize(sum);
    });
    if (sum != sum_of_x(100) + 100) state.SkipWithError("the result is wrong");
}
const int registered_small = [] {
    add_sized("query_create, 100 entities", "floor", floor_create, 1);
    add_sized("query_create, 100 entities", "muster", query_create, 1);
    add_sized("seven queries, one entity", "muster", seven_queries, 1);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
