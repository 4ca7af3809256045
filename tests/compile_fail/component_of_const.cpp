// expect: muster: a component is a plain type, without const, volatile or reference.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w, muster::entity e) {
#ifdef MUST_FAIL
    w.add<const position>(e);
#else
    w.add<position>(e);
#endif
}
