// expect: muster: a tag has no values: there is nothing to span.
#include <muster/muster.hpp>

#ifdef MUST_FAIL
struct frozen {};
#else
struct frozen {
    int since;
};
#endif

std::size_t use(muster::world& w) {
    return w.chunk<frozen>().components<frozen>().size();
}
