// expect: muster: a tag has no value to keep: use observer().removed<T>().
#include <muster/muster.hpp>

#ifdef MUST_FAIL
struct frozen {};
#else
struct frozen {
    int since;
};
#endif

void use(muster::world& w) {
    auto gone = w.removed_values<frozen>();
}
