// expect: muster: a builder copies its values, but this type cannot be copied.
#include <muster/muster.hpp>

#include <memory>

void use(muster::world& w, muster::entity fragment) {
    auto made = w.builder();
#ifdef MUST_FAIL
    made.set(fragment, std::make_unique<int>(1));
#else
    made.set(fragment, std::make_shared<int>(1));
#endif
}
