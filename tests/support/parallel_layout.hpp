// The layout of the parallel suites, which are compiled once for each: MUSTER_TEST_LAYOUT, by default
// layouts::bound. A file names the types that it uses in its anonymous namespace, for example with
// `using muster_tests::parallel::world;`. There they hide those of `using namespace muster`.
#pragma once

#include <muster/muster.hpp>

#ifndef MUSTER_TEST_LAYOUT
#define MUSTER_TEST_LAYOUT muster::layouts::bound
#endif

namespace muster_tests::parallel {

using layout = MUSTER_TEST_LAYOUT;
using world = muster::basic_world<layout>;
using entity = muster::basic_id<layout>;
using chunk = muster::basic_chunk<layout>;
using chunk_view = muster::basic_chunk_view<layout>;
using rows = muster::basic_rows<layout>;
using command_buffer = muster::basic_command_buffer<layout>;
template <class T>
using fragment = muster::basic_fragment<T, layout>;

/// Whether ids name their world, so that a world rejects the ids of another.
inline constexpr bool ids_name_their_world = layout::world_bits != 0;

}  // namespace muster_tests::parallel
