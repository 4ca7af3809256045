// Creates a world, of the default layout or of a layout of its own.
#ifdef OWN_LAYOUT
#include <muster/world/instantiate.hpp>
using own = muster::layout<std::uint64_t, muster::id_bits{.key = 24, .version = 40}>;
MUSTER_INSTANTIATE(own)
using world = muster::basic_world<own>;
#else
#include <muster/muster.hpp>
using world = muster::world;
#endif

int main() {
    world w;
    return w.alive(w.spawn(1)) ? 0 : 1;
}
