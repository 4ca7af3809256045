// trial: one run of one contestant on one workload at one size. Set-up and the check of the result
// are not timed; a wrong result is an error. A trial takes several samples and reports their
// median. The table shows the lowest median of several trials.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

namespace muster::bench {

/// Prevents the compiler from removing the value, and from keeping memory in registers.
template <class T>
void keep(const T& value) {
    asm volatile("" : : "r,m"(value) : "memory");
}
inline void clobber() {
    asm volatile("" : : : "memory");
}

class trial {
public:
    /// Measures `size` entities. All samples together may take `seconds`; at least one is taken.
    trial(std::size_t size, double seconds) : size_(size), seconds_(seconds) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool goes_on() const;
    /// Adds a sample: the seconds of one pass over all entities, or bytes.
    void note(double value);
    void fail(std::string why);

    [[nodiscard]] const std::string& failure() const { return failure_; }
    [[nodiscard]] double median() const;

private:
    using clock = std::chrono::steady_clock;

    std::size_t size_;
    double seconds_;
    double taken_ = 0;
    clock::time_point begun_ = clock::now();
    std::vector<double> samples_;
    std::string failure_;
};

/// Returns the seconds that `body()` takes.
template <class Body>
double seconds_of(Body&& body) {
    clobber();
    const auto start = std::chrono::steady_clock::now();
    body();
    clobber();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Times `body(subject)`, each time on a new subject from `make()`. `sound(subject)` must hold
/// afterwards. The first pass only warms up caches and memory and does not count.
template <class Make, class Body, class Sound>
void measure(trial& t, Make make, Body body, Sound sound) {
    for (bool is_first = true; is_first || t.goes_on(); is_first = false) {
        const auto subject = make();
        const double took = seconds_of([&] { body(*subject); });
        if (!sound(*subject)) return t.fail("the result is wrong");
        if (!is_first) t.note(took);
    }
}

/// Times `body()` repeatedly on the same subject. `sound()` or `sound(passes)` must hold
/// afterwards.
template <class Body, class Sound>
void measure_again(trial& t, Body body, Sound sound) {
    constexpr double shortest =
        1e-4;  // length of a sample, so that the cost of the clock is negligible
    std::size_t passes = 1;
    body();
    double once = seconds_of(body);
    ++passes;
    std::size_t many = 1;
    while (once * static_cast<double>(many) < shortest && many < 100'000) many *= 2;
    while (t.goes_on()) {
        const double took = seconds_of([&] {
            for (std::size_t i = 0; i < many; ++i) {
                body();
                clobber();
            }
        });
        passes += many;
        t.note(took / static_cast<double>(many));
    }
    bool is_right = false;
    if constexpr (std::invocable<Sound, std::size_t>)
        is_right = sound(passes);
    else
        is_right = sound();
    if (!is_right) t.fail("the result is wrong");
}

}  // namespace muster::bench
