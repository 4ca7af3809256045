// expect: muster: a prologue, epilogue or immediate function takes its payload by value.
#include <muster/muster.hpp>

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").epilogue([](const float&) {});
#else
    w.system("move").epilogue([](float) {});
#endif
}
