// expect: muster: this type has an array as a field
#include <muster/muster.hpp>
#include <muster/reflect.hpp>

struct camera {
#ifdef MUST_FAIL
    float matrix[4];
#else
    float matrix;
#endif
    int mode;
};

void use(muster::world& w) {
    muster::reflect<camera>(w);
}
