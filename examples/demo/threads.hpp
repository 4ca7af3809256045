// threads: an executor on oneTBB; on one thread if the demo was built without oneTBB.
#pragma once

#include <muster/system/executor.hpp>

#include <memory>

namespace demo {

/// Returns an executor with `wanted` threads; 0 means all of the machine.
[[nodiscard]] std::unique_ptr<muster::executor> make_threads(unsigned wanted);

}  // namespace demo
