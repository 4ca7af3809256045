// stopwatch: measures how long a function runs. Only for sources: <chrono> is expensive to compile.
#pragma once

#include <muster/base/config.hpp>

#include <chrono>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class stopwatch {
public:
    /// Nanoseconds since it was created.
    [[nodiscard]] std::uint64_t elapsed() const {
        const auto took = std::chrono::steady_clock::now() - start_;
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace MUSTER_NAMESPACE::detail
