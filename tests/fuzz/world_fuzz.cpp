// Stories, compared with the model. The first byte chooses the layout, the others the operations, which
// include every call with ids of any bits.
#include <cstdio>
#include <cstdlib>
#include <span>

#include "support/world_stories.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace muster;
    using namespace muster::test;
    if (size == 0) return 0;
    const std::span<const std::uint8_t> bytes(data + 1, size - 1);
    try {
        switch (data[0] % 6) {
        case 0: run_world_story<layouts::bound>(bytes); break;
        case 1: run_world_story<layouts::compact>(bytes); break;
        case 2: run_world_story<layouts::exact>(bytes); break;
        case 3: run_world_story<layouts::packed>(bytes); break;
        case 4: run_world_story<scarce<exhaustion::retire>>(bytes); break;
        case 5: run_world_story<scarce<exhaustion::tombstone>>(bytes); break;
        }
    } catch (const difference& d) {
        std::fprintf(stderr, "%s\n", d.what());
        std::abort();
    }
    return 0;
}
