// expect: muster: a module is constructed from the world and the arguments of use.
#include <muster/muster.hpp>

#include <string>

struct physics {
    explicit physics(muster::world&, float) {}
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.use<physics>(std::string("strong"));
#else
    w.use<physics>(9.8f);
#endif
}
