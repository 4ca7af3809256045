// expect: muster: the callback takes the components of the query in order, optionally preceded by the entity.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

void use(muster::world& w) {
    const auto moving = w.query<position, const velocity>();
#ifdef MUST_FAIL
    moving.each([](const velocity&, position&) {});
#else
    moving.each([](position&, const velocity&) {});
#endif
}
