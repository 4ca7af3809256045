// expect: muster: this type has a base class
#include <muster/muster.hpp>
#include <muster/reflect.hpp>

struct base {
    float zoom;
};
struct camera
#ifdef MUST_FAIL
    : base
#endif
{
    float speed;
};

void use(muster::world& w) {
    muster::reflect<camera>(w);
}
