// expect: muster: an array cannot be a component: use std::string for text, std::array or a struct for other arrays.
#include <muster/muster.hpp>

#include <array>

std::size_t use(muster::world& w) {
#ifdef MUST_FAIL
    return w.query<int[3]>().count();
#else
    return w.query<std::array<int, 3>>().count();
#endif
}
