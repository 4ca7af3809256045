// expect: muster: set copies the value to each entity, but this component cannot be copied.
#include <muster/muster.hpp>

#include <memory>

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.query<int>().set(std::make_unique<int>(1));
#else
    w.query<int>().set(std::make_shared<int>(1));
#endif
}
