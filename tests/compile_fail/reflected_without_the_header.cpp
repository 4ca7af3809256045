// expect: muster: reflected needs #include <muster/reflect.hpp>
#include <muster/muster.hpp>
#ifndef MUST_FAIL
#include <muster/reflect.hpp>
#endif

struct camera {
    float zoom;
};

void use(muster::world& w) {
    w.define<camera>().reflected();
}
