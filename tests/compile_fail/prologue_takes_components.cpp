// expect: muster: a prologue, epilogue or immediate function takes its payload by value.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").prologue([](position&) {});
#else
    w.system("move").prologue([](float) {});
#endif
}
