// instantiate: compiles a world with a custom layout. One source file of the program includes this
// header and writes, outside of any namespace,
//
//     struct my_layout : muster::layout<std::uint64_t, muster::id_bits{.key = 24, .version = 40}> {};
//     MUSTER_INSTANTIATE(my_layout)
//
// All other files include <muster/muster.hpp> only. The library already contains the presets.
#pragma once

#include <muster/query/walk_impl.hpp>
#include <muster/store/store_impl.hpp>
#include <muster/world/world.hpp>

/// Instantiates the out-of-line parts of `basic_world<__VA_ARGS__>`.
#define MUSTER_INSTANTIATE(...)                                   \
    template class muster::detail::entity_table<__VA_ARGS__>;     \
    template class muster::detail::entity_adapter<__VA_ARGS__>;   \
    template class muster::detail::component_access<__VA_ARGS__>; \
    template class muster::detail::store<__VA_ARGS__>;            \
    template class muster::detail::walk<__VA_ARGS__>;
