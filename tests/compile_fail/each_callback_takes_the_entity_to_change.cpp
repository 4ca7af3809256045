// expect: muster: the callback takes the components of the query in order, optionally preceded by the entity.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.each([](muster::entity&, position&) {});
#else
    w.each([](const muster::entity&, position&) {});
#endif
}
