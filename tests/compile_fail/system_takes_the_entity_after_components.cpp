// expect: muster: a system's function takes the entity (optional), then components by reference or pointer, then its payload by value.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").each([](position&, muster::entity, velocity&) {});
#else
    w.system("move").each([](muster::entity, position&, velocity&) {});
#endif
}
