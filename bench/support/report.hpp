// The output of a run: one line per row while it runs, and a JSON file. `tools/bench_table` creates
// the table and the plots from it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/suite.hpp"

namespace muster::bench {

/// The figures of one contestant, one per round.
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

/// Prints the row to stderr. On a terminal it overwrites the line until `is_done`.
void show(const row& now, std::size_t number, std::size_t of, bool is_done);

/// Returns false if the file cannot be written.
bool write_json(const std::string& path, const std::vector<row>& rows,
                const std::string& conditions);

}  // namespace muster::bench
