// expect: muster: sort takes a function (const T&, const T&) that returns bool.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.sort<position>([](position& a, position& b) { return a.x < b.x; });
#else
    w.sort<position>([](const position& a, const position& b) { return a.x < b.x; });
#endif
}
