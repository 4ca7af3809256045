// The components of the workloads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::bench {

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};
struct payload {  // 64 bytes
    double amount;
    std::int32_t count;
    bool flag;
    std::uint32_t rest[11];
};
static_assert(sizeof(payload) == 64);
struct extra {  // what is added and removed
    float value;
};
struct tag {};
template <int Number>
struct filler {  // makes entities larger
    float a, b;
};

inline position position_of(std::size_t i) {
    return {static_cast<float>(i % 1000), 1};
}
inline velocity velocity_of(std::size_t) {
    return {1, 2};
}

}  // namespace muster::bench
