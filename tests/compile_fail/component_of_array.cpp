// expect: muster: an array cannot be a component: use std::string for text, std::array or a struct for other arrays.
#include <muster/muster.hpp>

void use(muster::world& w, muster::entity e) {
#ifdef MUST_FAIL
    w.set(e, "text");
#else
    w.set(e, std::string("text"));
#endif
}
