// expect: muster: a callback takes the entity (optional), then components by reference or pointer, then single<T> by value.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct settings {
    float dt;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.each([](muster::single<const settings>, position&) {});
#else
    w.each([](position&, muster::single<const settings>) {});
#endif
}
