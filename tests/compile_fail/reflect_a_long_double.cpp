// expect: muster: a number of more than 8 bytes
#include <muster/muster.hpp>
#include <muster/reflect.hpp>

struct camera {
#ifdef MUST_FAIL
    long double zoom;
#else
    double zoom;
#endif
};

void use(muster::world& w) {
    muster::reflect<camera>(w);
}
