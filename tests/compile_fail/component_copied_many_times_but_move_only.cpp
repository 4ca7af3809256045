// expect: muster: each entity receives a copy, but this component cannot be copied. Spawn one by one and pass values with std::move.
#include <muster/muster.hpp>

#include <memory>

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.spawn_many(3, std::make_unique<int>(1));
#else
    w.spawn_many(3, std::make_shared<int>(1));
#endif
}
