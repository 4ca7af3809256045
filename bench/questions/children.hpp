// Measures parents with children: creating and destroying children, moving them to other parents,
// reading them, their memory, and a loop that does not care about parents. Every parent has 10 or
// 1,000 children, which are created in turn: one for each parent, then the second of each.
//
// A contestant has:
//
//     spawn_parents(out)         creates entities without components
//     spawn_child(parent, i)     creates a child with `position_of(i)` and `velocity_of(i)`
//     reparent(child, parent)    moves a child to another parent
//     destroy(child)
//     parent_of(child)
//     sum_of_children(parents)   sums the x of all children of these
//     sum_of_x()                 sums the x of all positions
//     loop_2()                   see loops.hpp
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "questions/loops.hpp"
#include "questions/memory.hpp"
#include "questions/order.hpp"
#include "support/components.hpp"
#include "support/trial.hpp"

namespace muster::bench {

/// A contestant with parents and their children.
template <class C>
struct family {
    C c;
    std::vector<typename C::id_type> parents, children;

    /// Creates the parents of `count` children that do not exist yet.
    family(std::size_t count, std::size_t each)
        : parents(std::max<std::size_t>(count / each, 1)), children(count) {
        c.spawn_parents(parents);
    }
    void spawn_children() {
        for (std::size_t i = 0; i < children.size(); ++i)
            children[i] = c.spawn_child(parents[i % parents.size()], i);
    }
    /// Whether each child has its parent, and each parent its children.
    [[nodiscard]] bool is_right() {
        for (std::size_t i = 0; i < children.size(); ++i)
            if (c.parent_of(children[i]) != parents[i % parents.size()]) return false;
        return c.sum_of_children(parents) == sum_of_x(children.size()) &&
               c.sum_of_x() == sum_of_x(children.size());
    }
};

template <class C, std::size_t Each>
void child_create(trial& t) {
    measure(
        t, [&] { return std::make_unique<family<C>>(t.size(), Each); },
        [](family<C>& all) { all.spawn_children(); },
        [](family<C>& all) { return all.is_right(); });
}

template <class C, std::size_t Each>
void child_bytes(trial& t) {
    const auto all = std::make_unique<family<C>>(t.size(), Each);
    const double before = bytes_in_use();
    all->spawn_children();
    t.note(bytes_in_use() - before);
    if (!all->is_right()) t.fail("the result is wrong");
}

template <class C, std::size_t Each>
void child_loop(trial& t) {
    family<C> all(t.size(), Each);
    all.spawn_children();
    measure_loop(t, all.c, static_cast<double>(step), all.c.loop_2());
}

template <class C, std::size_t Each>
void child_read(trial& t) {
    family<C> all(t.size(), Each);
    all.spawn_children();
    double sum = 0;
    measure_again(
        t,
        [&] {
            sum = all.c.sum_of_children(all.parents);
            keep(sum);
        },
        [&] { return sum == sum_of_x(t.size()); });
}

/// Moves random children to random parents: one of ten children.
template <class C, std::size_t Each>
void reparent(trial& t) {
    family<C> all(10 * t.size(), Each);
    all.spawn_children();
    const auto moved = at_random(all.children.size(), 5);
    const auto to = at_random(all.children.size(), 6);
    std::size_t pass = 0;  // each moves the children to others than before
    const auto target = [&](std::size_t i) { return (to[i] + pass) % all.parents.size(); };
    measure_again(
        t,
        [&] {
            ++pass;
            for (std::size_t i = 0; i < t.size(); ++i)
                all.c.reparent(all.children[moved[i]], all.parents[target(i)]);
        },
        [&] {
            std::vector<std::size_t> wanted(all.children.size());
            for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = i % all.parents.size();
            for (std::size_t i = 0; i < t.size(); ++i) wanted[moved[i]] = target(i);
            for (std::size_t i = 0; i < wanted.size(); ++i)
                if (all.c.parent_of(all.children[i]) != all.parents[wanted[i]]) return false;
            return all.c.sum_of_children(all.parents) == sum_of_x(all.children.size());
        });
}

/// Destroys one of ten children, one by one.
template <class C, std::size_t Each>
void child_destroy(trial& t) {
    const std::size_t count = 10 * t.size();
    const auto order = shuffled(count, 4);
    measure(
        t,
        [&] {
            auto all = std::make_unique<family<C>>(count, Each);
            all->spawn_children();
            return all;
        },
        [&](family<C>& all) {
            for (std::size_t i = 0; i < t.size(); ++i) all.c.destroy(all.children[order[i]]);
            finish_frame(all.c);
        },
        [&](family<C>& all) {
            double left = sum_of_x(count);
            for (std::size_t i = 0; i < t.size(); ++i)
                left -= static_cast<double>(position_of(order[i]).x);
            return all.c.sum_of_children(all.parents) == left && all.c.sum_of_x() == left;
        });
}

}  // namespace muster::bench
