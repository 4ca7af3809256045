// expect: muster: single is passed by value: write single<T> or single<const T>.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct settings {
    float dt;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.each([](position&, muster::single<const settings>&) {});
#else
    w.each([](position&, muster::single<const settings>) {});
#endif
}
