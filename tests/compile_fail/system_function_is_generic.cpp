// expect: muster: the parameters of this function are unknown, since they are auto or overloaded: write their types.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").each([](auto& p) { p.x = 1; });
#else
    w.system("move").each([](position& p) { p.x = 1; });
#endif
}
