// expect: muster: an extension is constructed from its world or by default.
#include <muster/muster.hpp>

struct counter {
#ifdef MUST_FAIL
    explicit counter(int) {}
#endif
};

void use(muster::world& w) {
    w.extension<counter>();
}
