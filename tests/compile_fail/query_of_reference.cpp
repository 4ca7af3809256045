// expect: muster: query arguments are not references: write query<position>().
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    auto q = w.query<position&>();
#else
    auto q = w.query<position>();
#endif
    (void)q;
}
