// expect: muster: a component must be destructible.
#include <muster/muster.hpp>

struct eternal {
#ifdef MUST_FAIL
    ~eternal() = delete;
#endif
    int since;
};

bool use(const muster::world& w, muster::entity e) {
    return w.has<eternal>(e);
}
