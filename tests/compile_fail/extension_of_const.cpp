// expect: muster: an extension is an object of a class, without const.
#include <muster/muster.hpp>

struct counter {
    int count = 0;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.extension<const counter>();
#else
    w.extension<counter>();
#endif
}
