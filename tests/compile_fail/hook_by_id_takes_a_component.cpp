// expect: muster: a hook of an id takes (entity, void*), (entity) or nothing.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w, muster::entity fragment) {
#ifdef MUST_FAIL
    w.on_insert(fragment, [](muster::entity, position&) {});
#else
    w.on_insert(fragment, [](muster::entity, void*) {});
#endif
}
