// Measures instances of a prefab with three components, alone and with four children that have two
// components each; one by one, and all at once. Figures are per instance.
//
// A contestant has `make_prefab(children)`, `instantiate()`, `instantiate(count)`, and
// `count_instances()`, `count_parts()`: entities with three and with two components, prefabs left out.
#pragma once

#include <memory>

#include "support/components.hpp"
#include "support/trial.hpp"

namespace muster::bench {

struct weight {
    float value, rest;
};

template <class C, std::size_t Children, bool IsBulk>
void instances(trial& t) {
    measure(
        t,
        [] {
            auto c = std::make_unique<C>();
            c->make_prefab(Children);
            return c;
        },
        [&](C& c) {
            if constexpr (IsBulk)
                c.instantiate(t.size());
            else
                for (std::size_t i = 0; i < t.size(); ++i) c.instantiate();
        },
        [&](C& c) {
            return c.count_instances() == t.size() && c.count_parts() == Children * t.size();
        });
}

}  // namespace muster::bench
