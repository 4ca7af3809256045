// expect: muster: this type has more than 32 fields
#include <muster/muster.hpp>
#include <muster/reflect.hpp>

struct camera {
    int f01, f02, f03, f04, f05, f06, f07, f08, f09, f10, f11, f12, f13, f14, f15, f16;
    int f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32;
#ifdef MUST_FAIL
    int f33;
#endif
};

void use(muster::world& w) {
    muster::reflect<camera>(w);
}
