// expect: muster: a state is a value of an enumeration.
#include <muster/muster.hpp>

enum class mode { menu, playing };

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.set_state(1);
#else
    w.set_state(mode::playing);
#endif
}
