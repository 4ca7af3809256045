// The suite: all workloads, in the order of the table, and the contestants of each. `workloads.cpp`
// lists the workloads; contestants register themselves from any file.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/trial.hpp"

namespace muster::bench {

/// The unit of a figure, and the conditions of its measurement.
enum class kind {
    each,        // nanoseconds per entity or operation
    whole,       // nanoseconds for the whole
    new_memory,  // nanoseconds per entity; malloc returns freed memory to the kernel
    threads,     // nanoseconds per entity, on all processors
    bytes,       // bytes per entity
};

struct workload {
    std::string_view group;
    std::string_view name;
    std::vector<std::size_t> sizes;
    bench::kind kind = kind::each;
    /// If not empty: the workload whose contestants take part.
    std::string_view same_as = {};
};

struct contestant {
    std::string workload;
    std::string name;
    std::function<void(trial&)> body;
    std::size_t most;  // skips larger sizes
};

/// Another library, for the report.
struct peer {
    std::string name;
    std::string version;
};

/// All workloads, in the order of the table.
const std::vector<workload>& workloads();

std::vector<contestant>& contestants();
std::vector<peer>& peers();

/// Call both during static initialisation.
inline void add(std::string workload, std::string name, std::function<void(trial&)> body,
                std::size_t most = std::numeric_limits<std::size_t>::max()) {
    contestants().push_back({std::move(workload), std::move(name), std::move(body), most});
}
inline void add_peer(std::string name, std::string version) {
    peers().push_back({std::move(name), std::move(version)});
}

}  // namespace muster::bench
