// Stories with relations, compared with the model. The first byte chooses the layout, the others the
// operations.
#include <cstdio>
#include <cstdlib>
#include <span>

#include "support/relation_stories.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace muster;
    using namespace muster::test;
    if (size == 0) return 0;
    const std::span<const std::uint8_t> bytes(data + 1, size - 1);
    try {
        if (data[0] % 2 == 0)
            run_relation_story<layouts::bound>(bytes);
        else
            run_relation_story<layouts::compact>(bytes);
    } catch (const difference& d) {
        std::fprintf(stderr, "%s\n", d.what());
        std::abort();
    }
    return 0;
}
