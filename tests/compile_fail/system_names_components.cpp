// expect: muster: the parameters of a system's function name its components: write system(name).each(function).
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system<position, const velocity>("move").each([](position&, const velocity&) {});
#else
    w.system("move").each([](position&, const velocity&) {});
#endif
}
