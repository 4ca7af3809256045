// report: the status lines during a run and the summary at its end.
#pragma once

#include "options.hpp"
#include "simulation.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace demo {

class report {
public:
    explicit report(const options& given, unsigned threads);

    /// Records a frame; `took` is the time of the simulation alone.
    void note(simulation& of, std::chrono::nanoseconds took);

    /// Returns the lines below the live picture; `width` is that of the terminal.
    [[nodiscard]] std::vector<std::string> status(std::size_t width, bool has_bars) const;
    /// Returns a line of progress, for output that is no terminal.
    [[nodiscard]] std::string progress() const;
    /// Returns true if no handle gave a wrong answer.
    bool print_summary(simulation& of) const;

    [[nodiscard]] std::size_t frames() const { return frames_; }
    [[nodiscard]] double seconds() const;

private:
    struct moment {
        double time;
        std::uint64_t spawned, destroyed;
    };

    options given_;
    unsigned threads_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::size_t frames_ = 0;
    double last_ = 0, sum_ = 0, worst_ = 0;  // milliseconds
    population now_{};
    std::vector<moment> moments_;  // of the last second
    double births_ = 0, deaths_ = 0;
    std::size_t memory_ = 0;
    std::vector<std::size_t> birds_, insects_, hawks_;  // of each frame
};

/// Returns the memory of the process in bytes; 0 if it is unknown.
[[nodiscard]] std::size_t memory_in_use();
/// Returns 1234567 as "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);

}  // namespace demo
