// expect: muster: a world is no component, and functions do not receive it: capture it.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").each([](muster::world&, position&) {});
#else
    w.system("move").each([&w](position&) { w.spawn(); });
#endif
}
