// expect: muster: this value cannot be kept, because it cannot be moved without failing
#include <muster/muster.hpp>

struct rooted {
    int value = 0;
    rooted() = default;
#ifdef MUST_FAIL
    rooted(const rooted&) = delete;
#endif
};

void use(muster::world& w) {
    auto gone = w.removed_values<rooted>();
}
