// expect: muster: a component is a plain type, without const, volatile or reference.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.fragment<const position>("start");
#else
    w.fragment<position>("start");
#endif
}
