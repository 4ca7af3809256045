// expect: muster: a system's function takes the entity (optional), then components by reference or pointer, then its payload by value.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").each([](float, position&) {});
#else
    w.system("move").each([](position&, float) {});
#endif
}
