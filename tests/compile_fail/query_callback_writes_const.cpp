// expect: muster: the callback takes T&, but the query only reads this component (const T): write const T&.
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
