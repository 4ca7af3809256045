// Measures loops over entities, and their fixed costs: many kinds of entities, few entities of each
// kind, or a query that is created for the loop.
//
// A contestant has `loop_1()`, `loop_2()`, `loop_3()`, which create kept queries and return a
// function that applies `step_1`, ... to all entities; `fill_kinds(count, kinds)`; and
// `query_once()`, which creates a query of two components and sums their x.
#pragma once

#include "support/components.hpp"
#include "support/trial.hpp"

namespace muster::bench {

/// Times `loop()`, which adds `gain` to the x of each entity.
template <class C, class Loop>
void measure_loop(trial& t, C& c, double gain, Loop loop) {
    const double before = c.sum_of_x();
    measure_again(t, loop, [&](std::size_t passes) {
        return c.sum_of_x() ==
               before + gain * static_cast<double>(t.size()) * static_cast<double>(passes);
    });
}

template <class C>
void iter1(trial& t) {
    C c;
    c.fill(t.size(), false);
    measure_loop(t, c, 1, c.loop_1());
}
template <class C>
void iter2(trial& t) {
    C c;
    c.fill(t.size(), false);
    measure_loop(t, c, static_cast<double>(step), c.loop_2());
}
template <class C>
void iter3(trial& t) {
    C c;
    c.fill(t.size(), true);
    measure_loop(t, c, static_cast<double>(step), c.loop_3());
}
template <class C, std::size_t Kinds>
void iter_kinds(trial& t) {
    C c;
    c.fill_kinds(t.size(), Kinds);
    measure_loop(t, c, 1, c.loop_1());
}

template <class C>
void query_create(trial& t) {
    C c;
    c.fill(t.size(), false);
    double sum = 0;
    measure_again(
        t,
        [&] {
            sum = c.query_once();
            keep(sum);
        },
        [&] { return sum == sum_of_x(t.size()) + static_cast<double>(t.size()); });
}

}  // namespace muster::bench
