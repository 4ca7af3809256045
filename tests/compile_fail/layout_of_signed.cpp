// expect: muster::layout: an id must be an unsigned integer of at most 64 bits.
#include <muster/id/id_pool.hpp>

#ifdef MUST_FAIL
using wrong = muster::layout<int, muster::id_bits{.key = 20, .version = 11}>;
#else
using wrong = muster::layouts::bound;
#endif

muster::basic_id<wrong> made;
