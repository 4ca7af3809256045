#include "support/trial.hpp"

#include <algorithm>
#include <utility>

namespace muster::bench {

bool trial::goes_on() const {
    if (!failure_.empty()) return false;
    if (samples_.empty()) return true;
    // Set-up before each sample may take longer than the sample.
    const double passed = std::chrono::duration<double>(clock::now() - begun_).count();
    return taken_ < seconds_ && passed < 5 * seconds_ && samples_.size() < 1000;
}

void trial::note(double value) {
    samples_.push_back(value);
    taken_ += value;
}

void trial::fail(std::string why) {
    failure_ = std::move(why);
}

double trial::median() const {
    if (samples_.empty()) return 0;
    std::vector<double> sorted = samples_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
}

}  // namespace muster::bench
