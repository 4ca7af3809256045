// expect: muster: the parameters of this function are unknown, since they are auto or overloaded: write their types.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").execute([](auto view) { (void)view.size(); });
#else
    w.system("move").execute([](muster::chunk_view view) { (void)view.size(); });
#endif
}
