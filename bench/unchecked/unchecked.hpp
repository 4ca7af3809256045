// A world of a Muster that is built with MUSTER_UNCHECKED. It is in a library of its own, because
// the support files of the benchmarks have the same names in both builds.
#pragma once

#include <cstddef>

namespace muster::bench {

class __attribute__((visibility("default"))) unchecked_scene {
public:
    explicit unchecked_scene(std::size_t count);
    unchecked_scene(const unchecked_scene&) = delete;
    unchecked_scene& operator=(const unchecked_scene&) = delete;
    ~unchecked_scene();
    /// Sums the x of all entities, in shuffled order.
    [[nodiscard]] double sum_of_x() const;

private:
    struct hidden;
    hidden* hidden_;
};

}  // namespace muster::bench
