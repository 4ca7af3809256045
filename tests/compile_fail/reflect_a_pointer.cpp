// expect: muster: a pointer, reference or view cannot be reflected
#include <muster/muster.hpp>
#include <muster/reflect.hpp>

struct camera {
    muster::entity follows;
#ifdef MUST_FAIL
    float* zoom;
#else
    float zoom;
#endif
};

void use(muster::world& w) {
    muster::reflect<camera>(w);
}
