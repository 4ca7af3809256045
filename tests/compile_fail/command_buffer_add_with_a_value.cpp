// expect: muster: add takes no value: did you mean set(e, value)? add<T>(e) adds the default value.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w, muster::entity e) {
#ifdef MUST_FAIL
    muster::command_buffer(w).add(e, position{1, 2});
#else
    muster::command_buffer(w).set(e, position{1, 2});
#endif
}
