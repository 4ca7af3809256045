// Runs the suite row by row. Each row has several rounds in which the contestants take turns, so
// that disturbances of the machine affect all of them. Prints its progress and writes the figures
// as JSON.
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "support/apart.hpp"
#include "support/report.hpp"
#include "support/suite.hpp"

namespace muster::bench {
namespace {

constexpr const char* usage = R"(Usage: muster_bench [OPTION...]

  --quick          use fewer rounds and sizes
  --rounds=N       run each contestant N times per row
  --seconds=S      limit the samples of one turn to S seconds
  --most=N         skip sizes above N
  --filter=REGEX   run only rows that match "workload/contestant"
  --json=FILE      write the figures to FILE
  --plain          use any processor and no real-time priority
  --list           list the rows and exit
)";

struct options {
    conditions wanted;
    int rounds = 7;
    std::size_t most = 10'000'000;
    std::regex filter{""};
    std::string json;
    bool is_list = false;
};

bool parse(int argc, char** argv, options& made) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view all = argv[i];
        const std::size_t equals = all.find('=');
        const std::string_view name = all.substr(0, equals);
        const std::string value(equals == std::string_view::npos ? "" : all.substr(equals + 1));
        if (name == "--quick") {
            made.rounds = 3;
            made.most = 100'000;
            made.wanted.seconds = 0.004;
        } else if (name == "--rounds") {
            made.rounds = std::atoi(value.c_str());
        } else if (name == "--seconds") {
            made.wanted.seconds = std::atof(value.c_str());
        } else if (name == "--most") {
            made.most = std::strtoul(value.c_str(), nullptr, 10);
        } else if (name == "--filter") {
            made.filter = std::regex(value);
        } else if (name == "--json") {
            made.json = value;
        } else if (name == "--plain") {
            made.wanted.is_pinned = made.wanted.has_priority = false;
        } else if (name == "--list") {
            made.is_list = true;
        } else {
            return false;  // also for --help
        }
    }
    return made.rounds > 0;
}

/// Returns the sizes up to `most`, or the smallest size if all are larger.
std::vector<std::size_t> sizes_of(const workload& of, std::size_t most) {
    std::vector<std::size_t> wanted;
    for (const std::size_t size : of.sizes)
        if (size <= most) wanted.push_back(size);
    if (wanted.empty()) wanted.push_back(of.sizes.front());
    return wanted;
}

std::vector<const contestant*> contestants_in(const workload& in, std::size_t size,
                                              const std::regex& filter) {
    const std::string_view source = in.same_as.empty() ? in.name : in.same_as;
    std::vector<const contestant*> found;
    for (const contestant& who : contestants())
        if (who.workload == source && size <= who.most &&
            std::regex_search(std::string(in.name) + "/" + who.name, filter))
            found.push_back(&who);
    return found;
}

struct task {
    row figures;
    std::vector<const contestant*> who;
};
std::vector<task> tasks_of(const options& wanted) {
    std::vector<task> made;
    for (const workload& one : workloads())
        for (const std::size_t size : sizes_of(one, wanted.most)) {
            task now{{&one, size, {}}, contestants_in(one, size, wanted.filter)};
            if (now.who.empty()) continue;
            for (const contestant* const who : now.who) now.figures.all.push_back({who->name, {}});
            made.push_back(std::move(now));
        }
    return made;
}

/// Converts a measured value to the figure of the table.
double figure_of(const workload& in, std::size_t size, double value) {
    if (in.kind == kind::bytes) return value / static_cast<double>(size);
    return value * 1e9 / (in.kind == kind::whole ? 1.0 : static_cast<double>(size));
}

/// Returns false if a result is wrong.
bool run(task& now, std::size_t number, std::size_t of, const options& wanted) {
    const workload& in = *now.figures.workload;
    const std::size_t size = now.figures.size;
    // Setting up the largest worlds takes long.
    const int rounds = size > 1'000'000 ? (wanted.rounds + 2) / 3 : wanted.rounds;
    for (int round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < now.who.size(); ++i) {
            const outcome got = run_apart(*now.who[i], size, in.kind, wanted.wanted);
            if (!got.failure.empty()) {
                std::fprintf(stderr, "\n%s/%s/%zu: %s\n", std::string(in.name).c_str(),
                             now.who[i]->name.c_str(), size, got.failure.c_str());
                return false;
            }
            now.figures.all[i].rounds.push_back(figure_of(in, size, got.value));
            show(now.figures, number, of, false);
        }
    show(now.figures, number, of, true);
    return true;
}

bool workloads_exist() {
    for (const contestant& who : contestants()) {
        bool is_known = false;
        for (const workload& one : workloads()) is_known = is_known || one.name == who.workload;
        if (!is_known) {
            std::fprintf(stderr, "%s takes part in %s, which is not in workloads.cpp\n",
                         who.name.c_str(), who.workload.c_str());
            return false;
        }
    }
    return true;
}

int run_all(const options& wanted) {
    if (!workloads_exist()) return 1;
    std::vector<task> tasks = tasks_of(wanted);
    bool is_right = true;
    std::vector<row> rows;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (wanted.is_list) {
            for (const contestant* const who : tasks[i].who)
                std::printf("%s/%s/%zu\n", std::string(tasks[i].figures.workload->name).c_str(),
                            who->name.c_str(), tasks[i].figures.size);
            continue;
        }
        if (run(tasks[i], i + 1, tasks.size(), wanted))
            rows.push_back(tasks[i].figures);
        else
            is_right = false;
    }
    const std::string how = describe(wanted.wanted) + "; least of " +
                            std::to_string(wanted.rounds) + " rounds, in which all take turns";
    if (!wanted.json.empty() && !write_json(wanted.json, rows, how)) {
        std::fprintf(stderr, "%s cannot be written\n", wanted.json.c_str());
        return 1;
    }
    return is_right ? 0 : 1;
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
    muster::bench::options wanted;
    if (!muster::bench::parse(argc, argv, wanted)) {
        std::fputs(muster::bench::usage, stderr);
        return 2;
    }
    return muster::bench::run_all(wanted);
}
