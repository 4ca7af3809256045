// expect: muster: a system's function takes the entity (optional), then the components of its query in order, then its payload by value.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

void use(muster::world& w) {
    const auto moving = w.query<position>();
#ifdef MUST_FAIL
    w.system("move").query(moving).each([](velocity&) {});
#else
    w.system("move").query(moving).each([](position&) {});
#endif
}
