// expect: muster: a hook takes (entity, T&), (entity) or nothing.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.define<position>().on_remove([](position&) {});
#else
    w.define<position>().on_remove([](muster::entity, position&) {});
#endif
}
