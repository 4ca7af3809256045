// expect: muster: the function of each_event takes an event by const reference, then its payload by value.
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
    w.system().each_event([](damage) {});
#else
    w.system().each_event([](const damage&) {});
#endif
}
