// expect: muster: an array cannot be a component: use std::string for text, std::array or a struct for other arrays.
#include <muster/muster.hpp>

#include <string>

void use(muster::world& w) {
    auto made = w.builder();
#ifdef MUST_FAIL
    made.set("text");
#else
    made.set(std::string("text"));
#endif
}
