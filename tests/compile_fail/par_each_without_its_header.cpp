// expect: muster: calls that begin with par_ need #include <muster/system/parallel.hpp>.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.query<position>().par_each([](position&) {});
#else
    w.query<position>().each([](position&) {});
#endif
}
