// expect: muster: spawn_columns takes at least one array, vector or span.
#include <muster/muster.hpp>

#include <list>
#include <vector>

void use(muster::world& w) {
#ifdef MUST_FAIL
    const std::list<int> column(3);
#else
    const std::vector<int> column(3);
#endif
    w.spawn_columns(column);
}
