// All of Muster. Each header below also stands alone.
#pragma once

#include <muster/base/config.hpp>
#include <muster/base/error.hpp>
#include <muster/fwd.hpp>
#include <muster/id/concurrent_id_pool.hpp>
#include <muster/id/id.hpp>
#include <muster/id/id_pool.hpp>
#include <muster/id/layout.hpp>
#include <muster/id/world_number.hpp>
#include <muster/world/world.hpp>
