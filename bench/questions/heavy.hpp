// Measures heavy work on each entity, on one thread and on two.
//
// A contestant has `heavy_1()`, `heavy_2()`, which create kept queries and return a function that
// applies `work_hard` to all entities; and `sum_of_x()`.
#pragma once

#include <cmath>
#include <vector>

#include "support/components.hpp"
#include "support/trial.hpp"

namespace muster::bench {

/// Returns the sum of all x after `passes` passes. Entities whose indices differ by 1,000 are
/// equal.
inline double worked_x(std::size_t count, std::size_t passes) {
    double sum = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
        position p = position_of(i);
        for (std::size_t pass = 0; pass < passes; ++pass) work_hard(p, velocity_of(i));
        const std::size_t equal = count / 1000 + (i < count % 1000 ? 1 : 0);
        sum += static_cast<double>(p.x) * static_cast<double>(equal);
    }
    return sum;
}

template <class C, class Work>
void measure_heavy(trial& t, C& c, Work work) {
    measure_again(t, work, [&](std::size_t passes) {
        const double wanted = worked_x(t.size(), passes);
        return std::abs(c.sum_of_x() - wanted) <= 1e-6 * (std::abs(wanted) + 1);
    });
}
template <class C>
void par_heavy1(trial& t) {
    C c;
    c.fill(t.size(), false);
    measure_heavy(t, c, c.heavy_1());
}
template <class C>
void par_heavy2(trial& t) {
    C c;
    c.fill(t.size(), false);
    measure_heavy(t, c, c.heavy_2());
}

}  // namespace muster::bench
