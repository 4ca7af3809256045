// expect: muster: this world is const: take single<const T>.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct settings {
    float dt;
};

void use(const muster::world& w) {
#ifdef MUST_FAIL
    w.each([](const position&, muster::single<settings>) {});
#else
    w.each([](const position&, muster::single<const settings>) {});
#endif
}
