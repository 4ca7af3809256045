// expect: muster: a query names each component type only once, whether const, optional or not.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct frozen {};

void use(muster::world& w) {
#ifdef MUST_FAIL
    auto o = w.observer<position, position>();
    (void)o;
#else
    auto o = w.observer<position>();
    (void)o;
#endif
}
