// expect: muster: component types must be distinct.
#include <muster/muster.hpp>

#include <vector>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

void use(muster::world& w) {
    const std::vector<position> positions(3);
#ifdef MUST_FAIL
    const std::vector<position> velocities(3);
#else
    const std::vector<velocity> velocities(3);
#endif
    w.spawn_columns(positions, velocities);
}
