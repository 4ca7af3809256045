// expect: muster: spawn_rows needs at least one component type.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
    const auto fill = [](muster::rows) {};
#ifdef MUST_FAIL
    w.spawn_rows(3, fill);
#else
    w.spawn_rows(3, fill, position{1, 2});
#endif
}
