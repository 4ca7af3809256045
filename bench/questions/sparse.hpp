// Measures a sparse component: adding and removing it, access, and loops, also together with a
// component in chunks.
//
// The component is a float. A contestant has:
//
//     give_sparse(ids), take_sparse(ids)  adds it to entities, removes it
//     count_sparse(), set_sparse(id, v)   counts the values, sets one
//     sum_of_sparse(ids)                  sums the values, and checks that the entities have one
//     loop_sparse()                       returns a function that applies `step_sparse` to all
//                                         values
//     loop_with_sparse()                  returns a function that applies `step_with_sparse` to all
//                                         entities with this component and a position
#pragma once

#include <vector>

#include "questions/order.hpp"
#include "support/components.hpp"
#include "support/trial.hpp"

namespace muster::bench {

/// Returns 1, 2 or 3. Each occurs also among every second or hundredth entity, so that a wrong
/// entity changes the sums.
inline float sparse_of(std::size_t i) {
    return static_cast<float>(1 + i % 3);
}
inline void step_sparse(float& value) {
    value += 1;
}
inline void step_with_sparse(position& p, float value) {
    p.x += value;
}

template <class C>
void add_remove_sparse(trial& t, C& c) {
    bool had_all = true;
    measure_again(
        t,
        [&] {
            c.give_sparse(c.entities);
            had_all = had_all && c.count_sparse() == c.entities.size();
            c.take_sparse(c.entities);
        },
        [&] { return had_all && c.count_sparse() == 0 && c.count_moving() == t.size(); });
}
template <class C>
void add_remove_sparse(trial& t) {
    C c;
    c.fill(t.size(), false);
    add_remove_sparse(t, c);
}
template <class C>
void sparse_add_remove8(trial& t) {
    C c;
    c.fill(t.size(), false);
    c.enlarge();
    add_remove_sparse(t, c);
}

/// Sets the component of every `many`th entity.
template <class C>
void fill_sparse(C& c, std::size_t count, std::size_t many) {
    c.fill(count, false);
    for (std::size_t i = 0; i < count; i += many) c.set_sparse(c.entities[i], sparse_of(i));
}
inline double sum_of_all_sparse(std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(sparse_of(i));
    return sum;
}

template <class C>
void sparse_get_random(trial& t) {
    C c;
    fill_sparse(c, t.size(), 1);
    const auto order = shuffled(c.entities, 42);
    double sum = 0;
    measure_again(
        t,
        [&] {
            sum = c.sum_of_sparse(order);
            keep(sum);
        },
        [&] { return sum == sum_of_all_sparse(t.size()); });
}

template <class C>
void sparse_iter(trial& t) {
    C c;
    fill_sparse(c, t.size(), 1);
    measure_again(t, c.loop_sparse(), [&](std::size_t passes) {
        const double gain = static_cast<double>(t.size()) * static_cast<double>(passes);
        return c.sum_of_sparse(c.entities) == sum_of_all_sparse(t.size()) + gain;
    });
}

/// Every `Step`th entity has both components. Figures are per entity of the world.
template <class C, std::size_t Step>
void sparse_with_chunk(trial& t) {
    C c;
    fill_sparse(c, t.size(), Step);
    measure_again(t, c.loop_with_sparse(), [&](std::size_t passes) {
        // Sums entities of equal value separately, to detect a value that was added to a wrong
        // entity.
        std::vector<typename C::id_type> who[4];
        double wanted[4] = {};
        for (std::size_t i = 0; i < t.size(); ++i) {
            const float value = i % Step == 0 ? sparse_of(i) : 0;
            const auto kind = static_cast<std::size_t>(value);
            who[kind].push_back(c.entities[i]);
            wanted[kind] += static_cast<double>(position_of(i).x) +
                            static_cast<double>(value) * static_cast<double>(passes);
        }
        for (std::size_t kind = 0; kind < 4; ++kind)
            if (c.sum_of(who[kind]) != wanted[kind]) return false;
        return true;
    });
}

}  // namespace muster::bench
