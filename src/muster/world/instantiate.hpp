// For a world with a layout of your own: one source file of the program includes this header and says
//
//     using my_layout = muster::layout<std::uint64_t, muster::id_bits{.key = 24, .version = 40}>;
//     MUSTER_INSTANTIATE(my_layout)
//
// outside of any namespace. All other files include <muster/muster.hpp> only. The presets are in the
// library already.
#pragma once

#include <muster/query/walk_impl.hpp>
#include <muster/store/store_impl.hpp>
#include <muster/world/world.hpp>

/// Compiles what `basic_world<__VA_ARGS__>` needs.
#define MUSTER_INSTANTIATE(...)                        \
    template class muster::detail::store<__VA_ARGS__>; \
    template class muster::detail::walk<__VA_ARGS__>;
