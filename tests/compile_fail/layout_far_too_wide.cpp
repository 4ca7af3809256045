// expect: muster::layout: the key, version and world bits together exceed the integer's width.
#include <muster/id/id_pool.hpp>

#ifdef MUST_FAIL
using wrong =
    muster::layout<std::uint64_t, muster::id_bits{.key = 4000000000u, .version = 4000000000u}>;
#else
using wrong = muster::layouts::bound;
#endif

muster::basic_id<wrong> made;
