// expect: muster: the function of patch takes (T&).
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w, muster::entity e) {
#ifdef MUST_FAIL
    w.patch<position>(e, [](int&) {});
#else
    w.patch<position>(e, [](position&) {});
#endif
}
