// expect: muster: the function of duplicate takes (const T&) and returns T, or, for an id, takes (void* to, const void* from).
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.define<position>().duplicate([](int) { return 1; });
#else
    w.define<position>().duplicate([](const position& p) { return p; });
#endif
}
