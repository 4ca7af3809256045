// expect: muster: the callback of each_fragment takes (id, void*), or (id, const void*) if the world is const.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w, muster::entity e) {
#ifdef MUST_FAIL
    w.each_fragment(e, [](position&) {});
#else
    w.each_fragment(e, [](muster::id, void*) {});
#endif
}
