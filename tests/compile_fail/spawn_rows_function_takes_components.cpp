// expect: muster: the function of spawn_rows takes rows.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.spawn_rows(3, [](position&) {}, position{});
#else
    w.spawn_rows(3, [](muster::rows) {}, position{});
#endif
}
