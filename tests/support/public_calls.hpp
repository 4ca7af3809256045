// public_calls: one table of all public calls, which several programs run in many states. A new call
// needs a row.
#pragma once

#include "support/phase_scene.hpp"

#include <vector>

namespace muster_tests::phase_scene::public_calls {

std::vector<row> about_entities();
std::vector<row> about_spawning();
std::vector<row> about_fragments_and_chunks();
std::vector<row> about_components();
std::vector<row> about_values_of_fragments();
std::vector<row> about_relations();
std::vector<row> queries();
std::vector<row> hooks();
std::vector<row> observers();
std::vector<row> events();
std::vector<row> systems();
std::vector<row> scopes_buffers_and_extensions();

}  // namespace muster_tests::phase_scene::public_calls
