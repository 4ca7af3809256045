// Measures trees with 10 children per node, or with two: destroying a tree by its root, and world
// transforms, which each node computes from its own and that of its parent.
//
// A contestant has:
//
//     spawn_root(), spawn_node(parent)   create a node with `local_place{1, 2, 3}` and a `world_place`
//     destroy_tree(root)
//     count_nodes()
//     transform()                        returns a function that computes all world places
//     place_of(node)                     returns a world place
//     arrange()                          optional: sorts the rows of each level by their parents'
#pragma once

#include <memory>
#include <vector>

#include "questions/order.hpp"
#include "support/trial.hpp"

namespace muster::bench {

struct local_place {
    float x, y, z;
};
struct world_place {
    float x, y, z;
};
inline void place_below(world_place& out, const local_place& at, const world_place& parent) {
    out = {parent.x + at.x, parent.y + at.y, parent.z + at.z};
}

/// A node per level, parents first. `is_random`: the nodes of a level have random parents above.
struct tree_shape {
    std::vector<std::uint32_t> parents;  // of node i; that of the root is 0
    std::vector<std::uint32_t> levels;

    tree_shape(std::size_t count, std::size_t fan, bool is_random) : parents(count), levels(count) {
        std::mt19937 dice(11);
        std::size_t first = 0, last = 1, next = 1;  // the level above: [first, last)
        for (std::uint32_t level = 1; next < count; ++level) {
            const std::size_t end = std::min(count, last + (last - first) * fan);
            for (std::size_t i = next; i < end; ++i) {
                const std::size_t which = is_random ? dice() % (last - first) : (i - next) / fan;
                parents[i] = static_cast<std::uint32_t>(first + which);
                levels[i] = level;
            }
            first = last;
            last = next = end;
        }
    }
};

template <class C>
struct grown_tree {
    C c;
    std::vector<typename C::id_type> nodes;

    explicit grown_tree(const tree_shape& shape) : nodes(shape.parents.size()) {
        nodes[0] = c.spawn_root();
        for (std::size_t i = 1; i < nodes.size(); ++i)
            nodes[i] = c.spawn_node(nodes[shape.parents[i]]);
    }
};

template <class C, std::size_t Fan>
void tree_destroy(trial& t) {
    const tree_shape shape(t.size(), Fan, false);
    measure(
        t, [&] { return std::make_unique<grown_tree<C>>(shape); },
        [](grown_tree<C>& tree) {
            tree.c.destroy_tree(tree.nodes[0]);
            finish_frame(tree.c);
        },
        [](grown_tree<C>& tree) {
            return tree.c.count_nodes() == 0 && count_alive(tree.c, tree.nodes) == 0;
        });
}

enum class row_order { as_created, random, arranged };

template <class C, std::size_t Fan, row_order Order>
void transforms(trial& t) {
    const tree_shape shape(t.size(), Fan, Order != row_order::as_created);
    grown_tree<C> tree(shape);
    if constexpr (Order == row_order::arranged) tree.c.arrange();
    measure_again(t, tree.c.transform(), [&] {
        for (std::size_t i = 0; i < t.size(); ++i) {
            const auto depth = static_cast<float>(shape.levels[i] + 1);
            const world_place at = tree.c.place_of(tree.nodes[i]);
            if (at.x != depth || at.y != 2 * depth || at.z != 3 * depth) return false;
        }
        return true;
    });
}

}  // namespace muster::bench
