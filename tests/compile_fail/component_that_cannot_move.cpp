// expect: muster: a component must be movable: its chunk moves it. Keep a std::unique_ptr to a type that cannot be moved.
#include <muster/muster.hpp>

struct fixed {
    fixed() = default;
#ifdef MUST_FAIL
    fixed(const fixed&) = delete;
#endif
};

void use(muster::world& w) {
    w.spawn(fixed());
}
