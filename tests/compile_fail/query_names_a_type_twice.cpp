// expect: muster: a query names each component type only once, whether const, optional or not.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct frozen {};

void use(muster::world& w) {
#ifdef MUST_FAIL
    auto q = w.query<position, const position*>();
    (void)q;
#else
    auto q = w.query<position>();
    (void)q;
#endif
}
