// expect: muster: this world is const, so its queries only read: take const components, such as query<const position>() or const position&.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct frozen {};

void use(const muster::world& w) {
#ifdef MUST_FAIL
    w.query<position>().each([](position& p) { p.x = 0; });
#else
    w.query<const position>().each([](const position&) {});
#endif
}
