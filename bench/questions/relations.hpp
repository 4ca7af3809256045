// Registers a contestant for the workloads about relations. It takes part in those whose functions
// it has.
#pragma once

#include <string>

#include "questions/children.hpp"
#include "questions/likes.hpp"
#include "questions/prefabs.hpp"
#include "questions/trees.hpp"
#include "support/suite.hpp"

namespace muster::bench {

template <class C>
void ask_about_children(const std::string& who) {
    add("child_create, 1,000 each", who, child_create<C, 1000>);
    add("child_create, 10 each", who, child_create<C, 10>);
    add("child_bytes, 10 each", who, child_bytes<C, 10>);
    add("child_loop, 10 each", who, child_loop<C, 10>);
    add("child_read, 1,000 each", who, child_read<C, 1000>);
    add("child_read, 10 each", who, child_read<C, 10>);
    add("reparent, 1,000 each", who, reparent<C, 1000>);
    add("reparent, 10 each", who, reparent<C, 10>);
    add("child_destroy, 1,000 each", who, child_destroy<C, 1000>);
}

template <class C>
void ask_about_trees(const std::string& who) {
    add("tree_destroy, depth 6", who, tree_destroy<C, 10>);
    add("tree_destroy, depth 20", who, tree_destroy<C, 2>);
    if constexpr (requires(C c) { c.transform(); }) {
        add("transforms, depth 6", who, transforms<C, 10, row_order::as_created>);
        add("transforms, depth 20", who, transforms<C, 2, row_order::as_created>);
        add("transforms, random rows", who, transforms<C, 10, row_order::random>);
    }
    if constexpr (requires(C c) { c.arrange(); })
        add("transforms, arranged rows", who, transforms<C, 10, row_order::arranged>);
}

template <class C>
void ask_about_likes(const std::string& who) {
    add("likes_add, 1 link", who, likes_add<C, 1>);
    add("likes_add, 3 links", who, likes_add<C, 3>);
    add("likes_find, 1 link", who, likes_find<C, 1>);
    add("likes_find, 3 links", who, likes_find<C, 3>);
}

/// `Family`: the contestant if the prefab has children.
template <class C, class Family = C>
void ask_about_prefabs(const std::string& who) {
    add("instance", who, instances<C, 0, false>);
    add("instance, bulk", who, instances<C, 0, true>);
    add("instance of 5", who, instances<Family, 4, false>);
    add("instance of 5, bulk", who, instances<Family, 4, true>);
}

}  // namespace muster::bench
