// expect: muster: a system's function takes T&, but its query only reads this component (const T): write const T&.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").query(w.query<const position>()).each([](position&) {});
#else
    w.system("move").query(w.query<const position>()).each([](const position&) {});
#endif
}
