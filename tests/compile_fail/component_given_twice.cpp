// expect: muster: component types must be distinct.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.spawn(position{1, 2}, velocity{3, 4}, position{5, 6});
#else
    w.spawn(position{1, 2}, velocity{3, 4});
#endif
}
