// The suite: all workloads, in the order of the table, and who takes part in each. `workloads.cpp`
// says what there is; contestants add themselves from any file.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/trial.hpp"

namespace muster::bench {

/// What a figure stands for, and under what conditions it is taken.
enum class kind {
    each,        // nanoseconds for each entity or operation
    whole,       // nanoseconds for all of it
    new_memory,  // nanoseconds for each; memory that was freed has to be got from the system again
    threads,     // nanoseconds for each, on all processors
    bytes,       // for each entity
};

struct workload {
    std::string_view group;
    std::string_view name;
    std::vector<std::size_t> sizes;
    bench::kind kind = kind::each;
    /// Those of another workload take part.
    std::string_view same_as = {};
};

struct contestant {
    std::string workload;
    std::string name;
    std::function<void(trial&)> body;
    std::size_t most;  // larger sizes are left out
};

/// A library beside Muster, for the report.
struct peer {
    std::string name;
    std::string version;
};

/// The list, in the order of the table.
const std::vector<workload>& workloads();

std::vector<contestant>& contestants();
std::vector<peer>& peers();

/// Both are called while the program starts.
inline void add(std::string workload, std::string name, std::function<void(trial&)> body,
                std::size_t most = std::numeric_limits<std::size_t>::max()) {
    contestants().push_back({std::move(workload), std::move(name), std::move(body), most});
}
inline void add_peer(std::string name, std::string version) {
    peers().push_back({std::move(name), std::move(version)});
}

}  // namespace muster::bench
