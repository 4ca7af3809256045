// The components of the workloads, their initial values, and the loop bodies.
#pragma once

#include <cmath>
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
struct extra {  // added and removed
    float value;
};
struct tag {};
template <std::size_t Number>
struct filler {  // makes entities larger
    float a, b;
};
template <std::size_t Number>
struct variety {  // makes kinds of entities
    float value;
};
template <std::size_t Number>
struct mark {  // makes kinds of entities: one tag for each bit of a number
};

constexpr float step = 0.5f;  // exact: sums can be compared

inline position position_of(std::size_t i) {
    return {static_cast<float>(i % 1000), 1};
}
inline velocity velocity_of(std::size_t) {
    return {1, 2};
}

inline void step_1(position& p) {
    p.x += 1;
}
inline void step_2(position& p, const velocity& v) {
    p.x += v.x * step;
    p.y += v.y * step;
}
inline void step_3(position& p, const velocity& v, payload& d) {
    step_2(p, v);
    d.count += 1;
    d.amount += 0.5;
    d.flag = !d.flag;
}
/// Takes about 100 ns.
inline void work_hard(position& p, const velocity& v) {
    for (int i = 0; i < 8; ++i) {
        p.x = std::sin(p.x + v.x);
        p.y = std::cos(p.y + v.y);
    }
}

/// Returns the sum of the x of `count` entities.
inline double sum_of_x(std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(position_of(i).x);
    return sum;
}

}  // namespace muster::bench
