// Trials run apart, each in a process of its own: one does not find the heap that another has left,
// memory can be counted, and what crashes takes nobody along.
#pragma once

#include <cstddef>
#include <string>

#include "support/suite.hpp"

namespace muster::bench {

struct conditions {
    bool is_pinned = true;     // to one processor, but for the rows with threads
    bool has_priority = true;  // real-time priority there, if the system allows it
    double seconds = 0.03;     // that the samples of a trial may take
};

struct outcome {
    double value = 0;     // median of the samples: seconds of a pass, or bytes
    std::string failure;  // empty if all was right
};

outcome run_apart(const contestant& who, std::size_t size, kind how, const conditions& wanted);

/// What `conditions` come to on this machine, for the report: "processor 1, real-time priority".
std::string describe(const conditions& wanted);

}  // namespace muster::bench
