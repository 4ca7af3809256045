// expect: muster: this component cannot be copied: pass it with std::move.
#include <muster/muster.hpp>

#include <memory>
#include <utility>

void use(muster::world& w) {
    auto value = std::make_unique<int>(1);
#ifdef MUST_FAIL
    w.spawn(value);
#else
    w.spawn(std::move(value));
#endif
}
