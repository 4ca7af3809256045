#define MUSTER_WITH_INSTANTIATE
#include "muster.hpp"

using small = muster::layout<std::uint32_t, muster::id_bits{.key = 24, .version = 8}>;
MUSTER_INSTANTIATE(small)

int count_in_own_layout() {
    muster::basic_world<small> w;
    w.spawn_many(3, 1);
    return static_cast<int>(w.query<int>().count());
}
