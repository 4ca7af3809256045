// expect: muster: the predicate of find_if takes (const T&) and returns bool.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

muster::entity use(const muster::world& w) {
#ifdef MUST_FAIL
    return w.find_if<position>([](const velocity& v) { return v.x > 0; });
#else
    return w.find_if<position>([](const position& p) { return p.x > 0; });
#endif
}
