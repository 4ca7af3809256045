// expect: muster: a component is a plain type, without const, volatile or reference.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

std::size_t use(muster::world& w) {
#ifdef MUST_FAIL
    return w.query<position>().with<const velocity>().count();
#else
    return w.query<const position>().with<velocity>().count();
#endif
}
