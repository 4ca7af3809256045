// expect: muster: the parameters of this callback are unknown, since they are auto or overloaded: write query<position>().each(callback).
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.each([](auto&) {});
#else
    w.query<position>().each([](auto&) {});
#endif
}
