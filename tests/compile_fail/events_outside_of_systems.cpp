// expect: muster: events are an argument of systems. Outside of systems, create a reader: w.reader<T>().
#include <muster/muster.hpp>

struct damage {
    int amount;
};
struct letter {
    letter() = default;
    letter(letter&&) = default;
};

void use(muster::world& w, [[maybe_unused]] letter& kept) {
#ifdef MUST_FAIL
    w.each([](damage&, muster::events<const damage>) {});
#else
    w.each([](damage&) {});
#endif
}
