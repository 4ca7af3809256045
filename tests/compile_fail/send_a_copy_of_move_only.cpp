// expect: muster: send takes an object that can be moved or copied.
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
    w.send(kept);
#else
    w.send(static_cast<letter&&>(kept));
#endif
}
