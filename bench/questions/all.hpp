// Registers a contestant for all common workloads. It takes part in those whose functions it has.
#pragma once

#include <string>

#include "questions/changes.hpp"
#include "questions/entities.hpp"
#include "questions/frame.hpp"
#include "questions/heavy.hpp"
#include "questions/ids.hpp"
#include "questions/loops.hpp"
#include "questions/memory.hpp"
#include "questions/sparse.hpp"
#include "support/suite.hpp"

namespace muster::bench {

constexpr std::size_t million = 1'000'000;

/// Skips sizes above `most`.
template <class C>
void ask_about_ids(const std::string& who, std::size_t most) {
    add("id_create", who, id_create<C>, most);
    add("id_create_bulk", who, id_create_bulk<C>, most);
    add("id_destroy", who, static_cast<void (*)(trial&)>(id_destroy<C>), most);
    add("id_churn", who, id_churn<C>, most);
    add("alive", who, alive<C>, most);
}

template <class C>
void ask_about_entities(const std::string& who, std::size_t most) {
    add("spawn2", who, spawn2<C>, most);
    add("spawn2_bulk", who, spawn2_bulk<C>, most);
    if constexpr (requires(C c, std::vector<typename C::id_type> out) { c.spawn_deferred(out); })
        add("deferred", who, deferred<C>, most);
    add("destroy_full", who, destroy_full<C>, most);
    if constexpr (requires(C c) { c.destroy_all(); })
        add("destroy_full_bulk", who, destroy_full_bulk<C>, most);
    add("bytes", who, memory<C, moment::full>, most);
    add("bytes, 90 % destroyed", who, memory<C, moment::destroyed>, most);
    if constexpr (requires(C c) { c.collect(); })
        add("bytes, and collected", who, memory<C, moment::collected>, most);
}

template <class C>
void ask_about_components(const std::string& who, std::size_t most) {
    add("iter1", who, iter1<C>, most);
    add("iter2", who, iter2<C>, most);
    add("iter3", who, iter3<C>, most);
    add("iter_frag26", who, iter_kinds<C, 26>, most);
    add("iter_frag256", who, iter_kinds<C, 256>, most);
    add("iter_frag256_few", who, iter_kinds<C, 256>, most);
    add("query_create", who, query_create<C>, most);
    add("get_random", who, get_random<C>, most);
    add("add_remove", who, static_cast<void (*)(trial&)>(add_remove<C>), most);
    add("add_remove_tag", who, add_remove_tag<C>, most);
    add("add_remove8", who, add_remove8<C>, most);
    add("par_heavy1", who, par_heavy1<C>, most);
    if constexpr (requires(C c) { c.heavy_2(); }) add("par_heavy2", who, par_heavy2<C>, most);
}

/// For contestants with sparse components.
template <class C>
void ask_about_sparse(const std::string& who, std::size_t most) {
    add("add_remove_sparse", who, static_cast<void (*)(trial&)>(add_remove_sparse<C>), most);
    add("sparse_add_remove8", who, sparse_add_remove8<C>, most);
    add("sparse_get_random", who, sparse_get_random<C>, most);
    add("sparse_iter", who, sparse_iter<C>, most);
    add("sparse_with_chunk, 1 %", who, sparse_with_chunk<C, 100>, most);
    add("sparse_with_chunk, 50 %", who, sparse_with_chunk<C, 2>, most);
}

template <class Garden>
void ask_about_frames(const std::string& who) {
    add("frame_mixed", who, frame<Garden, true>);
    add("frame_all", who, frame<Garden, false>);
}

}  // namespace muster::bench
