// expect: muster: a const field cannot be loaded
#include <muster/muster.hpp>
#include <muster/reflect.hpp>

struct camera {
    float zoom;
#ifdef MUST_FAIL
    const float least;
#else
    float least;
#endif
};

void use(muster::world& w) {
    muster::reflect<camera>(w);
}
