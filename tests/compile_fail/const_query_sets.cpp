// expect: muster: this query is of a const world and cannot change entities.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct frozen {};

void use(const muster::world& w) {
#ifdef MUST_FAIL
    w.query<const position>().set(frozen{}, position{});
#else
    (void)w.query<const position>().count();
#endif
}
