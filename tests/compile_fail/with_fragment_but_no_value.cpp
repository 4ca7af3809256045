// expect: muster: this fragment has values: write with(fragment, value).
#include <muster/muster.hpp>

void use(muster::world& w, muster::fragment<int> health) {
#ifdef MUST_FAIL
    w.spawn(muster::with(health));
#else
    w.spawn(muster::with(health, 100));
#endif
}
