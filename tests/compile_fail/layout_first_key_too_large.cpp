// expect: muster::layout: first_key does not fit in the key bits.
#include <muster/id/id_pool.hpp>

#ifdef MUST_FAIL
using wrong =
    muster::layout<std::uint32_t, muster::id_bits{.key = 8, .version = 8, .first_key = 256}>;
#else
using wrong = muster::layouts::bound;
#endif

muster::basic_id<wrong> made;
