// expect: muster: each entity gets a copy: this component cannot be copied. Spawn them one by one, handing values over with std::move.
#include <muster/muster.hpp>

#include <memory>

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.spawn_many(3, std::make_unique<int>(1));
#else
    w.spawn_many(3, std::make_shared<int>(1));
#endif
}
