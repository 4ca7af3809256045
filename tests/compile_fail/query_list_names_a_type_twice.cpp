// expect: muster: a list of a query names each component type only once.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct frozen {};

void use(muster::world& w) {
#ifdef MUST_FAIL
    auto q = w.query<position>().any<frozen, position, frozen>();
    (void)q;
#else
    auto q = w.query<position>().any<frozen, position>();
    (void)q;
#endif
}
