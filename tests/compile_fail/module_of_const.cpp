// expect: muster: a module is an object of a class, without const.
#include <muster/muster.hpp>

struct physics {
    explicit physics(muster::world&) {}
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.use<const physics>();
#else
    w.use<physics>();
#endif
}
