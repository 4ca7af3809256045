// expect: muster: a query names each component type only once, whether const, optional or not.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct frozen {};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system().each([](position& p, const position& q) { p.x = q.y; });
#else
    w.system().each([](position& p) { p.x = p.y; });
#endif
}
