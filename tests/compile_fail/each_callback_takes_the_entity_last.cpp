// expect: muster: a callback takes components by reference, or by pointer if they may be missing. Only the entity, as the first parameter, is passed by value.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.each([](position&, muster::entity) {});
#else
    w.each([](muster::entity, position&) {});
#endif
}
