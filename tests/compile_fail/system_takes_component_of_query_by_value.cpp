// expect: muster: a system's function takes a component by value, which is the payload: write T& or const T&.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").query(w.query<position>()).each([](position) {});
#else
    w.system("move").query(w.query<position>()).each([](const position&) {});
#endif
}
