// Stories, compared with the model. The first byte chooses the layout, the others the operations.
#include <cstdio>
#include <cstdlib>
#include <span>

#include "support/id_story.hpp"
#include "support/layouts.hpp"

namespace {

using namespace muster;
using namespace muster::test;

template <class Layout>
void run(std::span<const std::uint8_t> bytes) {
    byte_source from(bytes);
    run_id_story<Layout>(story_options<Layout>(from), bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span<const std::uint8_t> bytes(data + 1, size - 1);
    try {
        switch (data[0] % 10) {
        case 0: run<layouts::bound>(bytes); break;
        case 1: run<layouts::compact>(bytes); break;
        case 2: run<layouts::exact>(bytes); break;
        case 3: run<layouts::packed>(bytes); break;
        case 4: run<nibble<exhaustion::retire>>(bytes); break;
        case 5: run<nibble<exhaustion::wrap>>(bytes); break;
        case 6: run<nibble_from_1<exhaustion::tombstone>>(bytes); break;
        case 7: run<tiny_bound<exhaustion::retire>>(bytes); break;
        case 8: run<tiny_bound<exhaustion::tombstone>>(bytes); break;
        case 9: run<least<exhaustion::wrap>>(bytes); break;
        }
    } catch (const difference& d) {
        std::fprintf(stderr, "%s\n", d.what());
        std::abort();
    }
    return 0;
}
