// expect: muster: the callback takes T&, but the query only reads this component (const T): write const T&.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.query<const position>().par_each([](position&) {});
#else
    w.query<const position>().par_each([](const position&) {});
#endif
}
