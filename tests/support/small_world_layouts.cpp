#include <muster/world/instantiate.hpp>

#include "world_layouts.hpp"

MUSTER_INSTANTIATE(muster::test::wrapping)
MUSTER_INSTANTIATE(muster::test::nibble<muster::exhaustion::retire>)
MUSTER_INSTANTIATE(muster::test::nibble<muster::exhaustion::tombstone>)
MUSTER_INSTANTIATE(muster::test::nibble<muster::exhaustion::wrap>)
