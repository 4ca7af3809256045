// expect: muster: calls that begin with par_ need #include <muster/system/parallel.hpp>.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w, muster::executor& threads) {
#ifdef MUST_FAIL
    w.par_process_all(threads);
#else
    w.process_all();
    (void)threads;
#endif
}
