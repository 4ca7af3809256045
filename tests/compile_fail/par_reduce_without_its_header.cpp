// expect: muster: calls that begin with par_ need #include <muster/system/parallel.hpp>.
#include <muster/muster.hpp>

struct mass {
    double kg;
};

double use(muster::world& w, muster::executor& threads) {
    const auto add = [](double sum, const mass& m) { return sum + m.kg; };
#ifdef MUST_FAIL
    return w.query<const mass>().par_reduce(threads, 0.0, add,
                                            [](double a, double b) { return a + b; });
#else
    (void)threads;
    return w.query<const mass>().reduce(0.0, add);
#endif
}
