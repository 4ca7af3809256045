// expect: muster: single and events are passed by value: write single<const T> or events<const T>.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct settings {
    float dt;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system().each([](position&, const muster::single<const settings>&) {});
#else
    w.system().each([](position&, muster::single<const settings>) {});
#endif
}
