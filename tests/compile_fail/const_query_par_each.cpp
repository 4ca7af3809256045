// expect: muster: par_each and par_reduce record changes, so they need a world that is not const.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

struct position {
    float x, y;
};
struct frozen {};

void use(const muster::world& w) {
#ifdef MUST_FAIL
    w.query<const position>().par_each([](const position&) {});
#else
    w.query<const position>().each([](const position&) {});
#endif
}
