// expect: muster: a tag has no values: use sort_like.
#include <muster/muster.hpp>

#ifdef MUST_FAIL
struct frozen {};
#else
struct frozen {
    int since;
};
#endif

void use(muster::world& w) {
    w.sort<frozen>([](const frozen&, const frozen&) { return false; });
}
