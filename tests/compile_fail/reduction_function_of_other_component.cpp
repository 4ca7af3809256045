// expect: muster: the function of a reduction takes the accumulated value, then the entity (optional), then the components of the query in order, and returns the next value.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

float use(muster::world& w) {
#ifdef MUST_FAIL
    return w.query<position>().reduce(0.0f, [](float sum, const velocity& v) { return sum + v.x; });
#else
    return w.query<position>().reduce(0.0f, [](float sum, const position& p) { return sum + p.x; });
#endif
}
