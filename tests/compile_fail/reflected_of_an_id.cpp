// expect: muster: reflected needs the C++ type
#include <muster/muster.hpp>
#include <muster/reflect.hpp>

struct camera {
    float zoom;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.define(w.spawn()).reflected();
#else
    w.define<camera>().reflected();
#endif
}
