// frame: the time of a frame, as the payload of `process_all`.
#pragma once

#include <muster/base/config.hpp>

namespace MUSTER_NAMESPACE {

/// The seconds since the last frame: `w.process_all(frame{dt})`. In the payload, it counts as a
/// floating-point number, so a system may take it as `frame`, `float` or `double`.
struct frame {
    double dt = 0;
};

}  // namespace MUSTER_NAMESPACE
