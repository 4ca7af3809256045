// expect: muster: the parameters of this function are unknown, since they are auto or overloaded: write their types.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").prologue([](auto dt) { (void)dt; });
#else
    w.system("move").prologue([](float dt) { (void)dt; });
#endif
}
