// One frame of the demo, as a list of systems.
#pragma once

#include "tally.hpp"

namespace demo {

inline constexpr float frame_seconds = 1.0f / 30;

/// What the systems of all groups are made for; both must outlive the world's last frame.
void add_systems(muster::world& w, tally& counts);

// One group each, in the order of a frame.
void add_senses(muster::world& w);
void add_behavior(muster::world& w, tally& counts);
void add_motion(muster::world& w);
void add_life(muster::world& w, tally& counts);

}  // namespace demo
