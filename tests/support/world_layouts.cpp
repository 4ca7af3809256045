#include "world_layouts.hpp"

#include <muster/world/instantiate.hpp>

MUSTER_INSTANTIATE(muster::test::wide_versions)
MUSTER_INSTANTIATE(muster::test::scarce<muster::exhaustion::retire>)
MUSTER_INSTANTIATE(muster::test::scarce<muster::exhaustion::tombstone>)
