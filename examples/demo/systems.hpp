// One frame of the demo, as a list of systems.
#pragma once

#include "tally.hpp"

namespace demo {

inline constexpr float frame_seconds = 1.0f / 30;

/// Adds all systems. `counts` must outlive the last frame of the world.
void add_systems(muster::world& w, tally& counts);

// Each adds a group, in the order of a frame.
void add_senses(muster::world& w);
void add_behavior(muster::world& w, tally& counts);
void add_motion(muster::world& w);
void add_life(muster::world& w, tally& counts);

}  // namespace demo
