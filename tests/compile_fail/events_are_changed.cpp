// expect: muster: events do not change: write events<const T>.
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
    w.system().execute([](muster::events<damage>) {});
#else
    w.system().execute([](muster::events<const damage>) {});
#endif
}
