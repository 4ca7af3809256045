// expect: muster: a component is a plain type, without const, volatile or reference.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").writes<const position>();
#else
    w.system("move").writes<position>();
#endif
}
