// expect: muster: a hook takes (entity, T&), (entity) or nothing.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.on_insert<position>([](muster::entity, velocity&) {});
#else
    w.on_insert<position>([](muster::entity, position&) {});
#endif
}
