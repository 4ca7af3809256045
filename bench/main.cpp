// Runs all workloads, several times in random order, and prints one table: nanoseconds per operation, the
// least of the repetitions, and the ratio to the hand-written floor.
#include <benchmark/benchmark.h>

#include <malloc.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

class table : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context&) override { return true; }

    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            if (const std::string why = why_it_failed(run); !why.empty()) {
                std::printf("%s: %s\n", run.benchmark_name().c_str(), why.c_str());
                failed_ = true;
                continue;
            }
            if (run.run_type != Run::RT_Iteration) continue;
            // "workload/contestant", with the size as its argument.
            const std::string& name = run.run_name.function_name;
            const std::size_t size = std::stoul(run.run_name.args);
            const std::size_t slash = name.find('/');
            const row_key key{name.substr(0, slash), size};
            const double each = run.real_accumulated_time * 1e9 /
                                static_cast<double>(run.iterations) / static_cast<double>(size);
            auto& cells = rows_[key];
            auto [cell, first] = cells.try_emplace(name.substr(slash + 1), each);
            if (!first && each < cell->second) cell->second = each;
        }
        std::fprintf(stderr, ".");
    }

    void Finalize() override {
        std::fprintf(stderr, "\n");
        std::printf("| workload | N | floor | Muster | ratio | compact | ratio |\n");
        std::printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
        for (const auto& [key, cells] : rows_) {
            std::printf("| %s | %zu |", key.first.c_str(), key.second);
            const auto floor = cells.find("floor");
            print(floor == cells.end() ? nullptr : &floor->second, nullptr);
            for (const char* contestant : {"muster", "muster compact"}) {
                const auto cell = cells.find(contestant);
                print(cell == cells.end() ? nullptr : &cell->second, nullptr);
                print(cell == cells.end() || floor == cells.end() ? nullptr : &cell->second,
                      floor == cells.end() ? nullptr : &floor->second);
            }
            std::printf("\n");
        }
    }

    bool failed() const { return failed_; }

private:
    using row_key = std::pair<std::string, std::size_t>;

    /// Google Benchmark 1.8 renamed these members.
    static std::string why_it_failed(const auto& run) {
        if constexpr (requires { run.error_occurred; })
            return run.error_occurred ? run.error_message : std::string();
        else
            return run.skipped ? run.skip_message : std::string();
    }

    static void print(const double* value, const double* per) {
        if (value == nullptr)
            std::printf(" – |");
        else
            std::printf(" %.2f |", per == nullptr ? *value : *value / *per);
    }

    std::map<row_key, std::map<std::string, double>> rows_;
    bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    // What is freed stays in the process, so that new pools measure the pool and not the kernel's page
    // faults; --cold leaves malloc as it is.
    bool cold = false, quick = false;
    std::vector<char*> args;
    for (int i = 0; i < argc; ++i) {
        if (std::strcmp(argv[i], "--cold") == 0)
            cold = true;
        else if (std::strcmp(argv[i], "--quick") == 0)
            quick = true;
        else
            args.push_back(argv[i]);
    }
    if (!cold) {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, 0x7fffffff);
        mallopt(M_TOP_PAD, 64 << 20);
    }
    std::string interleave = "--benchmark_enable_random_interleaving=true";
    std::string repetitions = quick ? "--benchmark_repetitions=5" : "--benchmark_repetitions=15";
    std::string minimum = quick ? "--benchmark_min_time=0.01" : "--benchmark_min_time=0.05";
    args.insert(args.begin() + 1, {interleave.data(), repetitions.data(), minimum.data()});
    int count = static_cast<int>(args.size());
    benchmark::Initialize(&count, args.data());
    if (benchmark::ReportUnrecognizedArguments(count, args.data())) return 2;
    table printed;
    benchmark::RunSpecifiedBenchmarks(&printed);
    return printed.failed() ? 1 : 0;
}
