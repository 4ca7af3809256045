// expect: muster: this component cannot be copied: pass it with std::move.
#include <muster/muster.hpp>

#include <memory>
#include <utility>
#include <vector>

struct inventory {
    std::vector<std::unique_ptr<int>> items;
};

void use(muster::world& w, muster::entity e) {
    inventory mine;
#ifdef MUST_FAIL
    w.set(e, mine);
#else
    w.set(e, std::move(mine));
#endif
}
