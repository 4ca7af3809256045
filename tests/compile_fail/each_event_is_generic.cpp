// expect: muster: the parameters of this function are unknown, since they are auto or overloaded: write their types.
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
    w.system().each_event([](const auto&) {});
#else
    w.system().each_event([](const damage&) {});
#endif
}
