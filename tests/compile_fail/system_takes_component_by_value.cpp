// expect: muster: a system's function takes components by reference or pointer, and its payload by value: write T& or const T&.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").each([](position, float) {});
#else
    w.system("move").each([](position&, float) {});
#endif
}
