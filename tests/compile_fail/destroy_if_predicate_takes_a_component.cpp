// expect: muster: the predicate of destroy_if takes (entity) and returns bool.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.destroy_if([](const position& p) { return p.x > 0; });
#else
    w.destroy_if([](muster::entity) { return true; });
#endif
}
