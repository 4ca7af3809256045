// expect: muster: the callback takes the components of the observer in order, optionally preceded by the entity.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

void use(muster::world& w) {
    auto moved = w.observer<position>();
#ifdef MUST_FAIL
    moved.each([](velocity&) {});
#else
    moved.each([](position&) {});
#endif
}
