// Measures the gain of two threads: loops with heavy and light work, a frame of eight systems of
// which some conflict, and entities that threads create. The floor of the heavy loop is two bare
// threads over arrays, that of the reductions is a loop over arrays on one thread or on two; the floor
// of the other rows is Muster on one thread.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <cmath>
#include <functional>
#include <vector>

#include "contestants/muster_world.hpp"
#include "questions/heavy.hpp"
#include "support/scene.hpp"
#include "support/second_thread.hpp"

namespace muster::bench {
namespace {

struct parallel_world : muster_world<layouts::bound> {
    auto heavy_2() {
        return [q = world.query<position, const velocity>()] {
            q.par_each([](position& p, const velocity& v) { work_hard(p, v); });
        };
    }
};

template <bool IsParallel>
void light(trial& t) {
    scene s(t.size());
    const auto q = s.world.query<position, const velocity>();
    measure_again(
        t,
        [&] {
            if (IsParallel)
                q.par_each([](position& p, const velocity& v) { step_2(p, v); });
            else
                q.each([](position& p, const velocity& v) { step_2(p, v); });
        },
        [&](std::size_t passes) {
            return s.world.get<position>(s.entities.back()).x ==
                   position_of(t.size() - 1).x + step * static_cast<float>(passes);
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

/// Takes a few nanoseconds.
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

/// Returns the x of every entity after `frames` frames: all entities are equal.
float expected_of_one(std::size_t frames) {
    world w;
    const entity e = w.spawn(position{1, 1}, velocity{1, 1}, one{1}, two{2}, three{3}, four{4});
    add_systems(w);
    for (std::size_t i = 0; i < frames; ++i) w.process_all();
    return w.get<position>(e).x;
}
template <bool IsParallel>
void frame(trial& t) {
    world w;
    w.spawn_many(t.size(), position{1, 1}, velocity{1, 1}, one{1}, two{2}, three{3}, four{4});
    add_systems(w);
    measure_again(
        t,
        [&] {
            if (IsParallel)
                w.par_process_all(tbb_executor());
            else
                w.process_all();
        },
        [&](std::size_t passes) {
            const float wanted = expected_of_one(passes);
            bool is_right = true;
            w.each([&](const position& p) { is_right = is_right && p.x == wanted; });
            return is_right;
        });
}

/// Each entity creates another entity with two components.
template <bool IsParallel>
void spawning(trial& t) {
    measure(
        t, [&] { return std::make_unique<scene>(t.size()); },
        [&](scene& s) {
            const auto all = s.world.query<const position>().with<velocity>();
            if (IsParallel)
                all.par_each([&](const position& p) { s.world.spawn(p, extra{p.x}); });
            else
                all.each([&](const position& p) { s.world.spawn(p, extra{p.x}); });
        },
        [&](scene& s) {
            double sum = 0;
            s.world.each([&](const extra& x) { sum += static_cast<double>(x.value); });
            return s.world.count<extra>() == t.size() && sum == sum_of_x(t.size());
        });
}

/// Heavy work on copies of the components.
double weight(position p, const velocity& v) {
    work_hard(p, v);
    return static_cast<double>(p.x);
}
double sum_of_weights(std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += weight(position_of(i), velocity_of(i));
    return sum;
}
template <class Reduce>
void reduction(trial& t, Reduce reduce) {
    double sum = 0;
    measure_again(
        t,
        [&] {
            sum = reduce();
            keep(sum);
        },
        [&] {
            const double wanted = sum_of_weights(0, t.size());
            return std::abs(sum - wanted) <= 1e-9 * (std::abs(wanted) + 1);
        });
}
template <bool IsParallel>
void reduce(trial& t) {
    scene s(t.size());
    const auto q = s.world.query<const position, const velocity>();
    const auto add = [](double sum, const position& p, const velocity& v) {
        return sum + weight(p, v);
    };
    reduction(
        t, [&] { return IsParallel ? q.par_reduce(0.0, add, std::plus<>{}) : q.reduce(0.0, add); });
}
template <bool IsParallel>
void reduce_by_hand(trial& t) {
    std::vector<position> positions;
    std::vector<velocity> velocities;
    for (std::size_t i = 0; i < t.size(); ++i) {
        positions.push_back(position_of(i));
        velocities.push_back(velocity_of(i));
    }
    const auto sum = [&](std::size_t from, std::size_t to) {
        double all = 0;
        for (std::size_t i = from; i < to; ++i) all += weight(positions[i], velocities[i]);
        return all;
    };
    second_thread other;
    reduction(t, [&] {
        if (!IsParallel) return sum(0, t.size());
        double first = 0;
        double second = 0;
        other.run([&] { first = sum(0, t.size() / 2); },
                  [&] { second = sum(t.size() / 2, t.size()); });
        return first + second;
    });
}

[[maybe_unused]] const int registered = [] {
    add("par_heavy2", "muster", par_heavy2<parallel_world>);
    add("par_light2", "floor", light<false>);
    add("par_light2", "muster", light<true>);
    add("par_frame2", "floor", frame<false>);
    add("par_frame2", "muster", frame<true>);
    add("par_reduce1", "floor", reduce_by_hand<false>);
    add("par_reduce1", "muster", reduce<false>);
    add("par_reduce2", "floor", reduce_by_hand<true>);
    add("par_reduce2", "muster", reduce<true>);
    add("par_spawn2", "floor", spawning<false>);
    add("par_spawn2", "muster", spawning<true>);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
