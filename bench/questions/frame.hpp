// Measures a frame of seven systems, on entities of eight kinds and on entities of one kind.
//
// A garden has `add(kind, recipe)`, `run(picture)`, `sum()` and optionally `ready()`, which
// prepares the first frame.
#pragma once

#include <memory>

#include "support/garden.hpp"
#include "support/trial.hpp"

namespace muster::bench {

template <class Garden, bool IsMixed>
void frame(trial& t) {
    Garden garden;
    for (std::size_t i = 0; i < t.size(); ++i) garden.add(kind_of(i, IsMixed), recipe(i));
    if constexpr (requires { garden.ready(); }) garden.ready();
    const auto on = std::make_unique<picture>();
    measure_again(
        t, [&] { garden.run(*on); },
        [&](std::size_t passes) { return garden.sum() == expected(t.size(), IsMixed, passes); });
}

}  // namespace muster::bench
