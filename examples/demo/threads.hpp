// threads: so many of oneTBB's; or one, where the demo was built without oneTBB.
#pragma once

#include <muster/system/executor.hpp>

#include <memory>

namespace demo {

/// 0: as many as the machine has.
[[nodiscard]] std::unique_ptr<muster::executor> make_threads(unsigned wanted);

}  // namespace demo
