// All of Muster, except parallel loops (system/parallel.hpp) and explicit instantiation
// (world/instantiate.hpp). Each header below can also be included on its own.
#pragma once

#include <muster/base/config.hpp>
#include <muster/base/error.hpp>
#include <muster/fwd.hpp>
#include <muster/id/concurrent_id_pool.hpp>
#include <muster/id/id.hpp>
#include <muster/id/id_pool.hpp>
#include <muster/id/layout.hpp>
#include <muster/id/world_number.hpp>
#include <muster/world/compiled_world.hpp>
#include <muster/world/world.hpp>
