// Measures the creation of entities with two components, and the destruction of entities with
// three.
//
// A contestant has:
//
//     spawn(out)                              creates entities one by one, without reserving
//     spawn_bulk(out, positions, velocities)  creates them at once
//     spawn_deferred(out)                     records their creation, then applies it
//     fill(count, with_payload)               creates `entities`
//     destroy(id), destroy_all()              destroys one, or all with a payload
//     sum_of_x()                              sums the x of all positions
//     count_moving()                          counts entities with a position and a velocity
#pragma once

#include <memory>
#include <vector>

#include "questions/order.hpp"
#include "support/components.hpp"
#include "support/trial.hpp"

namespace muster::bench {

/// Times `make(contestant)`, which creates all of `out`.
template <class C, class Make>
void spawn_with(trial& t, const std::vector<typename C::id_type>& out, Make make) {
    const double sum = sum_of_x(t.size());
    measure(
        t, [] { return std::make_unique<C>(); }, make,
        [&](C& c) {
            return c.sum_of_x() == sum && c.count_moving() == t.size() &&
                   count_alive(c, out) == out.size();
        });
}

template <class C>
void spawn2(trial& t) {
    std::vector<typename C::id_type> out(t.size());
    spawn_with<C>(t, out, [&](C& c) { c.spawn(out); });
}

template <class C>
void spawn2_bulk(trial& t) {
    std::vector<position> positions;
    std::vector<velocity> velocities;
    for (std::size_t i = 0; i < t.size(); ++i) {
        positions.push_back(position_of(i));
        velocities.push_back(velocity_of(i));
    }
    std::vector<typename C::id_type> out(t.size());
    spawn_with<C>(t, out, [&](C& c) { c.spawn_bulk(out, positions, velocities); });
}

template <class C>
void deferred(trial& t) {
    std::vector<typename C::id_type> out(t.size());
    spawn_with<C>(t, out, [&](C& c) { c.spawn_deferred(out); });
}

/// Times `end(contestant)`, which destroys entities with three components.
template <class C, class End>
void destroy_with(trial& t, End end) {
    measure(
        t,
        [&] {
            auto c = std::make_unique<C>();
            c->fill(t.size(), true);
            return c;
        },
        end, [](C& c) { return count_alive(c, c.entities) == 0 && c.count_moving() == 0; });
}
template <class C>
void destroy_full(trial& t) {
    destroy_with<C>(t, [](C& c) {
        for (const auto e : c.entities) c.destroy(e);
        finish_frame(c);
    });
}
template <class C>
void destroy_full_bulk(trial& t) {
    destroy_with<C>(t, [](C& c) { c.destroy_all(); });
}

}  // namespace muster::bench
