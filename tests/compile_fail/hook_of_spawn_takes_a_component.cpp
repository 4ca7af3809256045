// expect: muster: a hook of an id takes (entity, void*), (entity) or nothing.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.on_spawn([](muster::entity, position&) {});
#else
    w.on_spawn([](muster::entity) {});
#endif
}
