// expect: to_double
#include <muster/id/id.hpp>

#ifdef MUST_FAIL
using layout = muster::layouts::bound;
#else
using layout = muster::layouts::exact;
#endif

double use(muster::basic_id<layout> e) {
    return e.to_double();
}
