// expect: muster: each entity receives a copy, but this component cannot be copied. Spawn one by one and pass values with std::move.
#include <muster/muster.hpp>

#include <memory>
#include <vector>

void use(muster::world& w) {
#ifdef MUST_FAIL
    const std::vector<std::unique_ptr<int>> column(3);
#else
    const std::vector<std::shared_ptr<int>> column(3);
#endif
    w.spawn_columns(column);
}
