// expect: muster: pass each component type only once.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.query<position>().set(position{1, 2}, position{3, 4});
#else
    w.query<position>().set(position{1, 2});
#endif
}
