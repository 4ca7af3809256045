// expect: muster: append takes values for push_back of the component itself, not of a member: use patch for a struct with a container.
#include <muster/muster.hpp>

#include <vector>

struct inventory {
    std::vector<int> items;
};

void use(muster::world& w, muster::entity e) {
#ifdef MUST_FAIL
    w.append<inventory>(e, 3);
#else
    w.append<std::vector<int>>(e, 3);
#endif
}
