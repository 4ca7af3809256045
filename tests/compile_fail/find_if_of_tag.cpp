// expect: muster: a tag has no value to search for.
#include <muster/muster.hpp>

#ifdef MUST_FAIL
struct frozen {};
#else
struct frozen {
    int since;
};
#endif

muster::entity use(const muster::world& w) {
    return w.find_if<frozen>([](const frozen&) { return true; });
}
