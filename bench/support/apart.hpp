// Runs each trial in a process of its own: it does not reuse the heap of another trial, its memory
// can be counted, and a crash does not end the suite.
#pragma once

#include <cstddef>
#include <string>

#include "support/suite.hpp"

namespace muster::bench {

struct conditions {
    bool is_pinned = true;     // to one processor, except rows with threads
    bool has_priority = true;  // real-time priority, if the system permits
    double seconds = 0.03;     // limit for the samples of a trial
};

struct outcome {
    double value = 0;     // median of the samples: seconds of a pass, or bytes
    std::string failure;  // empty on success
};

outcome run_apart(const contestant& who, std::size_t size, kind how, const conditions& wanted);

/// Returns the effective conditions, for the report: "processor 1, real-time priority".
std::string describe(const conditions& wanted);

}  // namespace muster::bench
