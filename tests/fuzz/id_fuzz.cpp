// Any bits or any double as an id, any words as its parts: each call returns a result or an error.
#include <muster/id/id_pool.hpp>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "support/id_story.hpp"
#include "support/layouts.hpp"

namespace {

using namespace muster;
using namespace muster::test;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

template <class Layout>
void run(byte_source& from) {
    using id_type = basic_id<Layout>;
    const auto any = id_type::from_value(static_cast<typename id_type::rep>(from.word()));
    const auto [key, version, world] = any.unpack();
    require(
        key <= Layout::last_key && version <= Layout::last_version && world <= Layout::last_world,
        "parts fit");
    const id_type again = id_type::pack(key, version, world);
    require(again.unpack() == any.unpack(), "packing gives the same parts");
    require(!to_string(any).empty() && static_cast<bool>(any) == !any.is_null(), "it prints");

    const std::uint64_t k = from.word(), v = from.word(), w = from.word();
    const bool fits = k <= Layout::last_key && v <= Layout::last_version && w <= Layout::last_world;
    try {
        const id_type made = id_type::pack(k, v, w);
        require(fits && made.unpack() == id_parts{k, v, w}, "what fits is packed");
    } catch (const error& e) {
        require(!fits && e.code() == errc::id_out_of_range, "what does not fit is refused");
    }
    if constexpr (id_type::fits_a_double) {
        const double number = std::bit_cast<double>(from.word());
        try {
            require(id_type::from_double(number).to_double() == number, "doubles are exact");
        } catch (const error& e) {
            require(e.code() == errc::id_out_of_range, "other doubles are refused");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    byte_source from(std::span<const std::uint8_t>(data, size));
    while (!from.done()) {
        run<layouts::bound>(from);
        run<layouts::compact>(from);
        run<layouts::exact>(from);
        run<layouts::packed>(from);
        run<tiny_bound<exhaustion::wrap>>(from);
        run<least<exhaustion::retire>>(from);
    }
    return 0;
}
