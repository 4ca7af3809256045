// expect: muster: an array cannot be a component: use std::string for text, std::array or a struct for other arrays.
#include <muster/muster.hpp>

#include <string>

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.spawn_many(3, "text");
#else
    w.spawn_many(3, std::string("text"));
#endif
}
