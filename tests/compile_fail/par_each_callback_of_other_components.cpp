// expect: muster: the callback takes the components of the query in order, optionally preceded by the entity.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.query<position>().par_each([](velocity&) {});
#else
    w.query<position>().par_each([](position&) {});
#endif
}
