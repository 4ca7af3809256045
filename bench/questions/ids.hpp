// Measures ids: created one by one without reserving, created in bulk, destroyed, replaced at
// random, and tested with `alive`. The ids are entities without components, or come from a pool
// alone.
//
// A contestant has `id_type`, `create()`, `create(span)`, `destroy(id)`, `alive(id)`.
#pragma once

#include <memory>
#include <vector>

#include "questions/order.hpp"
#include "support/trial.hpp"

namespace muster::bench {

template <class C>
void id_create(trial& t) {
    std::vector<typename C::id_type> out(t.size());
    measure(
        t, [] { return std::make_unique<C>(); },
        [&](C& c) {
            for (auto& e : out) e = c.create();
        },
        [&](C& c) { return count_alive(c, out) == out.size(); });
}

template <class C>
void id_create_bulk(trial& t) {
    std::vector<typename C::id_type> out(t.size());
    measure(
        t, [] { return std::make_unique<C>(); }, [&](C& c) { c.create(out); },
        [&](C& c) { return count_alive(c, out) == out.size(); });
}

/// Destroys ids in this order; if null, in creation order.
template <class C>
void id_destroy(trial& t, const std::vector<std::uint32_t>* order) {
    std::vector<typename C::id_type> made(t.size()), doomed(t.size());
    measure(
        t,
        [&] {
            auto c = std::make_unique<C>();
            c->create(made);
            for (std::size_t i = 0; i < made.size(); ++i) doomed[i] = made[order ? (*order)[i] : i];
            return c;
        },
        [&](C& c) {
            for (const auto e : doomed) c.destroy(e);
            finish_frame(c);
        },
        [&](C& c) { return count_alive(c, doomed) == 0; });
}
template <class C>
void id_destroy(trial& t) {
    id_destroy<C>(t, nullptr);
}
template <class C>
void id_destroy_random(trial& t) {
    const auto order = shuffled(t.size(), 3);
    id_destroy<C>(t, &order);
}

/// Destroys a random id and creates another.
template <class C>
void id_churn(trial& t) {
    C c;
    std::vector<typename C::id_type> ids(t.size());
    c.create(ids);
    const auto victims = at_random(t.size(), 7);
    measure_again(
        t,
        [&] {
            for (const std::uint32_t victim : victims) {
                c.destroy(ids[victim]);
                ids[victim] = c.create();
            }
            finish_frame(c);
        },
        [&] { return count_alive(c, ids) == ids.size(); });
}

/// Tests shuffled handles. Half of them are stale, and their keys are reused.
template <class C>
void alive(trial& t) {
    C c;
    std::vector<typename C::id_type> made(t.size());
    c.create(made);
    const auto victims = shuffled(t.size(), 42);
    for (std::size_t i = 0; i < t.size() / 2; ++i) c.destroy(made[victims[i]]);
    finish_frame(c);
    for (std::size_t i = 0; i < t.size() / 2; ++i) (void)c.create();
    const auto asked = shuffled(made, 9);
    std::size_t living = 0;
    measure_again(
        t,
        [&] {
            living = count_alive(c, asked);
            keep(living);
        },
        [&] { return living == t.size() - t.size() / 2; });
}

}  // namespace muster::bench
