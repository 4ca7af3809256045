// expect: muster: the values of this enumeration are unknown
#include <muster/muster.hpp>
#include <muster/reflect.hpp>

enum lens
#ifndef MUST_FAIL
    : int
#endif
{
    wide,
    tele
};
struct camera {
    lens now;
};

void use(muster::world& w) {
    muster::reflect<camera>(w);
}
