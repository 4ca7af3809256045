// expect: muster: the function of run_if takes a const world& and returns bool.
#include <muster/muster.hpp>

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").run_if([](muster::world& all) { return bool(all.spawn()); });
#else
    w.system("move").run_if([](const muster::world& all) { return all.size() > 0; });
#endif
}
