// expect: muster: to set several fragments at once, pass each as with(): with(tag), with(f, value).
#include <muster/muster.hpp>

void use(muster::world& w, muster::entity tag, muster::fragment<int> health) {
    const auto all = w.query<float>();
#ifdef MUST_FAIL
    all.set(tag, muster::with(health, 100));
#else
    all.set(muster::with(tag), muster::with(health, 100));
#endif
}
