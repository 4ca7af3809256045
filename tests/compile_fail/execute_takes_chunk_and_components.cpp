// expect: muster: the function of execute takes a chunk_view (optional), then its payload by value.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").with<position>().execute([](muster::chunk_view, position&) {});
#else
    w.system("move").with<position>().execute([](muster::chunk_view, float) {});
#endif
}
