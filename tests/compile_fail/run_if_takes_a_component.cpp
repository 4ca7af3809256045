// expect: muster: the function of run_if takes a const world& and returns bool.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").run_if([](const position& p) { return p.x > 0; });
#else
    w.system("move").run_if([](const muster::world& all) { return all.size() > 0; });
#endif
}
