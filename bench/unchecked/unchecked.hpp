// A world of a Muster that was built with MUSTER_UNCHECKED, in a library of its own: one program
// cannot hold both kinds otherwise.
#pragma once

#include <cstddef>

namespace muster::bench {

class __attribute__((visibility("default"))) unchecked_scene {
public:
    explicit unchecked_scene(std::size_t count);
    unchecked_scene(const unchecked_scene&) = delete;
    unchecked_scene& operator=(const unchecked_scene&) = delete;
    ~unchecked_scene();
    /// Over all entities, shuffled.
    [[nodiscard]] double sum_of_x() const;

private:
    struct hidden;
    hidden* hidden_;
};

}  // namespace muster::bench
