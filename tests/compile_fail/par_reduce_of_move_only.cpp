// expect: muster: each part of par_reduce starts from a copy of the first value, but this type cannot be copied.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <memory>

struct mass {
    double kg;
};
using value = std::unique_ptr<double>;

value use(muster::world& w, muster::executor& threads) {
    const auto add = [](value sum, const mass& m) {
        *sum += m.kg;
        return sum;
    };
    const auto combine = [](value a, value) { return a; };
#ifdef MUST_FAIL
    return w.query<const mass>().par_reduce(threads, value(), add, combine);
#else
    (void)combine;
    (void)threads;
    return w.query<const mass>().reduce(value(), add);
#endif
}
