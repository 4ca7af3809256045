// expect: muster: this component can be neither moved nor copied: construct it in place with emplace or add.
#include <muster/muster.hpp>

struct fixed {
    fixed() = default;
#ifdef MUST_FAIL
    fixed(const fixed&) = delete;
#endif
};

void use(muster::world& w) {
    const fixed value;
    w.spawn(value);
}
