// What comes out of a run: a line for each row while it runs, and a JSON file, of which
// `tools/bench_table` makes the table and the plots.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/suite.hpp"

namespace muster::bench {

/// The figures of one contestant, one of each round.
struct figures {
    std::string contestant;
    std::vector<double> rounds;

    [[nodiscard]] double least() const;
};
struct row {
    const bench::workload* workload = nullptr;
    std::size_t size = 0;
    std::vector<figures> all;
};

/// Shows the row on stderr: over the line before if it is not done and stderr is a terminal.
void show(const row& now, std::size_t number, std::size_t of, bool is_done);

/// False if the file cannot be written.
bool write_json(const std::string& path, const std::vector<row>& rows,
                const std::string& conditions);

}  // namespace muster::bench
