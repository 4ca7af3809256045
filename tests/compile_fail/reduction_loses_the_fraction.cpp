// expect: muster: the function returns a floating-point number, but the first value is an integer, which would lose the fraction: write 0.0.
#include <muster/muster.hpp>

struct mass {
    double kg;
};

double use(muster::world& w) {
    const auto add = [](double sum, const mass& m) { return sum + m.kg; };
#ifdef MUST_FAIL
    return w.query<const mass>().reduce(0, add);
#else
    return w.query<const mass>().reduce(0.0, add);
#endif
}
