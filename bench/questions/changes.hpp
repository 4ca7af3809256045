// Measures checked access to the component of an entity, and adding and removing a component.
//
// A contestant has `sum_of(ids)`, which sums the x of entities and checks that they have a
// position; `give<T>(ids)`, `take<T>(ids)`, `count<T>()`, which add, remove and count components;
// and `enlarge()`, which adds six components to all entities.
#pragma once

#include "questions/order.hpp"
#include "support/components.hpp"
#include "support/trial.hpp"

namespace muster::bench {

template <class C>
void get_random(trial& t) {
    C c;
    c.fill(t.size(), false);
    const auto order = shuffled(c.entities, 42);
    double sum = 0;
    measure_again(
        t,
        [&] {
            sum = c.sum_of(order);
            keep(sum);
        },
        [&] { return sum == sum_of_x(t.size()); });
}

template <class C, class T>
void add_remove(trial& t, C& c) {
    bool had_all = true;
    measure_again(
        t,
        [&] {
            c.template give<T>(c.entities);
            had_all = had_all && c.template count<T>() == c.entities.size();
            c.template take<T>(c.entities);
        },
        [&] { return had_all && c.template count<T>() == 0 && c.count_moving() == t.size(); });
}
template <class C>
void add_remove(trial& t) {
    C c;
    c.fill(t.size(), false);
    add_remove<C, extra>(t, c);
}
template <class C>
void add_remove_tag(trial& t) {
    C c;
    c.fill(t.size(), false);
    add_remove<C, tag>(t, c);
}
template <class C>
void add_remove8(trial& t) {
    C c;
    c.fill(t.size(), false);
    c.enlarge();
    add_remove<C, extra>(t, c);
}

}  // namespace muster::bench
