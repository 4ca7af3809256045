// expect: muster: a state is a value of an enumeration.
#include <muster/muster.hpp>

enum class mode { menu, playing };

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("hud").in("playing");
#else
    w.system("hud").in(mode::playing);
#endif
}
