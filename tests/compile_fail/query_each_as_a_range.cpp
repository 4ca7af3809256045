// expect: muster: a query is a range itself: write for (auto [e, p] : query).
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    for (auto [e, p] : w.query<position>().each()) p.x = w.alive(e) ? 1 : 0;
#else
    for (auto [e, p] : w.query<position>()) p.x = w.alive(e) ? 1 : 0;
#endif
}
