// expect: muster: the function of patch takes (T&).
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w, muster::entity e) {
#ifdef MUST_FAIL
    w.patch<position>(e, [](position p) { p.x = 1; });
#else
    w.patch<position>(e, [](position& p) { p.x = 1; });
    w.patch<position>(e, [n = 0](position& p) mutable noexcept { p.x = float(++n); });
    w.patch<position>(e, [](auto& p) { p.x = 1; });
    void (*change)(position&) = [](position& p) { p.x = 1; };
    w.patch<position>(e, change);
#endif
}
