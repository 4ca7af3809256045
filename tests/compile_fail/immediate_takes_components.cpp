// expect: muster: a prologue, epilogue or immediate function takes its payload by value.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").immediate([](position& p) { p.x += 1; });
#else
    w.system("move").immediate([](muster::frame f) { (void)f.dt; });
#endif
}
