// expect: muster: the callback takes the components of the query in order, optionally preceded by the entity.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.query<const position>().each([](position&) {});
#else
    w.query<const position>().each([](const position&) {});
#endif
}
