// expect: muster: moving a component must not throw, or an entity could be lost half way: declare its move constructor noexcept, or keep a std::unique_ptr to it.
#include <muster/muster.hpp>

struct thrower {
    thrower() = default;
#ifdef MUST_FAIL
    thrower(thrower&&) {}
#else
    thrower(thrower&&) noexcept {}
#endif
};

void use(muster::world& w) {
    w.spawn(thrower());
}
