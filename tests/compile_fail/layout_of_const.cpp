// expect: muster::layout: an id must be an unsigned integer of at most 64 bits.
#include <muster/id/layout.hpp>

#ifdef MUST_FAIL
using wrong = muster::layout<const std::uint64_t, muster::id_bits{.key = 20, .version = 11}>;
#else
using wrong = muster::layouts::bound;
#endif

static_assert(wrong::key_bits != 0);
