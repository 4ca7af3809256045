// expect: muster: an array cannot be a component: use std::string for text, std::array or a struct for other arrays.
#include <muster/muster.hpp>

#include <string>

void use(muster::world& w, muster::entity e, muster::entity label) {
#ifdef MUST_FAIL
    w.set(e, label, "text");
#else
    w.set(e, label, std::string("text"));
#endif
}
